/// What a file was copied from, among all files that were there before.
#pragma once

#include <optional>
#include <vector>

#include <hondana/error.hpp>

#include "sources/git/changes.hpp"
#include "sources/git/side_content.hpp"

namespace hondana::git {

/// A file of the parent, and whether the commit removed it.
struct earlier_file {
  side file;
  bool is_gone = false;
};

/// As git looks for copies, unmodified files included: an equal file; otherwise the most alike one that is gone, if it is one
/// of the best four, and then the most alike of all, by half at least. Of equally good ones those of the same name come first,
/// and then those whose paths do. `files` are in the order of their paths. Errors: cancelled; those of contents.
[[nodiscard]] result<std::optional<side>> copied_from(const side& wanted, const std::vector<earlier_file>& files,
                                                      side_contents& from, const compare_options& options);

}  // namespace hondana::git
