/// Watches folders for changes, by inotify or by polling, and rescans those that changed.
#include "os/watch/folder_watcher.hpp"

#include <poll.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <condition_variable>
#include <exception>
#include <mutex>
#include <optional>
#include <stop_token>
#include <system_error>
#include <thread>
#include <utility>

#include <hondana/clock.hpp>

#include "os/disk/opened_folder.hpp"

namespace hondana::watch {
namespace {

using clock = monotonic_clock;

constexpr std::chrono::seconds farewell{1};
constexpr std::chrono::seconds longest_sleep{60};
constexpr std::chrono::minutes look_time{1};

}  // namespace

struct lookout::state {
  state(std::vector<std::string> all, std::function<bool(const call&, const trees&)> how, lookout_options what)
      : paths(std::move(all)), look(std::move(how)), with(std::move(what)), polled(paths.size(), false) {}
  ~state() {
    if (bell >= 0) ::close(bell);
  }
  state(const state&) = delete;
  state& operator=(const state&) = delete;

  const std::vector<std::string> paths;
  const std::function<bool(const call&, const trees&)> look;
  const lookout_options with;
  const int bell = ::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
  std::stop_source stop;

  mutable std::mutex mutex;
  std::condition_variable left;
  bool is_started = false;
  bool is_running = false;
  std::vector<bool> polled;  // folders that must be polled
  trees asked;               // trees with a requested rescan
  std::mutex log_mutex;

  // Set before the thread starts; shared with walks.
  std::optional<watch::folders> covered;
  // Only used by the thread:
  std::optional<clock::time_point> first, last;  // times of the first and last event since the last rescan
  trees where;                                   // trees with such events
  bool is_everywhere = true;                     // any tree may have changed; `where` is incomplete
  clock::time_point next_look = clock::now();    // latest time of the next rescan; `max` if all folders are watched

  void ring() const noexcept { (void)::eventfd_write(bell, 1); }
  void say(const std::string& line) {
    const std::lock_guard lock(log_mutex);
    if (with.log && !stop.stop_requested()) with.log(line);
  }
  void look_from_now_on(std::size_t which, const std::string& why) {
    {
      const std::lock_guard lock(mutex);
      if (polled[which]) return;
      polled[which] = true;
    }
    say("changes of " + with.what + " in " + paths[which] + " are polled every " + std::to_string(with.look_after.count()) +
        " ms: " + why);
    ring();
  }
  void cover(std::size_t which, const std::string& path, int descriptor) {
    {
      const std::lock_guard lock(mutex);
      if (!covered || polled[which] || stop.stop_requested()) return;
    }
    if (path.empty() && disk::is_on_network(descriptor)) {
      return look_from_now_on(which,
                              "they are on a network file system, where the kernel does not report changes by other machines");
    }
    if (const int error = covered->add(which, path, descriptor); error != 0) {
      look_from_now_on(which, "a folder cannot be watched: " + std::error_code(error, std::generic_category()).message());
    }
  }
  [[nodiscard]] bool is_polled() const {
    const std::lock_guard lock(mutex);
    return std::find(polled.begin(), polled.end(), true) != polled.end();
  }
  [[nodiscard]] clock::time_point due() const { return first ? std::min(*last + with.quiet, *first + with.latest) : next_look; }

