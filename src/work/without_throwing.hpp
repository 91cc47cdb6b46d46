/// Errors in the handling of errors.
#pragma once

#include <exception>

namespace hondana::work {

/// Runs what is to be said or done after an error, on a thread that nothing may end: where that fails too, mostly for want of
/// memory, it is left.
template <class Work>
void without_throwing(Work work) noexcept {
  try {
    work();
  } catch (const std::exception&) {  // nothing is left to say it with
  }
}

}  // namespace hondana::work
