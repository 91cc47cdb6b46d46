/// A commit as it lies in the object store, cut into its parts.
#pragma once

#include <cstdint>
#include <limits>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "sources/git/library.hpp"

namespace hondana::git {

inline constexpr std::uint64_t latest_time = std::numeric_limits<std::uint64_t>::max() - 1;

/// Nothing is copied or converted: the texts lie in the bytes that were parsed.
struct commit_parts {
  git_oid tree{};
  std::vector<git_oid> parents;
  std::string_view author, committer;  ///< What stands behind the keyword; empty: there is none.
  std::string_view encoding;           ///< Of names and message; empty: not said.
  std::string_view message;            ///< Up to a NUL, where git takes it to end, too.
  /// The committer's time, by which git sorts: what is no number is 0, and a negative one wraps round to the far future; at
  /// most `latest_time`.
  std::uint64_t time = 0;
};

/// Only the tree and the parents must be well-formed; nothing: they are not.
[[nodiscard]] std::optional<commit_parts> parse_commit(std::string_view bytes);

/// `Name <email> 1700000000 +0900`, cut as git cuts it.
struct identity {
  std::string_view name, email;
  std::string_view who;   ///< Both, as a filter for authors sees them: everything up to the last `>`.
  std::int64_t time = 0;  ///< 0: broken.
  int offset = 0;         ///< Minutes; 0: broken.
};
[[nodiscard]] identity parse_identity(std::string_view line);

/// A message cut where its subject ends, both as they are written.
struct message_parts {
  std::string_view subject;  ///< Its lines.
  std::string_view body;     ///< Behind the blank lines.
};
[[nodiscard]] message_parts parse_message(std::string_view message);

/// The lines of a subject, without white space at their ends, joined by spaces.
[[nodiscard]] std::string joined_subject(std::string_view subject);

}  // namespace hondana::git
