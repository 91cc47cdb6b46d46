/// Entries of trees: lookup by path, listing, and whether a caller may see them.
#include "sources/git/tree_entries.hpp"

#include <algorithm>
#include <utility>

#include <hondana/uri.hpp>

#include "base/ascii/ascii.hpp"
#include "sources/git/diff_content.hpp"
#include "sources/git/revision.hpp"
#include "sources/git/text_escaping.hpp"

namespace hondana::git {
namespace {

result<tree_pointer> open_tree(git_repository* repo, const git_oid& id) {
  git_tree* raw = nullptr;
  if (const int code = git_tree_lookup(&raw, repo, &id); code < 0)
    return fail(errc::source_unavailable,
                "The tree " + to_hex(id) +
                    " cannot be read: it is missing from the repository or damaged. Run `git fsck` in the repository.",
                last_error_message());
  return tree_pointer(raw);
}

bool is_valid_name(std::string_view name) noexcept {
  return !name.empty() && name != "." && name != ".." && name.find('/') == std::string_view::npos &&
         !ascii::equals_ignore_case(name, ".git");
}

bool is_folder_entry(const git_tree_entry* entry) noexcept {
  return (static_cast<std::uint32_t>(git_tree_entry_filemode_raw(entry)) & kind_bits) == folder_kind;
}

tree_entry make_entry(const git_tree_entry* entry) {
  return {git_tree_entry_name(entry), *git_tree_entry_id(entry),
          static_cast<std::uint32_t>(git_tree_entry_filemode_raw(entry))};
}

/// The order of entries in trees: as if names of folders ended in a slash.
bool is_sorted_before(const git_tree_entry* a, const git_tree_entry* b) noexcept {
  const std::string_view x = git_tree_entry_name(a), y = git_tree_entry_name(b);
  const auto prefix_bytes = std::min(x.size(), y.size());
  if (const int order = x.substr(0, prefix_bytes).compare(y.substr(0, prefix_bytes)); order != 0) return order < 0;
  const auto byte_after = [prefix_bytes](std::string_view name, const git_tree_entry* entry) -> unsigned char {
    if (name.size() > prefix_bytes) return static_cast<unsigned char>(name[prefix_bytes]);
    return is_folder_entry(entry) ? '/' : '\0';
  };
  return byte_after(x, a) < byte_after(y, b);
}

bool is_sorted_tree(const git_tree* tree) noexcept {
  const auto count = git_tree_entrycount(tree);
  for (std::size_t i = 1; i < count; ++i)
    if (is_sorted_before(git_tree_entry_byindex(tree, i), git_tree_entry_byindex(tree, i - 1))) return false;
  return true;
}

}  // namespace

bool tree_entry::is_folder() const noexcept { return (mode & kind_bits) == folder_kind; }
bool tree_entry::is_link() const noexcept { return (mode & kind_bits) == link_kind; }
bool tree_entry::is_submodule() const noexcept { return (mode & kind_bits) == submodule_kind; }

std::string_view tree_entry::kind() const noexcept {
  if (is_folder()) return "tree";
  if (is_link()) return "link";
  return is_submodule() ? "submodule" : "blob";
}

failure missing_file_error(std::string_view path) {
  return {errc::resource_not_found,
          "path: " + quote(path, 400) + " does not exist at that revision. List the tree of its folder.",
          {}};
}

result<tree_entry> find_entry(git_repository* repo, const git_oid& tree, std::string_view path) {
  tree_entry entry{{}, tree, folder_kind};
  for (auto remaining = path; !remaining.empty();) {
    const auto name = remaining.substr(0, remaining.find('/'));
    remaining.remove_prefix(std::min(remaining.size(), name.size() + 1));
    if (!entry.is_folder() || !is_valid_name(name)) return tl::unexpected(missing_file_error(path));
    HONDANA_TRY(const auto folder, open_tree(repo, entry.id));
    const auto* child = git_tree_entry_byname(folder.get(), std::string(name).c_str());
    if (child == nullptr) return tl::unexpected(missing_file_error(path));
    entry = make_entry(child);
  }
  return entry;
}

result<tree_listing> tree_listing::open(git_repository* repo, const git_oid& tree) {
  HONDANA_TRY(auto opened, open_tree(repo, tree));
  if (git_tree_entrycount(opened.get()) > max_entries)
    return fail(errc::response_too_large, "The tree " + to_hex(tree) + " has more than " + std::to_string(max_entries) +
                                              " entries, too many to list. Read its entries by path.");
  if (!is_sorted_tree(opened.get()))
    return fail(errc::source_unavailable,
                "The tree " + to_hex(tree) +
                    " cannot be listed: its entries are not sorted (`git fsck`: treeNotSorted). Rewrite it with git.");
  return tree_listing(std::move(opened));
}

std::size_t tree_listing::size() const noexcept { return git_tree_entrycount(tree_.get()); }

bool tree_listing::is_valid(std::size_t index) const noexcept { return is_valid_name(name(index)); }

std::string_view tree_listing::name(std::size_t index) const noexcept {
  return git_tree_entry_name(git_tree_entry_byindex(tree_.get(), index));
}

bool tree_listing::is_folder(std::size_t index) const noexcept {
  return is_folder_entry(git_tree_entry_byindex(tree_.get(), index));
}

tree_entry tree_listing::at(std::size_t index) const { return make_entry(git_tree_entry_byindex(tree_.get(), index)); }

result<resolved_folder> find_folder(git_repository* repo, const address& address, const visibility_filter& visibility) {
  if (const auto reason = visibility.hidden_reason(address.path, true); !reason.empty())
    return tl::unexpected(visibility_filter::hidden_error(address.path, reason));
  HONDANA_TRY(const auto rev, resolve_tree(repo, address.rev, "rev"));
  HONDANA_TRY(const auto entry, find_entry(repo, rev.tree, address.path));
  if (!entry.is_folder() && !visibility.shows_file(address.rev, address.path))
    return tl::unexpected(missing_file_error(address.path));
  if (!entry.is_folder())
    return fail(errc::invalid_argument, "path: " + quote(address.path, 400) + " is not a folder. Read it as blob/REV/PATH.");
  return resolved_folder{entry.id, rev.is_fixed};
}

address entry_address(const address& folder, const tree_entry& entry) {
  return {.repo = folder.repo,
          .kind = entry.is_folder() ? resource_kind::tree : resource_kind::blob,
          .rev = folder.rev,
          .path = folder.path.empty() ? entry.name : folder.path + '/' + entry.name};
}

entry_visibility visibility_of(const tree_entry& entry, const address& folder, const visibility_filter& visibility) {
  const auto target = entry_address(folder, entry);
  const auto uri = uri_of(target);
  if (!visibility.hidden_reason(target.path, entry.is_folder() || entry.is_submodule()).empty())
    return visibility.allows(uri, entry.kind()) ? entry_visibility::secret : entry_visibility::hidden;
  const bool is_visible = uri.size() <= max_uri_bytes && visibility.lists(uri, target.path, entry.is_folder(), entry.kind());
  return is_visible ? entry_visibility::visible : entry_visibility::hidden;
}

}  // namespace hondana::git
