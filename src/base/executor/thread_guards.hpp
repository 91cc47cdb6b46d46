/// Guards for thread functions: blocked signals, and exceptions that must not end the thread.
#pragma once

#include <signal.h>

#include <exception>

namespace hondana::executor {

/// Blocks all signals on the calling thread until destruction. Threads that it starts meanwhile inherit the blocked signals.
/// Signals then reach only the threads of the application, which expects them there.
class signal_blocker {
 public:
  signal_blocker() noexcept {
    sigset_t all_signals{};
    sigfillset(&all_signals);
    pthread_sigmask(SIG_SETMASK, &all_signals, &previous_mask_);
  }
  ~signal_blocker() { pthread_sigmask(SIG_SETMASK, &previous_mask_, nullptr); }
  signal_blocker(const signal_blocker&) = delete;
  signal_blocker& operator=(const signal_blocker&) = delete;

 private:
  sigset_t previous_mask_{};
};

/// Calls `function`. Returns false if it throws a std::exception, which is discarded. Other exceptions end the process.
/// For threads that must survive even when there is no memory to report an error.
template <class Function>
bool run_noexcept(const Function& function) noexcept {
  try {
    function();
    return true;
  } catch (const std::exception&) {
    return false;  // reporting the error would need memory, too
  }
}

}  // namespace hondana::executor
