/// Guards of functions that run on threads: blocked signals, and exceptions that must not end the thread.
#pragma once

#include <signal.h>

#include <exception>

namespace hondana::executor {

/// Blocks all signals of the thread that makes it, as long as it lives; threads started meanwhile never get any. Signals are
/// for the threads of the application, which expects them there.
class signals_blocked {
 public:
  signals_blocked() noexcept {
    sigset_t all{};
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before_);
  }
  ~signals_blocked() { pthread_sigmask(SIG_SETMASK, &before_, nullptr); }
  signals_blocked(const signals_blocked&) = delete;
  signals_blocked& operator=(const signals_blocked&) = delete;

 private:
  sigset_t before_{};
};

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
