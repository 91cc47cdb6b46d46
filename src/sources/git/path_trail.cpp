/// Goes down one path and reads nothing beside it.
#include "sources/git/path_trail.hpp"

#include <algorithm>
#include <charconv>
#include <system_error>

namespace hondana::git {
namespace {

/// The empty tree's id is the same everywhere.
constexpr git_oid empty_tree{
    {0x4b, 0x82, 0x5d, 0xc6, 0x42, 0xcb, 0x6e, 0xb9, 0xa0, 0x60, 0xe5, 0x4b, 0xf8, 0xd6, 0x92, 0x88, 0xfb, 0xee, 0x49, 0x04}};

constexpr std::uint32_t canonical_mode(std::uint32_t raw) noexcept {
  switch (raw & 0170000U) {
    case 0100000U:
      return (raw & 0100U) != 0 ? GIT_FILEMODE_BLOB_EXECUTABLE : GIT_FILEMODE_BLOB;
    case 0120000U:
      return GIT_FILEMODE_LINK;
    case 0040000U:
      return GIT_FILEMODE_TREE;
    default:
      return GIT_FILEMODE_COMMIT;
  }
}

/// Entries are sorted, but not by name alone, and not for sure: all are looked at.
result<path_entry> entry_in(std::string_view tree, std::string_view name, const git_oid& id) {
  const auto malformed = [&id] {
    return fail(errc::source_unavailable, "tree " + text_of(id) + " is malformed; run `git fsck` for details");
  };
  while (!tree.empty()) {
    const auto space = tree.find(' ');
    if (space == std::string_view::npos) return malformed();
    const auto end = tree.find('\0', space);
    if (end == std::string_view::npos || tree.size() - end <= GIT_OID_RAWSZ) return malformed();
    if (tree.substr(space + 1, end - space - 1) == name) {
      std::uint32_t mode = 0;
      const auto [last, error] = std::from_chars(tree.data(), tree.data() + space, mode, 8);
      if (error != std::errc{} || last != tree.data() + space) return malformed();
      path_entry found;
      found.mode = canonical_mode(mode);
      std::copy_n(tree.data() + end + 1, GIT_OID_RAWSZ, reinterpret_cast<char*>(found.id.id));
      return found;
    }
    tree.remove_prefix(end + 1 + GIT_OID_RAWSZ);
  }
  return path_entry{};
}

}  // namespace

path_steps::path_steps(std::string_view path) {
  while (!path.empty()) {
    const auto step = path.substr(0, path.find('/'));
    if (!step.empty()) steps_.emplace_back(step);
    path.remove_prefix(std::min(step.size() + 1, path.size()));
  }
}

result<path_trail> path_steps::trail(const commit_store& in, const git_oid& root, const path_trail* like) const {
  path_trail found;
  found.entry = {root, GIT_FILEMODE_TREE};
  for (std::size_t depth = 0; depth < steps_.size(); ++depth) {
    const auto here = found.entry.id;
    if (like != nullptr && depth < like->trees.size() && git_oid_equal(&like->trees[depth], &here) != 0) {
      found.trees.insert(found.trees.end(), like->trees.begin() + static_cast<std::ptrdiff_t>(depth), like->trees.end());
      found.entry = like->entry;
      return found;
    }
    found.trees.push_back(here);
    HONDANA_TRY(const auto tree, in.tree(here));
    HONDANA_TRY(auto entry, entry_in(tree.text(), steps_[depth], here));
    const bool is_last = depth + 1 == steps_.size();
    if (!entry.is_there() || (!is_last && !entry.is_folder())) {
      found.entry = {};
      return found;
    }
    found.entry = entry;
  }
  if (found.entry.is_folder() && git_oid_equal(&found.entry.id, &empty_tree) != 0) found.entry = {};
  return found;
}

}  // namespace hondana::git
