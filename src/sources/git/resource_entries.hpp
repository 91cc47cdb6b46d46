/// Entries that a repository lists: names, titles, media types, and the children of a folder.
#pragma once

#include <cstddef>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include <hondana/error.hpp>
#include <hondana/provider.hpp>
#include <hondana/resource.hpp>

#include "sources/git/access_filter.hpp"
#include "sources/git/git_uri.hpp"
#include "sources/git/libgit2.hpp"

namespace hondana::git {

/// By the ending of its name; without one that is known `text/plain` for text, and for other bytes what their front tells, or
/// `application/octet-stream`. Static.
[[nodiscard]] std::string_view media_type_of(std::string_view path, std::string_view bytes, bool is_text) noexcept;

/// The kind by topic alone, where nothing is looked up.
[[nodiscard]] std::string kind_of(const address& at);

/// What is told without a look at the repository.
[[nodiscard]] resource entry_of(const address& at);

/// What every repository lists, in segment order.
[[nodiscard]] std::vector<resource> listed_entries(const std::string& repo, bool has_work_tree, bool has_commits);

/// Which children are asked for.
struct child_page {
  std::string_view after{};  ///< A key in segment order; empty: from the first.
  std::size_t limit = 500;
  const std::function<bool()>& is_stopped;
};
/// The children of a tree that the caller may see, in segment order: its files first, since blobs come before trees. Names are
/// put in order of the whole folder, and all else is asked and made of those on the page.
/// Errors: of `find_folder` and `tree_listing`; cancelled.
[[nodiscard]] result<list_result> child_entries(git_repository* in, const address& folder, const concealment& hides,
                                                const child_page& asked);

}  // namespace hondana::git
