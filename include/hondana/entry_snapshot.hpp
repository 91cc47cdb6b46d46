/// Immutable, ordered sets of entries, which a provider can publish and replace.
#pragma once

#include <cstddef>
#include <memory>
#include <optional>
#include <string_view>
#include <vector>

#include <hondana/provider.hpp>
#include <hondana/resource.hpp>

namespace hondana::inline v0 {

/// An immutable set of entries in segment order, stored compactly. A page costs O(page) for any size of the set.
///
/// For a bounded number of access filters, it caches which entries are visible. For a new filter, a query examines a fixed
/// number of entries, and may return a short or empty page with `next_key`.
///
/// Threads: any; reads take no lock.
class entry_snapshot {
 public:
  /// Sorts and packs `entries`. Among entries with equal URIs, the last one wins.
  explicit entry_snapshot(std::vector<resource> entries);
  ~entry_snapshot();
  entry_snapshot(const entry_snapshot&) = delete;
  entry_snapshot& operator=(const entry_snapshot&) = delete;

  [[nodiscard]] std::size_t size() const noexcept;
  /// The entry at a position; `index` must be less than `size()`.
  [[nodiscard]] resource at(std::size_t index) const;
  /// The position of the first entry after `key` in segment order; `size()` if there is none.
  [[nodiscard]] std::size_t upper_bound(std::string_view key) const noexcept;
  /// The entry with exactly this URI, or nullopt.
  [[nodiscard]] std::optional<resource> find(std::string_view uri) const;
  /// The page that `request` asks for, through the access filter of its caller.
  [[nodiscard]] list_result page(const list_request& request) const;
  /// One page of the direct children of a folder: the entries one segment below `request.uri`, which need not be an entry
  /// itself. Deeper entries are skipped, so a page costs O(page) for any size of the subtree.
  [[nodiscard]] list_result children(const children_request& request) const;

 private:
  struct packed;
  std::unique_ptr<packed> packed_;
};

}  // namespace hondana::inline v0
