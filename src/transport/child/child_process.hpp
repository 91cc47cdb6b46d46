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

/// Lines for whoever wants them, and the last of them for the text that says how it all ended. Threads: one at a time.
class problem_lines {
 public:
  /// `tell` outlives it and may be empty.
  explicit problem_lines(const std::function<void(std::string_view)>& tell) : tell_(tell) {}

  void feed(std::string_view bytes);
  void end_line();
  /// "; it said: …", or nothing.
  [[nodiscard]] std::string said() const;
  void clear();

 private:
  const std::function<void(std::string_view)>& tell_;
  std::string line_;
  std::deque<std::string> last_;
};

/// Threads: one at a time.
class run {
 public:
  using clock = monotonic_clock;

  /// `of` and `log` outlive it; `log` may be empty.
  run(const child_target& of, process::program first, const std::function<void(std::string_view)>& log);

  /// Errors: as `process::program::start`; source_unavailable while one that keeps ending within five seconds is left alone.
  result<void> start_anew();
  [[nodiscard]] bool is_running() const noexcept { return now_.is_running(); }
  /// To be watched; -1 for what is closed.
  [[nodiscard]] int input() const noexcept { return now_.input.get(); }
  [[nodiscard]] int output() const noexcept { return now_.output.get(); }
  [[nodiscard]] int problems() const noexcept { return now_.problems.get(); }
  [[nodiscard]] int ending() const noexcept { return now_.ending(); }
  [[nodiscard]] int launcher_ending() const noexcept { return now_.launcher_ending(); }
  void close_input() { now_.input = {}; }

  /// The next bytes of its output; empty when none have come yet, nothing at the end. Valid until the next call of anything.
  [[nodiscard]] std::optional<std::string_view> read();
  void read_problems();
  /// How long reading of its standard error must pause. It is read at up to two thousand lines a second.
  [[nodiscard]] std::chrono::milliseconds pause_of_problems() const { return pace_.pause(); }
  /// `ending` can be read: what the output holds now is all that it wrote, whoever else holds it open and writes to it.
  void notice_end();
  [[nodiscard]] bool has_ended() const noexcept { return rest_.has_value(); }

  /// Its output or the program has ended, or it is ended for a `misdeed`; empty: it ended by itself. Gives the way it ended in
  /// words, and what it said.
  [[nodiscard]] std::string end(std::string_view misdeed);
  /// Closes its input and waits, signals and waits, and kills. Spec: basic/transports/stdio#shutdown.
  void leave(clock::time_point by);
  /// Without a word, but of one that is out of reach and goes on.
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
  std::optional<std::size_t> rest_;  // of the output, of a program that has ended
  unsigned quick_ends_ = 0;
  std::string last_end_;
  clock::time_point not_before_{};
  std::vector<char> buffer_;
};

}  // namespace hondana::transport::child
