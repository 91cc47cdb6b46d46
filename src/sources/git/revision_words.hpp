/// A revision cut into its parts.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include <hondana/error.hpp>

namespace hondana::git {

/// A way from a commit to one before it.
struct ancestry_step {
  std::size_t parent = 1;  ///< Which parent; 0: the commit itself.
  std::size_t times = 1;
};

struct revision_words {
  std::string base;  ///< An id, its beginning, a reference's name or HEAD.
  std::vector<ancestry_step> steps;
};

/// Errors: as `check_revision`.
[[nodiscard]] result<revision_words> parse_revision(std::string_view text, std::string_view argument);

}  // namespace hondana::git
