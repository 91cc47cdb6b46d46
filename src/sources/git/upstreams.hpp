/// Which branch another one follows, as the configuration says.
#pragma once

#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include <hondana/error.hpp>

#include "sources/git/library.hpp"

namespace hondana::git {

/// By hand, since libgit2's own way (`git_branch_upstream_name`) loses 20 KiB of memory for every setting it looks at: its
/// regular expressions, of 1.5 with PCRE2, never let go of what did not match. Immutable.
class upstreams {
 public:
  /// Errors: source_unavailable.
  [[nodiscard]] static result<upstreams> read(git_repository* from);

  /// The full name of what a branch, by its name without `refs/heads/`, follows; empty: nothing. It need not be there.
  [[nodiscard]] std::string of(std::string_view branch) const;

 private:
  upstreams() = default;
  [[nodiscard]] const std::vector<std::string>& values(const std::string& name) const;

  std::unordered_map<std::string, std::vector<std::string>> settings_;
};

}  // namespace hondana::git
