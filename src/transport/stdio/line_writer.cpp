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

/// Lines that are ready to be written, in order, and the receipts to be settled for them. Threads: one at a time.
class parcel {
 public:
  [[nodiscard]] bool empty() const noexcept { return text_.empty(); }
  [[nodiscard]] const std::string& text() const noexcept { return text_; }

  /// Appends a complete message as one line.
  void add(rpc::body message) {
    receipts_.add(message.sent_for());
    auto line = message.take_text();
    text_ += line;
    text_ += '\n';
    bytes::keep_spare_text(std::move(line));  // for reuse by the next answer of this thread
  }
  /// Appends all lines to `text` and all receipts to `of`; this parcel is empty afterwards.
  void take(std::string& text, rpc::receipts& of) {
    text += text_;
    of.add(std::move(receipts_));
    clear();
  }
  void take(parcel& into) { take(into.text_, into.receipts_); }
  /// The first `bytes` have been written.
  void has_left(std::size_t bytes) { text_.erase(0, bytes); }
  void settle(rpc::departure how) { receipts_.settle(how); }
  /// Empties the parcel. Receipts that are not settled report `gone`. Keeps its memory, up to a limit.
  void clear() {
    receipts_ = {};
    text_.clear();
    if (text_.capacity() > kept_bytes) text_ = std::string();
  }

 private:
  static constexpr std::size_t kept_bytes = 128 * 1024;

  std::string text_;
  rpc::receipts receipts_;
};

namespace {

using clock = monotonic_clock;

constexpr std::size_t batch_bytes = 256 * 1024;
// Messages up to `small_bytes` are gathered, and written when they reach `gathered_bytes` together. A pipe holds 64 KiB.
constexpr std::size_t small_bytes = 32 * 1024;
constexpr std::size_t gathered_bytes = 32 * 1024;
constexpr std::chrono::milliseconds look_every{100};

}  // namespace

struct line_writer::state : std::enable_shared_from_this<state> {
  struct waiting {
    std::shared_ptr<rpc::body> message;
    std::size_t bytes;
  };
  struct followed final : rpc::follower {
    void wake() override {
      if (const auto there = by.lock()) there->wake(*this);
    }
    std::shared_ptr<rpc::message_source> from;
    std::weak_ptr<state> by;
    bool is_ready = false;
  };

  output to;
  line_writer::limits limits;
  stdio::patience patience;
  std::function<void(std::string_view)> log;

  std::mutex mutex;
  std::condition_variable work_came;  // for the writer thread
  std::condition_variable changed;    // for all other threads
  /// In the order of their messages: the rest of a partial write, the queue, and, while both are empty, the gathered messages.
  parcel rest;
  std::deque<waiting> queue;
  parcel gathered;
  std::size_t queued_bytes = 0;
  std::vector<std::shared_ptr<followed>> sources;
  std::size_t expected = 0;
  std::optional<std::thread::id> batch_of;  // the thread in a batch, which writes the gathered messages at its end
  bool writing = false;                     // one thread uses `to` and `going`
  parcel going;
  bool failed = false;
  bool closing = false;
  bool hurrying = false;
  bool left = false;
  std::function<void()> hear_failure;

  state(int descriptor, line_writer::limits with, std::function<void(std::string_view)> logger)
      : to(descriptor), limits(with), patience(with.stall), log(std::move(logger)) {}

  /// Queues or writes a message. False if writing has ended.
  bool put(std::optional<rpc::body> message, bool is_answer) {
    std::unique_lock lock(mutex);
    if (is_answer && expected != 0) --expected;
    if (expected == 0) changed.notify_all();
    if (failed || closing) return false;
    if (!message) return true;
    // If other answers are expected, the writer thread writes them together. The last one is written here.
    const bool is_gathering = batch_of == std::this_thread::get_id();
    if ((is_gathering || expected == 0) && is_at_hand(*message)) {
      gathered.add(*std::move(message));
      if (!is_gathering || gathered.text().size() >= gathered_bytes) write_gathered(lock);
      return true;
    }
    gathered.take(rest);
    const auto bytes = message->bytes_held();
    queue.push_back({std::make_shared<rpc::body>(*std::move(message)), bytes});
    queued_bytes += bytes;
    work_came.notify_one();
    return true;
  }

