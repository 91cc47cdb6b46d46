/// Reads the content of one side of a changed file, from a blob or from the work tree.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <variant>

#include <hondana/error.hpp>

#include "sources/git/diff.hpp"
#include "sources/git/libgit2.hpp"
#include "sources/git/stored_form.hpp"
#include "sources/git/work_tree.hpp"

namespace hondana::git {

/// Bits of a mode that say what an entry is.
inline constexpr std::uint32_t kind_bits = 0170000, regular_kind = 0100000, link_kind = 0120000, folder_kind = 0040000,
                               submodule_kind = 0160000;
[[nodiscard]] constexpr bool is_regular(std::uint32_t mode) noexcept { return (mode & kind_bits) == regular_kind; }

/// The content of one side: of a blob, of a file or link in the work tree, or the line that represents a submodule. Empty if
/// the side does not exist.
struct side_content {
  std::variant<std::string, odb_object_pointer> data{};
  /// The content has a NUL among its first 8000 bytes, or is larger than the limit. Does not depend on attributes.
  bool is_binary = false;
  bool is_complete = true;  ///< False: the content is larger than the limit, and was not read.

  [[nodiscard]] std::string_view bytes() const noexcept;
};

/// Reads contents of one repository as they are stored, without textconv. Files of the work tree are converted (`stored_form`).
/// Threads: as the repository's handle.
class side_contents {
 public:
  explicit side_contents(git_repository* repo) noexcept : repo_(repo), stored_form_(repo) {}

  /// Returns the size of the content in bytes; of a file in the work tree, before its conversion. Errors: source_unavailable
  /// for objects that are missing, damaged, or not blobs; those of `work_tree::inspect`.
  [[nodiscard]] result<std::uint64_t> size_of(const diff_side& side);
  /// Reads the content, unless it is larger than `max_bytes`; see `side_content`. Errors: as `size_of`, and those of
  /// `work_tree::read`.
  [[nodiscard]] result<side_content> read(const diff_side& side, std::uint64_t max_bytes);
  /// Whether the content is in an object that the repository lacks, as in a partial clone. False if that is unknown.
  [[nodiscard]] bool lacks(const diff_side& side);
  [[nodiscard]] git_repository* repo() const noexcept { return repo_; }

 private:
  // Open the object database and the work tree at the first call.
  [[nodiscard]] result<git_odb*> ensure_odb();
  [[nodiscard]] result<const work_tree*> ensure_work_tree();

  git_repository* repo_;
  odb_pointer odb_;
  std::optional<work_tree> work_tree_;
  stored_form stored_form_;
};

}  // namespace hondana::git
