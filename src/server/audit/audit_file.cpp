/// The audit log in files: receives records on any thread, and writes them on one.

#include <pthread.h>
#include <signal.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <mutex>
#include <random>
#include <string>
#include <string_view>
#include <thread>
#include <utility>
#include <vector>

#include <hondana/audit.hpp>
#include <hondana/clock.hpp>

#include "server/audit/audit_record.hpp"
#include "server/audit/log_file.hpp"
#include "server/audit/refusal_summary.hpp"

namespace hondana::audit {

/// The queue of records to write. Threads: any; `take` one at a time.
///
/// Each thread has a part of its own while there are few threads, to avoid contention. Records are taken in the order in which
/// they were put.
class intake {
 public:
  /// A number for the next record, higher than all before.
  [[nodiscard]] std::uint64_t next_number() noexcept { return numbers_.fetch_add(1, std::memory_order_relaxed) + 1; }
  /// Queues a record. Returns false, without effect, if more than `most` bytes would wait.
  [[nodiscard]] bool put(std::uint64_t number, std::string_view record, std::size_t most);
  /// Passes all queued records to `each`, in the order of their numbers.
  template <class Each>
  void take(Each&& each) {
    gather();
    for (const auto& one : order_) each(one.text);
    for (auto& one : taken_) {
      held_.fetch_sub(one.text.size(), std::memory_order_relaxed);
      one.text.clear();
    }
  }

 private:
  struct place {
    std::uint64_t number;
    std::size_t begin;
    std::size_t size;
  };
  struct numbered {
    std::uint64_t number;
    std::string_view text;
  };
  struct texts {
    std::string text;
    std::vector<place> places;
  };
  struct alignas(64) part {
    std::mutex mutex;
    texts all;
  };
  static constexpr std::size_t parts = 8;

  void gather();

  std::array<part, parts> parts_;
  std::array<texts, parts> taken_;
  std::vector<numbered> order_;
  std::atomic<std::uint64_t> numbers_{0};
  std::atomic<std::size_t> held_{0};
};

namespace {

/// Threads are assigned to the parts in turn.
std::size_t turn_of_this_thread() {
  static std::atomic<std::size_t> threads{0};
  thread_local const std::size_t turn = threads.fetch_add(1, std::memory_order_relaxed);
  return turn;
}

}  // namespace

bool intake::put(std::uint64_t number, std::string_view record, std::size_t most) {
  const auto before = held_.fetch_add(record.size(), std::memory_order_relaxed);
  if (before + record.size() > most) {
    held_.fetch_sub(record.size(), std::memory_order_relaxed);
    return false;
  }
  auto& mine = parts_[turn_of_this_thread() % parts];
  const std::lock_guard lock(mine.mutex);
  mine.all.places.push_back({number, mine.all.text.size(), record.size()});
  mine.all.text += record;
  return true;
}

/// Takes all parts at one moment, so that no record is taken before an earlier one of another part.
void intake::gather() {
  for (auto& one : parts_) one.mutex.lock();
  for (std::size_t i = 0; i < parts; ++i) std::swap(parts_[i].all, taken_[i]);
  for (auto& one : parts_) one.mutex.unlock();
  order_.clear();
  for (auto& one : taken_) {
    for (const auto& at : one.places) order_.push_back({at.number, std::string_view(one.text).substr(at.begin, at.size)});
    one.places.clear();
  }
  const auto is_before = [](const auto& a, const auto& b) { return a.number < b.number; };
  // They are sorted already if a single thread put them.
  if (!std::is_sorted(order_.begin(), order_.end(), is_before)) std::sort(order_.begin(), order_.end(), is_before);
}

}  // namespace hondana::audit

namespace hondana::inline v0 {
namespace {

using clock = monotonic_clock;

// How long records are collected for one write.
constexpr std::chrono::milliseconds gather_time{5};
// Pause after a failure.
constexpr std::chrono::milliseconds retry_time{500};

/// Identifies a run of a server in the log.
std::string new_run() {
  std::random_device device;
  std::string out;
  constexpr std::string_view digits = "0123456789abcdef";
  for (int i = 0; i < 16; ++i) out += digits[device() & 15];
  return out;
}

}  // namespace

struct audit_file::state {
  state(audit_file_options options, audit::log_file opened)
      : with(std::move(options)), file(std::move(opened)), at(file.end()), run(new_run()) {}

  const audit_file_options with;
  // Used by the writer thread only:
  audit::log_file file;
  audit::chain at;  // after the records in `out`
  std::string out;  // to be written
  std::size_t unsynced = 0;
  clock::time_point sync_at = clock::time_point::max();
  bool can_sync = true;
  std::string why_failing;  // last logged reason
  bool cannot_rotate = false;
  clock::time_point rotate_at{};  // not before this time

