/// Immutable, ordered sets of entries that a provider publishes and swaps.
#pragma once

#include <cstddef>
#include <memory>
#include <optional>
#include <string_view>
#include <vector>

#include <hondana/provider.hpp>
#include <hondana/resource.hpp>

namespace hondana::inline v0 {

/// An immutable set of entries in segment order, packed; pages cost O(page) whatever its size.
///
/// Per view, and for a bounded number of views, it keeps which entries are visible; a query that has to find that out first
/// scans a fixed number of entries and then returns a short (even empty) page with a cursor.
/// Threads: any; entries are read without a lock.
class entry_snapshot {
 public:
  /// Sorts and packs `entries`; of entries with equal URIs the last wins.
  explicit entry_snapshot(std::vector<resource> entries);
  ~entry_snapshot();
  entry_snapshot(const entry_snapshot&) = delete;
  entry_snapshot& operator=(const entry_snapshot&) = delete;

  [[nodiscard]] std::size_t size() const noexcept;
  /// The entry at a position of the order.
  [[nodiscard]] resource at(std::size_t index) const;
  /// The position of the first entry after `key` in segment order.
  [[nodiscard]] std::size_t upper_bound(std::string_view key) const noexcept;
  /// The entry with exactly this URI.
  [[nodiscard]] std::optional<resource> find(std::string_view uri) const;
  /// One page as `request` asks for it, through its caller's view.
  [[nodiscard]] list_result page(const list_request& request) const;
  /// One page of the direct children of a folder: the entries one segment below `request.uri`, whether that is an entry or not.
  /// What lies deeper is skipped, so that a page costs O(page) whatever the subtree's size.
  [[nodiscard]] list_result children(const children_request& request) const;

 private:
  struct packed;
  std::unique_ptr<packed> packed_;
};

}  // namespace hondana::inline v0
