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
    waiting_.push_back({std::move(text), is_call});
  }
  [[nodiscard]] bool empty() const noexcept { return waiting_.empty(); }
  [[nodiscard]] std::size_t bytes() const noexcept { return bytes_; }
  /// Bytes of messages other than requests, mainly answers to the program's own requests. Not counting the first message in the
  /// queue: a long one does not mean that the program reads slowly.
  [[nodiscard]] std::size_t waiting_answers() const noexcept {
    return waiting_.empty() || waiting_.front().is_call ? other_bytes_ : other_bytes_ - waiting_.front().text.size();
  }
  /// The bytes to write next.
  [[nodiscard]] std::string_view front() const { return std::string_view(waiting_.front().text).substr(written_); }
  void wrote(std::size_t count) {
    written_ += count;
    const auto& [text, is_call] = waiting_.front();
    if (written_ < text.size()) return;
    bytes_ -= text.size();
    if (!is_call) other_bytes_ -= text.size();
    waiting_.pop_front();
    written_ = 0;
  }
  void clear() { *this = {}; }

 private:
  struct message {
    std::string text;
    bool is_call;
  };
  std::deque<message> waiting_;
  std::size_t bytes_ = 0;
  std::size_t other_bytes_ = 0;
  std::size_t written_ = 0;  // of the first message
};

}  // namespace hondana::transport::child