  void note() {
    last = clock::now();
    if (!first) first = last;
  }
  void note_loss() {
    is_everywhere = true;
    note();
  }
  void hear(const watch::happening& what) {
    // For folders that appear or disappear, the next walk determines which folders to watch.
    if (what.is_folder && what.what == watch::happening::kind::gone) covered->forget(what.tree, what.path);
    if (what.what == watch::happening::kind::tree_gone) {
      // A walk that finds a new tree at its path covers it.
      covered->forget(what.tree);
    }
    where.insert(what.tree);
    note();
    if (with.is_whole && with.is_whole(what)) look_now();
  }
  void look_now() { last = *first = clock::now() - with.latest; }
  void take_asked() {
    const std::lock_guard lock(mutex);
    if (asked.empty()) return;
    where.merge(asked);
    asked.clear();
    note();
    look_now();
  }
  void turn() {
    std::array<pollfd, 2> sources{pollfd{bell, POLLIN, 0}, pollfd{covered ? covered->descriptor() : -1, POLLIN, 0}};
    if (next_look == clock::time_point::max() && is_polled()) next_look = clock::now() + with.look_after;
    const auto until = std::min(due(), clock::now() + longest_sleep);
    const auto rest = std::chrono::ceil<std::chrono::milliseconds>(until - clock::now()).count();
    (void)::poll(sources.data(), sources.size(), monotonic_clock::poll_timeout(std::max<std::int64_t>(rest, 0)));
    std::uint64_t rung = 0;
    (void)::eventfd_read(bell, &rung);
    take_asked();
    constexpr int reads_a_turn = 16;
    for (int i = 0; covered && i < reads_a_turn; ++i) {
      if (!covered->read([this](const watch::happening& what) { hear(what); }, [this] { note_loss(); })) break;
    }
    if (clock::now() < due() || stop.stop_requested()) return;
    // A rescan caused by the interval and not by events may find changes anywhere.
    const auto which = is_everywhere || !first ? trees() : where;
    first.reset();
    last.reset();
    where.clear();
    call by;
    by.stop = stop.get_token();
    by.deadline = clock::now() + look_time;
    // If the rescan fails or throws, its events are not lost.
    next_look = clock::now() + with.look_after;
    is_everywhere = true;
    if (!look(by, which)) return;
    is_everywhere = false;
    next_look = clock::time_point::max();
  }
  void run() {
    while (!stop.stop_requested()) {
      try {
        turn();
      } catch (const std::exception& error) {
        say("watching " + with.what + " continues after an error: " + error.what());
      }
    }
    const std::lock_guard lock(mutex);
    is_running = false;
    left.notify_all();
  }
};

lookout::lookout(std::vector<std::string> folders, std::function<bool(const call&, const trees&)> look, lookout_options with)
    : state_(std::make_shared<state>(std::move(folders), std::move(look), std::move(with))) {}

lookout::~lookout() {
  state_->stop.request_stop();
  state_->ring();
  {
    const std::lock_guard lock(state_->log_mutex);  // waits for a running log call; later ones are suppressed
  }
  std::unique_lock lock(state_->mutex);
  monotonic_clock::wait_for(state_->left, lock, farewell, [this] { return !state_->is_running; });
}

void lookout::start() {
  {
    const std::lock_guard lock(state_->mutex);
    if (state_->is_started) return;
  }
  auto queue = watch::inotify::open();
  {
    const std::lock_guard lock(state_->mutex);
    if (state_->is_started) return;
    state_->is_started = true;
    if (queue) state_->covered.emplace(std::move(*queue), state_->with.max_watched);
    try {
      std::thread([self = state_] { self->run(); }).detach();
      state_->is_running = true;
    } catch (const std::system_error&) {
      state_->is_started = false;  // the next call tries again
      return;
    }
  }
  for (std::size_t i = 0; !queue && i < state_->paths.size(); ++i) state_->look_from_now_on(i, queue.error().public_text);
}

void lookout::look_at(std::size_t which) {
  {
    const std::lock_guard lock(state_->mutex);
    if (!state_->is_started) return;
    state_->asked.insert(which);
  }
  state_->ring();
}

std::function<void(std::size_t, const std::string&, int)> lookout::coverer() const {
  return [to = std::weak_ptr(state_)](std::size_t which, const std::string& path, int descriptor) {
    if (const auto there = to.lock()) there->cover(which, path, descriptor);
  };
}

std::function<void(std::size_t, const std::string&)> lookout::giver_up() const {
  return [to = std::weak_ptr(state_)](std::size_t which, const std::string& why) {
    if (const auto there = to.lock()) there->look_from_now_on(which, why);
  };
}

bool lookout::is_complete() const {
  const std::lock_guard lock(state_->mutex);
  return state_->covered && std::find(state_->polled.begin(), state_->polled.end(), true) == state_->polled.end();
}

}  // namespace hondana::watch
