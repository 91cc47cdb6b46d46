/// The values of results that a test cannot continue without.
#pragma once

#include <cstdio>
#include <cstdlib>
#include <source_location>
#include <type_traits>
#include <utility>

#include <hondana/error.hpp>

namespace hondana {

/// Returns the value of `outcome`. For a failure, prints its texts and the caller's line, and aborts.
template <class T>
T must(result<T> outcome, const std::source_location& caller = std::source_location::current()) {
  if (!outcome) {
    std::fprintf(stderr, "%s:%u: %s (%s)\n", caller.file_name(), static_cast<unsigned>(caller.line()),
                 outcome.error().public_text.c_str(), outcome.error().private_text.c_str());
    std::abort();
  }
  if constexpr (!std::is_void_v<T>) return *std::move(outcome);
}

}  // namespace hondana
