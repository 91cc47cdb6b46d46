/// Lines on their way from a file to those who wrote them.
#pragma once

#include <cstddef>
#include <string_view>
#include <vector>

#include <hondana/error.hpp>

#include "sources/git/stopping.hpp"

namespace hondana::git {

/// A run of lines: where they are in the file that is asked about, and where in one that an ancestor has. From 0.
struct traced_lines {
  std::size_t first = 0;
  std::size_t there = 0;
  std::size_t count = 0;

  bool operator==(const traced_lines&) const = default;
};

/// Sorts by `first`, and makes one of runs that follow each other in both files. Runs may share lines of the other one: a merge
/// can have them from both sides.
void join(std::vector<traced_lines>& runs);

/// What of `runs` was already in `before` goes to the answer, counted in its lines; what was written in
/// `after` stays. Which line is which is decided as git blame does it. Errors: of line_edits.
[[nodiscard]] result<std::vector<traced_lines>> take_older(std::vector<traced_lines>& runs, std::string_view before,
                                                           std::string_view after, const stopping& when);

}  // namespace hondana::git
