/// A channel to a server that runs as a child process.
#include "transport/child/child_channel.hpp"

#include <poll.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <chrono>
#include <cstddef>
#include <deque>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <system_error>
#include <thread>
#include <utility>
#include <vector>

#include <hondana/clock.hpp>

#include "base/executor/thread_guards.hpp"
#include "os/process/program.hpp"
#include "transport/child/child_messages.hpp"
#include "transport/child/child_process.hpp"

namespace hondana::transport::child {

/// Messages that wait to be written. Threads: one at a time, but the view from `front` stays valid until it is written or
/// cleared.
class outbox {
 public:
  void add(std::string text, bool is_call) {
    text += '\n';
    bytes_ += text.size();
    if (!is_call) other_bytes_ += text.size();
    messages_.push_back({std::move(text), is_call});
  }
  [[nodiscard]] bool empty() const noexcept { return messages_.empty(); }
  [[nodiscard]] std::size_t bytes() const noexcept { return bytes_; }
  /// Bytes of messages other than requests, mainly answers to the program's own requests. Not counting the first message in the
  /// queue: a long one does not mean that the program reads slowly.
  [[nodiscard]] std::size_t pending_answer_bytes() const noexcept {
    return messages_.empty() || messages_.front().is_call ? other_bytes_ : other_bytes_ - messages_.front().text.size();
  }
  /// The bytes to write next.
  [[nodiscard]] std::string_view front() const { return std::string_view(messages_.front().text).substr(written_bytes_); }
  void consume(std::size_t count) {
    written_bytes_ += count;
    const auto& [text, is_call] = messages_.front();
    if (written_bytes_ < text.size()) return;
    bytes_ -= text.size();
    if (!is_call) other_bytes_ -= text.size();
    messages_.pop_front();
    written_bytes_ = 0;
  }
  void clear() { *this = {}; }

 private:
  struct message {
    std::string text;
    bool is_call;
  };
  std::deque<message> messages_;
  std::size_t bytes_ = 0;
  std::size_t other_bytes_ = 0;
  std::size_t written_bytes_ = 0;  // of the first message
};

}  // namespace hondana::transport::child

