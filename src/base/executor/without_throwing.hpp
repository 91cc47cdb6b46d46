/// Calling a function on a thread that must go on.
#pragma once

#include <exception>

namespace hondana::executor {

/// Calls `function`, and returns false when it throws a std::exception, which is lost: for threads that must not end when there
/// is no memory even to report that.
template <class Function>
bool without_throwing(const Function& function) noexcept {
  try {
    function();
    return true;
  } catch (const std::exception&) {
    return false;  // reporting it needs memory, too
  }
}

}  // namespace hondana::executor
