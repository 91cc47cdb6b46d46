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

/// A stretch of lines that took the place of another; either may have none. Lines count from 0.
struct line_edit {
  std::size_t before = 0, before_count = 0;
  std::size_t after = 0, after_count = 0;

  bool operator==(const line_edit&) const = default;
};

/// A line ends behind a line feed, or with the text.
[[nodiscard]] std::size_t count_lines(std::string_view text) noexcept;

/// From top to bottom; between two of them is at least one line that stayed. The same ones that `git diff` finds by Myers'
/// algorithm with its shortcuts (not --minimal), moved as far down as they can be, without the indent heuristic.
/// Time: for n lines at worst some n to the power of one and a half, whatever stands in them; it cannot be stopped on the way.
/// Errors: source_unavailable where libgit2 fails; cancelled; response_too_large beyond 32 million lines.
[[nodiscard]] result<std::vector<line_edit>> line_edits(std::string_view before, std::string_view after, const stopping& when);

[[nodiscard]] tl::unexpected<failure> patch_too_long();

struct hunk_options {
  std::size_t context = 3;
  std::size_t most_bytes = 0;  ///< That may be appended.
};

/// Appends hunks with their headers. Behind a header stands the last line before the hunk that begins with a letter, `_` or
/// `$`, as git's default driver has it: its first 80 bytes, without white space at the end, and up to the first byte that is no
/// UTF-8. Errors: response_too_large, cancelled.
[[nodiscard]] result<void> append_hunks(std::string& to, std::string_view before, std::string_view after,
                                        const std::vector<line_edit>& edits, const hunk_options& with, stopping& when);

}  // namespace hondana::git
