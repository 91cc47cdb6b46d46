/// Objects that lie in files of their own.
#pragma once

#include <git2.h>

#include <string>

namespace hondana::git {

/// A backend for the loose objects in `folder` that only reads. All but reading itself is libgit2's: there many of its versions
/// (1.5 is one) write beyond the end of a buffer when an object is longer than its own header says (its issue 7177), and never
/// come back from one that ends early. Here both are errors, and so is what is larger than 512 MiB. Codes are libgit2's. The
/// caller frees what it is given.
[[nodiscard]] int loose_objects(git_odb_backend** out, const std::string& folder);

}  // namespace hondana::git
