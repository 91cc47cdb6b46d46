/// Errors in the handling of errors.
#pragma once

#include <exception>

namespace hondana::work {

/// Runs what is to be said or done after an error, on a thread that nothing may end: where that fails too, mostly for want of
/// memory, it is left: false then.
template <class Work>
bool without_throwing(Work work) noexcept {
  try {
    work();
    return true;
  } catch (const std::exception&) {
    return false;  // there is nothing to say it with
  }
}

}  // namespace hondana::work
