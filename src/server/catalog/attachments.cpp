/// Attaches watched resources and lists to the sources that serve them.
#include "server/catalog/attachments.hpp"

#include <algorithm>
#include <exception>
#include <utility>
#include <vector>

namespace hondana::catalog {

attachments::attachments(std::shared_ptr<feed> from, std::function<void(std::string_view)> log)
    : feed_(std::move(from)), log_(std::move(log)) {}

void attachments::sync(const std::string& uri) {
  const std::lock_guard lock(mutex_);
  sync_locked(uri);
}

void attachments::sync_lists() {
  const std::lock_guard lock(mutex_);
  sync_lists_locked();
}

void attachments::sync_lists_locked() {
  const auto lacks = [](const auto& all, const auto& one) { return std::find(all.begin(), all.end(), one) == all.end(); };
  auto wanted = feed_->is_list_watched() && present_ ? present_->sources() : std::vector<std::shared_ptr<source>>();
  for (const auto& one : with_lists_) {
    if (lacks(wanted, one)) guard(*one, "stop watching its list", [](provider& it) { it.detach_list(); });
  }
  for (const auto& one : wanted) {
    if (lacks(with_lists_, one)) guard(*one, "watch its list", [](provider& it) { it.attach_list(); });
  }
  with_lists_ = std::move(wanted);
}

void attachments::sync_locked(const std::string& uri) {
  // Reads the feed under the lock, so that the last caller uses the latest state.
  const auto resource = resource_of(uri);
  const auto to = present_ ? present_->source_of(resource) : nullptr;
  const bool by_parts = to && to->what()->tells_parts();
  agree(resource, (by_parts ? feed_->is_part_watched(resource) : feed_->is_watched(resource)) ? to : nullptr);
  if (uri != resource) agree(uri, by_parts && feed_->is_part_watched(uri) ? to : nullptr);
}

void attachments::agree(const std::string& uri, const std::shared_ptr<source>& wanted) {
  const auto place = attached_.find(uri);
  if (place != attached_.end()) {
    if (place->second == wanted) return;
    detach(place->second, uri);
    attached_.erase(place);
  }
  if (!wanted) return;
  attached_.emplace(uri, wanted);
  attach(wanted, uri);
}

void attachments::rearrange(std::shared_ptr<const catalog> present) {
  const std::lock_guard lock(mutex_);
  present_ = std::move(present);
  std::vector<std::string> all = feed_->watched_uris();
  for (const auto& [uri, to] : attached_) all.push_back(uri);
  for (const auto& uri : all) sync_locked(uri);
  sync_lists_locked();
}

std::size_t attachments::size() const {
  const std::lock_guard lock(mutex_);
  return attached_.size();
}

void attachments::attach(const std::shared_ptr<source>& to, const std::string& uri) {
  guard(*to, "watch " + uri, [&uri](provider& it) { it.attach(uri); });
}

void attachments::detach(const std::shared_ptr<source>& from, const std::string& uri) {
  guard(*from, "stop watching " + uri, [&uri](provider& it) { it.detach(uri); });
}

void attachments::guard(const source& of, std::string_view what, const std::function<void(provider&)>& call) {
  try {
    call(*of.what());
  } catch (const std::exception& error) {
    if (log_) log_("the source \"" + of.what()->name() + "\" cannot " + std::string(what) + ": " + error.what());
  }
}

}  // namespace hondana::catalog
