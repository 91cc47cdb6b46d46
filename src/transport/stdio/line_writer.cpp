/// Writes messages to a descriptor, one per line, in batches.
#include "transport/stdio/line_writer.hpp"

#include <algorithm>
#include <condition_variable>
#include <csignal>
#include <cstddef>
#include <deque>
#include <mutex>
#include <optional>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include <hondana/clock.hpp>

#include "base/bytes/buffer_pool.hpp"
#include "protocol/rpc/message_body.hpp"
#include "transport/stdio/output.hpp"

namespace hondana::transport::stdio {

/// Lines that are ready to be written, in order, and their unfinished receipts. Threads: one at a time.
class line_batch {
 public:
  [[nodiscard]] bool empty() const noexcept { return text_.empty(); }
  [[nodiscard]] const std::string& text() const noexcept { return text_; }

  /// Appends a complete message as one line.
  void add(rpc::body message) {
    receipts_.add(message.attached_receipts());
    auto line = message.extract_text();
    text_ += line;
    text_ += '\n';
    bytes::release_buffer(std::move(line));  // for reuse by the next answer of this thread
  }
  /// Appends all lines to `text` and all receipts to `receipts`; this batch is empty afterwards.
  void move_to(std::string& text, rpc::receipts& receipts) {
    text += text_;
    receipts.add(std::move(receipts_));
    clear();
  }
  void move_to(line_batch& target) { move_to(target.text_, target.receipts_); }
  /// The first `bytes` have been written.
  void remove_written(std::size_t bytes) { text_.erase(0, bytes); }
  void finish(rpc::delivery_outcome outcome) { receipts_.finish(outcome); }
  /// Empties the batch. Unfinished receipts report `disconnected`. Keeps its memory, up to a limit.
  void clear() {
    receipts_ = {};
    text_.clear();
    if (text_.capacity() > max_retained_bytes) text_ = std::string();
  }

 private:
  static constexpr std::size_t max_retained_bytes = 128 * 1024;

  std::string text_;
  rpc::receipts receipts_;
};

namespace {

using clock = monotonic_clock;

constexpr std::size_t max_batch_bytes = 256 * 1024;
// Messages up to `max_small_bytes` are collected, and written when they reach `flush_threshold_bytes` together. A pipe holds 64
// KiB.
constexpr std::size_t max_small_bytes = 32 * 1024;
constexpr std::size_t flush_threshold_bytes = 32 * 1024;
constexpr std::chrono::milliseconds poll_interval{100};

}  // namespace

struct line_writer::state : std::enable_shared_from_this<state> {
  struct queued_message {
    std::shared_ptr<rpc::body> message;
    std::size_t bytes;
  };
  struct followed_source final : rpc::source_listener {
    void notify() override {
      if (const auto target = owner.lock()) target->mark_ready(*this);
    }
    std::shared_ptr<rpc::message_source> source;
    std::weak_ptr<state> owner;
    bool is_ready = false;
  };

  output out;
  line_writer::limits limits;
  stdio::write_timeout timeout;
  std::function<void(std::string_view)> log;

  std::mutex mutex;
  std::condition_variable work_available;  // for the writer thread
  std::condition_variable state_changed;   // for all other threads
  /// In the order of their messages: the rest of a partial write, the queue, and, while both are empty, the collected messages.
  line_batch unwritten;
  std::deque<queued_message> queue;
  line_batch collected;
  std::size_t queued_bytes = 0;
  std::vector<std::shared_ptr<followed_source>> sources;
  std::size_t expected_answers = 0;
  std::optional<std::thread::id> batch_thread;  // the thread in a batch, which writes the collected messages at its end
  bool is_writing = false;                      // one thread uses `out` and `in_flight`
  line_batch in_flight;
  bool has_failed = false;
  bool is_closing = false;
  bool is_hurried = false;
  bool has_exited = false;
  std::function<void()> failure_callback;

  state(int descriptor, line_writer::limits bounds, std::function<void(std::string_view)> logger)
      : out(descriptor), limits(bounds), timeout(bounds.stall_timeout), log(std::move(logger)) {}

  /// Queues or writes a message. False if writing has ended.
  bool enqueue(std::optional<rpc::body> message, bool is_answer) {
    std::unique_lock lock(mutex);
    if (is_answer && expected_answers != 0) --expected_answers;
    if (expected_answers == 0) state_changed.notify_all();
    if (has_failed || is_closing) return false;
    if (!message) return true;
    // If other answers are expected, the writer thread writes them together. The last one is written here.
    const bool is_batching = batch_thread == std::this_thread::get_id();
    if ((is_batching || expected_answers == 0) && can_write_directly(*message)) {
      collected.add(*std::move(message));
      if (!is_batching || collected.text().size() >= flush_threshold_bytes) write_collected(lock);
      return true;
    }
    collected.move_to(unwritten);
    const auto bytes = message->buffered_bytes();
    queue.push_back({std::make_shared<rpc::body>(*std::move(message)), bytes});
    queued_bytes += bytes;
    work_available.notify_one();
    return true;
  }

