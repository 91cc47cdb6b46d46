/// The process of a server: its output and standard error, how it ends, and when it is restarted.
#include "transport/child/child_process.hpp"

#include <poll.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <csignal>
#include <cstddef>
#include <utility>

#include <hondana/clock.hpp>

namespace hondana::transport::child {
namespace {

constexpr std::size_t longest_problem = 4u << 10;
constexpr std::size_t longest_kept = 300;
constexpr std::size_t kept_problems = 3;

}  // namespace

void problem_lines::feed(std::string_view bytes) {
  for (const char c : bytes) {
    if (c != '\n' && line_.size() < longest_problem) line_ += c;
    if (c == '\n') end_line();
  }
}

void problem_lines::end_line() {
  if (line_.empty()) return;
  if (tell_) tell_(line_);
  last_.push_back(line_.substr(0, longest_kept));
  if (last_.size() > kept_problems) last_.pop_front();
  line_.clear();
}

std::string problem_lines::said() const {
  std::string out;
  for (const auto& one : last_) out += (out.empty() ? "; it said: " : " | ") + one;
  return out;
}

void problem_lines::clear() {
  line_.clear();
  last_.clear();
}

namespace {

using std::chrono::milliseconds;

constexpr std::size_t piece = 64u << 10;
constexpr milliseconds quick_end{5'000};  // a run that ends within this time counts as failed
constexpr milliseconds first_pause{250};
constexpr milliseconds longest_pause{5'000};
constexpr milliseconds time_to_be_reaped{1'000};
constexpr milliseconds time_for_last_words{500};

}  // namespace

run::run(const child_target& of, process::program first, const std::function<void(std::string_view)>& log)
    : of_(of), log_(log), now_(std::move(first)), lines_(of.on_stderr), began_(clock::now()), buffer_(piece) {}

result<void> run::start_anew() {
  if (quick_ends_ > 1 && clock::now() < not_before_) {
    const auto left = std::chrono::duration_cast<milliseconds>(not_before_ - clock::now());
    return fail(errc::source_unavailable, "the server's program ended " + std::to_string(quick_ends_) +
                                              " times in a row right after its start; the last time, it " + last_end_ +
                                              lines_.said() + "; the next start is in " + std::to_string(left.count()) + " ms");
  }
  auto again = process::program::start(of_);
  if (!again) {
    count_quick_end();
    tell_end("cannot be started again: " + again.error().public_text);
    return tl::unexpected(std::move(again.error()));
  }
  now_ = std::move(*again);
  began_ = clock::now();
  rest_.reset();
  lines_.clear();
  return {};
}

void run::count_quick_end() {
  ++quick_ends_;
  not_before_ = clock::now() + std::min(first_pause * (1u << std::min(quick_ends_, 10u)), longest_pause);
}

void run::tell_end(std::string how) {
  last_end_ = std::move(how);
  if (of_.on_end) of_.on_end(last_end_, quick_ends_);
}

std::optional<std::string_view> run::read() {
  if (rest_ == 0u) return {};
  const auto count = ::read(output(), buffer_.data(), std::min(buffer_.size(), rest_.value_or(piece)));
  if (count < 0 && (errno == EINTR || (errno == EAGAIN && !rest_))) return std::string_view();
  if (count <= 0) return {};
  if (rest_) *rest_ -= static_cast<std::size_t>(count);
  return std::string_view(buffer_.data(), static_cast<std::size_t>(count));
}

void run::notice_end() {
  if (rest_) return;
  int held = 0;
  rest_ = ::ioctl(output(), FIONREAD, &held) == 0 && held > 0 ? static_cast<std::size_t>(held) : 0;
}

void run::read_problems() {
  const auto count = ::read(problems(), buffer_.data(), buffer_.size());
  if (count > 0) {
    const std::string_view text(buffer_.data(), static_cast<std::size_t>(count));
    constexpr std::size_t bytes_for_line = 2'000;
    pace_.bytes(text.size() + bytes_for_line * static_cast<std::size_t>(std::count(text.begin(), text.end(), '\n')));
    lines_.feed(text);
  } else if (count == 0 || (errno != EAGAIN && errno != EINTR)) {
    now_.problems = {};
  }
}

/// Reads the standard error that was written before the end.
void run::read_last_problems() {
  const auto enough = clock::now() + time_for_last_words;
  while (now_.problems.is_open() && clock::now() < enough) {
    const auto count = ::read(problems(), buffer_.data(), buffer_.size());
    if (count <= 0) now_.problems = {};
    if (count > 0) lines_.feed({buffer_.data(), static_cast<std::size_t>(count)});
  }
  lines_.end_line();
}

std::string run::end(std::string_view misdeed) {
  close_input();
  // `kill` reports a program that cannot be signalled.
  if (!misdeed.empty()) static_cast<void>(now_.signal(SIGTERM));
  const auto how = now_.ended(clock::now() + time_to_be_reaped);
  if (!how) static_cast<void>(now_.signal(SIGKILL));
  read_last_problems();
  kill();
  if (clock::now() - began_ < quick_end) {
    count_quick_end();
  } else {
    quick_ends_ = 0;
  }
  tell_end(!misdeed.empty() ? std::string(misdeed) : how.value_or("closed its standard output and was stopped"));
  return "the server's program (" + of_.command.front() + ") " + last_end_ + lines_.said();
}

void run::leave(clock::time_point by) {
  if (!is_running()) return;
  close_input();
  const auto step = std::min<clock::duration>(of_.leaving_time, std::max(by - clock::now(), clock::duration(0)));
  for (const int signal : {0, SIGTERM, SIGKILL}) {
    if (signal != 0 && now_.signal(signal) == EPIPE) break;
    if (leave_until(clock::now() + (signal == SIGKILL ? time_to_be_reaped : step))) break;
  }
  read_last_problems();
  kill();
}

void run::kill() {
  if (now_.signal(SIGKILL) == EPIPE && !now_.ended(clock::now() + time_to_be_reaped)) {
    if (log_) {
      log_("the server's program (" + of_.command.front() + "), process " + std::to_string(now_.pid()) +
           ", keeps running: the launcher, which could stop it, has ended; stop it with kill");
    }
    now_.leave_running();
  }
  now_ = process::program();
}

/// Keeps reading, because a program whose output is blocked cannot end.
bool run::leave_until(clock::time_point until) {
  for (;;) {
    const auto left = std::chrono::duration_cast<milliseconds>(until - clock::now()).count();
    if (!now_.output.is_open() || left <= 0) return now_.ended(until).has_value();
    std::array<pollfd, 3> watched{{{output(), POLLIN, 0}, {problems(), POLLIN, 0}, {ending(), POLLIN, 0}}};
    if (::poll(watched.data(), watched.size(), monotonic_clock::poll_timeout(left)) < 0) continue;
    if (watched[1].revents != 0) read_problems();
    if (watched[2].revents != 0) return now_.ended(until).has_value();
    if (watched[0].revents != 0 && !read()) now_.output = {};
  }
}

}  // namespace hondana::transport::child
