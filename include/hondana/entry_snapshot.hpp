/// Immutable, ordered sets of entries, which a provider can publish and replace.
#pragma once

#include <cstddef>
#include <memory>
#include <optional>
#include <string_view>
#include <vector>

#include <hondana/capabilities.hpp>
#include <hondana/provider.hpp>
#include <hondana/resource.hpp>

namespace hondana::inline v0 {

/// An immutable set of entries in segment order (`compare_by_segment`), stored compactly. The cost of a page does not depend on
/// the size of the set.
///
/// It caches which entries recent access filters let their callers see. For a new filter, a page examines at most 10 000
/// entries, so it may be short or empty with a `next_key`.
///
/// Threads: any; reads take no lock.
class entry_snapshot {
 public:
  /// Sorts and packs `entries`. Of entries with equal URIs, only the last one is stored.
  explicit entry_snapshot(std::vector<resource> entries);
  ~entry_snapshot();
  entry_snapshot(const entry_snapshot&) = delete;
  entry_snapshot& operator=(const entry_snapshot&) = delete;

  [[nodiscard]] std::size_t size() const noexcept;
  /// Returns the entry at a position in segment order. `index` must be less than `size()`.
  [[nodiscard]] resource at(std::size_t index) const;
  /// Returns the position of the first entry after `key` in segment order; `size()` if there is none.
  [[nodiscard]] std::size_t upper_bound(std::string_view key) const noexcept;
  /// Returns the entry with exactly this URI. nullopt: none.
  [[nodiscard]] std::optional<resource> find(std::string_view uri) const;
  /// Returns one page of the entries that the request's caller may see.
  [[nodiscard]] list_result page(const list_request& request) const;
  /// Returns one page of the entries one segment below `request.uri`, which need not be an entry itself. The cost does not
  /// depend on the number of deeper entries.
  [[nodiscard]] list_result children(const children_request& request) const;

 private:
  struct packed;
  std::unique_ptr<packed> packed_;
};

}  // namespace hondana::inline v0
