/// Starting threads that take no signals.
#pragma once

#include <signal.h>

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

}  // namespace hondana::executor
