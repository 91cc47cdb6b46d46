/// Child processes of benchmarks: programs under measurement, and what a process costs.
#pragma once

#include <sys/types.h>

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

namespace bench {

using clock = std::chrono::steady_clock;

/// Keeps this process, and what it starts, to one core; -1: does nothing.
void stay_on(int core);
/// Lets this process open as many files as it may; throws when fewer than `count` can be.
void make_room_for(std::size_t count);
/// Throws with what errno says.
[[noreturn]] void fail(const std::string& what);

/// A core for what is measured and one for what asks it; -1 where there is only one.
struct cores {
  int of_server = -1;
  int of_peers = -1;
};
[[nodiscard]] cores cores_here();

/// A process with its standard streams as pipes, or a function run in a forked one. Ended with the object. Threads: one.
class child {
 public:
  /// Starts a program on `core`. `log`: a file for its standard error, which is a pipe without it.
  child(std::vector<std::string> command, int core, const std::string& log = {});
  /// Runs `work` in a fork of this process on `core`: it reads commands from `in` and answers to `out`.
  child(const std::function<void(int in, int out)>& work, int core);
  ~child();
  child(const child&) = delete;
  child& operator=(const child&) = delete;

  void send(std::string_view text) const;
  /// At least one byte of its standard output; throws at the end.
  [[nodiscard]] std::size_t receive(char* into, std::size_t size) const;
  /// The next line from its standard output or, without a log, its standard error; throws at its end and after `patience`.
  [[nodiscard]] std::string line(std::chrono::seconds patience = std::chrono::seconds(60));
  [[nodiscard]] std::string error_line(std::chrono::seconds patience = std::chrono::seconds(60));
  /// Reads `most` bytes or up to the end of a line, whichever comes first. Not to be mixed with `line`.
  struct part {
    std::uint64_t bytes = 0;
    bool has_ended = false;
  };
  [[nodiscard]] part pass_over(std::uint64_t most = UINT64_MAX) const;

  /// Private memory in KiB: what smaps_rollup calls Private_Dirty, which nobody else shares.
  [[nodiscard]] long private_kib() const;
  /// What /proc/PID/status says in KiB: VmRSS, what is resident now, or VmHWM, the most since the start or `forget_peak`.
  [[nodiscard]] long status_kib(std::string_view name) const;
  void forget_peak() const;
  /// Waits until it has at most `count` sockets open; throws after `patience`.
  void await_sockets(std::size_t count, std::chrono::seconds patience = std::chrono::seconds(10)) const;
  [[nodiscard]] std::size_t open_sockets() const;
  /// Processor time of all its threads, user and system, also of those that have ended.
  [[nodiscard]] double processor_seconds() const;
  [[nodiscard]] bool has_ended() const;
  [[nodiscard]] pid_t pid() const noexcept { return pid_; }

 private:
  [[nodiscard]] static std::string take_line(int from, std::string& kept, std::chrono::seconds patience);
  [[nodiscard]] long kib_in(const char* file, std::string_view name) const;
  pid_t pid_ = -1;
  int to_ = -1;
  int from_ = -1;
  int errors_ = -1;
  std::string kept_;
  std::string kept_errors_;
};

/// A program that ends by itself: how long it took from exec to its end and its largest memory. Throws unless it ends with 0.
struct run_cost {
  double milliseconds = 0;
  long peak_kib = 0;
};
[[nodiscard]] run_cost cost_of(std::vector<std::string> command);

}  // namespace bench
