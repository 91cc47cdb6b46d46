/// Reads commits, trees and blobs from the object database, and finds the entry at a path of a commit.
#include "sources/git/commit_store.hpp"

#include <fcntl.h>
#include <sys/stat.h>

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <cstring>
#include <system_error>

#include "base/bytes/digest.hpp"
#include "os/disk/file_descriptor.hpp"
#include "sources/git/object_parser.hpp"

namespace hondana::git {
namespace {

// Bytes of the file `shallow`, with a line for each commit at which a clone ends. No clone has so many.
constexpr std::size_t most_shallow_bytes = std::size_t{16} << 20;

constexpr std::string_view kind_name(git_object_t kind) noexcept {
  return kind == GIT_OBJECT_TREE ? "tree" : kind == GIT_OBJECT_BLOB ? "blob" : "commit";
}

/// The content of the repository's file `shallow`; empty if there is none.
result<std::string> shallow_text(git_repository* in) {
  const std::string path = std::string(git_repository_commondir(in)) + "shallow";
  const auto broken = [](std::string why) {
    return fail(errc::source_unavailable,
                "the history cannot be walked: the repository's file `shallow`, the boundary of a shallow clone, cannot be "
                "read; `git fetch --unshallow` removes it",
                std::move(why));
  };
  const disk::handle file(::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY));
  if (file.get() < 0) {
    if (errno == ENOENT) return std::string();
    return broken(std::strerror(errno));
  }
  struct stat about{};
  if (::fstat(file.get(), &about) != 0) return broken(std::strerror(errno));
  if (!S_ISREG(about.st_mode) || static_cast<std::uint64_t>(about.st_size) > most_shallow_bytes)
    return broken("no file of a likely size");
  std::string text(static_cast<std::size_t>(about.st_size), '\0');
  const auto count = disk::read_at(file.get(), text.data(), text.size(), 0);
  if (!count) return broken(std::strerror(count.error()));
  text.resize(*count);
  return text;
}

}  // namespace

std::size_t oid_hash::operator()(const git_oid& id) const noexcept {
  std::size_t front = 0;
  std::memcpy(&front, id.id, sizeof front);
  return front;
}

std::string_view object_bytes::text() const noexcept {
  return {static_cast<const char*>(git_odb_object_data(object_.get())), git_odb_object_size(object_.get())};
}

commit_store::commit_store(odb_pointer objects, std::vector<git_oid> shallow, std::string stamp) noexcept
    : objects_(std::move(objects)), shallow_(std::move(shallow)), shallow_stamp_(std::move(stamp)) {}

result<commit_store> commit_store::open(git_repository* in) {
  git_odb* raw = nullptr;
  if (const int code = git_repository_odb(&raw, in); code != 0)
    return failed("the history cannot be walked: the repository's objects cannot be read");
  odb_pointer objects(raw);
  auto text = shallow_text(in);
  if (!text) return tl::unexpected(std::move(text.error()));
  std::vector<git_oid> shallow;
  for (std::string_view rest = *text; !rest.empty();) {
    const auto line = rest.substr(0, rest.find('\n'));
    rest.remove_prefix(std::min(line.size() + 1, rest.size()));
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
  return commit_store(std::move(objects), std::move(shallow), std::move(stamp));
}

result<object_bytes> commit_store::object(const git_oid& id, git_object_t kind, std::uint64_t most) const {
  std::size_t size = 0;
  git_object_t found = GIT_OBJECT_INVALID;
  if (const int code = git_odb_read_header(&size, &found, objects_.get(), &id); code != 0) {
    const std::string what = std::string(kind_name(kind)) + ' ' + text_of(id);
    if (code == GIT_ENOTFOUND) return failed(what + " is missing from this repository; run `git fsck` for details");
    return failed(what + " cannot be read; run `git fsck` for details");
  }
  if (found != kind) {
    return fail(errc::invalid_argument, text_of(id) + " is not a " + std::string(kind_name(kind)) + " but a " +
                                            git_object_type2string(found) + "; give the id of a " +
                                            std::string(kind_name(kind)));
  }
  if (size > most) {
    return fail(errc::response_too_large, std::string(kind_name(kind)) + ' ' + text_of(id) + " has " + std::to_string(size) +
                                              " bytes, but at most " + std::to_string(most) + " are read");
  }
  git_odb_object* raw = nullptr;
  if (const int code = git_odb_read(&raw, objects_.get(), &id); code != 0)
    return failed(std::string(kind_name(kind)) + ' ' + text_of(id) + " cannot be read; run `git fsck` for details");
  return object_bytes(odb_object_pointer(raw));
}

result<object_bytes> commit_store::commit(const git_oid& id) const { return object(id, GIT_OBJECT_COMMIT, largest_object); }

result<object_bytes> commit_store::tree(const git_oid& id) const { return object(id, GIT_OBJECT_TREE, largest_object); }

result<object_bytes> commit_store::blob(const git_oid& id, std::uint64_t most) const {
  return object(id, GIT_OBJECT_BLOB, most);
}

result<commit_node> commit_store::read(const git_oid& id) const {
  HONDANA_TRY(auto bytes, commit(id));
  auto parts = parse_commit(bytes.text());
  if (!parts) {
    return fail(errc::source_unavailable,
                "commit " + text_of(id) + " is malformed: its tree or a parent is not an id; run `git fsck` for details");
  }
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