  /// Whether the calling thread may write this message itself, or collect it.
  [[nodiscard]] bool can_write_directly(const rpc::body& message) const {
    return !is_writing && unwritten.empty() && queue.empty() && out.can_write_some() && message.is_single_text() &&
           message.buffered_bytes() <= max_small_bytes;
  }

  /// Writes the collected messages as far as the peer accepts them now. Precondition: `is_writing` is false.
  void write_collected(std::unique_lock<std::mutex>& lock) {
    is_writing = true;
    std::swap(in_flight, collected);
    lock.unlock();
    const auto written = out.write_some(in_flight.text());
    const bool is_complete = written && *written == in_flight.text().size();
    if (is_complete) in_flight.finish(rpc::delivery_outcome::sent);
    if (!written) {
      in_flight.finish(rpc::delivery_outcome::disconnected);
      give_up(written.error());
    }
    lock.lock();
    if (written && !is_complete) {
      in_flight.remove_written(*written);
      in_flight.move_to(unwritten);
    }
    in_flight.clear();
    is_writing = false;
    if (is_closing || has_work()) work_available.notify_one();
    state_changed.notify_all();
  }

  void end_batch() {
    std::unique_lock lock(mutex);
    batch_thread.reset();
    if (collected.empty()) return;
    if (!is_writing) return write_collected(lock);
    // The writer thread is sending messages of a source, and continues with these.
    collected.move_to(unwritten);
  }

  void follow(std::shared_ptr<rpc::message_source> source) {
    const auto entry = std::make_shared<followed_source>();
    entry->source = std::move(source);
    entry->owner = weak_from_this();
    {
      const std::lock_guard lock(mutex);
      if (has_failed || is_closing) return;
      sources.push_back(entry);
    }
    entry->source->set_listener(entry);
  }

  void mark_ready(followed_source& entry) {
    {
      const std::lock_guard lock(mutex);
      entry.is_ready = true;
    }
    work_available.notify_one();
  }

  [[nodiscard]] bool has_ready_source() const {
    return std::any_of(sources.begin(), sources.end(), [](const auto& entry) { return entry->is_ready; });
  }

  /// Collects messages of the sources, up to one batch. Called without the mutex, because sources have their own.
  void collect_from_sources(const std::vector<std::shared_ptr<followed_source>>& ready, std::string& batch) {
    for (const auto& ready_entry : ready) {
      while (batch.size() < max_batch_bytes) {
        const auto message = ready_entry->source->next();
        if (!message) break;
        batch += *message;
        batch += '\n';
      }
      // The batch is full: this source continues after the others, without a further notification.
      if (batch.size() >= max_batch_bytes) mark_ready(*ready_entry);
    }
    const std::lock_guard lock(mutex);
    std::erase_if(sources, [](const auto& entry) { return entry->source->is_finished(); });
  }

  [[nodiscard]] bool has_work() const { return !unwritten.empty() || !queue.empty() || has_ready_source(); }
  [[nodiscard]] bool has_capacity() const {
    return queue.size() < limits.max_backlog_messages && queued_bytes < limits.max_backlog_bytes;
  }

  void give_up(const std::string& reason) {
    // Log first: the callback may end the process.
    if (log) log("output: " + reason);
    std::function<void()> callback;
    {
      const std::lock_guard lock(mutex);
      has_failed = true;
      callback = std::exchange(failure_callback, nullptr);
      unwritten.clear();
      collected.clear();
      queue.clear();
      queued_bytes = 0;
      sources.clear();
    }
    work_available.notify_one();
    state_changed.notify_all();
    if (callback) callback();
  }
  void give_up(const failure& error) { give_up(error.public_text + ' ' + error.private_text); }

  /// Writes everything and waits for the peer if necessary. False on failure; `receipts` are finished then.
  bool write_all(std::string_view bytes, rpc::receipts& receipts) {
    const auto written = out.write_all(bytes, timeout);
    if (written) return true;
    receipts.finish(written.error().code == errc::timed_out ? rpc::delivery_outcome::truncated
                                                            : rpc::delivery_outcome::disconnected);
    give_up(written.error());
    return false;
  }

  std::vector<std::shared_ptr<followed_source>> extract_ready() {
    std::vector<std::shared_ptr<followed_source>> ready;
    for (const auto& entry : sources) {
      if (std::exchange(entry->is_ready, false)) ready.push_back(entry);
    }
    return ready;
  }

  /// Takes queued messages, up to one batch. A message that is read in pieces ends the batch and is returned separately.
  std::shared_ptr<rpc::body> fill_batch(std::string& batch, rpc::receipts& receipts) {
    unwritten.move_to(batch, receipts);
    while (!queue.empty() && batch.size() < max_batch_bytes) {
      auto next = std::move(queue.front());
      queue.pop_front();
      queued_bytes -= next.bytes;
      receipts.add(next.message->attached_receipts());
      if (!next.message->is_single_text()) return next.message;
      batch += next.message->extract_text();
      batch += '\n';
    }
    return nullptr;
  }

