/// Completes revisions, paths and authors in URI templates.
#pragma once

#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include <hondana/provider.hpp>

#include "sources/git/access_filter.hpp"
#include "sources/git/git_uri.hpp"
#include "sources/git/libgit2.hpp"

namespace hondana::git {

/// One request for values. Refers to it.
class completing {
 public:
  explicit completing(const complete_request& request) noexcept : request_(request) {}

  [[nodiscard]] bool is_about(std::string_view variable) const noexcept { return request_.argument == variable; }

  /// Without a repository only formats can be told.
  [[nodiscard]] complete_result without_repository() const;
  /// Branches, tags, HEAD and, from four digits on, ids of commits for revisions, of which the view is asked about the thousand
  /// that fit best; entries at the revision that is chosen (or
  /// HEAD) for paths, a folder at a time, and of one with more than 5000 only those that begin with what was typed; people of
  /// the last 5000 commits for authors, as patterns. Errors: cancelled.
  [[nodiscard]] result<complete_result> values(git_repository* in, const concealment& hides,
                                               const std::function<bool()>& is_stopped) const;

 private:
  [[nodiscard]] topic what() const;
  [[nodiscard]] result<complete_result> revisions(git_repository* in, const std::function<bool()>& is_stopped) const;
  [[nodiscard]] result<complete_result> paths(git_repository* in, const concealment& hides,
                                              const std::function<bool()>& is_stopped) const;
  [[nodiscard]] result<complete_result> authors(git_repository* in, const concealment& hides,
                                                const std::function<bool()>& is_stopped) const;
  /// Whether anything may be seen whose URI begins so.
  [[nodiscard]] bool leads_somewhere(const std::string& uri) const;

  const complete_request& request_;
};

}  // namespace hondana::git
