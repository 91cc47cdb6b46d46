/// Attaches watched resources and lists to the sources that have them.
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

/// Attaches a resource to its source for the first peer that watches it, detaches it after the last, and moves attachments when
/// the arrangement of sources changes; the lists of all sources likewise. Bounded by what the feed lets peers watch. Threads:
/// any.
class attachments {
 public:
  /// `log` hears of a source that throws; may be empty.
  attachments(std::shared_ptr<feed> from, std::function<void(std::string_view)> log);

  /// Makes what is attached agree with whether anybody watches `uri`: the resource, and, where its source tells of parts by
  /// themselves, that part.
  void sync(const std::string& uri);
  /// The same for whether anybody hears of changed lists.
  void sync_lists();
  /// From now on resources belong to the sources of `present`; what belonged to others is attached anew.
  void rearrange(std::shared_ptr<const catalog> present);
  /// Attached resources and parts.
  [[nodiscard]] std::size_t size() const;

 private:
  void sync_locked(const std::string& uri);
  /// `wanted`: null for none.
  void agree(const std::string& uri, const std::shared_ptr<source>& wanted);
  void sync_lists_locked();
  void attach(const std::shared_ptr<source>& to, const std::string& uri);
  void detach(const std::shared_ptr<source>& from, const std::string& uri);
  /// Whatever `call` throws, the log hears of.
  void guard(const source& of, std::string_view what, const std::function<void(provider&)>& call);

  const std::shared_ptr<feed> feed_;
  const std::function<void(std::string_view)> log_;
  mutable std::mutex mutex_;  // held over calls of sources, which must not block; taken before the feed's
  std::shared_ptr<const catalog> present_;
  std::unordered_map<std::string, std::shared_ptr<source>> attached_;
  std::vector<std::shared_ptr<source>> with_lists_;
};

}  // namespace hondana::catalog