  audit::intake records;
  audit::refusals refused;
  const std::string run;
  std::atomic<bool> is_failing{false};
  std::atomic<bool> is_full{false};  // from a rejected record until waiting ones are taken
  std::atomic<std::uint64_t> lost{0};
  std::atomic<bool> has_rung{false};

  std::mutex mutex;
  std::condition_variable changed;
  bool is_closing = false;
  bool reopens = false;
  std::uint64_t flush_wanted = 0;
  std::uint64_t flush_done = 0;
  std::thread writer;

  void say(const std::string& line) const {
    if (with.log) with.log(line);
  }
  /// Wakes the writer, once for many calls.
  void ring() {
    if (has_rung || has_rung.exchange(true)) return;
    {
      const std::lock_guard lock(mutex);
    }
    changed.notify_all();
  }

  void add(std::string_view text) {
    audit::append_record(out, at, text);
    ++unsynced;
  }

  /// Moves waiting records into `out`. `all`: including rejections whose counting window is open.
  void compose(bool all) {
    is_full = false;
    records.take([this](std::string_view text) { add(text); });
    for (const auto& one : refused.take(clock::now(), all)) {
      add(audit::decision_text(records.next_number(), one.what, one.times));
    }
    if (const auto gone = lost.exchange(0); gone != 0) add(audit::loss_text(gone));
  }

  /// From now on decisions cannot be recorded.
  void fails(const failure& why) {
    const bool is_known = is_failing.exchange(true) && why.public_text == why_failing;
    if (is_known) return;
    why_failing = why.public_text;
    say(why.public_text + (with.serves_when_full ? "; until it can, requests are served without records"
                                                 : "; until it can, requests are rejected"));
  }
  void works() {
    if (can_sync && is_failing.exchange(false)) say("audit log: records are written again");
  }

  /// Writes all of `out` to the file. Returns false if it must be retried.
  bool write() {
    const bool was_doubtful = file.is_doubtful();
    if (auto written = was_doubtful ? file.begin_anew(out) : file.append(out); !written) {
      fails(written.error());
      return false;
    }
    if (was_doubtful) {
      say("audit log: records that could not be synced were written again, and " + with.path + " is a new file");
      unsynced = 0;
      if (const auto dropped = file.drop_oldest(); !dropped) say(dropped.error().public_text);
      return sync();
    }
    works();
    return true;
  }

  /// Returns false if it must be retried.
  bool sync() {
    const auto synced = file.sync();
    can_sync = synced.has_value();
    if (!can_sync) {
      fails(synced.error());
      // This record follows the repeated records in the next file.
      if (file.is_doubtful()) add(audit::opening_text("unsynced", run, 0, unsynced));
      return false;
    }
    unsynced = 0;
    sync_at = clock::time_point::max();
    works();
    return true;
  }

  void open_next(const char* because, result<void> how) {
    if (!how) {
      rotate_at = clock::now() + retry_time;
      if (!std::exchange(cannot_rotate, true)) say(how.error().public_text + "; the current file stays in use");
      return;
    }
    cannot_rotate = false;
    add(audit::opening_text(because, run, 0));
    (void)write();
  }
  void follow() {
    const auto waiting = unsynced;  // including records in `out`, which go to the next file
    if (!sync()) return;
    unsynced = waiting;
    open_next("reopened", file.follow());
  }
  void rotate() {
    // If the file was renamed by another program, there is nothing to rename, and older files keep their names.
    if (file.was_moved()) return follow();
    open_next("rotated", file.rotate());
    if (cannot_rotate) return;
    if (const auto dropped = file.drop_oldest(); !dropped) say(dropped.error().public_text);
  }

  /// Writes, syncs and rotates once. Returns false if not everything could be written. `all`: including rejections whose window
  /// is open.
  bool turn(bool reopen_now, bool all) {
    // While a write fails, `out` does not grow: unlike the queue, it has no limit.
    if (out.empty()) compose(all);
    if (reopen_now && !file.is_doubtful() && file.was_moved()) follow();
    if (!write()) return false;
    const auto now = clock::now();
    if (unsynced != 0) sync_at = std::min(sync_at, now + with.sync_every);
    const bool has_many = unsynced >= with.sync_records || file.unsynced() >= with.buffer;
    if ((!can_sync || has_many || now >= sync_at) && !sync()) return false;
    if (file.size() < with.max_bytes || now < rotate_at) return true;
    if (!sync()) return false;
    rotate();
    return true;
  }