  /// Whether the calling thread may write this message itself, or gather it.
  [[nodiscard]] bool is_at_hand(const rpc::body& message) const {
    return !writing && rest.empty() && queue.empty() && to.takes_some() && message.is_whole() &&
           message.bytes_held() <= small_bytes;
  }

  /// Writes the gathered messages as far as the peer accepts them now. Precondition: `writing` is false.
  void write_gathered(std::unique_lock<std::mutex>& lock) {
    writing = true;
    std::swap(going, gathered);
    lock.unlock();
    const auto taken = to.write_some(going.text());
    const bool is_all = taken && *taken == going.text().size();
    if (is_all) going.settle(rpc::departure::sent);
    if (!taken) {
      going.settle(rpc::departure::gone);
      give_up(taken.error());
    }
    lock.lock();
    if (taken && !is_all) {
      going.has_left(*taken);
      going.take(rest);
    }
    going.clear();
    writing = false;
    if (closing || has_work()) work_came.notify_one();
    changed.notify_all();
  }

  void end_batch() {
    std::unique_lock lock(mutex);
    batch_of.reset();
    if (gathered.empty()) return;
    if (!writing) return write_gathered(lock);
    // The writer thread is sending messages of a source, and continues with these.
    gathered.take(rest);
  }

  void follow(std::shared_ptr<rpc::message_source> from) {
    const auto one = std::make_shared<followed>();
    one->from = std::move(from);
    one->by = weak_from_this();
    {
      const std::lock_guard lock(mutex);
      if (failed || closing) return;
      sources.push_back(one);
    }
    one->from->follow(one);
  }

  void wake(followed& one) {
    {
      const std::lock_guard lock(mutex);
      one.is_ready = true;
    }
    work_came.notify_one();
  }

  [[nodiscard]] bool any_ready() const {
    return std::any_of(sources.begin(), sources.end(), [](const auto& one) { return one->is_ready; });
  }

  /// Takes messages of the sources, up to one batch. Called without the mutex, because sources have their own.
  void take_followed(const std::vector<std::shared_ptr<followed>>& ready, std::string& batch) {
    for (const auto& one : ready) {
      while (batch.size() < batch_bytes) {
        const auto message = one->from->next();
        if (!message) break;
        batch += *message;
        batch += '\n';
      }
      // The batch is full: this source continues after the others, without a further wake.
      if (batch.size() >= batch_bytes) wake(*one);
    }
    const std::lock_guard lock(mutex);
    std::erase_if(sources, [](const auto& one) { return one->from->has_ended(); });
  }

  [[nodiscard]] bool has_work() const { return !rest.empty() || !queue.empty() || any_ready(); }
  [[nodiscard]] bool has_room() const { return queue.size() < limits.backlog_messages && queued_bytes < limits.backlog_bytes; }

  void give_up(const std::string& why) {
    // Log first: the callback may end the process.
    if (log) log("output: " + why);
    std::function<void()> hear;
    {
      const std::lock_guard lock(mutex);
      failed = true;
      hear = std::exchange(hear_failure, nullptr);
      rest.clear();
      gathered.clear();
      queue.clear();
      queued_bytes = 0;
      sources.clear();
    }
    work_came.notify_one();
    changed.notify_all();
    if (hear) hear();
  }
  void give_up(const failure& why) { give_up(why.public_text + ' ' + why.private_text); }

  /// Writes everything and waits for the peer if necessary. False on failure; the receipts in `of` are settled then.
  bool write_all(std::string_view bytes, rpc::receipts& of) {
    const auto written = to.write_all(bytes, patience);
    if (written) return true;
    of.settle(written.error().code == errc::timed_out ? rpc::departure::cut : rpc::departure::gone);
    give_up(written.error());
    return false;
  }

  std::vector<std::shared_ptr<followed>> take_ready() {
    std::vector<std::shared_ptr<followed>> ready;
    for (const auto& one : sources) {
      if (std::exchange(one->is_ready, false)) ready.push_back(one);
    }
    return ready;
  }

  /// Takes queued messages, up to one batch. A message that is read in pieces ends the batch and is returned separately.
  std::shared_ptr<rpc::body> take(std::string& batch, rpc::receipts& of) {
    rest.take(batch, of);
    while (!queue.empty() && batch.size() < batch_bytes) {
      auto next = std::move(queue.front());
      queue.pop_front();
      queued_bytes -= next.bytes;
      of.add(next.message->sent_for());
      if (!next.message->is_whole()) return next.message;
      batch += next.message->take_text();
      batch += '\n';
    }
    return nullptr;
  }

