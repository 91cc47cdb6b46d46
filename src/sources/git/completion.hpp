/// Completes revisions, paths and authors in URI templates.
#pragma once

#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include <hondana/capabilities.hpp>
#include <hondana/provider.hpp>

#include "sources/git/git_uri.hpp"
#include "sources/git/libgit2.hpp"
#include "sources/git/visibility_filter.hpp"

namespace hondana::git {

/// Answers one completion request. `request` must outlive this object.
class completer {
 public:
  explicit completer(const complete_request& request) noexcept : request_(request) {}

  /// Whether values of `variable` are requested.
  [[nodiscard]] bool is_argument(std::string_view variable) const noexcept { return request_.argument == variable; }

  /// Completes `format`, which requires no repository. Empty for all other variables.
  [[nodiscard]] complete_result static_values() const;
  /// Completes `rev`, `ref`, `from`, `to`, `path`, `author` and `format`.
  /// Revisions: branches, tags, HEAD and, from four digits on, commit ids. With an access filter: those of the thousand best
  /// matches that it allows.
  /// Paths: entries at the chosen revision (or HEAD), one folder at a time. In a folder with more than 5000 entries, only names
  /// that begin with the input.
  /// Authors: people of the last 200 000 commits, as regular expressions. The total is missing if there are more commits.
  /// Errors: cancelled; source_unavailable; response_too_large: a folder has too many entries.
  [[nodiscard]] result<complete_result> values(git_repository* repo, const visibility_filter& visibility,
                                               const std::function<bool()>& is_stopped) const;

 private:
  /// The kind of resource of the URI template.
  [[nodiscard]] resource_kind requested_kind() const;
  [[nodiscard]] result<complete_result> revisions(git_repository* repo, const std::function<bool()>& is_stopped) const;
  [[nodiscard]] result<complete_result> paths(git_repository* repo, const visibility_filter& visibility,
                                              const std::function<bool()>& is_stopped) const;
  [[nodiscard]] result<complete_result> authors(git_repository* repo, const visibility_filter& visibility,
                                                const std::function<bool()>& is_stopped) const;
  /// Whether the caller may see any resource whose URI begins with `uri`.
  [[nodiscard]] bool may_see_below(const std::string& uri) const;

  const complete_request& request_;
};

}  // namespace hondana::git
