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

#include "sources/git/git_uri.hpp"
#include "sources/git/libgit2.hpp"
#include "sources/git/visibility_filter.hpp"

namespace hondana::git {

/// For text: by the extension of the name, or `text/plain`. For other bytes: by their front, or `application/octet-stream`. The
/// result has static lifetime.
[[nodiscard]] std::string_view media_type_of(std::string_view path, std::string_view bytes, bool is_text) noexcept;

/// The kind by the address alone, without a lookup in the repository.
[[nodiscard]] std::string kind_of(const address& address);

/// The part of an entry that is known without reading the repository.
[[nodiscard]] resource make_resource(const address& address);

/// The entries that every repository lists, in segment order.
[[nodiscard]] std::vector<resource> listed_entries(const std::string& slug, bool has_work_tree, bool has_commits);

/// Which children to return.
struct child_page {
  std::string_view after_key{};  ///< A key in segment order; empty: from the first.
  std::size_t limit = 500;
  const std::function<bool()>& is_stopped;
};
/// The children of a tree that the caller may see, in segment order: files first, because blobs come before trees. The names of
/// the whole folder are sorted; everything else is done only for entries of the page.
/// Errors: of `find_folder` and `tree_listing`; cancelled.
[[nodiscard]] result<list_result> child_entries(git_repository* repo, const address& folder,
                                                const visibility_filter& visibility, const child_page& selection);

}  // namespace hondana::git
