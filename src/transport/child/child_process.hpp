/// The process of a server: its output and standard error, how it ends, and when it is restarted.
#pragma once

#include <chrono>
#include <cstddef>
#include <deque>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <hondana/client_target.hpp>
#include <hondana/clock.hpp>
#include <hondana/error.hpp>

#include "os/process/program.hpp"
#include "protocol/channel/channel.hpp"

namespace hondana::transport::child {

/// Splits standard error into lines. Stores the last ones for the message that reports the end. Threads: one at a time.
class problem_lines {
 public:
  /// `tell` must outlive it and may be empty.
  explicit problem_lines(const std::function<void(std::string_view)>& tell) : tell_(tell) {}

  void feed(std::string_view bytes);
  void end_line();
  /// "; it said: …" with the last lines; empty if there are none.
  [[nodiscard]] std::string said() const;
  void clear();

 private:
  const std::function<void(std::string_view)>& tell_;
  std::string line_;
  std::deque<std::string> last_;
};

/// One process at a time, which can be started again. Threads: one at a time.
class run {
 public:
  using clock = monotonic_clock;

  /// `of` and `log` must outlive it; `log` may be empty.
  run(const child_target& of, process::program first, const std::function<void(std::string_view)>& log);

  /// Starts the program again. Errors: those of `process::program::start`; source_unavailable during the pause after repeated
  /// ends within five seconds.
  result<void> start_anew();
  [[nodiscard]] bool is_running() const noexcept { return now_.is_running(); }
  /// Descriptors for poll; -1 if closed.
  [[nodiscard]] int input() const noexcept { return now_.input.get(); }
  [[nodiscard]] int output() const noexcept { return now_.output.get(); }
  [[nodiscard]] int problems() const noexcept { return now_.problems.get(); }
  [[nodiscard]] int ending() const noexcept { return now_.ending(); }
  [[nodiscard]] int launcher_ending() const noexcept { return now_.launcher_ending(); }
  void close_input() { now_.input = {}; }

  /// Reads from its output. Empty text: nothing has arrived yet; empty optional: end of output. Valid until the next call of
  /// any function.
  [[nodiscard]] std::optional<std::string_view> read();
  void read_problems();
  /// How long reading of its standard error must pause. The limit is 2000 lines a second.
  [[nodiscard]] std::chrono::milliseconds pause_of_problems() const { return pace_.pause(); }
  /// Call when `ending` is readable. The bytes in the pipe now are the rest of its output, even if other processes hold the
  /// pipe open and write to it.
  void notice_end();
  [[nodiscard]] bool has_ended() const noexcept { return rest_.has_value(); }

  /// Ends the run after its output or the program has ended, or stops it. `misdeed`: why it is stopped; empty: it ended by
  /// itself. Returns a text with how it ended, and its last lines of standard error.
  [[nodiscard]] std::string end(std::string_view misdeed);
  /// Closes its input and waits, sends SIGTERM and waits, and sends SIGKILL. Spec: basic/transports/stdio#shutdown.
  void leave(clock::time_point by);
  /// Sends SIGKILL. Logs only if the program cannot be signalled and keeps running.
  void kill();

 private:
  void read_last_problems();
  bool leave_until(clock::time_point until);
  void count_quick_end();
  void tell_end(std::string how);

  const child_target& of_;
  const std::function<void(std::string_view)>& log_;
  process::program now_;
  problem_lines lines_;
  channel::unsolicited_limit pace_{std::chrono::seconds(10)};  // of its standard error
  clock::time_point began_;
  std::optional<std::size_t> rest_;  // unread bytes of the output, after the program has ended
  unsigned quick_ends_ = 0;
  std::string last_end_;
  clock::time_point not_before_{};
  std::vector<char> buffer_;
};

}  // namespace hondana::transport::child