  bool write_streamed(const std::shared_ptr<rpc::body>& message, std::string& batch, rpc::receipts& receipts) {
    for (;;) {
      if (message->is_next_cached()) {
        // Directly from shared memory, without a copy.
        batch += message->take_text_piece();
        const auto cached = message->take_cached();
        if (!write_all(batch, receipts) || !write_all(*cached.json_text, receipts)) return false;
        if (cached.counter) cached.counter->count(cached.json_text->size());
        batch = message->take_text_piece();
        if (message->has_more()) continue;
        break;
      }
      const auto pulled = rpc::pull_until(message, batch, clock::now() + limits.pull_timeout);
      if (!pulled) {
        // A partial message cannot be recognized by the peer, so the session ends here.
        receipts.finish(rpc::delivery_outcome::truncated);
        give_up("an answer had to be cut off: " + pulled.error().public_text + ' ' + pulled.error().private_text);
        return false;
      }
      if (!*pulled) break;
      if (!write_all(batch, receipts)) return false;
      batch.clear();
    }
    batch += '\n';
    return true;
  }

  void run() {
    sigset_t pipe_signal;
    sigemptyset(&pipe_signal);
    sigaddset(&pipe_signal, SIGPIPE);
    pthread_sigmask(SIG_BLOCK, &pipe_signal, nullptr);
    std::string batch;
    rpc::receipts receipts;
    std::unique_lock lock(mutex);
    for (;;) {
      work_available.wait(lock, [this] { return has_failed || (!is_writing && (is_closing || has_work())); });
      if (has_failed || (is_closing && unwritten.empty() && queue.empty())) break;
      is_writing = true;
      batch.clear();
      collected.move_to(unwritten);  // messages of sources must not overtake it
      const auto streamed = fill_batch(batch, receipts);
      const auto ready = streamed ? std::vector<std::shared_ptr<followed_source>>() : extract_ready();
      lock.unlock();
      collect_from_sources(ready, batch);
      const bool is_good = (!streamed || write_streamed(streamed, batch, receipts)) && write_all(batch, receipts);
      if (is_good) receipts.finish(rpc::delivery_outcome::sent);
      if (batch.capacity() > 4 * max_batch_bytes) batch = std::string();
      lock.lock();
      is_writing = false;
      state_changed.notify_all();
      if (!is_good) break;
    }
    has_exited = true;
    state_changed.notify_all();
  }
};

line_writer::line_writer(int descriptor, limits bounds, std::function<void(std::string_view)> log)
    : state_(std::make_shared<state>(descriptor, bounds, std::move(log))) {
  std::thread([state = state_] { state->run(); }).detach();
}

line_writer::~line_writer() {
  state_->end_batch();
  std::unique_lock lock(state_->mutex);
  state_->is_closing = true;
  state_->work_available.notify_one();
  state_->state_changed.wait(lock, [this] { return state_->has_exited || state_->has_failed; });
}

void line_writer::answer(rpc::outgoing_response response) { state_->enqueue(std::move(response.content), true); }

rpc::send_outcome line_writer::send(std::string message) {
  return state_->enqueue(rpc::body(std::move(message)), false) ? rpc::send_outcome::accepted : rpc::send_outcome::disconnected;
}

void line_writer::stream(std::shared_ptr<rpc::message_source> source) { state_->follow(std::move(source)); }

void line_writer::admit_request(const std::function<void()>& on_wait) {
  auto& s = *state_;
  std::unique_lock lock(s.mutex);
  const auto can_proceed = [&s] { return s.has_failed || s.is_hurried || s.has_capacity(); };
  while (!can_proceed() && !monotonic_clock::wait_for(s.state_changed, lock, poll_interval, can_proceed)) {
    lock.unlock();
    on_wait();
    lock.lock();
  }
  ++s.expected_answers;
}

void line_writer::begin_batch() {
  const std::lock_guard lock(state_->mutex);
  state_->batch_thread = std::this_thread::get_id();
}

void line_writer::end_batch() { state_->end_batch(); }

void line_writer::shorten_timeouts(std::chrono::milliseconds stall_timeout, clock::time_point deadline) {
  {
    const std::lock_guard lock(state_->mutex);
    state_->is_hurried = true;
  }
  state_->timeout.shorten(stall_timeout, deadline);
  state_->state_changed.notify_all();
}

bool line_writer::finish(clock::time_point answers_deadline) {
  auto& s = *state_;
  std::unique_lock lock(s.mutex);
  monotonic_clock::wait_until(s.state_changed, lock, answers_deadline,
                              [&s] { return s.has_failed || s.expected_answers == 0; });
  s.state_changed.wait(lock, [&s] { return s.has_failed || (s.unwritten.empty() && s.queue.empty() && !s.is_writing); });
  return !s.has_failed;
}

void line_writer::on_failure(std::function<void()> callback) {
  {
    const std::lock_guard lock(state_->mutex);
    if (!state_->has_failed) return void(state_->failure_callback = std::move(callback));
  }
  if (callback) callback();
}

}  // namespace hondana::transport::stdio
