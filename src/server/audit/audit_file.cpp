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
#include "server/audit/rejection_summary.hpp"

namespace hondana::audit {

/// The queue of records to write. Threads: any; `drain` one at a time.
///
/// Each thread has a shard of its own while there are few threads, to avoid contention. Records are drained in the order of
/// their numbers.
class record_queue {
 public:
  /// A number for the next record, higher than all before.
  [[nodiscard]] std::uint64_t next_number() noexcept { return last_number_.fetch_add(1, std::memory_order_relaxed) + 1; }
  /// Queues a record. Returns false, without effect, if more than `max_bytes` bytes would wait.
  [[nodiscard]] bool push(std::uint64_t number, std::string_view record, std::size_t max_bytes);
  /// Passes all queued records to `consumer`, in the order of their numbers.
  template <class Consumer>
  void drain(Consumer&& consumer) {
    collect();
    for (const auto& record : sorted_) consumer(record.text);
    for (auto& batch : drained_) {
      queued_bytes_.fetch_sub(batch.text.size(), std::memory_order_relaxed);
      batch.text.clear();
    }
  }

 private:
  struct record_range {
    std::uint64_t number;
    std::size_t begin;
    std::size_t size;
  };
  struct numbered_record {
    std::uint64_t number;
    std::string_view text;
  };
  struct record_batch {
    std::string text;
    std::vector<record_range> ranges;
  };
  struct alignas(64) queue_shard {
    std::mutex mutex;
    record_batch batch;
  };
  static constexpr std::size_t shard_count = 8;

  void collect();

  std::array<queue_shard, shard_count> shards_;
  std::array<record_batch, shard_count> drained_;
  std::vector<numbered_record> sorted_;
  std::atomic<std::uint64_t> last_number_{0};
  std::atomic<std::size_t> queued_bytes_{0};
};

namespace {

/// Threads are assigned to the shards round-robin.
std::size_t thread_index() {
  static std::atomic<std::size_t> thread_count{0};
  thread_local const std::size_t index = thread_count.fetch_add(1, std::memory_order_relaxed);
  return index;
}

}  // namespace

bool record_queue::push(std::uint64_t number, std::string_view record, std::size_t max_bytes) {
  const auto queued = queued_bytes_.fetch_add(record.size(), std::memory_order_relaxed);
  if (queued + record.size() > max_bytes) {
    queued_bytes_.fetch_sub(record.size(), std::memory_order_relaxed);
    return false;
  }
  auto& shard = shards_[thread_index() % shard_count];
  const std::lock_guard lock(shard.mutex);
  shard.batch.ranges.push_back({number, shard.batch.text.size(), record.size()});
  shard.batch.text += record;
  return true;
}

/// Takes the batches of all shards at one moment, so that no record is taken before an earlier one of another shard.
void record_queue::collect() {
  for (auto& shard : shards_) shard.mutex.lock();
  for (std::size_t i = 0; i < shard_count; ++i) std::swap(shards_[i].batch, drained_[i]);
  for (auto& locked_shard : shards_) locked_shard.mutex.unlock();
  sorted_.clear();
  for (auto& batch : drained_) {
    for (const auto& range : batch.ranges)
      sorted_.push_back({range.number, std::string_view(batch.text).substr(range.begin, range.size)});
    batch.ranges.clear();
  }
  const auto is_before = [](const auto& a, const auto& b) { return a.number < b.number; };
  // They are sorted already if a single thread pushed them.
  if (!std::is_sorted(sorted_.begin(), sorted_.end(), is_before)) std::sort(sorted_.begin(), sorted_.end(), is_before);
}

}  // namespace hondana::audit

namespace hondana::inline v0 {
namespace {

using clock = monotonic_clock;

// How long records are collected for one write.
constexpr std::chrono::milliseconds batch_interval{5};
// Pause after a failure.
constexpr std::chrono::milliseconds retry_delay{500};

/// Identifies a run of a server in the log.
std::string new_run_id() {
  std::random_device device;
  std::string out;
  constexpr std::string_view digits = "0123456789abcdef";
  for (int i = 0; i < 16; ++i) out += digits[device() & 15];
  return out;
}

}  // namespace

struct audit_file::state {
  state(audit_file_options initial_options, audit::log_file opened)
      : options(std::move(initial_options)), file(std::move(opened)), position(file.initial_position()), run_id(new_run_id()) {}

  const audit_file_options options;
  // Used by the writer thread only:
  audit::log_file file;
  audit::chain_position position;  // after the records in `pending`
  std::string pending;             // to be written
  std::size_t unsynced = 0;
  clock::time_point sync_at = clock::time_point::max();
  bool can_sync = true;
  std::string failure_reason;  // last logged reason
  bool cannot_rotate = false;
  clock::time_point rotate_at{};  // not before this time

