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
#include "sources/git/work_tree.hpp"

namespace hondana::git {

/// The kind of an entry in its mode.
inline constexpr std::uint32_t kind_bits = 0170000, regular_kind = 0100000, link_kind = 0120000, folder_kind = 0040000,
                               submodule_kind = 0160000;
[[nodiscard]] constexpr bool is_regular(std::uint32_t mode) noexcept { return (mode & kind_bits) == regular_kind; }

/// The content of a blob, of a file or link of the work tree, or the line that represents a submodule. Empty if there is none.
struct side_content {
  std::variant<std::string, odb_object_pointer> data{};
  /// It has a NUL among its first 8000 bytes, or is larger than the limit. Attributes are not used.
  bool is_binary = false;
  bool is_complete = true;  ///< False: it is larger than the limit, and was not read.

  [[nodiscard]] std::string_view bytes() const noexcept;
};

/// Reads contents of one repository exactly as they are stored: without filters, textconv and attributes.
class side_contents {
 public:
  explicit side_contents(git_repository* repo) noexcept : repo_(repo) {}

  /// Errors: source_unavailable for objects that are missing, damaged, or not blobs.
  [[nodiscard]] result<std::uint64_t> size_of(const diff_side& side);
  [[nodiscard]] result<side_content> read(const diff_side& side, std::uint64_t max_bytes);
  /// Whether it is an object that the repository lacks, as in a partial clone.
  [[nodiscard]] bool lacks(const diff_side& side);

 private:
  [[nodiscard]] result<git_odb*> ensure_odb();
  [[nodiscard]] result<const work_tree*> ensure_work_tree();

  git_repository* repo_;
  odb_pointer odb_;
  std::optional<work_tree> work_tree_;
};

}  // namespace hondana::git
