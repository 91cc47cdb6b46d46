/// Child processes of the benchmark: the program under measurement, and what a process costs.
#pragma once

#include <sys/types.h>

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

namespace feed_bench {

using clock = std::chrono::steady_clock;

/// Keeps this process, and what it starts, to one core; -1: does nothing.
void stay_on(int core);
/// Lets this process open as many files as it may; throws when fewer than `count` can be.
void make_room_for(std::size_t count);

/// A folder for the run, removed with all that is in it at the end.
class scratch {
 public:
  scratch();
  ~scratch();
  scratch(const scratch&) = delete;
  scratch& operator=(const scratch&) = delete;
  [[nodiscard]] std::string path(std::string_view below) const;
  /// Writes a file in place, as an editor does that truncates.
  void put(std::string_view below, std::string_view content) const;
  /// Writes a file beside and renames it over the old one.
  void replace(std::string_view below, std::string_view content) const;

 private:
  std::string root_;
};

/// A process with its standard streams as pipes, or a function run in a forked one. Ended with the object. Threads: one.
class child {
 public:
  /// Starts a program on `core`.
  child(std::vector<std::string> command, int core);
  /// Runs `work` in a fork of this process on `core`: it reads commands from `in` and answers to `out`.
  child(const std::function<void(int in, int out)>& work, int core);
  ~child();
  child(const child&) = delete;
  child& operator=(const child&) = delete;

  void send(std::string_view text) const;
  /// The next line from its standard output (or standard error, of a program started with `is_error_read`); throws at its end
  /// and after `patience`.
  [[nodiscard]] std::string line(std::chrono::seconds patience = std::chrono::seconds(60));
  [[nodiscard]] std::string error_line(std::chrono::seconds patience = std::chrono::seconds(60));

  /// Private memory in KiB: what smaps_rollup calls Private_Dirty, which nobody else shares.
  [[nodiscard]] long private_kib() const;
  /// Waits until it has at most `count` sockets open; throws after `patience`.
  void await_sockets(std::size_t count, std::chrono::seconds patience = std::chrono::seconds(10)) const;
  [[nodiscard]] std::size_t open_sockets() const;
  /// Processor time, user and system, in milliseconds.
  [[nodiscard]] double processor_milliseconds() const;
  [[nodiscard]] pid_t pid() const noexcept { return pid_; }

 private:
  [[nodiscard]] static std::string take_line(int from, std::string& kept, std::chrono::seconds patience);
  pid_t pid_ = -1;
  int to_ = -1;
  int from_ = -1;
  int errors_ = -1;
  std::string kept_;
  std::string kept_errors_;
};

}  // namespace feed_bench
