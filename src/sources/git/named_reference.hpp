/// What the name of a reference leads to.
#pragma once

#include <optional>
#include <string>

#include <tl/expected.hpp>

#include "sources/git/library.hpp"

namespace hondana::git {

/// Why a name leads to no object.
enum class lost {
  invalid,   ///< No reference can be called so.
  circular,  ///< References lead to one another, or through more than five, as far as git follows them.
  broken,    ///< What is there is no reference.
};

/// Where a name led in the end.
struct followed_name {
  std::string name;           ///< Of the last reference on the way.
  std::optional<git_oid> id;  ///< Nothing: there is no such reference.
};

/// Follows a full name, `HEAD` or below `refs/`, through symbolic references, all of which must be below `refs/`.
[[nodiscard]] tl::expected<followed_name, lost> follow_reference(git_repository* in, std::string name);

}  // namespace hondana::git
