/// Where all references are, in a few bytes.
#pragma once

#include <functional>
#include <string>

#include <hondana/error.hpp>

#include "sources/git/library.hpp"
#include "sources/git/place.hpp"

namespace hondana::git {

/// What is equal is of the same state.
struct reference_marks {
  bool has_commits = false;  ///< HEAD leads to one.
  std::string head;          ///< The branch, the commit, and what is under way.
  std::string branches;      ///< Local and remote ones, and what each leads to.
  std::string tags;          ///< The same.
  std::string index;         ///< The state of the index file.
  std::string config;        ///< Of the configuration, which has the remotes and upstreams.
};

/// Cost: O(references). Errors: source_unavailable; cancelled when `is_stopped` says so.
[[nodiscard]] result<reference_marks> marks_of(git_repository* in, const place& at, const std::function<bool()>& is_stopped);

}  // namespace hondana::git
