/// Forgetting what a caller names, and may know of.
#pragma once

#include <cstdint>
#include <string>

#include <hondana/error.hpp>
#include <hondana/provider.hpp>
#include <hondana/value.hpp>

#include "sources/analyses/cache/cache.hpp"
#include "sources/analyses/ground.hpp"

namespace hondana::analyses_source {

/// Exactly one of these is set.
struct named_analyses {
  std::string id{};
  std::string session{};
  std::string tag{};
  std::string prompt{};   ///< Its digest, 32 bytes.
  std::string context{};  ///< The canonical URI of a resource.
};
/// Of a tool's arguments. Errors: invalid_argument.
[[nodiscard]] result<named_analyses> named_in(const value& arguments);

/// How many there were; a caller with a view forgets only what it may read, and is told of no others. Errors:
/// resource_not_found for an id of nothing that it may read, and for a context that it may not; scope_missing; the store's.
[[nodiscard]] result<std::uint64_t> forget(const ground& on, const call& by, const named_analyses& which, analyses::cache& in);

}  // namespace hondana::analyses_source
