/// Attaching and detaching.
#include "catalog/attachments.hpp"

#include <exception>
#include <utility>
#include <vector>

namespace hondana::catalog {

attachments::attachments(std::shared_ptr<feed> from, std::function<void(std::string_view)> log)
    : feed_(std::move(from)), log_(std::move(log)) {}

void attachments::sync(const std::string& resource) {
  const std::lock_guard lock(mutex_);
  sync_locked(resource);
}

void attachments::sync_locked(const std::string& resource) {
  // Asked under the lock: whoever comes last sees the latest answer.
  const auto wanted = feed_->is_watched(resource) && present_ ? present_->source_of(resource) : nullptr;
  const auto place = attached_.find(resource);
  if (place != attached_.end()) {
    if (place->second == wanted) return;
    detach(place->second, resource);
    attached_.erase(place);
  }
  if (!wanted) return;
  attached_.emplace(resource, wanted);
  attach(wanted, resource);
}

void attachments::rearrange(std::shared_ptr<const catalog> present) {
  const std::lock_guard lock(mutex_);
  present_ = std::move(present);
  std::vector<std::string> all = feed_->watched_resources();
  for (const auto& [resource, to] : attached_) all.push_back(resource);
  for (const auto& resource : all) sync_locked(resource);
}

std::size_t attachments::size() const {
  const std::lock_guard lock(mutex_);
  return attached_.size();
}

void attachments::attach(const std::shared_ptr<source>& to, const std::string& resource) {
  try {
    to->what()->attach(resource);
  } catch (const std::exception& error) {
    if (log_) log_("the source \"" + to->what()->name() + "\" cannot watch " + resource + ": " + error.what());
  }
}

void attachments::detach(const std::shared_ptr<source>& from, const std::string& resource) {
  try {
    from->what()->detach(resource);
  } catch (const std::exception& error) {
    if (log_) log_("the source \"" + from->what()->name() + "\" cannot stop watching " + resource + ": " + error.what());
  }
}

}  // namespace hondana::catalog