namespace hondana::transport {
namespace {

using clock = monotonic_clock;
using std::chrono::milliseconds;

constexpr milliseconds write_stall_timeout{500};
constexpr milliseconds closed_input_grace{500};
constexpr milliseconds out_of_memory_delay{500};
/// Limit of waiting answers. Beyond it nothing is read, since that may be requests that need more answers.
constexpr std::size_t max_unread_answer_bytes = 4u << 20;
constexpr milliseconds read_stall_timeout{2'000};
constexpr auto launcher_ended_reason = "was lost, because the launcher, which starts programs, has ended; restart this process";

class child_channel final : public channel::channel {
 public:
  child_channel(child_target target, hondana::channel::channel_listener& listener, const hondana::channel::limits& limits,
                std::function<void(std::string_view)> log, process::program program)
      : target_(std::move(target)),
        listener_(listener),
        limits_(limits),
        log_(std::move(log)),
        wake_event_(::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK)),
        process_(target_, std::move(program), log_),
        parser_(listener_, calls_, limits_, log_) {}
  ~child_channel() override { close(milliseconds(0)); }

  void start() {
    // A write to a program that has ended must not raise SIGPIPE, and the application's signal handlers must not run on this
    // thread.
    const executor::signal_blocker blocker;
    thread_ = std::thread([this] { run(); });
  }

  void send(hondana::channel::outgoing_message message) override {
    const std::lock_guard lock(mutex_);
    if (is_closing_) return;
    const bool is_call = message.call != 0;
    // Other messages need no limit, because reading stops while too many of them wait.
    if (is_call && queue_.bytes() + message.text.size() > limits_.max_queued_bytes) {
      overloaded_.push_back(message.call);
    } else {
      if (is_call) calls_.add(message.call, std::move(message.content), message.is_subscription);
      queue_.add(std::move(message.text), is_call);
    }
    wake();
  }
  void abandon(hondana::channel::call_id call) override {
    calls_.abandon(call);
    wake();  // its answer may be arriving
  }
  void end_connection(std::string reason) override {
    const std::lock_guard lock(mutex_);
    stop_reason_ = std::move(reason) + ", and was stopped";
    wake();
  }
  void complete_handshake(hondana::channel::header_fields, bool) override {}
  void discard_session() override {}

  void close(milliseconds timeout) override {
    {
      const std::lock_guard lock(mutex_);
      if (!is_closing_) {
        closing_since_ = clock::now();
        close_deadline_ = closing_since_ + timeout;
      }
      is_closing_ = true;
      wake();
    }
    if (thread_.joinable()) thread_.join();
  }
  [[nodiscard]] std::string_view kind() const noexcept override { return "stdio"; }
  [[nodiscard]] bool has_exchanges() const noexcept override { return false; }

 private:
  void wake() const {
    // If the counter is full, a wake is pending already.
    (void)::eventfd_write(wake_event_.get(), 1);
  }

  void run() {
    for (;;) {
      {
        const std::lock_guard lock(mutex_);
        // A program that accepts nothing for a while is not waited for.
        if (is_closing_ && (queue_.empty() || !process_.is_running() || clock::now() >= close_deadline_ ||
                            clock::now() >= std::max(closing_since_, last_written_) + write_stall_timeout))
          break;
      }
      if (executor::run_noexcept([this] { run_once(); })) continue;
      // Usually a lack of memory.
      const bool has_ended = process_.is_running() &&
                             executor::run_noexcept([this] { end_run("wrote more than fits in memory, and was stopped"); });
      if (!has_ended) abandon_run();
    }
    if (process_.is_running()) parser_.finish_run();
    process_.shut_down(close_deadline_);
  }

  void run_once() {
    if (has_unreported_end_) {
      parser_.finish_run();
      report_broken({errc::source_unavailable, "the server's program was stopped: not enough memory for its output", {}});
      has_unreported_end_ = false;
    }
    report_overloaded();
    if (process_.is_running() || restart()) {
      poll_once();
    } else {
      wait_for_wake();
    }
  }

  /// Ends the run if there is not enough memory to report it. `run_once` reports it later.
  void abandon_run() {
    has_unreported_end_ = true;
    executor::run_noexcept([this] { process_.kill(); });
    executor::run_noexcept([this] {
      const std::lock_guard lock(mutex_);
      calls_.clear();
      queue_.clear();
    });
    // A program that is restarted again and again must not occupy a processor.
    ::poll(nullptr, 0, monotonic_clock::poll_timeout(static_cast<int>(out_of_memory_delay.count())));
  }

  void report_overloaded() {
    std::vector<hondana::channel::call_id> calls;
    {
      const std::lock_guard lock(mutex_);
      calls.swap(overloaded_);
    }
    for (const auto call : calls) {
      listener_.on_call_finished(call, {.reason = {errc::overloaded,
                                                   "the server does not read its input: more than " +
                                                       std::to_string(limits_.max_queued_bytes) + " bytes are waiting already",
                                                   {}}});
    }
  }

  /// Starts the program again. False if no message waits, or if the pause after quick ends is not over.
  bool restart() {
    {
      const std::lock_guard lock(mutex_);
      stop_reason_.clear();  // from a run that has ended already
      if (queue_.empty()) return false;
    }
    if (auto started = process_.restart(); !started) {
      report_broken(std::move(started.error()));
      return false;
    }
    flooding_since_.reset();
    return true;
  }

  /// Drops the queue, which was meant for the ended run, and reports the failure.
  void report_broken(failure error) {
    {
      const std::lock_guard lock(mutex_);
      queue_.clear();
      calls_.clear();  // under the same lock as the queue, so that later messages are neither lost nor forgotten
    }
    listener_.on_connection_lost(std::move(error));
  }

  void wait_for_wake() {
    pollfd event{wake_event_.get(), POLLIN, 0};
    ::poll(&event, 1, -1);
    clear_wake();
  }

  void clear_wake() const {
    eventfd_t count = 0;
    (void)::eventfd_read(wake_event_.get(), &count);
  }

  void poll_once() {
    bool has_more = false;
    bool is_flooding = false;
    std::optional<stop_cause> cause;
    auto timeout = milliseconds::max();
    const auto read_delay = parser_.read_delay();
    const auto error_output_delay = process_.error_output_delay();
    for (const auto delay : {read_delay, error_output_delay}) {
      if (delay > milliseconds(0)) timeout = std::min(timeout, delay);
    }
    std::string stop_reason;
    {
      const std::lock_guard lock(mutex_);
      has_more = !queue_.empty() && process_.input() >= 0;
      is_flooding = queue_.pending_answer_bytes() > max_unread_answer_bytes;
      stop_reason.swap(stop_reason_);
      cause = find_stop_cause(is_flooding);
      if (cause) timeout = std::min(timeout, time_until(cause->deadline));
      if (is_closing_) timeout = std::min({timeout, time_until(close_deadline_), milliseconds(50)});
    }
    if (!stop_reason.empty()) return end_run(stop_reason);
    if (cause && clock::now() >= cause->deadline) return end_run(cause->reason);
    // poll() ignores negative descriptors.
    std::array<pollfd, 6> watched{{{wake_event_.get(), POLLIN, 0},
                                   {is_flooding || read_delay > milliseconds(0) ? -1 : process_.output(), POLLIN, 0},
                                   {error_output_delay > milliseconds(0) ? -1 : process_.error_output(), POLLIN, 0},
                                   {has_more ? process_.input() : -1, POLLOUT, 0},
                                   {process_.pidfd(), POLLIN, 0},
                                   {process_.launcher_hangup_descriptor(), 0, 0}}};
    const int timeout_ms = timeout == milliseconds::max() ? -1 : static_cast<int>(timeout.count());
    if (::poll(watched.data(), watched.size(), monotonic_clock::poll_timeout(timeout_ms)) < 0) return;
    if (watched[0].revents != 0) clear_wake();
    if (watched[3].revents != 0) write_some();
    if (watched[2].revents != 0) process_.read_error_output();
    if (watched[4].revents != 0) process_.handle_exit();
    if (watched[5].revents != 0) return end_run(launcher_ended_reason);
    if (watched[1].revents != 0 || process_.has_exited()) read_some();
  }

  struct stop_cause {
    clock::time_point deadline;
    const char* reason;
  };
  /// A reason to stop the program, because it does not read its input or does not finish an answer; with its deadline. Requires
  /// the mutex.
  std::optional<stop_cause> find_stop_cause(bool is_flooding) {
    if (!is_flooding) flooding_since_.reset();
    if (!queue_.empty() && process_.input() < 0)
      return stop_cause{input_closed_at_ + closed_input_grace,
                        "closed its standard input, so that it can receive no requests, and was stopped"};
    if (const auto deadline = parser_.stop_deadline())
      return stop_cause{*deadline, "did not finish the answer to a cancelled or failed call, and was stopped"};
    if (!is_flooding) return {};
    if (!flooding_since_) flooding_since_ = clock::now();
    return stop_cause{std::max(*flooding_since_, last_written_) + read_stall_timeout,
                      "keeps sending requests without reading the answers, and was stopped"};
  }

  static milliseconds time_until(clock::time_point deadline) {
    return std::max(std::chrono::ceil<milliseconds>(deadline - clock::now()), milliseconds(0));
  }

  void write_some() {
    for (;;) {
      std::string_view next;
      {
        const std::lock_guard lock(mutex_);
        if (queue_.empty()) return;
        next = queue_.front();
      }
      // Only this thread removes messages from the queue.
      const auto count = ::write(process_.input(), next.data(), next.size());
      if (count < 0) {
        if (errno == EAGAIN || errno == EINTR) return;
        // The program may still answer earlier requests, or be about to end, so the queue stays for a moment.
        process_.close_input();
        input_closed_at_ = clock::now();
        return;
      }
      const std::lock_guard lock(mutex_);
      last_written_ = clock::now();
      queue_.consume(static_cast<std::size_t>(count));
      if (static_cast<std::size_t>(count) < next.size()) return;
    }
  }

  void read_some() {
    const auto bytes = process_.read();
    if (!bytes) return end_run({});
    auto parsed = parser_.feed(*bytes);
    if (parsed) return;
    static_cast<void>(process_.finish("wrote lines that are not JSON-RPC messages, and was stopped"));
    parser_.finish_run();
    report_broken(std::move(parsed.error()));
  }

  /// `stop_reason`: why the program is stopped; empty: it ended by itself.
  void end_run(std::string_view stop_reason) {
    auto description = process_.finish(stop_reason);
    parser_.finish_run();
    report_broken({errc::source_unavailable, std::move(description), {}});
  }

  const child_target target_;
  hondana::channel::channel_listener& listener_;
  const hondana::channel::limits limits_;
  const std::function<void(std::string_view)> log_;
  disk::handle wake_event_;
  child::pending_calls calls_;

  std::mutex mutex_;
  child::outbox queue_;
  std::vector<hondana::channel::call_id> overloaded_;
  bool has_unreported_end_ = false;  // a run has ended and was not reported
  std::string stop_reason_;          // why the program must be stopped
  bool is_closing_ = false;
  clock::time_point closing_since_{};
  clock::time_point close_deadline_{};

  // Used only by the thread.
  clock::time_point last_written_{};
  child::child_process process_;
  clock::time_point input_closed_at_{};  // when its input was closed
  std::optional<clock::time_point> flooding_since_;
  child::output_parser parser_;

  std::thread thread_;
};

}  // namespace

result<std::unique_ptr<channel::channel>> start_child(const child_target& target, channel::channel_listener& listener,
                                                      const channel::limits& limits,
                                                      std::function<void(std::string_view)> log) {
  HONDANA_TRY(auto program, process::program::start(target));
  auto created = std::make_unique<child_channel>(target, listener, limits, std::move(log), std::move(program));
  try {
    created->start();
  } catch (const std::system_error& error) {
    return fail(errc::source_unavailable, "cannot start a thread for the connection", error.what());
  }
  return created;
}

}  // namespace hondana::transport
