/// Waiting at the end of a journal.
#include "sources/logs/journal_follower.hpp"

#include <poll.h>
#include <sys/eventfd.h>
#include <time.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <stop_token>
#include <system_error>
#include <thread>
#include <utility>

#include "base/executor/signals_blocked.hpp"
#include "os/disk/handle.hpp"
#include "sources/logs/journal_files.hpp"
#include "sources/logs/journal_opening.hpp"

namespace hondana::logs {
namespace {

constexpr int look_again_ms = 2000;
constexpr int most_passed = 1000;

int timeout_of(std::uint64_t until) {
  if (until == UINT64_MAX) return -1;
  struct timespec now{};
  ::clock_gettime(CLOCK_MONOTONIC, &now);
  const auto present = static_cast<std::uint64_t>(now.tv_sec) * 1'000'000 + static_cast<std::uint64_t>(now.tv_nsec) / 1000;
  if (until <= present) return 0;
  return static_cast<int>(std::min<std::uint64_t>((until - present) / 1000 + 1, 60'000));
}

}  // namespace

struct journal_follower::state {
  state(const journal_library& library, const journal_options& options, std::function<void()> call)
      : by(library), what(options), changed(std::move(call)) {}

  const journal_library& by;
  const journal_options what;
  const std::function<void()> changed;
  disk::handle bell{::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK)};
  journal_handle at{nullptr, closes_journal()};
  std::jthread thread;  // last: it uses the others

  /// Stands behind the last entry.
  void open() {
    if (!look_at_journal(what.folder)) return;
    auto opened = open_matching(by, what);
    if (!opened) return;
    at = std::move(*opened);
    if (by.get_fd(at.get()) < 0) return at.reset();
    go_to_end();
  }
  void go_to_end() {
    if (by.seek_tail(at.get()) < 0 || by.previous(at.get()) > 0) return;
    static_cast<void>(by.seek_head(at.get()));
  }
  [[nodiscard]] bool has_more() {
    int passed = 0;
    while (passed < most_passed && by.next(at.get()) > 0) ++passed;
    if (passed == most_passed) go_to_end();
    return passed != 0;
  }
  void run(const std::stop_token& stop);
  /// False: the journal has to be opened again.
  [[nodiscard]] bool wait(const std::stop_token& stop);
};

bool journal_follower::state::wait(const std::stop_token& stop) {
  std::array<pollfd, 2> all{{{bell.get(), POLLIN, 0}, {-1, POLLIN, 0}}};
  int timeout = look_again_ms;
  if (at) {
    const int events = by.get_events(at.get());
    std::uint64_t until = UINT64_MAX;
    if (events < 0 || by.get_timeout(at.get(), &until) < 0) return false;
    all[1] = {by.get_fd(at.get()), static_cast<short>(events), 0};
    timeout = timeout_of(until);
  }
  static_cast<void>(::poll(all.data(), all.size(), timeout));
  if (stop.stop_requested() || !at) return !!at;
  const int happened = by.process(at.get());
  if (happened < 0) return false;
  if (happened == SD_JOURNAL_NOP) return true;
  if ((has_more() || happened == SD_JOURNAL_INVALIDATE) && !stop.stop_requested()) changed();
  return true;
}

void journal_follower::state::run(const std::stop_token& stop) {
  while (!stop.stop_requested()) {
    if (wait(stop) || stop.stop_requested()) continue;
    at.reset();
    open();
    if (at && !stop.stop_requested()) changed();
  }
}

journal_follower::journal_follower(const journal_library& by, const journal_options& what, std::function<void()> changed)
    : state_(std::make_unique<state>(by, what, std::move(changed))) {
  state_->open();
  const executor::signals_blocked quiet;
  try {
    state_->thread = std::jthread([at = state_.get()](const std::stop_token& stop) { at->run(stop); });
  } catch (const std::system_error&) {
    state_->at.reset();  // nobody is told anything; the next one who listens tries again
  }
}

journal_follower::~journal_follower() {
  state_->thread.request_stop();
  static_cast<void>(::eventfd_write(state_->bell.get(), 1));
}

}  // namespace hondana::logs
