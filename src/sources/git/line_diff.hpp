/// Differences between two texts line by line, and the hunks that show them.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include <hondana/error.hpp>

#include "sources/git/cancellation.hpp"

namespace hondana::git {

/// A run of lines that replaced another one; either may be empty. Lines count from 0.
struct line_edit {
  std::size_t old_start = 0, old_lines = 0;
  std::size_t new_start = 0, new_lines = 0;

  bool operator==(const line_edit&) const = default;
};

/// A line ends after a line feed, or with the text.
[[nodiscard]] std::size_t count_lines(std::string_view text) noexcept;

/// The edits from top to bottom, with at least one unchanged line between two of them. They are those that `git diff` finds by
/// Myers' algorithm with its shortcuts (not --minimal), moved down as far as possible, without the indent heuristic.
/// Time: for n lines at worst about n to the power of 1.5, for any content. It cannot be cancelled meanwhile.
/// Errors: source_unavailable if libgit2 fails; cancelled; response_too_large above 32 million lines.
[[nodiscard]] result<std::vector<line_edit>> diff_lines(std::string_view old_text, std::string_view new_text,
                                                        const cancellation_checker& cancellation);

[[nodiscard]] tl::unexpected<failure> patch_too_long_error();

struct hunk_options {
  std::size_t context = 3;
  std::size_t max_bytes = 0;  ///< Limit of the bytes that are appended.
};

/// Appends hunks with their headers. The text after a header is the last line before the hunk that begins with a letter, `_` or
/// `$`, as with git's default driver. Of that line it shows the first 80 bytes, without white space at the end, up to the first
/// byte that is not UTF-8. Errors: response_too_large, cancelled.
[[nodiscard]] result<void> append_hunks(std::string& patch, std::string_view old_text, std::string_view new_text,
                                        const std::vector<line_edit>& edits, const hunk_options& options,
                                        cancellation_checker& cancellation);

}  // namespace hondana::git