  audit::record_queue queue;
  audit::rejection_summary rejections;
  const std::string run_id;
  std::atomic<bool> is_failing{false};
  std::atomic<bool> is_full{false};  // from a rejected record until waiting ones are taken
  std::atomic<std::uint64_t> lost_records{0};
  std::atomic<bool> is_notified{false};

  std::mutex mutex;
  std::condition_variable changed;
  bool is_closing = false;
  bool should_reopen = false;
  std::uint64_t flushes_requested = 0;
  std::uint64_t flushes_done = 0;
  std::thread writer;

  void log(const std::string& line) const {
    if (options.log) options.log(line);
  }
  /// Wakes the writer, once for many calls.
  void notify_writer() {
    if (is_notified || is_notified.exchange(true)) return;
    {
      const std::lock_guard lock(mutex);
    }
    changed.notify_all();
  }

  void add(std::string_view text) {
    audit::append_record(pending, position, text);
    ++unsynced;
  }

  /// Moves waiting records into `pending`. `include_open`: including rejections whose counting window is open.
  void collect_records(bool include_open) {
    is_full = false;
    queue.drain([this](std::string_view text) { add(text); });
    for (const auto& rejection : rejections.drain(clock::now(), include_open)) {
      add(audit::decision_text(queue.next_number(), rejection.decision, rejection.count));
    }
    if (const auto lost = lost_records.exchange(0); lost != 0) add(audit::loss_text(lost));
  }

  /// From now on decisions cannot be recorded.
  void report_failure(const failure& error) {
    const bool is_reported = is_failing.exchange(true) && error.public_text == failure_reason;
    if (is_reported) return;
    failure_reason = error.public_text;
    log(error.public_text + (options.serves_when_full ? "; until it can, requests are served without records"
                                                      : "; until it can, requests are rejected"));
  }
  void report_recovery() {
    if (can_sync && is_failing.exchange(false)) log("audit log: records are written again");
  }

  /// Writes all of `pending` to the file. Returns false if it must be retried.
  bool write() {
    const bool had_sync_failure = file.has_sync_failed();
    if (auto written = had_sync_failure ? file.restart(pending) : file.append(pending); !written) {
      report_failure(written.error());
      return false;
    }
    if (had_sync_failure) {
      log("audit log: records that could not be synced were written again, and " + options.path + " is a new file");
      unsynced = 0;
      if (const auto dropped = file.delete_oldest(); !dropped) log(dropped.error().public_text);
      return sync();
    }
    report_recovery();
    return true;
  }

  /// Returns false if it must be retried.
  bool sync() {
    const auto synced = file.sync();
    can_sync = synced.has_value();
    if (!can_sync) {
      report_failure(synced.error());
      // This record follows the repeated records in the next file.
      if (file.has_sync_failed()) add(audit::opening_text("sync_failed", run_id, 0, unsynced));
      return false;
    }
    unsynced = 0;
    sync_at = clock::time_point::max();
    report_recovery();
    return true;
  }

  void open_next(const char* reason, result<void> outcome) {
    if (!outcome) {
      rotate_at = clock::now() + retry_delay;
      if (!std::exchange(cannot_rotate, true)) log(outcome.error().public_text + "; the current file stays in use");
      return;
    }
    cannot_rotate = false;
    add(audit::opening_text(reason, run_id, 0));
    (void)write();
  }
  void reopen_file() {
    const auto waiting = unsynced;  // including records in `pending`, which go to the next file
    if (!sync()) return;
    unsynced = waiting;
    open_next("reopened", file.reopen());
  }
  void rotate() {
    // If the file was renamed by another program, there is nothing to rename, and older files keep their names.
    if (file.was_moved()) return reopen_file();
    open_next("rotated", file.rotate());
    if (cannot_rotate) return;
    if (const auto dropped = file.delete_oldest(); !dropped) log(dropped.error().public_text);
  }

  /// Writes, syncs and rotates once. Returns false if not everything could be written. `include_open`: including rejections
  /// whose window is open.
  bool run_once(bool reopen_now, bool include_open) {
    // While a write fails, `pending` does not grow: unlike the queue, it has no limit.
    if (pending.empty()) collect_records(include_open);
    if (reopen_now && !file.has_sync_failed() && file.was_moved()) reopen_file();
    if (!write()) return false;
    const auto now = clock::now();
    if (unsynced != 0) sync_at = std::min(sync_at, now + options.sync_interval);
    const bool has_many_unsynced = unsynced >= options.max_unsynced_records || file.unsynced() >= options.buffer_bytes;
    if ((!can_sync || has_many_unsynced || now >= sync_at) && !sync()) return false;
    if (file.size() < options.max_bytes || now < rotate_at) return true;
    if (!sync()) return false;
    rotate();
    return true;
  }

