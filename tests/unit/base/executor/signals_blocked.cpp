/// Signals are kept from threads that are started meanwhile, and from nobody afterwards.
#include "base/executor/thread_guards.hpp"

#include <signal.h>

#include <thread>

#include <gtest/gtest.h>

namespace {

bool is_blocked(int signal) {
  sigset_t now{};
  EXPECT_EQ(::pthread_sigmask(SIG_SETMASK, nullptr, &now), 0);
  return sigismember(&now, signal) == 1;
}

TEST(signals_blocked, are_so_in_threads_started_meanwhile_and_back_as_they_were_behind_it) {
  sigset_t one{};
  sigset_t before{};
  sigemptyset(&one);
  sigaddset(&one, SIGUSR2);
  ASSERT_EQ(::pthread_sigmask(SIG_BLOCK, &one, &before), 0);
  bool is_pipe_blocked = false;
  bool is_term_blocked = false;
  std::thread started;
  {
    const hondana::executor::signal_blocker meanwhile;
    started = std::thread([&] {
      is_pipe_blocked = is_blocked(SIGPIPE);
      is_term_blocked = is_blocked(SIGTERM);
    });
    EXPECT_TRUE(is_blocked(SIGTERM));
  }
  started.join();
  EXPECT_TRUE(is_pipe_blocked);
  EXPECT_TRUE(is_term_blocked);
  EXPECT_FALSE(is_blocked(SIGTERM));
  EXPECT_TRUE(is_blocked(SIGUSR2)) << "which was so before";
  ASSERT_EQ(::pthread_sigmask(SIG_SETMASK, &before, nullptr), 0);
}

}  // namespace
