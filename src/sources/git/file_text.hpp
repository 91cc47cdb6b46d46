/// Contents of files at revisions, as they are served.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include <hondana/error.hpp>

#include "sources/git/address.hpp"
#include "sources/git/rendering.hpp"
#include "sources/git/tree_entries.hpp"

namespace hondana::git {

/// What is read whole into memory, since libgit2 streams no packed objects.
inline constexpr std::uint64_t largest_blob = std::uint64_t{64} << 20;

/// The bytes of a blob, secrets masked.
struct file_text {
  std::string bytes;
  bool is_text = false;
  std::string encoding;    ///< What the text was in before it was made UTF-8; empty: it was.
  std::size_t masked = 0;  ///< Secrets.
};

/// A file's entry at a revision, checked against names of secrets.
struct found_file {
  tree_entry entry;
  git_oid commit{};
  git_oid tree{};  ///< Of the revision.
  bool is_fixed = false;
};

/// Errors: of `resolve`; resource_not_found also for files of secrets, saying why; invalid_argument for a folder.
[[nodiscard]] result<found_file> find_file(const asking& what);

/// Errors: response_too_large beyond `most` or `largest_blob`, naming size and limit; source_unavailable.
[[nodiscard]] result<file_text> read_file(const asking& what, const tree_entry& of, std::uint64_t most);

/// The lines that are asked for; all of it without a range. Errors: invalid_argument, naming `lines`.
[[nodiscard]] result<std::string_view> cut_lines(std::string_view text, const std::optional<line_range>& wanted);

}  // namespace hondana::git
