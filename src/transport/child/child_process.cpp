/// Runs the program of a server: reads its output and standard error, stops it, and starts it again.
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

#include "base/executor/backoff.hpp"

namespace hondana::transport::child {
namespace {

constexpr std::size_t max_line_bytes = 4u << 10;
constexpr std::size_t max_stored_line_bytes = 300;
constexpr std::size_t max_stored_lines = 3;

}  // namespace

void stderr_lines::feed(std::string_view bytes) {
  for (const char c : bytes) {
    if (c != '\n' && line_.size() < max_line_bytes) line_ += c;
    if (c == '\n') end_line();
  }
}

void stderr_lines::end_line() {
  if (line_.empty()) return;
  if (on_line_) on_line_(line_);
  last_lines_.push_back(line_.substr(0, max_stored_line_bytes));
  if (last_lines_.size() > max_stored_lines) last_lines_.pop_front();
  line_.clear();
}

std::string stderr_lines::last_lines_text() const {
  std::string out;
  for (const auto& line : last_lines_) out += (out.empty() ? "; it said: " : " | ") + line;
  return out;
}

void stderr_lines::clear() {
  line_.clear();
  last_lines_.clear();
}

namespace {

using std::chrono::milliseconds;

constexpr std::size_t buffer_bytes = 64u << 10;
constexpr milliseconds early_exit_time{5'000};  // a run that ends within this time counts as failed
constexpr executor::backoff restart_pauses{milliseconds(500), milliseconds(5'000)};
constexpr milliseconds reap_timeout{1'000};
constexpr milliseconds final_read_timeout{500};

}  // namespace

child_process::child_process(const child_target& target, process::program program,
                             const std::function<void(std::string_view)>& log)
    : target_(target),
      log_(log),
      program_(std::move(program)),
      lines_(target.on_stderr),
      started_at_(clock::now()),
      buffer_(buffer_bytes) {}

result<void> child_process::restart() {
  if (early_exits_ > 1 && clock::now() < next_start_at_) {
    const auto remaining = std::chrono::duration_cast<milliseconds>(next_start_at_ - clock::now());
    return fail(errc::source_unavailable, "the server's program ended " + std::to_string(early_exits_) +
                                              " times in a row right after its start; the last time, it " + exit_description_ +
                                              lines_.last_lines_text() + "; the next start is in " +
                                              std::to_string(remaining.count()) + " ms");
  }
  auto restarted = process::program::start(target_);
  if (!restarted) {
    count_early_exit();
    report_exit("cannot be started again: " + restarted.error().public_text);
    return tl::unexpected(std::move(restarted.error()));
  }
  program_ = std::move(*restarted);
  started_at_ = clock::now();
  unread_bytes_.reset();
  lines_.clear();
  return {};
}

void child_process::count_early_exit() { next_start_at_ = clock::now() + restart_pauses.delay(++early_exits_); }

void child_process::report_exit(std::string description) {
  exit_description_ = std::move(description);
  if (target_.on_exit) target_.on_exit(exit_description_, early_exits_);
}

std::optional<std::string_view> child_process::read() {
  if (unread_bytes_ == 0u) return {};
  const auto count = ::read(output(), buffer_.data(), std::min(buffer_.size(), unread_bytes_.value_or(buffer_bytes)));
  if (count < 0 && (errno == EINTR || (errno == EAGAIN && !unread_bytes_))) return std::string_view();
  if (count <= 0) return {};
  if (unread_bytes_) *unread_bytes_ -= static_cast<std::size_t>(count);
  return std::string_view(buffer_.data(), static_cast<std::size_t>(count));
}

void child_process::handle_exit() {
  if (unread_bytes_) return;
  int available = 0;
  unread_bytes_ = ::ioctl(output(), FIONREAD, &available) == 0 && available > 0 ? static_cast<std::size_t>(available) : 0;
}

void child_process::read_error_output() {
  const auto count = ::read(error_output(), buffer_.data(), buffer_.size());
  if (count > 0) {
    const std::string_view text(buffer_.data(), static_cast<std::size_t>(count));
    constexpr std::size_t bytes_per_log_line = 2'000;
    rate_limit_.count_bytes(text.size() +
                            bytes_per_log_line * static_cast<std::size_t>(std::count(text.begin(), text.end(), '\n')));
    lines_.feed(text);
  } else if (count == 0 || (errno != EAGAIN && errno != EINTR)) {
    program_.error_output = {};
  }
}

/// Reads the standard error that was written before the end.
void child_process::read_remaining_errors() {
  const auto deadline = clock::now() + final_read_timeout;
  while (program_.error_output.is_open() && clock::now() < deadline) {
    const auto count = ::read(error_output(), buffer_.data(), buffer_.size());
    if (count <= 0) program_.error_output = {};
    if (count > 0) lines_.feed({buffer_.data(), static_cast<std::size_t>(count)});
  }
  lines_.end_line();
}

std::string child_process::finish(std::string_view stop_reason) {
  close_input();
  // `kill` reports a program that cannot be signalled.
  if (!stop_reason.empty()) static_cast<void>(program_.signal(SIGTERM));
  const auto exit_text = program_.wait_for_exit(clock::now() + reap_timeout);
  if (!exit_text) static_cast<void>(program_.signal(SIGKILL));
  read_remaining_errors();
  kill();
  if (clock::now() - started_at_ < early_exit_time) {
    count_early_exit();
  } else {
    early_exits_ = 0;
  }
  report_exit(!stop_reason.empty() ? std::string(stop_reason)
                                   : exit_text.value_or("closed its standard output and was stopped"));
  return "the server's program (" + target_.command.front() + ") " + exit_description_ + lines_.last_lines_text();
}

void child_process::shut_down(clock::time_point deadline) {
  if (!is_running()) return;
  close_input();
  for (const int signal : {0, SIGTERM, SIGKILL}) {
    if (signal != 0 && program_.signal(signal) == EPIPE) break;
    // The first wait leaves at least half of the time for the second one.
    const auto remaining = std::max<clock::duration>(deadline - clock::now(), clock::duration(0));
    const auto step_timeout = std::min<clock::duration>(target_.shutdown_timeout, signal == 0 ? remaining / 2 : remaining);
    if (wait_for_exit(clock::now() + (signal == SIGKILL ? reap_timeout : step_timeout))) break;
  }
  read_remaining_errors();
  kill();
}

void child_process::kill() {
  if (program_.signal(SIGKILL) == EPIPE && !program_.wait_for_exit(clock::now() + reap_timeout)) {
    if (log_) {
      log_("the server's program (" + target_.command.front() + "), process " + std::to_string(program_.pid()) +
           ", keeps running: the launcher, which could stop it, has ended; stop it with kill");
    }
    program_.detach();
  }
  program_ = process::program();
}

/// Keeps reading, because a program whose output is blocked cannot end.
bool child_process::wait_for_exit(clock::time_point deadline) {
  for (;;) {
    const auto remaining = std::chrono::duration_cast<milliseconds>(deadline - clock::now()).count();
    if (!program_.output.is_open() || remaining <= 0) return program_.wait_for_exit(deadline).has_value();
    std::array<pollfd, 3> watched{{{output(), POLLIN, 0}, {error_output(), POLLIN, 0}, {pidfd(), POLLIN, 0}}};
    if (::poll(watched.data(), watched.size(), monotonic_clock::poll_timeout(remaining)) < 0) continue;
    if (watched[1].revents != 0) read_error_output();
    if (watched[2].revents != 0) return program_.wait_for_exit(deadline).has_value();
    if (watched[0].revents != 0 && !read()) program_.output = {};
  }
}

}  // namespace hondana::transport::child
