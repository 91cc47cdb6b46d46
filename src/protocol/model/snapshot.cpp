/// Ordered, packed entries and the pages cut from them.
#include <hondana/snapshot.hpp>

#include <algorithm>
#include <compare>
#include <cstdint>
#include <numeric>
#include <string>
#include <utility>

#include <hondana/uri.hpp>

#include "protocol/model/folder.hpp"
#include "protocol/model/packed.hpp"
#include "protocol/model/visibility.hpp"

namespace hondana::inline v0 {
namespace {

/// How many unknown decisions one page may ask a view for.
constexpr std::size_t decisions_a_page = 10'000;

/// The positions of `entries` in segment order, without those that a later entry with the same URI replaces.
std::vector<std::size_t> ordered(const std::vector<resource>& entries) {
  std::vector<std::size_t> order(entries.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::sort(order.begin(), order.end(), [&entries](std::size_t a, std::size_t b) {
    const auto by_uri = compare_by_segment(entries[a].uri, entries[b].uri);
    return std::is_eq(by_uri) ? a > b : std::is_lt(by_uri);
  });
  const auto same = [&entries](std::size_t a, std::size_t b) { return entries[a].uri == entries[b].uri; };
  order.erase(std::unique(order.begin(), order.end(), same), order.end());
  return order;
}

}  // namespace

struct entry_snapshot::packed {
  std::string arena;
  std::vector<std::uint64_t> offsets;
  model::visibility_table seen;

  explicit packed(const std::vector<resource>& entries, const std::vector<std::size_t>& order) : seen(order.size()) {
    offsets.reserve(order.size());
    for (const auto index : order) {
      offsets.push_back(arena.size());
      model::pack(arena, entries[index]);
    }
    arena.shrink_to_fit();
  }

  [[nodiscard]] std::string_view bytes_at(std::size_t index) const noexcept {
    return std::string_view(arena).substr(offsets[index]);
  }
  [[nodiscard]] std::string_view uri_at(std::size_t index) const noexcept { return model::packed_uri(bytes_at(index)); }
};

entry_snapshot::entry_snapshot(std::vector<resource> entries) : packed_(std::make_unique<packed>(entries, ordered(entries))) {}
entry_snapshot::~entry_snapshot() = default;

std::size_t entry_snapshot::size() const noexcept { return packed_->offsets.size(); }

resource entry_snapshot::at(std::size_t index) const { return model::unpack(packed_->bytes_at(index)); }

std::size_t entry_snapshot::upper_bound(std::string_view key) const noexcept {
  std::size_t low = 0;
  std::size_t high = size();
  while (low < high) {
    const auto middle = low + (high - low) / 2;
    if (std::is_gt(compare_by_segment(packed_->uri_at(middle), key))) {
      high = middle;
    } else {
      low = middle + 1;
    }
  }
  return low;
}

std::optional<resource> entry_snapshot::find(std::string_view uri) const {
  const auto after = upper_bound(uri);
  if (after == 0 || packed_->uri_at(after - 1) != uri) return {};
  return at(after - 1);
}

list_result entry_snapshot::page(const list_request& request) const {
  list_result found;
  auto index = request.after.empty() ? 0 : upper_bound(request.after);
  if (request.limit == 0) {
    if (index < size()) found.resume = request.after;
    return found;
  }
  const auto seen = request.who.view ? packed_->seen.of(request.who.view) : nullptr;
  std::size_t decisions = 0;
  // The entry before `index` is the last one looked at: where a page that stops early goes on.
  while (found.entries.size() < request.limit) {
    if (seen) index = seen->skip_hidden(index);
    if (index == size()) return found;
    if (seen && seen->at(index) == model::visibility::sight::unknown) {
      if (decisions == decisions_a_page) break;
      ++decisions;
      const bool is_visible = request.who.view->may_see(packed_->uri_at(index));
      seen->remember(index, is_visible);
      if (!is_visible) {
        ++index;
        continue;
      }
    }
    found.entries.push_back(at(index));
    ++index;
  }
  if (index < size()) found.resume = std::string(packed_->uri_at(index - 1));
  return found;
}

list_result entry_snapshot::children(const children_request& request) const {
  const auto folder = model::folder_prefix(request.uri);
  list_result found;
  auto index = upper_bound(request.after.empty() ? folder : request.after);
  std::string last = request.after;
  for (std::size_t looks = 0; index < size(); ++looks) {
    const auto uri = packed_->uri_at(index);
    if (!uri.starts_with(folder)) return found;
    if (found.entries.size() == request.limit || looks == decisions_a_page) {
      found.resume = std::move(last);
      return found;
    }
    const auto child = model::child_of(folder, uri);
    const bool is_visible = !request.who.view || request.who.view->may_see(child);
    if (child.size() == uri.size() && is_visible) found.entries.push_back(at(index));
    last = child;
    index = upper_bound(model::end_of_subtree(child));
  }
  return found;
}

}  // namespace hondana::inline v0
