/// Whether a call is worth going on with.
#pragma once

#include <chrono>

#include <hondana/clock.hpp>
#include <hondana/error.hpp>
#include <hondana/provider.hpp>

namespace hondana {

/// For sources, between two steps of something long. Errors: cancelled, timed_out.
[[nodiscard]] inline result<void> still_wanted(const call& by) {
  if (by.stop.stop_requested()) return fail(errc::cancelled, "The request was cancelled.");
  if (monotonic_clock::now() > by.deadline) {
    return fail(errc::timed_out, "The deadline passed while the source was being read. Retry later.");
  }
  return {};
}

}  // namespace hondana
