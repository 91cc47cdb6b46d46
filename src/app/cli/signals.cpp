/// Signals as function calls on a thread of their own.
#include "app/cli/signals.hpp"

#include <pthread.h>
#include <unistd.h>

#include <csignal>
#include <utility>

namespace hondana::cli {
namespace {

sigset_t handled_signals() {
  sigset_t set;
  sigemptyset(&set);
  for (const int number : {SIGTERM, SIGINT, SIGHUP, SIGUSR2}) sigaddset(&set, number);
  return set;
}

// Ends the waiting thread; sent to that thread only.
constexpr int wake_signal = SIGUSR2;

}  // namespace

void signals::block_reloads() {
  sigset_t set;
  sigemptyset(&set);
  sigaddset(&set, SIGHUP);
  pthread_sigmask(SIG_BLOCK, &set, nullptr);
}

signals::signals(std::function<void()> stop, std::function<void()> reload)
    : stop_(std::move(stop)), reload_(std::move(reload)) {
  const auto set = handled_signals();
  pthread_sigmask(SIG_BLOCK, &set, nullptr);
  std::signal(SIGPIPE, SIG_IGN);
  thread_ = std::thread([this] { wait(); });
}

signals::~signals() {
  pthread_kill(thread_.native_handle(), wake_signal);
  thread_.join();
}

void signals::wait() {
  const auto set = handled_signals();
  bool is_stopping = false;
  for (;;) {
    int arrived = 0;
    if (sigwait(&set, &arrived) != 0) continue;
    if (arrived == wake_signal) return;
    if (arrived == SIGHUP) {
      reload_();
      continue;
    }
    if (is_stopping) _exit(128 + arrived);
    is_stopping = true;
    stop_();
  }
}

}  // namespace hondana::cli
