/// Batched, stall-aware output.
#include "transport/stdio/writer.hpp"

#include <sys/eventfd.h>
#include <unistd.h>

#include <algorithm>
#include <condition_variable>
#include <csignal>
#include <deque>
#include <mutex>
#include <thread>
#include <utility>
#include <vector>

#include "rpc/blocking_pull.hpp"
#include "transport/stdio/output.hpp"
#include "transport/stdio/patience.hpp"

namespace hondana::transport::stdio {
namespace {

using clock = std::chrono::steady_clock;

constexpr std::size_t batch_bytes = 256 * 1024;
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
  int failed_event = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);

  std::mutex mutex;
  std::condition_variable changed;
  std::deque<waiting> queue;
  std::size_t queued_bytes = 0;
  std::vector<std::shared_ptr<followed>> sources;
  std::size_t expected = 0;
  bool writing = false;
  bool failed = false;
  bool closing = false;
  bool hurrying = false;
  bool left = false;

  state(int descriptor, line_writer::limits with, std::function<void(std::string_view)> logger)
      : to(descriptor), limits(with), patience(with.stall), log(std::move(logger)) {}
  state(const state&) = delete;
  state& operator=(const state&) = delete;
  ~state() {
    if (failed_event >= 0) ::close(failed_event);
  }

  /// False when nothing is written any more.
  bool put(std::shared_ptr<rpc::body> message, bool is_answer) {
    const auto bytes = message ? message->bytes_held() : 0;
    bool is_taken = false;
    {
      const std::lock_guard lock(mutex);
      if (is_answer && expected != 0) --expected;
      is_taken = !failed && !closing;
      if (message && is_taken) {
        queue.push_back({std::move(message), bytes});
        queued_bytes += bytes;
      }
    }
    changed.notify_all();
    return is_taken;
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
    changed.notify_all();
  }

  [[nodiscard]] bool any_ready() const {
    return std::any_of(sources.begin(), sources.end(), [](const auto& one) { return one->is_ready; });
  }

  /// Takes from the sources what they have, up to a batch together. Called without the lock: sources have locks of their own.
  void take_followed(const std::vector<std::shared_ptr<followed>>& ready, std::string& batch) {
    for (const auto& one : ready) {
      while (batch.size() < batch_bytes) {
        const auto message = one->from->next();
        if (!message) break;
        batch += *message;
        batch += '\n';
      }
      // A full batch ended it: its turn comes again behind the others, without a wake.
      if (batch.size() >= batch_bytes) wake(*one);
    }
    const std::lock_guard lock(mutex);
    std::erase_if(sources, [](const auto& one) { return one->from->has_ended(); });
  }

  [[nodiscard]] bool has_room() const { return queue.size() < limits.backlog_messages && queued_bytes < limits.backlog_bytes; }

  void give_up(const std::string& why) {
    // Before anybody can learn of it: whoever does may end the process.
    if (log) log(why);
    {
      const std::lock_guard lock(mutex);
      failed = true;
      queue.clear();
      queued_bytes = 0;
      sources.clear();
    }
    changed.notify_all();
    eventfd_write(failed_event, 1);
  }

  /// Writes everything, waiting for the peer in between. False when it failed, which those in `of` are told.
  bool write_all(std::string_view bytes, rpc::receipts& of) {
    const auto written = to.write_all(bytes, patience);
    if (written) return true;
    of.settle(written.error().code == errc::timed_out ? rpc::departure::cut : rpc::departure::gone);
    give_up("output: " + written.error().public_text + ' ' + written.error().private_text);
    return false;
  }

  std::vector<std::shared_ptr<followed>> take_ready() {
    std::vector<std::shared_ptr<followed>> ready;
    for (const auto& one : sources) {
      if (std::exchange(one->is_ready, false)) ready.push_back(one);
    }
    return ready;
  }

  /// Takes what is waiting, up to a batch; the last message may be one that is pulled, returned separately.
  std::shared_ptr<rpc::body> take(std::string& batch, rpc::receipts& of) {
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
      const auto more = rpc::pull_until(message, batch, clock::now() + limits.pull);
      if (!more) {
        // The peer must not take half a message for a whole one, so the session ends here.
        of.settle(rpc::departure::cut);
        give_up("output: an answer had to be cut off: " + more.error().public_text + ' ' + more.error().private_text);
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
      writing = false;
      changed.notify_all();
      changed.wait(lock, [this] { return closing || failed || !queue.empty() || any_ready(); });
      if (failed || (closing && queue.empty())) break;
      writing = true;
      batch.clear();
      const auto pulled = take(batch, leaving);
      const auto ready = pulled ? std::vector<std::shared_ptr<followed>>() : take_ready();
      lock.unlock();
      take_followed(ready, batch);
      const bool good = (!pulled || write_pulled(pulled, batch, leaving)) && write_all(batch, leaving);
      if (good) leaving.settle(rpc::departure::sent);
      if (batch.capacity() > 4 * batch_bytes) batch = std::string();
      lock.lock();
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
  std::unique_lock lock(state_->mutex);
  state_->closing = true;
  state_->changed.notify_all();
  state_->changed.wait(lock, [this] { return state_->left || state_->failed; });
}

void line_writer::answer(rpc::delivery what) {
  state_->put(what.content ? std::make_shared<rpc::body>(std::move(*what.content)) : nullptr, true);
}

rpc::sending line_writer::send(std::string message) {
  return state_->put(std::make_shared<rpc::body>(std::move(message)), false) ? rpc::sending::taken : rpc::sending::gone;
}

void line_writer::follow(std::shared_ptr<rpc::message_source> from) { state_->follow(std::move(from)); }

void line_writer::expect_answer() {
  const std::lock_guard lock(state_->mutex);
  ++state_->expected;
}

void line_writer::wait_for_room(const std::function<void()>& look) {
  auto& s = *state_;
  std::unique_lock lock(s.mutex);
  const auto may_go_on = [&s] { return s.failed || s.hurrying || s.has_room(); };
  while (!s.changed.wait_for(lock, look_every, may_go_on)) {
    lock.unlock();
    look();
    lock.lock();
  }
}

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
  s.changed.wait_until(lock, answers_until, [&s] { return s.failed || s.expected == 0; });
  s.changed.wait(lock, [&s] { return s.failed || (s.queue.empty() && !s.writing); });
  return !s.failed;
}

int line_writer::failure_descriptor() const noexcept { return state_->failed_event; }

}  // namespace hondana::transport::stdio
