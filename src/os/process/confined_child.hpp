/// Short-lived child processes that can only turn their input into output: limits, start and end.
#pragma once

#include <sys/types.h>

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <stop_token>
#include <string>
#include <string_view>
#include <vector>

#include <hondana/error.hpp>

#include "os/disk/file_descriptor.hpp"
#include "os/process/launcher.hpp"
#include "os/sandbox/sandbox.hpp"

namespace hondana::process {

/// What a child may use. It is told of `time`, `memory` and `unpacked` and puts them on itself, see `shut_in`; those of time
/// and output hold whatever it does.
struct limits {
  std::chrono::milliseconds time{20'000};  ///< Wall clock, and rounded up processor time; then it is killed.
  std::uint64_t memory = 1ull << 30;       ///< Address space.
  std::uint64_t output = 64ull << 20;      ///< Bytes of its standard output; beyond it is killed.
  std::uint64_t unpacked = 512ull << 20;   ///< What it may unpack of its input.
};

/// How it ended, when it was not killed for its limits.
struct ended {
  int exit_code = 0;  ///< -1: by a signal.
  int signal = 0;
  std::string problems{};  ///< The first 4 KiB of its standard error, printable and in one line. For our log.
};

/// Runs `command` (of those that `needs::programs` names, absolute) with the open file `input` as its standard input, and hands
/// each piece of its output to `hears`; an error from there kills it. The child has no other descriptor, an empty environment
/// but for LANG=C.UTF-8, PATH and its limits, the root of the file system as its folder, its own process group, and dies with
/// this process. What it has started and left in its group is killed with its end. Where programs are started by a launcher
/// (transport/child/launcher.hpp), that must know `renderer_command(command)`, and `input` be a regular file, open for reading
/// only.
///
/// Blocks. Threads: any, several at once; the kernel kills the child when the calling thread ends, which it does not before.
/// Errors: timed_out, cancelled, response_too_large, source_unavailable (it cannot be started), access_denied (the launcher
/// does not know it), the hearer's.
[[nodiscard]] result<ended> run_confined(const std::vector<std::string>& command, int input, const limits& most,
                                         const std::function<result<void>(std::string_view)>& hears,
                                         const std::stop_token& stop, std::chrono::steady_clock::time_point until);

inline constexpr const char* limits_variable = "HONDANA_LIMITS";

/// "20000 1073741824 67108864 536870912": milliseconds, then bytes of memory, output and what is unpacked.
[[nodiscard]] std::string text_of(const limits& of);
/// Nothing when it is no such text.
[[nodiscard]] std::optional<limits> limits_in(std::string_view text);

/// How a launcher is to know a command that `run_confined` will start.
[[nodiscard]] known_command renderer_command(const std::vector<std::string>& command);

/// How it is asked for, but for its limits.
[[nodiscard]] child_target renderer_target(const std::vector<std::string>& command);

/// A started child. Destruction kills it and its group, and reaps it. Threads: one at a time.
class child {
 public:
  /// Errors: as `run_confined`.
  [[nodiscard]] static result<child> start(const std::vector<std::string>& command, int input, const limits& most);
  child(child&& other) noexcept;
  child& operator=(child&&) = delete;
  ~child();

  /// Non-blocking ends of its streams.
  disk::handle output;
  disk::handle problems;
  /// Can be read once it has ended; -1 where the kernel has no such descriptors.
  [[nodiscard]] int ending() const noexcept { return process_.get(); }
  /// Kills what is left of its group, and reaps it, if it has ended: true, and `into` says how.
  bool has_ended(ended& into);

 private:
  child() noexcept = default;
  result<void> fork_into(const std::vector<std::string>& command, int input, const limits& most, int out, int problems_out);
  result<void> launch(const std::vector<std::string>& command, int input, const limits& most, int out, int problems_out);
  void kill_group() const noexcept;
  static void look_at(int status, ended& into);

  pid_t pid_ = -1;
  disk::handle process_;
  std::shared_ptr<launcher> by_;  // null: this process is its parent in all
  disk::handle tie_;              // see launcher::attempt
};

/// Gives up, for good, all but `to` and the system calls of a process that only computes, and puts limits on memory, processor
/// time, files (none is written, few are open) and processes (none). What this kernel does not hold is said, for people; empty:
/// nothing. Nothing of that is an error: a renderer goes on with what there is.
///
/// Threads: called before the process has a second one. Errors: source_unavailable when there is one.
[[nodiscard]] result<std::string> shut_in(sandbox::permissions to, const limits& most);

}  // namespace hondana::process
