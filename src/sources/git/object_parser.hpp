/// Parses commits and annotated tags as they are stored in the object database.
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

inline constexpr std::uint64_t max_time = std::numeric_limits<std::uint64_t>::max() - 1;

/// The parts of a commit. Its texts are views of the parsed bytes: nothing is copied or converted.
struct commit_parts {
  git_oid tree{};
  std::vector<git_oid> parents;
  std::string_view author, committer;  ///< The text after the keyword; empty: none.
  std::string_view encoding;           ///< Of names and message; empty: not declared.
  std::string_view message;            ///< Up to a NUL, where git ends it, too.
  /// The committer's time, by which git sorts. An invalid number is 0, and a negative one wraps around to the far future. At
  /// most `max_time`.
  std::uint64_t time = 0;
};

/// Nothing if the tree or a parent is malformed. Other parts may be malformed.
[[nodiscard]] std::optional<commit_parts> parse_commit(std::string_view bytes);

/// `Name <email> 1700000000 +0900`, split as git splits it.
struct identity {
  std::string_view name, email;
  std::string_view name_and_email;  ///< Both, as a filter for authors matches them: everything up to the last `>`.
  std::int64_t time = 0;            ///< 0: invalid.
  int offset = 0;                   ///< Minutes; 0: invalid.
};
[[nodiscard]] identity parse_identity(std::string_view line);

/// A message split at the end of its subject. Both parts are as written.
struct message_parts {
  std::string_view subject;  ///< Its lines.
  std::string_view body;     ///< The text after the blank lines.
};
[[nodiscard]] message_parts parse_message(std::string_view message);

/// The lines of a subject without white space at their ends, joined by spaces.
[[nodiscard]] std::string join_subject(std::string_view subject);

/// An annotated tag as it is stored. Its texts are views of the parsed bytes.
struct tag_parts {
  git_oid target{};
  git_object_t kind = GIT_OBJECT_INVALID;  ///< Of the target, according to the tag.
  std::string_view tagger;                 ///< The text after the keyword; empty: none.
  std::string_view message;
};

/// Nothing if it has no valid target.
[[nodiscard]] std::optional<tag_parts> parse_tag(std::string_view bytes);

/// An object and its kind.
struct object_info {
  git_oid id{};
  git_object_t kind = GIT_OBJECT_INVALID;
};

/// The bytes of a tag. Errors: source_unavailable for an object that is missing, corrupt, or larger than 16 MiB.
[[nodiscard]] result<odb_object_pointer> read_tag(git_odb* odb, const git_oid& id);

/// The object behind all tags; the object itself if it is not a tag. Errors: as `read_tag`; source_unavailable after a hundred
/// nested tags.
[[nodiscard]] result<object_info> peel_tags(git_odb* odb, const git_oid& id);

/// The object database of a repository. Errors: source_unavailable.
[[nodiscard]] result<odb_pointer> open_odb(git_repository* repo);

}  // namespace hondana::git
