/// Lets go of the trees that were not asked for longest.
#include "sources/git/kept_trees.hpp"

#include <utility>

#include "base/ascii/characters.hpp"

namespace hondana::git {
namespace {

constexpr std::size_t most_tree_bytes = std::size_t{32} << 20;
// A folder and the one that it is in, however large they are.
constexpr std::size_t fewest_kept = 2;
// About what libgit2 has of an entry beside its name.
constexpr std::size_t bytes_of_entry = 64;

bool can_be_in_paths(std::string_view name) noexcept {
  return !name.empty() && name != "." && name != ".." && name.find('/') == std::string_view::npos &&
         name.find('\0') == std::string_view::npos && !ascii::is_same(name, ".git");
}

std::size_t size_in_memory(const git_tree* tree) noexcept {
  const auto count = git_tree_entrycount(tree);
  std::size_t bytes = count * bytes_of_entry;
  for (std::size_t i = 0; i < count; ++i)
    bytes += std::string_view(git_tree_entry_name(git_tree_entry_byindex(tree, i))).size();
  return bytes;
}

}  // namespace

result<std::optional<kept_trees::found>> kept_trees::find(const git_oid& tree, std::string_view name) {
  if (!can_be_in_paths(name)) return std::nullopt;
  HONDANA_TRY(const auto opened, open(tree));
  const auto* entry = git_tree_entry_byname(opened, std::string(name).c_str());
  if (entry == nullptr) return std::nullopt;
  return found{*git_tree_entry_id(entry), static_cast<std::uint32_t>(git_tree_entry_filemode_raw(entry))};
}

result<git_tree*> kept_trees::open(const git_oid& id) {
  std::string key(reinterpret_cast<const char*>(id.id), GIT_OID_RAWSZ);
  if (const auto known = by_id_.find(key); known != by_id_.end()) {
    all_.splice(all_.begin(), all_, known->second);
    return all_.front().tree.get();
  }
  HONDANA_TRY(asks_.ask());
  git_tree* raw = nullptr;
  if (git_tree_lookup(&raw, in_, &id) < 0)
    return failed("The tree " + text_of(id) +
                  " cannot be read: it is missing from the repository or damaged. Run `git fsck` in the repository.");
  ++reads_;
  all_.push_front({std::move(key), tree_pointer(raw), size_in_memory(raw)});
  by_id_.emplace(all_.front().id, all_.begin());
  bytes_ += all_.front().bytes;
  while (bytes_ > most_tree_bytes && all_.size() > fewest_kept) {
    bytes_ -= all_.back().bytes;
    by_id_.erase(all_.back().id);
    all_.pop_back();
  }
  return raw;
}

}  // namespace hondana::git
