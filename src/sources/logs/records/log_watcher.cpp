/// Watches the files of a log, and notifies when they are written or rotated.
#include "sources/logs/records/log_watcher.hpp"

#include <fcntl.h>
#include <poll.h>
#include <re2/re2.h>
#include <sys/eventfd.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cerrno>
#include <exception>
#include <mutex>
#include <optional>
#include <string>
#include <system_error>
#include <thread>
#include <utility>

#include <hondana/clock.hpp>

#include "base/bytes/digest.hpp"
#include "base/executor/thread_guards.hpp"
#include "os/disk/opened_folder.hpp"
#include "os/watch/inotify.hpp"
#include "sources/logs/records/opened_files.hpp"

namespace hondana::records {
namespace {

using steady = monotonic_clock;

constexpr std::chrono::seconds between_checks{2};  // that the path still leads to the same folder
constexpr std::chrono::milliseconds settles_after = std::chrono::milliseconds(line_settles_after / 1'000'000 + 50);
constexpr int most_reads = 64;

}  // namespace

struct following::state {
  state(set_place at, std::function<void()> call_then, std::function<void()> look_then)
      : where(std::move(at)), changed(std::move(call_then)), look(std::move(look_then)) {}
  ~state() {
    if (bell >= 0) ::close(bell);
  }
  state(const state&) = delete;
  state& operator=(const state&) = delete;

  const set_place where;
  std::function<void()> changed;
  const std::function<void()> look;
  const int bell = ::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
  std::atomic<bool> is_over{false};
  std::recursive_mutex calling;  // recursive, since the callback may end this object

  // Used only by the thread once it runs.
  std::optional<watch::inotify> queue;
  disk::handle folder;
  int watched = -1;
  std::string seen;           // a digest of the files, if inotify is not available
  bool is_due = false;        // a change was not reported yet
  bool is_look_due = false;   // and it was more than a write
  steady::time_point told{};  // last report
  std::optional<steady::time_point> settles{};

  [[nodiscard]] bool is_watched() const noexcept { return watched >= 0; }
  [[nodiscard]] bool is_ours(std::string_view name) const {
    if (name.empty() || name == where.live) return true;
    if (where.pattern) return re2::RE2::FullMatch(re2::StringPiece(name.data(), name.size()), *where.pattern);
    return rank_of(name, where.live).has_value();
  }
  void note(bool is_more_than_writing) noexcept {
    is_due = true;
    is_look_due = is_look_due || is_more_than_writing;
  }