  bool write_pulled(const std::shared_ptr<rpc::body>& message, std::string& batch, rpc::receipts& of) {
    for (;;) {
      if (message->lends_next()) {
        // Directly from shared memory, without a copy.
        batch += message->take_ready();
        const auto lent = message->take_lent();
        if (!write_all(batch, of) || !write_all(*lent.inside, of)) return false;
        if (lent.counted_by) lent.counted_by->count(lent.inside->size());
        batch = message->take_ready();
        if (message->has_more()) continue;
        break;
      }
      const auto more = rpc::pull_until(message, batch, clock::now() + limits.pull);
      if (!more) {
        // A partial message cannot be recognized by the peer, so the session ends here.
        of.settle(rpc::departure::cut);
        give_up("an answer had to be cut off: " + more.error().public_text + ' ' + more.error().private_text);
        return false;
      }
      if (!*more) break;
      if (!write_all(batch, of)) return false;
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
    rpc::receipts leaving;
    std::unique_lock lock(mutex);
    for (;;) {
      work_came.wait(lock, [this] { return failed || (!writing && (closing || has_work())); });
      if (failed || (closing && rest.empty() && queue.empty())) break;
      writing = true;
      batch.clear();
      gathered.take(rest);  // messages of sources must not overtake it
      const auto pulled = take(batch, leaving);
      const auto ready = pulled ? std::vector<std::shared_ptr<followed>>() : take_ready();
      lock.unlock();
      take_followed(ready, batch);
      const bool good = (!pulled || write_pulled(pulled, batch, leaving)) && write_all(batch, leaving);
      if (good) leaving.settle(rpc::departure::sent);
      if (batch.capacity() > 4 * batch_bytes) batch = std::string();
      lock.lock();
      writing = false;
      changed.notify_all();
      if (!good) break;
    }
    left = true;
    changed.notify_all();
  }
};

line_writer::line_writer(int descriptor, limits within, std::function<void(std::string_view)> log)
    : state_(std::make_shared<state>(descriptor, within, std::move(log))) {
  std::thread([state = state_] { state->run(); }).detach();
}

line_writer::~line_writer() {
  state_->end_batch();
  std::unique_lock lock(state_->mutex);
  state_->closing = true;
  state_->work_came.notify_one();
  state_->changed.wait(lock, [this] { return state_->left || state_->failed; });
}

void line_writer::answer(rpc::delivery what) { state_->put(std::move(what.content), true); }

rpc::sending line_writer::send(std::string message) {
  return state_->put(rpc::body(std::move(message)), false) ? rpc::sending::taken : rpc::sending::gone;
}

void line_writer::follow(std::shared_ptr<rpc::message_source> from) { state_->follow(std::move(from)); }

void line_writer::admit(const std::function<void()>& look) {
  auto& s = *state_;
  std::unique_lock lock(s.mutex);
  const auto may_go_on = [&s] { return s.failed || s.hurrying || s.has_room(); };
  while (!may_go_on() && !monotonic_clock::wait_for(s.changed, lock, look_every, may_go_on)) {
    lock.unlock();
    look();
    lock.lock();
  }
  ++s.expected;
}

void line_writer::begin_batch() {
  const std::lock_guard lock(state_->mutex);
  state_->batch_of = std::this_thread::get_id();
}

void line_writer::end_batch() { state_->end_batch(); }

void line_writer::hurry(std::chrono::milliseconds stall, clock::time_point end) {
  {
    const std::lock_guard lock(state_->mutex);
    state_->hurrying = true;
  }
  state_->patience.shorten(stall, end);
  state_->changed.notify_all();
}

bool line_writer::finish(clock::time_point answers_until) {
  auto& s = *state_;
  std::unique_lock lock(s.mutex);
  monotonic_clock::wait_until(s.changed, lock, answers_until, [&s] { return s.failed || s.expected == 0; });
  s.changed.wait(lock, [&s] { return s.failed || (s.rest.empty() && s.queue.empty() && !s.writing); });
  return !s.failed;
}

void line_writer::on_failure(std::function<void()> hear) {
  {
    const std::lock_guard lock(state_->mutex);
    if (!state_->failed) return void(state_->hear_failure = std::move(hear));
  }
  if (hear) hear();
}

}  // namespace hondana::transport::stdio
