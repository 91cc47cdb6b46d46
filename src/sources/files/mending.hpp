/// What of a listing is walked again after a change.
#pragma once

#include <stop_token>
#include <vector>

#include "sources/files/gatherer.hpp"
#include "sources/files/listing.hpp"
#include "sources/files/options.hpp"

namespace hondana::files {

/// Sorts stretches by their URIs, and leaves out what lies within another.
void reduce(std::vector<stretch>& all);

/// Fills `what.found` with what is there now; with nothing when nothing is, or it is not served. True when a disk failed, so
/// that something may be missing. Throws as `walk_below`, and what the ears throw.
[[nodiscard]] bool walk_again(stretch& what, const options& configured, const std::stop_token& stop, gatherer::ears to);

}  // namespace hondana::files