namespace hondana::transport {
namespace {

using clock = monotonic_clock;
using std::chrono::milliseconds;

constexpr milliseconds time_to_take{500};
constexpr milliseconds time_to_say_why{500};
constexpr milliseconds time_without_memory{500};
/// Limit of waiting answers. Beyond it nothing is read, since that may be requests that need more answers.
constexpr std::size_t most_unread = 4u << 20;
constexpr milliseconds time_to_read_some{2'000};
constexpr auto out_of_reach = "was lost, because the launcher, which starts programs, has ended; restart this process";

class child_channel final : public channel::channel {
 public:
  child_channel(child_target target, hondana::channel::listener& hears, const hondana::channel::limits& most,
                std::function<void(std::string_view)> log, process::program first)
      : target_(std::move(target)),
        hears_(hears),
        most_(most),
        log_(std::move(log)),
        wake_(::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK)),
        running_(target_, std::move(first), log_),
        lines_(hears_, calls_, most_, log_) {}
  ~child_channel() override { close(milliseconds(0)); }

  void start() {
    // A write to a program that has ended must not raise SIGPIPE, and the application's signal handlers must not run on this
    // thread.
    const executor::signals_blocked meanwhile;
    thread_ = std::thread([this] { run(); });
  }

  void send(hondana::channel::outgoing message) override {
    const std::lock_guard lock(mutex_);
    if (is_closing_) return;
    const bool is_call = message.call != 0;
    // Other messages need no limit, because reading stops while too many of them wait.
    if (is_call && queue_.bytes() + message.text.size() > most_.queued_bytes) {
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
  void end_connection(std::string why) override {
    const std::lock_guard lock(mutex_);
    misdeed_ = std::move(why) + ", and was stopped";
    wake();
  }
  void opened(hondana::channel::header_fields, bool) override {}
  void forget_session() override {}

  void close(milliseconds time) override {
    {
      const std::lock_guard lock(mutex_);
      if (!is_closing_) {
        closing_since_ = clock::now();
        close_by_ = closing_since_ + time;
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
    (void)::eventfd_write(wake_.get(), 1);
  }

  void run() {
    for (;;) {
      {
        const std::lock_guard lock(mutex_);
        // A program that accepts nothing for a while is not waited for.
        if (is_closing_ && (queue_.empty() || !running_.is_running() || clock::now() >= close_by_ ||
                            clock::now() >= std::max(closing_since_, last_written_) + time_to_take))
          break;
      }
      if (executor::without_throwing([this] { go_on(); })) continue;
      // Usually a lack of memory.
      const bool has_ended = running_.is_running() &&
                             executor::without_throwing([this] { end_run("wrote more than fits in memory, and was stopped"); });
      if (!has_ended) give_up_run();
    }
    if (running_.is_running()) lines_.end();
    running_.leave(close_by_);
  }

  void go_on() {
    if (owes_broken_) {
      lines_.end();
      tell_broken({errc::source_unavailable, "the server's program was stopped: not enough memory for its output", {}});
      owes_broken_ = false;
    }
    tell_overloaded();
    if (running_.is_running() || start_anew()) {
      move_bytes();
    } else {
      wait_for_something();
    }
  }

  /// Ends the run if there is not enough memory to report it. `go_on` reports it later.
  void give_up_run() {
    owes_broken_ = true;
    executor::without_throwing([this] { running_.kill(); });
    executor::without_throwing([this] {
      const std::lock_guard lock(mutex_);
      calls_.clear();
      queue_.clear();
    });
    // A program that is restarted again and again must not occupy a processor.
    ::poll(nullptr, 0, monotonic_clock::poll_timeout(static_cast<int>(time_without_memory.count())));
  }

  void tell_overloaded() {
    std::vector<hondana::channel::call_id> calls;
    {
      const std::lock_guard lock(mutex_);
      calls.swap(overloaded_);
    }
    for (const auto call : calls) {
      hears_.ended(call, {.why = {errc::overloaded,
                                  "the server does not read its input: more than " + std::to_string(most_.queued_bytes) +
                                      " bytes are waiting already",
                                  {}}});
    }
  }

  /// Starts the program again. False if no message waits, or if the pause after quick ends is not over.
  bool start_anew() {
    {
      const std::lock_guard lock(mutex_);
      misdeed_.clear();  // from a run that has ended already
      if (queue_.empty()) return false;
    }
    if (auto started = running_.start_anew(); !started) {
      tell_broken(std::move(started.error()));
      return false;
    }
    flooding_since_.reset();
    return true;
  }

  /// Drops the queue, which was meant for the ended run, and reports the failure.
  void tell_broken(failure why) {
    {
      const std::lock_guard lock(mutex_);
      queue_.clear();
      calls_.clear();  // under the same lock as the queue, so that later messages are neither lost nor forgotten
    }
    hears_.broken(std::move(why));
  }

  void wait_for_something() {
    pollfd awake{wake_.get(), POLLIN, 0};
    ::poll(&awake, 1, -1);
    drain_wake();
  }

  void drain_wake() const {
    eventfd_t count = 0;
    (void)::eventfd_read(wake_.get(), &count);
  }

  void move_bytes() {
    bool has_more = false;
    bool is_flooding = false;
    std::optional<offence> borne;
    auto patience = milliseconds::max();
    const auto pause = lines_.pause();
    const auto pause_of_problems = running_.pause_of_problems();
    for (const auto one : {pause, pause_of_problems}) {
      if (one > milliseconds(0)) patience = std::min(patience, one);
    }
    std::string misdeed;
    {
      const std::lock_guard lock(mutex_);
      has_more = !queue_.empty() && running_.input() >= 0;
      is_flooding = queue_.waiting_answers() > most_unread;
      misdeed.swap(misdeed_);
      borne = offence_of(is_flooding);
      if (borne) patience = std::min(patience, until(borne->borne_until));
      if (is_closing_) patience = std::min({patience, until(close_by_), milliseconds(50)});
    }
    if (!misdeed.empty()) return end_run(misdeed);
    if (borne && clock::now() >= borne->borne_until) return end_run(borne->what);
    // poll() ignores negative descriptors.
    std::array<pollfd, 6> watched{{{wake_.get(), POLLIN, 0},
                                   {is_flooding || pause > milliseconds(0) ? -1 : running_.output(), POLLIN, 0},
                                   {pause_of_problems > milliseconds(0) ? -1 : running_.problems(), POLLIN, 0},
                                   {has_more ? running_.input() : -1, POLLOUT, 0},
                                   {running_.ending(), POLLIN, 0},
                                   {running_.launcher_ending(), 0, 0}}};
    const int most = patience == milliseconds::max() ? -1 : static_cast<int>(patience.count());
    if (::poll(watched.data(), watched.size(), monotonic_clock::poll_timeout(most)) < 0) return;
    if (watched[0].revents != 0) drain_wake();
    if (watched[3].revents != 0) write_some();
    if (watched[2].revents != 0) running_.read_problems();
    if (watched[4].revents != 0) running_.notice_end();
    if (watched[5].revents != 0) return end_run(out_of_reach);
    if (watched[1].revents != 0 || running_.has_ended()) read_some();
  }

  struct offence {
    clock::time_point borne_until;
    const char* what;
  };
  /// A reason to stop the program, because it does not read its input or does not finish an answer; with its deadline. Requires
  /// the mutex.
  std::optional<offence> offence_of(bool is_flooding) {
    if (!is_flooding) flooding_since_.reset();
    if (!queue_.empty() && running_.input() < 0)
      return offence{deaf_since_ + time_to_say_why,
                     "closed its standard input, so that it can receive no requests, and was stopped"};
    if (const auto borne_until = lines_.borne_until())
      return offence{*borne_until, "did not finish the answer to a cancelled or failed call, and was stopped"};
    if (!is_flooding) return {};
    if (!flooding_since_) flooding_since_ = clock::now();
    return offence{std::max(*flooding_since_, last_written_) + time_to_read_some,
                   "keeps sending requests without reading the answers, and was stopped"};
  }

  static milliseconds until(clock::time_point when) {
    return std::max(std::chrono::ceil<milliseconds>(when - clock::now()), milliseconds(0));
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
      const auto count = ::write(running_.input(), next.data(), next.size());
      if (count < 0) {
        if (errno == EAGAIN || errno == EINTR) return;
        // The program may still answer earlier requests, or be about to end, so the queue stays for a moment.
        running_.close_input();
        deaf_since_ = clock::now();
        return;
      }
      const std::lock_guard lock(mutex_);
      last_written_ = clock::now();
      queue_.wrote(static_cast<std::size_t>(count));
      if (static_cast<std::size_t>(count) < next.size()) return;
    }
  }

  void read_some() {
    const auto bytes = running_.read();
    if (!bytes) return end_run({});
    auto taken = lines_.feed(*bytes);
    if (taken) return;
    static_cast<void>(running_.end("wrote lines that are not JSON-RPC messages, and was stopped"));
    lines_.end();
    tell_broken(std::move(taken.error()));
  }

  /// `misdeed`: why the program is stopped; empty: it ended by itself.
  void end_run(std::string_view misdeed) {
    auto how = running_.end(misdeed);
    lines_.end();
    tell_broken({errc::source_unavailable, std::move(how), {}});
  }

  const child_target target_;
  hondana::channel::listener& hears_;
  const hondana::channel::limits most_;
  const std::function<void(std::string_view)> log_;
  disk::handle wake_;
  child::expected_calls calls_;

  std::mutex mutex_;
  child::outbox queue_;
  std::vector<hondana::channel::call_id> overloaded_;
  bool owes_broken_ = false;  // a run has ended and was not reported
  std::string misdeed_;       // why the program must be stopped
  bool is_closing_ = false;
  clock::time_point closing_since_{};
  clock::time_point close_by_{};

  // Used only by the thread.
  clock::time_point last_written_{};
  child::run running_;
  clock::time_point deaf_since_{};  // when its input was closed
  std::optional<clock::time_point> flooding_since_;
  child::messages lines_;

  std::thread thread_;
};

}  // namespace

result<std::unique_ptr<channel::channel>> start_child(const child_target& target, channel::listener& hears,
                                                      const channel::limits& most, std::function<void(std::string_view)> log) {
  HONDANA_TRY(auto first, process::program::start(target));
  auto made = std::make_unique<child_channel>(target, hears, most, std::move(log), std::move(first));
  try {
    made->start();
  } catch (const std::system_error& error) {
    return fail(errc::source_unavailable, "cannot start a thread for the connection", error.what());
  }
  return made;
}

}  // namespace hondana::transport
