/// Annotated tags, and what they lead to.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

#include <hondana/error.hpp>

#include "sources/git/library.hpp"

namespace hondana::git {

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
