/// Patterns without wildcards, found by binary search instead of being tried one by one.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>
#include <vector>

namespace hondana::ignore {

/// Maps literal texts to the last pattern of a file that has each text.
///
/// Sorted, not hashed: the texts come from the served folder, and no choice of them makes a search slow.
/// Lifetime: keeps views of the texts added. Threads: immutable once sealed.
class literal_table {
 public:
  /// Adds a pattern; `ordinal` counts patterns from 1 in file order and must not go down from call to call.
  void add(std::string_view text, std::uint32_t ordinal, bool folders_only);

  /// Sorts the table; searches are valid from here on.
  void seal();

  /// About how much memory it holds besides itself, in bytes.
  [[nodiscard]] std::size_t bytes() const noexcept {
    return entries_.capacity() * sizeof(entry) + groups_.capacity() * sizeof(group);
  }

  /// The highest ordinal whose text equals `text`, 0 when there is none. Patterns for folders only count for folders.
  [[nodiscard]] std::uint32_t find(std::string_view text, bool is_directory) const noexcept;

  /// The highest ordinal whose text `text` ends with, 0 when there is none.
  [[nodiscard]] std::uint32_t find_ending(std::string_view text, bool is_directory) const noexcept;

 private:
  struct entry {
    std::string_view text;
    std::uint32_t last_for_all;
    std::uint32_t last_for_folders;
  };
  /// The entries of one length.
  struct group {
    std::size_t length;
    std::size_t first;
    std::size_t last;
  };

  [[nodiscard]] std::uint32_t find_in(const group& among, std::string_view text, bool is_directory) const noexcept;

  std::vector<entry> entries_;
  std::vector<group> groups_;
};

}  // namespace hondana::ignore
