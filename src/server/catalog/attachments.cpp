/// Attaches watched resources and lists to the sources that serve them.
#include "server/catalog/attachments.hpp"

#include <algorithm>
#include <exception>
#include <utility>
#include <vector>

namespace hondana::catalog {

source_watches::source_watches(std::shared_ptr<change_feed> feed, std::function<void(std::string_view)> log)
    : feed_(std::move(feed)), log_(std::move(log)) {}

void source_watches::sync(const std::string& uri) {
  const std::lock_guard lock(mutex_);
  sync_locked(uri);
}

void source_watches::sync_lists() {
  const std::lock_guard lock(mutex_);
  sync_lists_locked();
}

void source_watches::sync_lists_locked() {
  const auto lacks = [](const auto& sources, const auto& source) {
    return std::find(sources.begin(), sources.end(), source) == sources.end();
  };
  auto watched_sources = feed_->is_list_watched() && catalog_ ? catalog_->sources() : std::vector<std::shared_ptr<source>>();
  std::erase_if(watched_sources, [](const auto& source) { return source->capabilities().list_watches == nullptr; });
  for (const auto& old_source : list_sources_) {
    if (lacks(watched_sources, old_source))
      guard(*old_source, "stop watching its list", [&] { old_source->capabilities().list_watches->unwatch_list(); });
  }
  for (const auto& source : watched_sources) {
    if (lacks(list_sources_, source))
      guard(*source, "watch its list", [&] { source->capabilities().list_watches->watch_list(); });
  }
  list_sources_ = std::move(watched_sources);
}

void source_watches::sync_locked(const std::string& uri) {
  // Reads the feed under the lock, so that the last caller uses the latest state.
  const auto resource = resource_of(uri);
  const auto owner = catalog_ ? catalog_->source_of(resource) : nullptr;
  const bool watches_parts = owner && owner->capabilities().watches_parts;
  reattach(resource, (watches_parts ? feed_->is_part_watched(resource) : feed_->is_watched(resource)) ? owner : nullptr);
  if (uri != resource) reattach(uri, watches_parts && feed_->is_part_watched(uri) ? owner : nullptr);
}

void source_watches::reattach(const std::string& uri, const std::shared_ptr<source>& owner) {
  const auto position = watched_.find(uri);
  if (position != watched_.end()) {
    if (position->second == owner) return;
    unwatch(position->second, uri);
    watched_.erase(position);
  }
  if (!owner) return;
  watched_.emplace(uri, owner);
  watch(owner, uri);
}

void source_watches::set_catalog(std::shared_ptr<const catalog> catalog) {
  const std::lock_guard lock(mutex_);
  catalog_ = std::move(catalog);
  std::vector<std::string> uris = feed_->watched_uris();
  for (const auto& [uri, owner] : watched_) uris.push_back(uri);
  for (const auto& uri : uris) sync_locked(uri);
  sync_lists_locked();
}

std::size_t source_watches::size() const {
  const std::lock_guard lock(mutex_);
  return watched_.size();
}

void source_watches::watch(const std::shared_ptr<source>& source, const std::string& uri) {
  if (auto* const watches = source->capabilities().watches) guard(*source, "watch " + uri, [&] { watches->watch(uri); });
}

void source_watches::unwatch(const std::shared_ptr<source>& source, const std::string& uri) {
  if (auto* const watches = source->capabilities().watches)
    guard(*source, "stop watching " + uri, [&] { watches->unwatch(uri); });
}

void source_watches::guard(const source& source, std::string_view action, const std::function<void()>& call) {
  try {
    call();
  } catch (const std::exception& error) {
    if (log_) log_("the source \"" + source.get_provider()->name() + "\" cannot " + std::string(action) + ": " + error.what());
  }
}

}  // namespace hondana::catalog
