/// Attaches watched resources and lists to the sources that serve them.
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

/// Attaches a resource to its source for the first client that watches it, and detaches it after the last. Moves attachments
/// when the sources change. Does the same for the lists of all sources. Memory is bounded by the limits of the feed. Threads:
/// any.
class source_watches {
 public:
  /// `log` receives exceptions of sources; may be empty.
  source_watches(std::shared_ptr<change_feed> feed, std::function<void(std::string_view)> log);

  /// Attaches or detaches the resource of `uri`, depending on whether it is watched. If its source reports parts separately,
  /// does the same for the part.
  void sync(const std::string& uri);
  /// The same for the lists.
  void sync_lists();
  /// Sets the catalog. Resources whose source changed are attached again.
  void set_catalog(std::shared_ptr<const catalog> catalog);
  /// Number of attached resources and parts.
  [[nodiscard]] std::size_t size() const;

 private:
  void sync_locked(const std::string& uri);
  /// `owner`: the source to attach to; null for none.
  void reattach(const std::string& uri, const std::shared_ptr<source>& owner);
  void sync_lists_locked();
  void watch(const std::shared_ptr<source>& source, const std::string& uri);
  void unwatch(const std::shared_ptr<source>& source, const std::string& uri);
  /// Calls a source, and logs its exceptions.
  void guard(const source& source, std::string_view action, const std::function<void(provider&)>& call);

  const std::shared_ptr<change_feed> feed_;
  const std::function<void(std::string_view)> log_;
  mutable std::mutex mutex_;  // locked during calls of sources, which must not block; locked before the mutex of the feed
  std::shared_ptr<const catalog> catalog_;
  std::unordered_map<std::string, std::shared_ptr<source>> watched_;
  std::vector<std::shared_ptr<source>> list_sources_;
};

}  // namespace hondana::catalog
