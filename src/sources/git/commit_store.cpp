/// Reads commits, trees and blobs from the object database, and finds the entry at a path of a commit.
#include "sources/git/commit_store.hpp"

#include <fcntl.h>

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <cstring>
#include <system_error>

#include "base/bytes/digest.hpp"
#include "os/disk/file_descriptor.hpp"
#include "os/disk/whole_file.hpp"
#include "sources/git/object_parser.hpp"

namespace hondana::git {
namespace {

// Bytes of the file `shallow`, with a line for each commit at which a clone ends. No clone has so many.
constexpr std::size_t max_shallow_bytes = std::size_t{16} << 20;

constexpr std::string_view kind_name(git_object_t kind) noexcept {
  return kind == GIT_OBJECT_TREE ? "tree" : kind == GIT_OBJECT_BLOB ? "blob" : "commit";
}

/// The content of the repository's file `shallow`; empty if there is none.
result<std::string> read_shallow_file(git_repository* repo) {
  const std::string path = std::string(git_repository_commondir(repo)) + "shallow";
  const auto shallow_error = [](std::string reason) {
    return fail(errc::source_unavailable,
                "the history cannot be walked: the repository's file `shallow`, the boundary of a shallow clone, cannot be "
                "read; `git fetch --unshallow` removes it",
                std::move(reason));
  };
  const disk::handle file(::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY));
  if (file.get() < 0) {
    if (errno == ENOENT) return std::string();
    return shallow_error(std::strerror(errno));
  }
  auto whole = disk::read_whole(file.get(), max_shallow_bytes);
  if (!whole) return shallow_error(std::strerror(whole.error()));
  if (whole->is_too_large()) return shallow_error("no file of a likely size");
  return std::move(whole->bytes);
}

}  // namespace

std::size_t oid_hash::operator()(const git_oid& id) const noexcept {
  std::size_t hash = 0;
  std::memcpy(&hash, id.id, sizeof hash);
  return hash;
}

std::string_view object_bytes::text() const noexcept {
  return {static_cast<const char*>(git_odb_object_data(object_.get())), git_odb_object_size(object_.get())};
}

commit_store::commit_store(git_repository* repo, odb_pointer odb, std::vector<git_oid> shallow, std::string shallow_stamp,
                           std::shared_ptr<const history_overrides> overrides, mailmap people)
    : repo_(repo),
      odb_(std::move(odb)),
      shallow_(std::move(shallow)),
      overrides_(std::move(overrides)),
      people_(std::move(people)),
      shallow_stamp_(std::move(shallow_stamp)),
      history_stamp_(overrides_->stamp.empty() ? shallow_stamp_ : shallow_stamp_ + '.' + overrides_->stamp),
      stamp_(people_.stamp().empty() ? history_stamp_ : history_stamp_ + '.' + people_.stamp()) {}

void commit_store::apply_graft(const git_oid& id, std::vector<git_oid>& parents) const {
  if (const auto graft = overrides_->grafted.find(id); graft != overrides_->grafted.end()) parents = graft->second;
}

result<commit_store> commit_store::open(git_repository* repo) {
  HONDANA_TRY(auto people, mailmap::read(repo));
  return open_with(repo, std::move(people));
}

result<commit_store> commit_store::open_without_people(git_repository* repo) { return open_with(repo, {}); }

result<commit_store> commit_store::open_with(git_repository* repo, mailmap people) {
  git_odb* raw = nullptr;
  if (const int code = git_repository_odb(&raw, repo); code != 0)
    return libgit2_failure("the history cannot be walked: the repository's objects cannot be read");
  odb_pointer odb(raw);
  auto text = read_shallow_file(repo);
  if (!text) return tl::unexpected(std::move(text.error()));
  std::vector<git_oid> shallow;
  for (std::string_view remaining = *text; !remaining.empty();) {
    const auto line = remaining.substr(0, remaining.find('\n'));
    remaining.remove_prefix(std::min(line.size() + 1, remaining.size()));
    git_oid id{};
    if (line.size() != GIT_OID_HEXSZ || git_oid_fromstrn(&id, line.data(), line.size()) != 0) {
      return fail(errc::source_unavailable,
                  "the history cannot be walked: a line of the repository's file `shallow` is not a commit id; `git fetch "
                  "--unshallow` removes it");
    }
    shallow.push_back(id);
  }
  std::sort(shallow.begin(), shallow.end(), oid_order());
  auto stamp = shallow.empty() ? std::string() : bytes::to_hex(bytes::digest_of(*text));
  return commit_store(repo, std::move(odb), std::move(shallow), std::move(stamp), read_history_overrides(repo),
                      std::move(people));
}