  void run_writer() {
    sigset_t blocked_signals;
    sigemptyset(&blocked_signals);
    // Exceeding the file size limit becomes a write error instead of ending the process.
    sigaddset(&blocked_signals, SIGXFSZ);
    pthread_sigmask(SIG_BLOCK, &blocked_signals, nullptr);
    bool succeeded = true;
    std::unique_lock lock(mutex);
    for (;;) {
      const auto is_urgent = [this] { return is_closing || should_reopen || flushes_requested > flushes_done; };
      if (succeeded) {
        monotonic_clock::wait_until(changed, lock, std::min(sync_at, rejections.next_due()),
                                    [&] { return is_urgent() || is_notified; });
        if (is_notified) monotonic_clock::wait_for(changed, lock, batch_interval, is_urgent);
      } else {
        monotonic_clock::wait_for(changed, lock, retry_delay, [this] { return is_closing || should_reopen; });
      }
      const bool is_last = is_closing;
      const bool reopen_now = std::exchange(should_reopen, false);
      const auto flush_now = flushes_requested;
      is_notified = false;
      lock.unlock();
      // A second pass takes records that waited behind a failed write.
      const bool include_open = is_last || flush_now > flushes_done;
      succeeded = run_once(reopen_now, include_open) && run_once(false, include_open);
      if (succeeded && is_last) {
        add(audit::closing_text());
        succeeded = write();
      }
      if (succeeded && include_open) succeeded = sync();
      if (is_last && !succeeded) log("audit log: stopped with records that could not be written");
      lock.lock();
      if (succeeded) flushes_done = flush_now;
      changed.notify_all();
      if (is_last) return;
    }
  }
};

audit_file::audit_file(std::unique_ptr<state> initial) noexcept : state_(std::move(initial)) {}

result<std::shared_ptr<audit_file>> audit_file::open(audit_file_options options) {
  HONDANA_TRY(auto file, audit::log_file::open(options));
  auto created = std::make_unique<state>(std::move(options), std::move(file));
  auto& s = *created;
  if (s.file.incomplete_bytes() != 0) {
    s.log("audit log: " + s.options.path +
          " ended inside a record, as after a crash: " + std::to_string(s.file.incomplete_bytes()) + " bytes were moved to " +
          s.options.path + "-incomplete-" + std::to_string(s.position.number + 1) + ", and the log continues");
  }
  s.add(audit::opening_text("started", s.run_id, s.file.incomplete_bytes()));
  if (auto written = s.file.append(s.pending); !written && !s.options.serves_when_full) return tl::unexpected(written.error());
  s.writer = std::thread([&s] { s.run_writer(); });
  return std::shared_ptr<audit_file>(new audit_file(std::move(created)));
}

audit_file::~audit_file() {
  {
    const std::lock_guard lock(state_->mutex);
    state_->is_closing = true;
  }
  state_->changed.notify_all();
  state_->writer.join();
}

result<std::uint64_t> audit_file::record_decision(const audit_decision& decision) {
  auto& s = *state_;
  if (!decision.is_request && !s.rejections.is_first(decision, clock::now())) return 0;
  const auto number = s.queue.next_number();
  // Rejected requests may use half of the buffer only, so that they cannot displace other requests.
  const auto max_queued_bytes = decision.is_allowed ? s.options.buffer_bytes : s.options.buffer_bytes / 2;
  if (!s.is_failing) {
    const bool is_queued = s.queue.push(number, audit::decision_text(number, decision), max_queued_bytes);
    if (!is_queued && decision.is_allowed) s.is_full = true;
    s.notify_writer();
    if (is_queued) return number;
  }
  ++s.lost_records;
  if (s.options.serves_when_full) return 0;
  failure full{errc::overloaded, "This server cannot write its audit log now, and serves no requests without it. Retry later.",
               "the audit log cannot record the request"};
  full.retry_after = retry_delay;
  return tl::unexpected(std::move(full));
}

void audit_file::record_completion(std::uint64_t decision_id, const audit_completion& completion) {
  if (decision_id == 0) return;  // not recorded
  auto& s = *state_;
  const auto number = s.queue.next_number();
  // No limit: there are at most as many as running requests, which have limits of their own.
  if (s.queue.push(number, audit::completion_text(decision_id, completion), std::numeric_limits<std::size_t>::max()))
    s.notify_writer();
}

bool audit_file::can_record() const { return state_->options.serves_when_full || (!state_->is_failing && !state_->is_full); }

void audit_file::reopen() {
  {
    const std::lock_guard lock(state_->mutex);
    state_->should_reopen = true;
  }
  state_->changed.notify_all();
}

bool audit_file::flush(std::chrono::steady_clock::time_point deadline) {
  auto& s = *state_;
  std::unique_lock lock(s.mutex);
  const auto ticket = ++s.flushes_requested;
  s.changed.notify_all();
  return monotonic_clock::wait_until(s.changed, lock, deadline, [&] { return s.flushes_done >= ticket; });
}

}  // namespace hondana::inline v0
