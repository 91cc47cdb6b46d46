/// Parses commits and annotated tags as they lie in the object database.
#pragma once

#include <cstdint>
#include <limits>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <hondana/error.hpp>

#include "sources/git/libgit2.hpp"

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

/// An annotated tag as it lies in the object store; its texts lie in the bytes that were parsed.
struct tag_parts {
  git_oid target{};
  git_object_t kind = GIT_OBJECT_INVALID;  ///< Of the target, as the tag says.
  std::string_view tagger;                 ///< What stands behind the keyword; empty: there is none.
  std::string_view message;
};

/// Nothing: it says no target.
[[nodiscard]] std::optional<tag_parts> parse_tag(std::string_view bytes);

/// An object and its kind.
struct object_facts {
  git_oid id{};
  git_object_t kind = GIT_OBJECT_INVALID;
};

/// The bytes of a tag. Errors: source_unavailable for what is missing, corrupt, or larger than any tag needs to be.
[[nodiscard]] result<odb_object_pointer> read_tag(git_odb* from, const git_oid& id);

/// What is found behind all tags: the object itself when it is none. Errors: as `read_tag`; source_unavailable behind a
/// hundred tags of tags.
[[nodiscard]] result<object_facts> behind_tags(git_odb* from, const git_oid& id);

/// The database of a repository. Errors: source_unavailable.
[[nodiscard]] result<odb_pointer> objects_of(git_repository* in);

}  // namespace hondana::git
