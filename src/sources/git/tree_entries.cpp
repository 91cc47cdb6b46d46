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

result<tree_pointer> open_tree(git_repository* in, const git_oid& id) {
  git_tree* raw = nullptr;
  if (const int code = git_tree_lookup(&raw, in, &id); code < 0)
    return fail(errc::source_unavailable,
                "The tree " + text_of(id) +
                    " cannot be read: it is missing from the repository or damaged. Run `git fsck` in the repository.",
                last_words());
  return tree_pointer(raw);
}

bool is_name(std::string_view name) noexcept {
  return !name.empty() && name != "." && name != ".." && name.find('/') == std::string_view::npos &&
         !ascii::is_same(name, ".git");
}

bool is_mode_of_folder(const git_tree_entry* one) noexcept {
  return (static_cast<std::uint32_t>(git_tree_entry_filemode_raw(one)) & kind_bits) == folder_kind;
}

tree_entry entry_from(const git_tree_entry* one) {
  return {git_tree_entry_name(one), *git_tree_entry_id(one), static_cast<std::uint32_t>(git_tree_entry_filemode_raw(one))};
}

/// The order of entries in trees: as if names of folders ended in a slash.
bool is_sorted_before(const git_tree_entry* a, const git_tree_entry* b) noexcept {
  const std::string_view x = git_tree_entry_name(a), y = git_tree_entry_name(b);
  const auto shorter = std::min(x.size(), y.size());
  if (const int order = x.substr(0, shorter).compare(y.substr(0, shorter)); order != 0) return order < 0;
  const auto behind = [shorter](std::string_view name, const git_tree_entry* one) -> unsigned char {
    if (name.size() > shorter) return static_cast<unsigned char>(name[shorter]);
    return is_mode_of_folder(one) ? '/' : '\0';
  };
  return behind(x, a) < behind(y, b);
}

bool is_sorted_tree(const git_tree* all) noexcept {
  const auto count = git_tree_entrycount(all);
  for (std::size_t place = 1; place < count; ++place)
    if (is_sorted_before(git_tree_entry_byindex(all, place), git_tree_entry_byindex(all, place - 1))) return false;
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

failure missing_file(std::string_view path) {
  return {errc::resource_not_found,
          "path: " + in_quotes(path, 400) + " does not exist at that revision. List the tree of its folder.",
          {}};
}

result<tree_entry> find_entry(git_repository* in, const git_oid& tree, std::string_view path) {
  tree_entry at{{}, tree, folder_kind};
  for (auto rest = path; !rest.empty();) {
    const auto name = rest.substr(0, rest.find('/'));
    rest.remove_prefix(std::min(rest.size(), name.size() + 1));
    if (!at.is_folder() || !is_name(name)) return tl::unexpected(missing_file(path));
    HONDANA_TRY(const auto folder, open_tree(in, at.id));
    const auto* found = git_tree_entry_byname(folder.get(), std::string(name).c_str());
    if (found == nullptr) return tl::unexpected(missing_file(path));
    at = entry_from(found);
  }
  return at;
}

result<tree_listing> tree_listing::open(git_repository* in, const git_oid& tree) {
  HONDANA_TRY(auto opened, open_tree(in, tree));
  if (git_tree_entrycount(opened.get()) > most_entries)
    return fail(errc::response_too_large, "The tree " + text_of(tree) + " has more than " + std::to_string(most_entries) +
                                              " entries, too many to list. Read its entries by path.");
  if (!is_sorted_tree(opened.get()))
    return fail(errc::source_unavailable,
                "The tree " + text_of(tree) +
                    " cannot be listed: its entries are not sorted (`git fsck`: treeNotSorted). Rewrite it with git.");
  return tree_listing(std::move(opened));
}

std::size_t tree_listing::size() const noexcept { return git_tree_entrycount(tree_.get()); }

bool tree_listing::is_sound(std::size_t place) const noexcept { return is_name(name(place)); }

std::string_view tree_listing::name(std::size_t place) const noexcept {
  return git_tree_entry_name(git_tree_entry_byindex(tree_.get(), place));
}

bool tree_listing::is_folder(std::size_t place) const noexcept {
  return is_mode_of_folder(git_tree_entry_byindex(tree_.get(), place));
}

tree_entry tree_listing::at(std::size_t place) const { return entry_from(git_tree_entry_byindex(tree_.get(), place)); }

result<found_folder> find_folder(git_repository* in, const address& at, const concealment& hides) {
  if (const auto why = hides.secret_at(at.path, true); !why.empty())
    return tl::unexpected(concealment::refusal_of(at.path, why));
  HONDANA_TRY(const auto rev, resolve(in, at.rev, "rev"));
  HONDANA_TRY(const auto entry, find_entry(in, rev.tree, at.path));
  if (!entry.is_folder() && !hides.shows_file(at.rev, at.path)) return tl::unexpected(missing_file(at.path));
  if (!entry.is_folder())
    return fail(errc::invalid_argument, "path: " + in_quotes(at.path, 400) + " is not a folder. Read it as blob/REV/PATH.");
  return found_folder{entry.id, rev.is_fixed};
}

address address_of(const address& folder, const tree_entry& one) {
  return {.repo = folder.repo,
          .what = one.is_folder() ? topic::tree : topic::blob,
          .rev = folder.rev,
          .path = folder.path.empty() ? one.name : folder.path + '/' + one.name};
}

entry_sight sight_of(const tree_entry& one, const address& folder, const concealment& hides) {
  const auto at = address_of(folder, one);
  const auto uri = uri_of(at);
  if (!hides.secret_at(at.path, one.is_folder() || one.is_submodule()).empty())
    return hides.allows(uri, one.kind()) ? entry_sight::secret : entry_sight::hidden;
  const bool is_shown = uri.size() <= max_uri_bytes && hides.lists(uri, at.path, one.is_folder(), one.kind());
  return is_shown ? entry_sight::shown : entry_sight::hidden;
}

}  // namespace hondana::git
