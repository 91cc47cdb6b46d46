/// A child process with pipes, watched with deadlines.
#pragma once

#include <sys/types.h>

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "deadline.hpp"

namespace program_test {

using time_point = std::chrono::steady_clock::time_point;

/// A point in time to give up at.
inline time_point within(std::chrono::milliseconds time) { return std::chrono::steady_clock::now() + time; }

/// How a process left.
struct departure {
  int exit_code = -1;  ///< -1 when a signal ended it.
  int signal = 0;
  friend bool operator==(const departure&, const departure&) = default;
};

/// What a program that did its work leaves with.
inline constexpr departure well{0, 0};
/// It was asked wrongly; what was wanted is not there; it is not known who asks; nobody was reached; it went wrong.
inline constexpr departure misused{1, 0}, not_found{2, 0}, not_known{3, 0}, unreachable{4, 0}, failed{5, 0};
/// For anything that must happen.
inline constexpr std::chrono::seconds patience = hondana_test::event_deadline;

/// Where a child's standard output goes; what a terminal is sent is read as from a pipe.
enum class output_to { pipe, terminal, full_disk };

/// Runs the program under test. Its standard error is read whenever anything is awaited; its standard output only when asked.
/// Killed at the end if it is still there. Threads: one.
class process {
 public:
  /// Throws when it cannot be started. `program`: another one, which becomes the program under test.
  explicit process(std::vector<std::string> arguments, output_to out = output_to::pipe, std::string program = {});
  ~process();
  process(const process&) = delete;
  process& operator=(const process&) = delete;

  /// Writes all of it, reading no output meanwhile. False when the program takes nothing any more or `deadline` has passed.
  [[nodiscard]] bool write(std::string_view bytes, time_point deadline);
  /// Writes while it reads, so that neither side waits for the other.
  [[nodiscard]] bool write_and_read(std::string_view bytes, time_point deadline);
  void end_input();
  /// Closes our end of its output.
  void end_output();

  /// The next line of the output, without its newline; nothing at the end or when `deadline` has passed.
  [[nodiscard]] std::optional<std::string> read_line(time_point deadline);
  /// Whether there is output, or its end, to read by then; none of it is read.
  [[nodiscard]] bool has_output(time_point deadline);
  /// Everything to the end of the output; nothing when it has not ended by then.
  [[nodiscard]] std::optional<std::string> read_to_end(time_point deadline);
  /// Waits until standard error contains `text` behind what an earlier call found, and returns the line with it.
  [[nodiscard]] std::optional<std::string> error_line_with(std::string_view text, time_point deadline);
  /// Standard error so far.
  [[nodiscard]] const std::string& errors() const noexcept { return errors_; }

  void signal(int number) const;
  /// Sets the soft limit of a resource (`RLIMIT_FSIZE`), to the hard one at most; throws when that cannot be.
  void limit(int resource, std::uint64_t most) const;
  /// Nothing when it is still running at `deadline`. The output is not read meanwhile.
  [[nodiscard]] std::optional<departure> leaves(time_point deadline);
  /// Waits until the process uses next to no processor time and wants none, which is when it waits for its peer. False when it
  /// never rests.
  [[nodiscard]] bool rests(time_point deadline);
  /// The most memory it has ever had, in KiB (VmHWM).
  [[nodiscard]] std::size_t peak_memory() const;
  /// How much it has now (VmRSS).
  [[nodiscard]] std::size_t memory() const;
  /// How much time processors have spent on it, in steps of 10 ms.
  [[nodiscard]] std::chrono::milliseconds processor_time() const;
  /// How many descriptors it has open.
  [[nodiscard]] std::size_t descriptors() const;
  /// How many it may have open.
  [[nodiscard]] std::size_t descriptor_limit() const;

 private:
  [[nodiscard]] std::size_t status(std::string_view name) const;
  /// Whether a thread of it is running or waits for a processor or a disk.
  [[nodiscard]] bool is_at_work() const;
  enum interest : unsigned { take_output = 1, see_output = 2, give_input = 4, see_exit = 8, took_errors = 16 };
  /// Waits for one of the events, and always reads standard error. What happened, as `interest`; 0 at the deadline.
  unsigned await(unsigned events, time_point deadline);
  void read_errors();
  void read_output();
  bool put(std::string_view bytes, unsigned meanwhile, time_point deadline);

  pid_t child_ = -1;
  int handle_ = -1;  // readable when the child has left
  int in_ = -1;
  int out_ = -1;
  int err_ = -1;
  std::string output_;
  std::size_t read_ = 0;  // of `output_`, handed out already
  std::string errors_;
  std::size_t found_ = 0;  // of `errors_`, behind the last find
  bool output_ended_ = false;
  std::optional<departure> left_;
};

}  // namespace program_test
