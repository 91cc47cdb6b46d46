/// Batched, stall-aware output.
#include "transport/stdio/writer.hpp"

#include <condition_variable>
#include <csignal>
#include <deque>
#include <mutex>
#include <sys/eventfd.h>
#include <thread>
#include <unistd.h>
#include <utility>

#include "rpc/blocking_pull.hpp"
#include "transport/stdio/output.hpp"

namespace hondana::transport::stdio {
namespace {

using clock = std::chrono::steady_clock;

constexpr std::size_t batch_bytes = 256 * 1024;

}  // namespace

struct line_writer::state {
  output to;
  line_writer::limits limits;
  std::function<void(std::string_view)> log;
  int failed_event = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);

  std::mutex mutex;
  std::condition_variable changed;
  std::deque<std::shared_ptr<rpc::body>> queue;
  std::size_t expected = 0;
  bool writing = false;
  bool failed = false;
  bool closing = false;
  bool left = false;

  state(int descriptor, line_writer::limits with, std::function<void(std::string_view)> logger)
      : to(descriptor), limits(with), log(std::move(logger)) {}
  state(const state&) = delete;
  state& operator=(const state&) = delete;
  ~state() {
    if (failed_event >= 0) ::close(failed_event);
  }

  void put(std::shared_ptr<rpc::body> message, bool is_answer) {
    {
      const std::lock_guard lock(mutex);
      if (is_answer && expected != 0) --expected;
      if (message && !failed && !closing) queue.push_back(std::move(message));
    }
    changed.notify_all();
  }

  void give_up(const std::string& why) {
    {
      const std::lock_guard lock(mutex);
      failed = true;
      queue.clear();
    }
    changed.notify_all();
    eventfd_write(failed_event, 1);
    if (log) log(why);
  }

  /// Writes everything, waiting for the peer in between. False when it failed.
  bool write_all(std::string_view bytes) {
    const auto written = to.write_all(bytes, limits.stall);
    if (!written) give_up("output: " + written.error().public_text + ' ' + written.error().private_text);
    return written.has_value();
  }

  /// Takes what is waiting, up to a batch; the last message may be a stream, returned separately.
  std::shared_ptr<rpc::body> take(std::string& batch) {
    while (!queue.empty() && batch.size() < batch_bytes) {
      auto next = std::move(queue.front());
      queue.pop_front();
      if (!next->is_whole()) return next;
      batch += next->take_text();
      batch += '\n';
    }
    return nullptr;
  }

  bool write_stream(const std::shared_ptr<rpc::body>& message, std::string& batch) {
    for (;;) {
      const auto more = rpc::pull_until(message, batch, clock::now() + limits.pull);
      if (!more) {
        // The peer must not take half a message for a whole one, so the session ends here.
        give_up("output: an answer had to be cut off: " + more.error().public_text + ' ' + more.error().private_text);
        return false;
      }
      if (!*more) break;
      if (!write_all(batch)) return false;
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
    std::unique_lock lock(mutex);
    for (;;) {
      writing = false;
      changed.notify_all();
      changed.wait(lock, [this] { return closing || failed || !queue.empty(); });
      if (failed || (closing && queue.empty())) break;
      writing = true;
      batch.clear();
      const auto stream = take(batch);
      lock.unlock();
      const bool good = (!stream || write_stream(stream, batch)) && write_all(batch);
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
  if (!state_->failed) state_->changed.wait(lock, [this] { return state_->left || state_->failed; });
}

void line_writer::answer(rpc::delivery what) {
  state_->put(what.content ? std::make_shared<rpc::body>(std::move(*what.content)) : nullptr, true);
}

void line_writer::notify(std::string message) { state_->put(std::make_shared<rpc::body>(std::move(message)), false); }

void line_writer::expect_answer() {
  const std::lock_guard lock(state_->mutex);
  ++state_->expected;
}

bool line_writer::wait_for_room() {
  auto& s = *state_;
  std::unique_lock lock(s.mutex);
  s.changed.wait(lock, [&s] { return s.failed || s.queue.size() < s.limits.backlog_messages; });
  return !s.failed;
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
