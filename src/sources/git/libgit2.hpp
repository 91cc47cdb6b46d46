/// Owning pointers for libgit2 objects, and the initialization of libgit2 with a cap on single allocations.
#pragma once

#include <git2.h>

#include <cstddef>
#include <memory>
#include <string>
#include <string_view>

#include <hondana/error.hpp>

namespace hondana::git {

/// A deleter that calls a function of libgit2.
template <auto Free>
struct libgit2_deleter {
  template <class T>
  void operator()(T* object) const noexcept {
    Free(object);
  }
};

using repository_pointer = std::unique_ptr<git_repository, libgit2_deleter<git_repository_free>>;
using object_pointer = std::unique_ptr<git_object, libgit2_deleter<git_object_free>>;
using commit_pointer = std::unique_ptr<git_commit, libgit2_deleter<git_commit_free>>;
using tree_pointer = std::unique_ptr<git_tree, libgit2_deleter<git_tree_free>>;
using tree_entry_pointer = std::unique_ptr<git_tree_entry, libgit2_deleter<git_tree_entry_free>>;
using blob_pointer = std::unique_ptr<git_blob, libgit2_deleter<git_blob_free>>;
using tag_pointer = std::unique_ptr<git_tag, libgit2_deleter<git_tag_free>>;
using reference_pointer = std::unique_ptr<git_reference, libgit2_deleter<git_reference_free>>;
using reference_iterator_pointer = std::unique_ptr<git_reference_iterator, libgit2_deleter<git_reference_iterator_free>>;
using odb_pointer = std::unique_ptr<git_odb, libgit2_deleter<git_odb_free>>;
using odb_object_pointer = std::unique_ptr<git_odb_object, libgit2_deleter<git_odb_object_free>>;
using revwalk_pointer = std::unique_ptr<git_revwalk, libgit2_deleter<git_revwalk_free>>;
using index_pointer = std::unique_ptr<git_index, libgit2_deleter<git_index_free>>;
using diff_pointer = std::unique_ptr<git_diff, libgit2_deleter<git_diff_free>>;
using patch_pointer = std::unique_ptr<git_patch, libgit2_deleter<git_patch_free>>;
using config_pointer = std::unique_ptr<git_config, libgit2_deleter<git_config_free>>;

/// Initializes libgit2 for this process, at the first call. From then on, libgit2 ignores the configuration of the system and
/// of users. It rejects repositories of other owners as git does, verifies the ids of objects, and caches few objects. Threads:
/// any. Errors: source_unavailable.
[[nodiscard]] result<void> initialize_libgit2();

/// The last error message of libgit2 on this thread. For logs only: it may contain paths of this machine. Empty: none.
[[nodiscard]] std::string last_error_message();

/// Makes the error source_unavailable after a failure of libgit2. The client gets `message`, and the log `last_error_message`.
[[nodiscard]] tl::unexpected<failure> libgit2_failure(std::string message);

/// The id as forty hexadecimal digits.
[[nodiscard]] std::string to_hex(const git_oid& id);

/// The largest object, 512 MiB, and what libgit2 adds to it. The limit is necessary because libgit2 allocates the size that a
/// pack states for an object before it reads any bytes.
constexpr std::size_t max_allocation_bytes = std::size_t{513} << 20;

/// Makes libgit2 use an allocator that fails above `max_allocation_bytes`. Call it before `git_libgit2_init`. Returns a code of
/// libgit2; below 0: an error.
[[nodiscard]] int limit_allocations();

}  // namespace hondana::git