  /// Watches the folder that the path leads to now.
  void begin_watching() {
    if (!queue) {
      if (auto made = watch::inotify::open()) queue.emplace(std::move(*made));
    }
    folder = disk::handle(::open(where.folder.c_str(), O_PATH | O_DIRECTORY | O_CLOEXEC));
    watched = -1;
    if (!folder.is_open() || !queue || disk::is_on_network(folder.get())) return;
    if (const auto added = queue->add(folder.get())) watched = *added;
  }
  /// Whether the folder was replaced, created or deleted.
  [[nodiscard]] bool is_elsewhere() const {
    struct stat there{};
    struct stat here{};
    const bool is_there = ::stat(where.folder.c_str(), &there) == 0;
    if (!folder.is_open() || ::fstat(folder.get(), &here) != 0) return is_there;
    return !is_there || there.st_dev != here.st_dev || there.st_ino != here.st_ino || here.st_nlink == 0;
  }
  [[nodiscard]] std::string what_is_there() const {
    const auto all = list_files(where);
    if (!all) return std::string(name_of(all.error().code));
    bytes::digester sum;
    for (const auto& one : all->files) {
      sum.feed(one.name + '/' + std::to_string(one.facts.inode) + '/' + std::to_string(one.facts.size) + '/' +
               std::to_string(one.facts.modified) + '/' + std::to_string(one.facts.changed) + ';');
    }
    return bytes::to_hex(sum.value());
  }
  void look_by_ourselves() {
    if (is_elsewhere() || !folder.is_open()) {
      const bool was_there = folder.is_open();
      begin_watching();
      if (was_there || folder.is_open()) note(true);
    }
    if (is_watched()) return;
    auto now = what_is_there();
    if (now != seen) note(true);
    seen = std::move(now);
  }
  void listen() {
    for (int i = 0; queue && i < most_reads; ++i) {
      const bool some = queue->read([this](const watch::event& one) {
        if (one.watch == -1) return note(true);  // events were lost
        if (one.watch != watched) return;
        if ((one.what & IN_IGNORED) != 0) watched = -1;
        if ((one.what & (IN_DELETE_SELF | IN_MOVE_SELF | IN_IGNORED)) != 0) return note(true);
        if (is_ours(one.name)) note((one.what & ~static_cast<std::uint32_t>(IN_MODIFY)) != 0);
      });
      if (!some) break;
    }
  }
  [[nodiscard]] bool ends_in_half_a_line() const {
    // Open the file by name: listing a big folder after every report would take too long.
    constexpr int flags = O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC | O_NOCTTY;
    disk::handle opened(folder.is_open() ? ::openat(folder.get(), where.live.c_str(), flags) : -1);
    if (!opened.is_open() && errno == ENOENT) {
      // The newest file may have another name, such as one with a date.
      const auto all = list_files(where);
      auto newest = all && !all->files.empty() ? open_listed(*all, all->files.back()) : result<disk::handle>(disk::handle());
      if (newest) opened = std::move(*newest);
    }
    struct stat facts{};
    return opened.is_open() && ::fstat(opened.get(), &facts) == 0 && S_ISREG(facts.st_mode) &&
           is_open_ended(opened.get(), static_cast<std::uint64_t>(facts.st_size));
  }
  void tell() {
    if (std::exchange(is_look_due, false)) look();
    is_due = false;
    told = steady::now();
    settles.reset();
    {
      const std::lock_guard lock(calling);
      const auto call = changed;  // a copy, since the call may end this object
      if (!is_over && call) call();
    }
    if (!is_over && ends_in_half_a_line()) settles = steady::now() + settles_after;
  }
  void turn() {
    auto until = steady::now() + (is_watched() ? std::chrono::milliseconds(between_checks) : look_after);
    if (is_due) until = std::min(until, told + together);
    if (settles) until = std::min(until, *settles);
    const auto rest = std::chrono::ceil<std::chrono::milliseconds>(until - steady::now()).count();
    std::array<pollfd, 2> sources{pollfd{bell, POLLIN, 0}, pollfd{is_due || !queue ? -1 : queue->descriptor(), POLLIN, 0}};
    const int count = ::poll(sources.data(), sources.size(), monotonic_clock::poll_timeout(std::max<std::int64_t>(rest, 0)));
    if (is_over) return;
    listen();
    const auto now = steady::now();
    if (count == 0 || !is_watched()) look_by_ourselves();
    if (settles && now >= *settles) note(true);
    if (is_due && now >= told + together) tell();
  }
  void run() noexcept {
    while (!is_over) {
      try {
        turn();
      } catch (const std::exception&) {
        // Out of memory: check for changes again.
        is_due = is_look_due = true;
        told = steady::now();
      }
    }
  }
};

following::following(set_place where, std::function<void()> changed, std::function<void()> look)
    : state_(std::make_shared<state>(std::move(where), std::move(changed), std::move(look))) {
  state_->begin_watching();
  if (!state_->is_watched() && state_->folder.is_open()) state_->note(true);
  state_->seen = state_->is_watched() ? std::string() : state_->what_is_there();
  try {
    const executor::signals_blocked none;
    std::thread([self = state_] { self->run(); }).detach();
  } catch (const std::system_error&) {
    // No thread could be created, so there are no notifications.
    state_->is_over = true;
  }
}

following::~following() {
  state_->is_over = true;
  (void)::eventfd_write(state_->bell, 1);
  const std::lock_guard lock(state_->calling);
  state_->changed = nullptr;
}

}  // namespace hondana::records
