/// Reads index files with the extensions that libgit2 lacks: split and sparse indexes.
#pragma once

#include <git2.h>

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include <hondana/error.hpp>

#include "sources/git/libgit2.hpp"

namespace hondana::git {

/// An entry of an index file. Only the members that git writes are set in `fields`; `fields.path` is null.
struct raw_index_entry {
  git_index_entry fields{};
  std::string
      path;  ///< Empty in a split index, if the entry replaces one of the shared index. Ends in a slash: a sparse folder.
};

/// An index file, as far as it is used.
struct raw_index {
  std::vector<raw_index_entry> entries;
  bool is_split = false;
  git_oid shared_id{};                  ///< Of a split index: names the file `sharedindex.ID`. All zero: there is none.
  std::vector<std::uint32_t> deleted;   ///< Positions in the shared index, in order.
  std::vector<std::uint32_t> replaced;  ///< Positions in the shared index, in order; the first entries replace these.
};

/// Parses an index file of version 2, 3 or 4. Does not verify its checksum. Errors: source_unavailable for a file that is
/// malformed, has more than 2 000 000 entries, an unknown mandatory extension, or positions beyond its limits.
/// Source: gitformat-index(5).
[[nodiscard]] result<raw_index> parse_index(std::string_view bytes);

/// Joins a split index with its shared one. Errors: source_unavailable for positions that do not exist.
[[nodiscard]] result<std::vector<raw_index_entry>> join_split_index(raw_index index, raw_index shared);

/// Reads the index of a work tree into memory, with the files below sparse folders. The result has no file. Errors:
/// source_unavailable; cancelled; response_too_large for more than 2 000 000 files.
[[nodiscard]] result<index_pointer> read_extended_index(git_repository* repo);

}  // namespace hondana::git
