/// The table's order (length, then bytes) lets one search serve whole texts and endings alike.
#include "base/ignore/literal_table.hpp"

#include <algorithm>
#include <tuple>

namespace hondana::ignore {

void literal_table::add(std::string_view text, std::uint32_t ordinal, bool folders_only) {
  entries_.push_back({text, folders_only ? 0 : ordinal, folders_only ? ordinal : 0});
}

void literal_table::seal() {
  std::sort(entries_.begin(), entries_.end(), [](const entry& a, const entry& b) {
    return std::make_tuple(a.text.size(), a.text) < std::make_tuple(b.text.size(), b.text);
  });
  std::size_t kept = 0;
  for (const entry& one : entries_) {
    if (kept == 0 || entries_[kept - 1].text != one.text) {
      entries_[kept++] = one;
      continue;
    }
    entry& same = entries_[kept - 1];
    same.last_for_all = std::max(same.last_for_all, one.last_for_all);
    same.last_for_folders = std::max(same.last_for_folders, one.last_for_folders);
  }
  entries_.resize(kept);
  entries_.shrink_to_fit();

  groups_.clear();
  for (std::size_t i = 0; i < entries_.size(); ++i) {
    const std::size_t length = entries_[i].text.size();
    if (groups_.empty() || groups_.back().length != length) groups_.push_back({length, i, i});
    groups_.back().last = i + 1;
  }
}

std::uint32_t literal_table::find(std::string_view text, bool is_directory) const noexcept {
  const auto among = std::lower_bound(groups_.begin(), groups_.end(), text.size(),
                                      [](const group& one, std::size_t length) { return one.length < length; });
  if (among == groups_.end() || among->length != text.size()) return 0;
  return find_in(*among, text, is_directory);
}

std::uint32_t literal_table::find_ending(std::string_view text, bool is_directory) const noexcept {
  std::uint32_t last = 0;
  for (const group& among : groups_) {
    if (among.length > text.size()) break;
    last = std::max(last, find_in(among, text.substr(text.size() - among.length), is_directory));
  }
  return last;
}

std::uint32_t literal_table::find_in(const group& among, std::string_view text, bool is_directory) const noexcept {
  const auto begin = entries_.begin() + static_cast<std::ptrdiff_t>(among.first);
  const auto end = entries_.begin() + static_cast<std::ptrdiff_t>(among.last);
  const auto at = std::lower_bound(begin, end, text, [](const entry& one, std::string_view key) { return one.text < key; });
  if (at == end || at->text != text) return 0;
  return is_directory ? std::max(at->last_for_all, at->last_for_folders) : at->last_for_all;
}

}  // namespace hondana::ignore
