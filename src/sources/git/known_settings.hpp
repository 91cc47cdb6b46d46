/// A configuration for libgit2 that stands in memory, so that it reads no file for it.
#pragma once

#include <string>
#include <vector>

#include <hondana/error.hpp>

#include "sources/git/library.hpp"
#include "sources/git/settings.hpp"

namespace hondana::git {

/// All that libgit2 gets to know; it cannot be written to. Errors: source_unavailable.
[[nodiscard]] result<config_pointer> config_of(std::vector<setting> settings);

}  // namespace hondana::git
