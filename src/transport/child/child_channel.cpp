/// The thread that reads from and writes to a child process.
#include "transport/child/child_channel.hpp"

#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <chrono>
#include <csignal>
#include <mutex>
#include <optional>
#include <system_error>
#include <thread>
#include <utility>
#include <vector>

#include "transport/child/messages.hpp"
#include "transport/child/outbox.hpp"
#include "transport/child/problem_lines.hpp"
#include "transport/child/program.hpp"

namespace hondana::transport {
namespace {

using clock = std::chrono::steady_clock;
using std::chrono::milliseconds;

constexpr std::size_t piece = 64u << 10;
constexpr milliseconds quick_end{1'000};  // one that ends within this time did not get far
constexpr milliseconds first_pause{250};
constexpr milliseconds longest_pause{30'000};
constexpr milliseconds time_to_be_reaped{1'000};
constexpr milliseconds time_to_take{500};
constexpr milliseconds time_for_the_rest{500};
constexpr milliseconds time_to_say_why{500};
/// Of our answers may wait before nothing more is read that would want another.
constexpr std::size_t most_unread = 4u << 20;
constexpr milliseconds time_to_read_some{2'000};

class child_channel final : public channel::channel {
 public:
  child_channel(child_target target, hondana::channel::listener& hears, const hondana::channel::limits& most,
                std::function<void(std::string_view)> log, child::program first)
      : target_(std::move(target)),
        hears_(hears),
        most_(most),
        log_(std::move(log)),
        wake_(::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK)),
        running_(std::move(first)),
        began_(clock::now()),
        lines_(hears_, calls_, most_, log_),
        problems_(target_.on_stderr) {}
  ~child_channel() override { close(milliseconds(0)); }

  void start() {
    thread_ = std::thread([this] { run(); });
  }

  void send(hondana::channel::outgoing message) override {
    const std::lock_guard lock(mutex_);
    if (is_closing_) return;
    const bool is_call = message.call != 0;
    // What is no call is bounded by not reading on while too much of it waits.
    if (is_call && queue_.bytes() + message.text.size() > most_.queued_bytes) {
      overloaded_.push_back(message.call);
    } else {
      if (is_call) calls_.add(message.call, std::move(message.content));
      queue_.add(std::move(message.text), is_call);
    }
    wake();
  }
  void abandon(hondana::channel::call_id call) override { calls_.abandon(call); }
  void opened(std::string_view, bool) override {}
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
  [[nodiscard]] std::string_view kind() const noexcept override { return "child"; }
  [[nodiscard]] bool has_exchanges() const noexcept override { return false; }

 private:
  void wake() const {
    const std::uint64_t one = 1;
    // Full means that it is awake already.
    static_cast<void>(::write(wake_.get(), &one, sizeof one));
  }

  void run() {
    // Writing to a program that has gone must not end ours; no handler of the host's runs here.
    sigset_t all;
    ::sigfillset(&all);
    ::pthread_sigmask(SIG_BLOCK, &all, nullptr);
    for (;;) {
      tell_overloaded();
      {
        const std::lock_guard lock(mutex_);
        // Whoever takes nothing for a while takes no more.
        if (is_closing_ && (queue_.empty() || !running_.is_running() || clock::now() >= close_by_ ||
                            clock::now() >= std::max(closing_since_, last_written_) + time_to_take))
          break;
      }
      if (!running_.is_running() && !start_anew()) {
        wait_for_something();
        continue;
      }
      move_bytes();
    }
    end_in_order();
  }

  void tell_overloaded() {
    std::vector<hondana::channel::call_id> calls;
    {
      const std::lock_guard lock(mutex_);
      calls.swap(overloaded_);
    }
    for (const auto call : calls) {
      hears_.ended(call, {.why = {errc::overloaded,
                                  "the server does not take what is sent to it: more than " +
                                      std::to_string(most_.queued_bytes) + " bytes wait already",
                                  {}}});
    }
  }

  /// False when there is nothing to start it for, or it may not be started yet.
  bool start_anew() {
    {
      const std::lock_guard lock(mutex_);
      if (queue_.empty()) return false;
    }
    if (quick_ends_ > 1 && clock::now() < not_before_) {
      const auto left = std::chrono::duration_cast<milliseconds>(not_before_ - clock::now());
      tell_broken({errc::source_unavailable,
                   "the server's program ended " + std::to_string(quick_ends_) + " times in a row just after it was started" +
                       problems_.said() + "; it is not started again for " + std::to_string(left.count()) + " ms",
                   {}});
      return false;
    }
    auto again = child::program::start(target_);
    if (!again) {
      count_quick_end();
      tell_broken(std::move(again.error()));
      return false;
    }
    running_ = std::move(*again);
    began_ = clock::now();
    gone_since_.reset();
    flooding_since_.reset();
    problems_.clear();
    return true;
  }

  void count_quick_end() {
    ++quick_ends_;
    not_before_ = clock::now() + std::min(first_pause * (1u << std::min(quick_ends_, 10u)), longest_pause);
  }

  /// What waits was meant for the run that has ended.
  void tell_broken(failure why) {
    {
      const std::lock_guard lock(mutex_);
      queue_.clear();
      calls_.clear();  // with the queue, so that what is sent from now on is neither lost nor forgotten
    }
    hears_.broken(std::move(why));
  }

  void wait_for_something() {
    pollfd awake{wake_.get(), POLLIN, 0};
    ::poll(&awake, 1, -1);
    drain_wake();
  }

  void drain_wake() const {
    std::uint64_t count = 0;
    static_cast<void>(::read(wake_.get(), &count, sizeof count));
  }

  void move_bytes() {
    bool has_more = false;
    bool is_flooding = false;
    std::optional<offence> borne;
    auto patience = milliseconds::max();
    {
      const std::lock_guard lock(mutex_);
      has_more = !queue_.empty() && running_.input.is_open();
      is_flooding = queue_.other_bytes() > most_unread;
      borne = offence_of(is_flooding);
      if (borne) patience = until(borne->borne_until);
      if (is_closing_) patience = std::min({patience, until(close_by_), milliseconds(50)});
    }
    if (borne && clock::now() >= borne->borne_until) return give_up(borne->what);
    // Negative numbers are passed over.
    std::array<pollfd, 5> watched{{{wake_.get(), POLLIN, 0},
                                   {is_flooding ? -1 : running_.output.get(), POLLIN, 0},
                                   {running_.problems.get(), POLLIN, 0},
                                   {has_more ? running_.input.get() : -1, POLLOUT, 0},
                                   {running_.ending(), POLLIN, 0}}};
    const int most = patience == milliseconds::max() ? -1 : static_cast<int>(patience.count());
    if (::poll(watched.data(), watched.size(), most) < 0) return;
    if (watched[0].revents != 0) drain_wake();
    if (watched[3].revents != 0) write_some();
    if (watched[2].revents != 0) read_problems();
    if (watched[4].revents != 0 && !gone_since_) gone_since_ = clock::now();
    // What it has started may hold its output open, and write to it for ever.
    if (gone_since_ && clock::now() >= *gone_since_ + time_for_the_rest) return has_ended();
    if (watched[1].revents != 0 || gone_since_) read_some();
  }

  struct offence {
    clock::time_point borne_until;
    const char* what;
  };
  /// Of a program that takes nothing of what waits for it; with the mutex held.
  std::optional<offence> offence_of(bool is_flooding) {
    if (!is_flooding) flooding_since_.reset();
    if (!queue_.empty() && !running_.input.is_open())
      return offence{deaf_since_ + time_to_say_why,
                     "closed its standard input, so that nothing can be asked of it, and was ended"};
    if (!is_flooding) return {};
    if (!flooding_since_) flooding_since_ = clock::now();
    return offence{std::max(*flooding_since_, last_written_) + time_to_read_some,
                   "asks more and more and does not read what it is answered, and was ended"};
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
      // Only this thread takes from the queue.
      const auto count = ::write(running_.input.get(), next.data(), next.size());
      if (count < 0) {
        if (errno == EAGAIN || errno == EINTR) return;
        // It may still answer what it was asked, or be about to end; what waits is given a moment.
        running_.input = disk::handle();
        deaf_since_ = clock::now();
        return;
      }
      const std::lock_guard lock(mutex_);
      last_written_ = clock::now();
      queue_.wrote(static_cast<std::size_t>(count));
      if (static_cast<std::size_t>(count) < next.size()) return;
    }
  }

  void read_problems() {
    const auto count = ::read(running_.problems.get(), buffer_.data(), std::min(piece, buffer_.size()));
    if (count > 0) {
      problems_.feed({buffer_.data(), static_cast<std::size_t>(count)});
    } else if (count == 0 || (errno != EAGAIN && errno != EINTR)) {
      running_.problems = disk::handle();
    }
  }

  /// What it said before it ended.
  void read_last_problems() {
    const auto enough = clock::now() + time_for_the_rest;
    while (running_.problems.is_open() && clock::now() < enough) {
      const auto count = ::read(running_.problems.get(), buffer_.data(), buffer_.size());
      if (count <= 0) running_.problems = disk::handle();
      if (count > 0) problems_.feed({buffer_.data(), static_cast<std::size_t>(count)});
    }
    problems_.end_line();
  }

  void read_some() {
    const auto count = ::read(running_.output.get(), buffer_.data(), buffer_.size());
    if (count > 0) {
      if (auto taken = lines_.feed({buffer_.data(), static_cast<std::size_t>(count)}); !taken) {
        running_ = child::program();
        lines_.end();
        tell_broken(std::move(taken.error()));
      }
      return;
    }
    if (count < 0 && errno == EINTR) return;
    if (count < 0 && errno == EAGAIN && !gone_since_) return;
    has_ended();
  }

  void give_up(const std::string& why) {
    running_.input = disk::handle();
    running_.signal(SIGTERM);
    static_cast<void>(running_.ended(clock::now() + time_to_be_reaped));
    end_run(why);
  }

  /// Its output or the program itself has ended, and with it the conversation, whatever it has left behind.
  void has_ended() {
    running_.input = disk::handle();
    const auto how = running_.ended(clock::now() + time_to_be_reaped);
    end_run(how.value_or("closed its standard output and was ended"));
  }

  void end_run(const std::string& how) {
    if (running_.is_running()) running_.signal(SIGKILL);
    read_last_problems();
    lines_.end();
    running_ = child::program();
    if (clock::now() - began_ < quick_end) {
      count_quick_end();
    } else {
      quick_ends_ = 0;
    }
    tell_broken(
        {errc::source_unavailable, "the server's program (" + target_.command.front() + ") " + how + problems_.said(), {}});
  }

  /// Spec: basic/transports/stdio#shutdown.
  void end_in_order() {
    if (!running_.is_running()) return;
    running_.input = disk::handle();
    const auto step = std::min<clock::duration>(target_.leaving_time, std::max(close_by_ - clock::now(), clock::duration(0)));
    for (const int signal : {0, SIGTERM, SIGKILL}) {
      if (signal != 0) running_.signal(signal);
      const auto until = clock::now() + (signal == SIGKILL ? time_to_be_reaped : step);
      if (leave_until(until)) break;
    }
    read_last_problems();
    lines_.end();
  }

  /// Reads on, since a program that cannot write cannot end.
  bool leave_until(clock::time_point until) {
    for (;;) {
      const auto left = std::chrono::duration_cast<milliseconds>(until - clock::now()).count();
      if (!running_.output.is_open() || left <= 0) return running_.ended(until).has_value();
      std::array<pollfd, 3> watched{
          {{running_.output.get(), POLLIN, 0}, {running_.problems.get(), POLLIN, 0}, {running_.ending(), POLLIN, 0}}};
      if (::poll(watched.data(), watched.size(), static_cast<int>(left)) < 0) continue;
      if (watched[1].revents != 0) read_problems();
      if (watched[2].revents != 0) return running_.ended(until).has_value();
      if (watched[0].revents == 0) continue;
      const auto count = ::read(running_.output.get(), buffer_.data(), buffer_.size());
      if (count == 0 || (count < 0 && errno != EAGAIN && errno != EINTR)) running_.output = disk::handle();
    }
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
  bool is_closing_ = false;
  clock::time_point closing_since_{};
  clock::time_point close_by_{};

  // Of the thread alone.
  clock::time_point last_written_{};
  child::program running_;
  clock::time_point began_;
  clock::time_point deaf_since_{};  // of a closed input
  std::optional<clock::time_point> gone_since_;
  std::optional<clock::time_point> flooding_since_;
  child::messages lines_;
  child::problem_lines problems_;
  unsigned quick_ends_ = 0;
  clock::time_point not_before_{};
  std::vector<char> buffer_ = std::vector<char>(piece);

  std::thread thread_;
};

}  // namespace

result<std::unique_ptr<channel::channel>> start_child(const child_target& target, channel::listener& hears,
                                                      const channel::limits& most, std::function<void(std::string_view)> log) {
  auto first = child::program::start(target);
  if (!first) return tl::unexpected(std::move(first.error()));
  auto made = std::make_unique<child_channel>(target, hears, most, std::move(log), std::move(*first));
  try {
    made->start();
  } catch (const std::system_error& error) {
    return fail(errc::source_unavailable, "no thread can be had for a connection", error.what());
  }
  return made;
}

}  // namespace hondana::transport
