/// Runs the program of a server: reads its output and standard error, stops it, and starts it again.
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

/// Splits standard error into lines of at most 4 KiB, and stores the last three for error texts. Threads: one at a time.
class stderr_lines {
 public:
  /// `on_line` receives each line that is not empty. It must outlive this object, and may be a null function.
  explicit stderr_lines(const std::function<void(std::string_view)>& on_line) : on_line_(on_line) {}

  void feed(std::string_view bytes);
  /// Ends an incomplete line.
  void end_line();
  /// Returns "; it said: …" with the stored lines; empty if there are none.
  [[nodiscard]] std::string last_lines_text() const;
  void clear();

 private:
  const std::function<void(std::string_view)>& on_line_;
  std::string line_;
  std::deque<std::string> last_lines_;
};

/// The program of a `child_target`; at most one process at a time. A run lasts from a start of the program to its end. Threads:
/// one at a time.
class child_process {
 public:
  using clock = monotonic_clock;

  /// `program`: the first process, already started. `target` and `log` must outlive this object; `log` may be a null function.
  child_process(const child_target& target, process::program program, const std::function<void(std::string_view)>& log);

  /// Starts the program again. Call it only if it is not running. Errors: those of `process::program::start`;
  /// source_unavailable during the pause after several runs of less than five seconds.
  result<void> restart();
  [[nodiscard]] bool is_running() const noexcept { return program_.is_running(); }
  // The following five functions return descriptors for poll; -1: closed, or not available.
  [[nodiscard]] int input() const noexcept { return program_.input.get(); }
  [[nodiscard]] int output() const noexcept { return program_.output.get(); }
  [[nodiscard]] int error_output() const noexcept { return program_.error_output.get(); }
  [[nodiscard]] int pidfd() const noexcept { return program_.pidfd(); }
  [[nodiscard]] int launcher_hangup_descriptor() const noexcept { return program_.launcher_hangup_descriptor(); }
  void close_input() { program_.input = {}; }

  /// Reads from the program's output without blocking. Empty text: nothing has arrived yet; empty optional: end of output. The
  /// text is valid until the next call of any function.
  [[nodiscard]] std::optional<std::string_view> read();
  /// Reads from the program's standard error without blocking, and passes lines to `child_target::on_stderr`.
  void read_error_output();
  /// How long reading of the standard error must pause. The limit is 2000 lines a second.
  [[nodiscard]] std::chrono::milliseconds error_output_delay() const { return rate_limit_.delay(); }
  /// Call this when `pidfd` is readable. From then on, `read` returns only the bytes that are in the pipe now, because other
  /// processes may hold it open and write to it.
  void handle_exit();
  /// Whether `handle_exit` was called in this run.
  [[nodiscard]] bool has_exited() const noexcept { return unread_bytes_.has_value(); }

  /// Ends the run, and kills the program if it is still running; calls `child_target::on_exit`. May block for some seconds.
  /// `stop_reason` continues "the server's program (NAME) "; empty: the program has ended or closed its output. Returns the
  /// sentence, with the last lines of standard error.
  [[nodiscard]] std::string finish(std::string_view stop_reason);
  /// Closes the input, sends SIGTERM, then SIGKILL. Before each signal it waits for the end of the program, for
  /// `shutdown_timeout`, but not beyond `deadline`; before SIGTERM, at most for half of the time until then. Spec:
  /// basic/transports/stdio#shutdown.
  void shut_down(clock::time_point deadline);
  /// Kills the program with SIGKILL, and forgets it. Logs a line if it cannot be reached and keeps running.
  void kill();

 private:
  void read_remaining_errors();
  bool wait_for_exit(clock::time_point deadline);
  /// Counts a run of less than five seconds, and sets the pause before the next start.
  void count_early_exit();
  /// Calls `child_target::on_exit`.
  void report_exit(std::string description);

  const child_target& target_;
  const std::function<void(std::string_view)>& log_;
  process::program program_;
  stderr_lines lines_;
  channel::unsolicited_rate_limit rate_limit_{std::chrono::seconds(10)};  // of its standard error
  clock::time_point started_at_;
  std::optional<std::size_t> unread_bytes_;  // unread bytes of the output, after the program has ended
  unsigned early_exits_ = 0;                 // consecutive runs of less than five seconds
  std::string exit_description_;             // how the last run ended
  clock::time_point next_start_at_{};
  std::vector<char> buffer_;
};

}  // namespace hondana::transport::child
