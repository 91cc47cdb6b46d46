/// Starts and stops watches of resources and lists in the sources that serve them.
#pragma once

#include <cstddef>
#include <functional>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "server/catalog/catalog.hpp"
#include "server/catalog/change_feed.hpp"

namespace hondana::catalog {

/// Calls `watch_source::watch` when the first client watches a resource, and `unwatch` after the last one has stopped. Calls
/// `watch_list` and `unwatch_list` of each `list_watch_source` in the same way. When the catalog changes, moves each watch to
/// the source that now serves the resource. The limits of the change feed bound the memory. Threads: any.
class source_watches {
 public:
  /// `feed`: says what clients watch. `log`: receives exceptions of sources; may be empty.
  source_watches(std::shared_ptr<change_feed> feed, std::function<void(std::string_view)> log);

  /// Starts or stops the watch of `uri` (canonical) in its source, depending on whether clients watch it now. If `uri` has a
  /// query, does so for the whole resource; for the part too if the source is a `part_watch_source`.
  void sync(const std::string& uri);
  /// Starts or stops the watches of all sources' lists, depending on whether clients watch the list of resources now.
  void sync_lists();
  /// Sets the catalog; null: no sources. Moves watches whose source has changed.
  void set_catalog(std::shared_ptr<const catalog> catalog);
  /// Number of resources and parts that sources watch.
  [[nodiscard]] std::size_t size() const;

 private:
  void sync_locked(const std::string& uri);
  /// `owner`: the source that must watch `uri` from now on; null: none.
  void reattach(const std::string& uri, const std::shared_ptr<source>& owner);
  void sync_lists_locked();
  void watch(const std::shared_ptr<source>& source, const std::string& uri);
  void unwatch(const std::shared_ptr<source>& source, const std::string& uri);
  /// Makes a call of a provider, and logs its exceptions. `action`: for the log, such as "watch file:///a".
  void guard(const source& source, std::string_view action, const std::function<void()>& call);

  const std::shared_ptr<change_feed> feed_;
  const std::function<void(std::string_view)> log_;
  mutable std::mutex mutex_;  // locked during calls of sources, which must not block; locked before the mutex of the feed
  std::shared_ptr<const catalog> catalog_;
  std::unordered_map<std::string, std::shared_ptr<source>> watched_;  // by URI: the source that watches it
  std::vector<std::shared_ptr<source>> list_sources_;                 // sources that watch their lists
};

}  // namespace hondana::catalog
