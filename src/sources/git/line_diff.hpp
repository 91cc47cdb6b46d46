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

/// Consecutive old lines that new lines replaced. Either number may be 0. Lines count from 0.
struct line_edit {
  std::size_t old_start = 0, old_lines = 0;
  std::size_t new_start = 0, new_lines = 0;

  bool operator==(const line_edit&) const = default;
};

/// Counts lines. A line ends after a line feed, or at the end of the text.
[[nodiscard]] std::size_t count_lines(std::string_view text) noexcept;

/// Compares two texts. Returns the edits from top to bottom, with at least one unchanged line between two of them. They are
/// those of `git diff` with Myers' algorithm (not --minimal) and without the indent heuristic. Time: at worst about n^1.5 for n
/// lines. Checks for cancellation only before the comparison. Errors: source_unavailable if libgit2 fails; cancelled;
/// response_too_large above 32 million lines.
[[nodiscard]] result<std::vector<line_edit>> diff_lines(std::string_view old_text, std::string_view new_text,
                                                        const cancellation_checker& cancellation);

/// The error response_too_large of a patch.
[[nodiscard]] tl::unexpected<failure> patch_too_long_error();

struct hunk_options {
  std::size_t context = 3;    ///< Unchanged lines before and after each edit.
  std::size_t max_bytes = 0;  ///< Limit of the bytes that are appended.
};

/// Appends hunks with their headers. As in git, a header contains the last line before the hunk that begins with a letter, `_`
/// or `$`. It is cut after 80 bytes or before the first byte that is not UTF-8, and has no white space at its end. Errors:
/// response_too_large, cancelled; some hunks may then be appended.
[[nodiscard]] result<void> append_hunks(std::string& patch, std::string_view old_text, std::string_view new_text,
                                        const std::vector<line_edit>& edits, const hunk_options& options,
                                        cancellation_checker& cancellation);

}  // namespace hondana::git
