/// Owning pointers for libgit2 objects, and the initialization of libgit2 with a cap on single allocations.
#pragma once

#include <git2.h>

#include <cstddef>
#include <memory>
#include <string>
#include <string_view>

#include <hondana/error.hpp>

namespace hondana::git {

template <auto Free>
struct frees {
  template <class T>
  void operator()(T* of) const noexcept {
    Free(of);
  }
};

using repository_pointer = std::unique_ptr<git_repository, frees<git_repository_free>>;
using object_pointer = std::unique_ptr<git_object, frees<git_object_free>>;
using commit_pointer = std::unique_ptr<git_commit, frees<git_commit_free>>;
using tree_pointer = std::unique_ptr<git_tree, frees<git_tree_free>>;
using tree_entry_pointer = std::unique_ptr<git_tree_entry, frees<git_tree_entry_free>>;
using blob_pointer = std::unique_ptr<git_blob, frees<git_blob_free>>;
using tag_pointer = std::unique_ptr<git_tag, frees<git_tag_free>>;
using reference_pointer = std::unique_ptr<git_reference, frees<git_reference_free>>;
using reference_iterator_pointer = std::unique_ptr<git_reference_iterator, frees<git_reference_iterator_free>>;
using odb_pointer = std::unique_ptr<git_odb, frees<git_odb_free>>;
using odb_object_pointer = std::unique_ptr<git_odb_object, frees<git_odb_object_free>>;
using revwalk_pointer = std::unique_ptr<git_revwalk, frees<git_revwalk_free>>;
using index_pointer = std::unique_ptr<git_index, frees<git_index_free>>;
using diff_pointer = std::unique_ptr<git_diff, frees<git_diff_free>>;
using patch_pointer = std::unique_ptr<git_patch, frees<git_patch_free>>;
using config_pointer = std::unique_ptr<git_config, frees<git_config_free>>;

/// Readies libgit2 for this process, at the first call. It reads no configuration but the repository's own (not the system's,
/// nor a user's), refuses repositories of other owners as git does, and keeps few objects. Its variables of the environment
/// (GIT_DIR and the like) are never asked. Threads: any. Errors: source_unavailable.
[[nodiscard]] result<void> ready();

/// What libgit2 said last on this thread, for logs: it may name paths of this machine. Empty: nothing.
[[nodiscard]] std::string last_words();

/// A failure of libgit2, source_unavailable also for an object that the repository should have and has not (of a partial clone,
/// say): `what` is said to the peer, its own words to the log.
[[nodiscard]] tl::unexpected<failure> failed(std::string what);

/// Forty hexadecimal digits.
[[nodiscard]] std::string text_of(const git_oid& id);

/// The largest object of the room, 512 MiB, with what libgit2 puts behind it. It allocates what a pack says an object has, and
/// every object that one is a difference to, before it reads a byte of it.
constexpr std::size_t largest_allocation = std::size_t{513} << 20;

/// Has libgit2 take its memory from malloc, but never more than `largest_allocation` at once: then it is told that there is
/// none, and the call fails. Before `git_libgit2_init`. A code of libgit2.
[[nodiscard]] int bound_allocations();

}  // namespace hondana::git
