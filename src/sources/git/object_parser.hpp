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

inline constexpr std::uint64_t max_time = std::numeric_limits<std::uint64_t>::max() - 1;  ///< Of `commit_parts::time`.

/// The parts of a commit. The texts are views of the parsed bytes, in their original encoding.
struct commit_parts {
  git_oid tree{};
  std::vector<git_oid> parents;
  std::string_view author, committer;  ///< The text after the keyword, for `parse_identity`. Empty: none.
  std::string_view encoding;           ///< The declared encoding of names and message. Empty: none.
  std::string_view message;            ///< Ends before a NUL, as in git.
  /// The committer's time in seconds since 1970, by which git sorts. 0: invalid. A negative time becomes one in the far future,
  /// as in git.
  std::uint64_t time = 0;
};

/// Parses a commit. nullopt: the tree or a parent is malformed. Other parts may be malformed.
[[nodiscard]] std::optional<commit_parts> parse_commit(std::string_view bytes);

/// The parts of `Name <email> 1700000000 +0900`, as views.
struct identity {
  std::string_view name, email;
  std::string_view name_and_email;  ///< Everything up to the last `>`.
  std::int64_t time = 0;            ///< Seconds since 1970. 0 if invalid.
  int offset = 0;                   ///< Minutes east of UTC. 0 if invalid.
};
/// Splits the text as git does. Parts that are missing are empty or 0.
[[nodiscard]] identity parse_identity(std::string_view line);

/// A message split at the end of its subject, as views.
struct message_parts {
  std::string_view subject;  ///< All lines before the first blank line.
  std::string_view body;     ///< The text after the blank lines.
};
[[nodiscard]] message_parts parse_message(std::string_view message);

/// Joins the lines of a subject by spaces, without white space at their ends.
[[nodiscard]] std::string join_subject(std::string_view subject);

/// The parts of an annotated tag. The texts are views of the parsed bytes, in their original encoding.
struct tag_parts {
  git_oid target{};
  git_object_t kind = GIT_OBJECT_INVALID;  ///< The kind of the target, according to the tag.
  std::string_view tagger;                 ///< The text after the keyword, for `parse_identity`. Empty: none.
  std::string_view message;
};

/// Parses an annotated tag. nullopt: it has no valid target.
[[nodiscard]] std::optional<tag_parts> parse_tag(std::string_view bytes);

/// An object and its kind.
struct object_info {
  git_oid id{};
  git_object_t kind = GIT_OBJECT_INVALID;
};

/// Reads an object, which should be a tag; the caller must check its kind. Errors: source_unavailable for an object that is
/// missing, corrupt, or larger than 16 MiB.
[[nodiscard]] result<odb_object_pointer> read_tag(git_odb* odb, const git_oid& id);

/// Follows tags to the first object that is not a tag. Returns the object itself if it is not a tag. Errors: as `read_tag`, and
/// source_unavailable after a hundred nested tags.
[[nodiscard]] result<object_info> peel_tags(git_odb* odb, const git_oid& id);

/// Whether the repository is a partial clone, which need not have all objects.
[[nodiscard]] bool is_partial_clone(git_repository* repo);
/// Why a missing object is missing, and what helps, as the end of a sentence: "is missing: it was not fetched into ...".
[[nodiscard]] std::string_view missing_object_reason(git_repository* repo);

/// Opens the object database of a repository. Errors: source_unavailable.
[[nodiscard]] result<odb_pointer> open_odb(git_repository* repo);

}  // namespace hondana::git
