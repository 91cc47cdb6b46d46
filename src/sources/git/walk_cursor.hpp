/// Where a walk was left, as a text that clients keep.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include <hondana/error.hpp>

#include "base/bytes/digest.hpp"
#include "sources/git/walk.hpp"

namespace hondana::git {

/// `log` is the digest of all that makes the walk what it is; `note` is for who walks, at most 4 KiB.
[[nodiscard]] std::string cursor_of(const walk_state& at, const bytes::digest& log, std::string_view note = {});

struct parsed_cursor {
  walk_state at;
  std::string note;
};
/// Nothing for what `cursor_of` does not write, and for another log's. It tells mistakes from cursors; who forges one sees
/// commits of the repository that exist, in an order of their own, and no more.
[[nodiscard]] std::optional<parsed_cursor> parse_cursor(std::string_view text, const bytes::digest& log);

/// Begins a walk, or goes on where `cursor` says unless it is empty; its note. Errors: invalid_argument for what is no cursor
/// of this log; those of the walk.
[[nodiscard]] result<std::string> begin_walk(walk& through, std::string_view cursor, const bytes::digest& log);

}  // namespace hondana::git