  void work() {
    sigset_t none_of_ours;
    sigemptyset(&none_of_ours);
    // Exceeding the file size limit becomes a write error instead of ending the process.
    sigaddset(&none_of_ours, SIGXFSZ);
    pthread_sigmask(SIG_BLOCK, &none_of_ours, nullptr);
    bool is_good = true;
    std::unique_lock lock(mutex);
    for (;;) {
      const auto is_urgent = [this] { return is_closing || reopens || flush_wanted > flush_done; };
      if (is_good) {
        monotonic_clock::wait_until(changed, lock, std::min(sync_at, refused.due()), [&] { return is_urgent() || has_rung; });
        if (has_rung) monotonic_clock::wait_for(changed, lock, gather_time, is_urgent);
      } else {
        monotonic_clock::wait_for(changed, lock, retry_time, [this] { return is_closing || reopens; });
      }
      const bool is_last = is_closing;
      const bool reopen_now = std::exchange(reopens, false);
      const auto flush_now = flush_wanted;
      has_rung = false;
      lock.unlock();
      // A second pass takes records that waited behind a failed write.
      const bool all = is_last || flush_now > flush_done;
      is_good = turn(reopen_now, all) && turn(false, all);
      if (is_good && is_last) {
        add(audit::closing_text());
        is_good = write();
      }
      if (is_good && all) is_good = sync();
      if (is_last && !is_good) say("audit log: stopped with records that could not be written");
      lock.lock();
      if (is_good) flush_done = flush_now;
      changed.notify_all();
      if (is_last) return;
    }
  }
};

audit_file::audit_file(std::unique_ptr<state> made) noexcept : state_(std::move(made)) {}

result<std::shared_ptr<audit_file>> audit_file::open(audit_file_options with) {
  HONDANA_TRY(auto file, audit::log_file::open(with));
  auto made = std::make_unique<state>(std::move(with), std::move(file));
  auto& s = *made;
  if (s.file.torn_bytes() != 0) {
    s.say("audit log: " + s.with.path + " ended inside a record, as after a crash: " + std::to_string(s.file.torn_bytes()) +
          " bytes were moved to " + s.with.path + "-torn-" + std::to_string(s.at.number + 1) + ", and the log continues");
  }
  s.add(audit::opening_text("started", s.run, s.file.torn_bytes()));
  if (auto written = s.file.append(s.out); !written && !s.with.serves_when_full) return tl::unexpected(written.error());
  s.writer = std::thread([&s] { s.work(); });
  return std::shared_ptr<audit_file>(new audit_file(std::move(made)));
}

audit_file::~audit_file() {
  {
    const std::lock_guard lock(state_->mutex);
    state_->is_closing = true;
  }
  state_->changed.notify_all();
  state_->writer.join();
}

result<std::uint64_t> audit_file::decide(const audit_decision& what) {
  auto& s = *state_;
  if (!what.is_request && !s.refused.is_first(what, clock::now())) return 0;
  const auto number = s.records.next_number();
  // Rejected requests may use half of the buffer only, so that they cannot displace other requests.
  const auto most = what.is_allowed ? s.with.buffer : s.with.buffer / 2;
  if (!s.is_failing) {
    const bool has_room = s.records.put(number, audit::decision_text(number, what), most);
    if (!has_room && what.is_allowed) s.is_full = true;
    s.ring();
    if (has_room) return number;
  }
  ++s.lost;
  if (s.with.serves_when_full) return 0;
  failure full{errc::overloaded, "This server cannot write its audit log now, and serves no requests without it. Retry later.",
               "the audit log cannot record the request"};
  full.retry = retry_time;
  return tl::unexpected(std::move(full));
}

void audit_file::complete(std::uint64_t decision, const audit_completion& how) {
  if (decision == 0) return;  // not recorded
  auto& s = *state_;
  const auto number = s.records.next_number();
  // No limit: there are at most as many as running requests, which have limits of their own.
  if (s.records.put(number, audit::completion_text(decision, how), std::numeric_limits<std::size_t>::max())) s.ring();
}

bool audit_file::takes_records() const { return state_->with.serves_when_full || (!state_->is_failing && !state_->is_full); }

void audit_file::reopen() {
  {
    const std::lock_guard lock(state_->mutex);
    state_->reopens = true;
  }
  state_->changed.notify_all();
}

bool audit_file::flush(std::chrono::steady_clock::time_point until) {
  auto& s = *state_;
  std::unique_lock lock(s.mutex);
  const auto mine = ++s.flush_wanted;
  s.changed.notify_all();
  return monotonic_clock::wait_until(s.changed, lock, until, [&] { return s.flush_done >= mine; });
}

}  // namespace hondana::inline v0
