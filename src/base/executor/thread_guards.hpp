/// Guards for thread functions: blocked signals, and exceptions that must not end the thread.
#pragma once

#include <signal.h>

#include <exception>

namespace hondana::executor {

/// Blocks all signals on the current thread until destruction. Threads that are started meanwhile inherit the blocked mask.
/// Signals then reach only the threads of the application, which expects them there.
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

/// Calls `function`. Returns false when it throws a std::exception, which is discarded.
/// For threads that must survive even when there is no memory to report an error.
template <class Function>
bool without_throwing(const Function& function) noexcept {
  try {
    function();
    return true;
  } catch (const std::exception&) {
    return false;  // reporting the error would need memory, too
  }
}

}  // namespace hondana::executor
