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
class stderr_lines {
 public:
  /// `on_line` must outlive it and may be empty.
  explicit stderr_lines(const std::function<void(std::string_view)>& on_line) : on_line_(on_line) {}

  void feed(std::string_view bytes);
  void end_line();
  /// "; it said: …" with the last lines; empty if there are none.
  [[nodiscard]] std::string last_lines_text() const;
  void clear();

 private:
  const std::function<void(std::string_view)>& on_line_;
  std::string line_;
  std::deque<std::string> last_lines_;
};

/// One process at a time, which can be started again. Threads: one at a time.
class child_process {
 public:
  using clock = monotonic_clock;

  /// `target` and `log` must outlive it; `log` may be empty.
  child_process(const child_target& target, process::program program, const std::function<void(std::string_view)>& log);

  /// Starts the program again. Errors: those of `process::program::start`; source_unavailable during the pause after repeated
  /// ends within five seconds.
  result<void> restart();
  [[nodiscard]] bool is_running() const noexcept { return program_.is_running(); }
  /// Descriptors for poll; -1 if closed.
  [[nodiscard]] int input() const noexcept { return program_.input.get(); }
  [[nodiscard]] int output() const noexcept { return program_.output.get(); }
  [[nodiscard]] int error_output() const noexcept { return program_.error_output.get(); }
  [[nodiscard]] int pidfd() const noexcept { return program_.pidfd(); }
  [[nodiscard]] int launcher_hangup_descriptor() const noexcept { return program_.launcher_hangup_descriptor(); }
  void close_input() { program_.input = {}; }

  /// Reads from its output. Empty text: nothing has arrived yet; empty optional: end of output. Valid until the next call of
  /// any function.
  [[nodiscard]] std::optional<std::string_view> read();
  void read_error_output();
  /// How long reading of its standard error must pause. The limit is 2000 lines a second.
  [[nodiscard]] std::chrono::milliseconds error_output_delay() const { return rate_limit_.delay(); }
  /// Call when `pidfd` is readable. The bytes in the pipe now are the rest of its output, even if other processes hold the
  /// pipe open and write to it.
  void handle_exit();
  [[nodiscard]] bool has_exited() const noexcept { return unread_bytes_.has_value(); }

  /// Ends the run after its output or the program has ended, or stops it. `stop_reason`: why it is stopped; empty: it ended by
  /// itself. Returns a text with how it ended, and its last lines of standard error.
  [[nodiscard]] std::string finish(std::string_view stop_reason);
  /// Closes its input and waits, sends SIGTERM and waits, and sends SIGKILL. Spec: basic/transports/stdio#shutdown.
  void shut_down(clock::time_point deadline);
  /// Sends SIGKILL. Logs only if the program cannot be signalled and keeps running.
  void kill();

 private:
  void read_remaining_errors();
  bool wait_for_exit(clock::time_point deadline);
  void count_early_exit();
  void report_exit(std::string description);

  const child_target& target_;
  const std::function<void(std::string_view)>& log_;
  process::program program_;
  stderr_lines lines_;
  channel::unsolicited_rate_limit rate_limit_{std::chrono::seconds(10)};  // of its standard error
  clock::time_point started_at_;
  std::optional<std::size_t> unread_bytes_;  // unread bytes of the output, after the program has ended
  unsigned early_exits_ = 0;
  std::string exit_description_;
  clock::time_point next_start_at_{};
  std::vector<char> buffer_;
};

}  // namespace hondana::transport::child
