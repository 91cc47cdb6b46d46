/// Names of references, a page at a time.
#pragma once

#include <cstddef>
#include <initializer_list>
#include <string>
#include <vector>

#include <hondana/error.hpp>

#include "sources/git/library.hpp"

namespace hondana::git {

struct names_page {
  std::vector<std::string> names;  ///< By full name, bytewise.
  bool is_last = true;
};

/// The first `limit` names behind `after` of those that begin with one of `prefixes`, each of which ends with a slash. Cost:
/// O(references there), a comparison for each. Errors: source_unavailable.
[[nodiscard]] result<names_page> names_behind(git_repository* in, std::initializer_list<const char*> prefixes,
                                              const std::string& after, std::size_t limit);

}  // namespace hondana::git
