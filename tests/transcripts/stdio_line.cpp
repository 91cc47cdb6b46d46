/// A line to a child process over its standard streams.
#include "transcripts/line.hpp"

#include <fcntl.h>
#include <poll.h>
#include <spawn.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>
#include <algorithm>
#include <array>
#include <cerrno>
#include <csignal>
#include <cstring>
#include <deque>
#include <limits>

namespace transcripts {
namespace {

int left_until(time_point deadline) {
  const auto left = std::chrono::duration_cast<std::chrono::milliseconds>(deadline - std::chrono::steady_clock::now()).count();
  return static_cast<int>(std::clamp<long long>(left, 0, std::numeric_limits<int>::max()));
}

class stdio_line final : public line {
 public:
  stdio_line(pid_t child, int in, int out, int clock, bool bytewise)
      : child_(child), in_(in), out_(out), clock_(clock), bytewise_(bytewise) {}

  ~stdio_line() override {
    if (in_ >= 0) ::close(in_);
    ::close(out_);
    ::close(clock_);
    if (child_ > 0) {
      ::kill(child_, SIGKILL);
      ::waitpid(child_, nullptr, 0);
    }
  }

  tl::expected<void, std::string> send(const sending& what, time_point deadline) override {
    return write_all(what.bytes + '\n', deadline);
  }

  std::optional<std::string> receive(time_point deadline, bool passes_time) override {
    while (messages_.empty()) {
      const auto until = passes_time ? std::min(deadline, std::chrono::steady_clock::now() + step_pause) : deadline;
      if (ended_) return std::nullopt;
      if (read_some(until)) continue;
      if (until == deadline) return std::nullopt;
      step();
    }
    auto next = std::move(messages_.front());
    messages_.pop_front();
    return next;
  }

  void pass_time(std::chrono::milliseconds most) override {
    for (; most > most.zero(); most -= time_step) {
      step();
      read_some(std::chrono::steady_clock::now() + step_pause);
    }
  }

  tl::expected<void, std::string> send_end(std::string_view bytes, time_point deadline) override {
    const auto sent = write_all(bytes, deadline);
    end_input();
    return sent;
  }

  tl::expected<std::vector<std::string>, std::string> finish(time_point deadline) override {
    end_input();
    while (!ended_) {
      if (!read_some(deadline)) return tl::unexpected(std::string("the server did not leave after the end of its input"));
    }
    if (!kept_.empty()) return tl::unexpected("the output ends in the middle of a line: " + kept_.substr(0, 200));
    int status = 0;
    // Its output has ended, so the process is on its way out; the deadline is kept by a poll on its descriptor.
    const int process = static_cast<int>(::syscall(SYS_pidfd_open, child_, 0));
    pollfd gone{process, POLLIN, 0};
    const bool has_left = process >= 0 && ::poll(&gone, 1, left_until(deadline)) == 1;
    if (process >= 0) ::close(process);
    if (!has_left) return tl::unexpected(std::string("the server closed its output but did not leave"));
    ::waitpid(child_, &status, 0);
    child_ = -1;
    if (!WIFEXITED(status) || WEXITSTATUS(status) != 0) {
      return tl::unexpected("the server left with status " + std::to_string(status) + " instead of exit code 0");
    }
    return std::vector<std::string>(messages_.begin(), messages_.end());
  }

 private:
  void step() { (void)!::write(clock_, "", 1); }

  /// Reads while it writes, so that neither side waits for the other.
  tl::expected<void, std::string> write_all(std::string_view bytes, time_point deadline) {
    while (!bytes.empty()) {
      std::array<pollfd, 2> both{{{in_, POLLOUT, 0}, {ended_ ? -1 : out_, POLLIN, 0}}};
      if (::poll(both.data(), both.size(), left_until(deadline)) <= 0) {
        return tl::unexpected(std::string("the server takes no input"));
      }
      if (both[1].revents != 0) take_output();
      if ((both[0].revents & POLLERR) != 0) return tl::unexpected(std::string("the server has closed its input"));
      if ((both[0].revents & POLLOUT) == 0) continue;
      const auto count = ::write(in_, bytes.data(), bytewise_ ? 1 : bytes.size());
      if (count > 0) bytes.remove_prefix(static_cast<std::size_t>(count));
      if (count < 0 && errno != EAGAIN && errno != EINTR) {
        return tl::unexpected(std::string("cannot write to the server: ") + std::strerror(errno));
      }
    }
    return {};
  }

  bool read_some(time_point deadline) {
    pollfd ready{out_, POLLIN, 0};
    if (::poll(&ready, 1, left_until(deadline)) <= 0) return false;
    take_output();
    return true;
  }

  void take_output() {
    std::array<char, 65536> buffer;
    const auto count = ::read(out_, buffer.data(), buffer.size());
    if (count == 0) ended_ = true;
    if (count <= 0) return;
    kept_.append(buffer.data(), static_cast<std::size_t>(count));
    for (auto end = kept_.find('\n'); end != std::string::npos; end = kept_.find('\n')) {
      messages_.push_back(kept_.substr(0, end));
      kept_.erase(0, end + 1);
    }
  }

  void end_input() {
    if (in_ >= 0) ::close(in_);
    in_ = -1;
  }

  pid_t child_;
  int in_;
  int out_;
  int clock_;  // of the server: goes on with each byte
  bool bytewise_;
  std::string kept_;
  std::deque<std::string> messages_;
  bool ended_ = false;
};

}  // namespace

tl::expected<std::unique_ptr<line>, std::string> open_stdio_line(const std::filesystem::path& program,
                                                                 const std::string& server, bool bytewise) {
  std::array<int, 2> to{};
  std::array<int, 2> from{};
  std::array<int, 2> clock{};
  if (::pipe2(to.data(), O_CLOEXEC) != 0 || ::pipe2(from.data(), O_CLOEXEC) != 0 || ::pipe2(clock.data(), O_CLOEXEC) != 0) {
    return tl::unexpected(std::string("no pipe: ") + std::strerror(errno));
  }
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_adddup2(&actions, to[0], STDIN_FILENO);
  posix_spawn_file_actions_adddup2(&actions, from[1], STDOUT_FILENO);
  posix_spawn_file_actions_adddup2(&actions, clock[0], clock_descriptor);
  std::string path = program.string();
  std::string name = server;
  std::array<char*, 3> arguments{path.data(), name.data(), nullptr};
  pid_t child = -1;
  const int failed = ::posix_spawn(&child, path.c_str(), &actions, nullptr, arguments.data(), environ);
  posix_spawn_file_actions_destroy(&actions);
  ::close(to[0]);
  ::close(from[1]);
  ::close(clock[0]);
  if (failed != 0) {
    ::close(to[1]);
    ::close(from[0]);
    ::close(clock[1]);
    return tl::unexpected("cannot start " + path + ": " + std::strerror(failed));
  }
  ::fcntl(to[1], F_SETFL, O_NONBLOCK);
  return std::make_unique<stdio_line>(child, to[1], from[0], clock[1], bytewise);
}

}  // namespace transcripts