result<object_bytes> commit_store::object(const git_oid& id, git_object_t kind, std::uint64_t max_bytes) const {
  std::size_t size = 0;
  git_object_t actual_kind = GIT_OBJECT_INVALID;
  if (const int code = git_odb_read_header(&size, &actual_kind, odb_.get(), &id); code != 0) {
    const std::string name = std::string(kind_name(kind)) + ' ' + to_hex(id);
    if (code == GIT_ENOTFOUND) return libgit2_failure(name + ' ' + std::string(missing_object_reason(repo_)));
    return libgit2_failure(name + " cannot be read; run `git fsck` for details");
  }
  if (actual_kind != kind) {
    return fail(errc::invalid_argument, to_hex(id) + " is not a " + std::string(kind_name(kind)) + " but a " +
                                            git_object_type2string(actual_kind) + "; give the id of a " +
                                            std::string(kind_name(kind)));
  }
  if (size > max_bytes) {
    return fail(errc::response_too_large, std::string(kind_name(kind)) + ' ' + to_hex(id) + " has " + std::to_string(size) +
                                              " bytes, but at most " + std::to_string(max_bytes) + " are read");
  }
  git_odb_object* raw = nullptr;
  if (const int code = git_odb_read(&raw, odb_.get(), &id); code != 0)
    return libgit2_failure(std::string(kind_name(kind)) + ' ' + to_hex(id) + " cannot be read; run `git fsck` for details");
  return object_bytes(odb_object_pointer(raw));
}

result<object_bytes> commit_store::commit(const git_oid& id) const {
  return object(overrides_->actual_id(id), GIT_OBJECT_COMMIT, max_object_bytes);
}

result<object_bytes> commit_store::tree(const git_oid& id) const { return object(id, GIT_OBJECT_TREE, max_object_bytes); }

result<object_bytes> commit_store::blob(const git_oid& id, std::uint64_t max_bytes) const {
  return object(id, GIT_OBJECT_BLOB, max_bytes);
}

result<commit_node> commit_store::read(const git_oid& id) const {
  HONDANA_TRY(auto bytes, commit(id));
  auto parts = parse_commit(bytes.text());
  if (!parts) {
    return fail(errc::source_unavailable,
                "commit " + to_hex(id) + " is malformed: its tree or a parent is not an id; run `git fsck` for details");
  }
  apply_graft(id, parts->parents);
  if (std::binary_search(shallow_.begin(), shallow_.end(), id, oid_order())) parts->parents.clear();
  return commit_node{id, parts->tree, std::move(parts->parents), parts->time};
}

namespace {

/// The id of the empty tree, which is the same in every repository.
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

/// Finds an entry by name. Examines all entries: they are not sorted by name alone, and a broken tree may not be sorted at all.
result<path_entry> find_in_tree(std::string_view tree, std::string_view name, const git_oid& id) {
  const auto malformed = [&id] {
    return fail(errc::source_unavailable, "tree " + to_hex(id) + " is malformed; run `git fsck` for details");
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
      path_entry entry;
      entry.mode = canonical_mode(mode);
      std::copy_n(tree.data() + end + 1, GIT_OID_RAWSZ, reinterpret_cast<char*>(entry.id.id));
      return entry;
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

result<path_trail> path_steps::trail(const commit_store& store, const git_oid& root, const path_trail* similar) const {
  path_trail current;
  current.entry = {root, GIT_FILEMODE_TREE};
  for (std::size_t depth = 0; depth < steps_.size(); ++depth) {
    const auto tree_id = current.entry.id;
    if (similar != nullptr && depth < similar->trees.size() && git_oid_equal(&similar->trees[depth], &tree_id) != 0) {
      current.trees.insert(current.trees.end(), similar->trees.begin() + static_cast<std::ptrdiff_t>(depth),
                           similar->trees.end());
      current.entry = similar->entry;
      return current;
    }
    current.trees.push_back(tree_id);
    HONDANA_TRY(const auto tree, store.tree(tree_id));
    HONDANA_TRY(auto entry, find_in_tree(tree.text(), steps_[depth], tree_id));
    const bool is_last = depth + 1 == steps_.size();
    if (!entry.exists() || (!is_last && !entry.is_folder())) {
      current.entry = {};
      return current;
    }
    current.entry = entry;
  }
  if (current.entry.is_folder() && git_oid_equal(&current.entry.id, &empty_tree) != 0) current.entry = {};
  return current;
}

}  // namespace hondana::git
