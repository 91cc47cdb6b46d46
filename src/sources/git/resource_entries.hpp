/// Entries that a repository lists: names, titles, media types, and the children of a folder.
#pragma once

#include <cstddef>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include <hondana/capabilities.hpp>
#include <hondana/error.hpp>
#include <hondana/provider.hpp>
#include <hondana/resource.hpp>

#include "sources/git/git_uri.hpp"
#include "sources/git/libgit2.hpp"
#include "sources/git/visibility_filter.hpp"

namespace hondana::git {

/// The media type of a file by its name and content (`bytes::effective_named_type`). The result has static lifetime.
[[nodiscard]] std::string_view media_type_of(std::string_view path, std::string_view bytes, bool is_text);

/// The `resource::kind` as far as the address tells: links and submodules are "blob", too.
[[nodiscard]] std::string kind_of(const address& address);

/// Makes an entry from the address alone: without size and version, and for a blob without media type.
[[nodiscard]] resource make_resource(const address& address);

/// The entries that a repository lists, in segment order (`compare_by_segment`).
[[nodiscard]] std::vector<resource> listed_entries(const std::string& slug, bool has_work_tree, bool has_commits);

/// Selects a page of children.
struct child_page {
  std::string_view after_key{};  ///< `children_request::after_key`. Empty: from the first.
  std::size_t limit = 500;
  const std::function<bool()>& is_stopped;  ///< Called periodically; true cancels.
};
/// Lists the children of a folder that the caller may see, in segment order: blobs before trees. `folder`: of the kind tree.
/// Cost: O(entries of the folder) to sort the names; the other work is done only for the page. Errors: those of `find_folder`
/// and `tree_listing::open`; cancelled.
[[nodiscard]] result<list_result> child_entries(git_repository* repo, const address& folder,
                                                const visibility_filter& visibility, const child_page& selection);

}  // namespace hondana::git
