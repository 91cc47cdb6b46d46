/// Short-lived child processes that can only convert their input to output: limits, start and end.
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

/// The limits of a child, which receives them in `limits_variable`.
/// This process enforces `max_time` and `max_output_bytes`. The child must enforce the others, with `confine_permanently` and
/// its own counts.
struct limits {
  std::chrono::milliseconds max_time{20'000};       ///< Time from the start; as CPU time, rounded up to seconds.
  std::uint64_t max_memory_bytes = 1ull << 30;      ///< Address space.
  std::uint64_t max_output_bytes = 64ull << 20;     ///< Standard output.
  std::uint64_t max_unpacked_bytes = 512ull << 20;  ///< What the child may decompress from its input.
};

/// How a child ended that `run_confined` did not kill. If the application ignores SIGCHLD, how it ended is unknown.
struct termination {
  int exit_code = 0;           ///< -1: ended by a signal.
  int signal = 0;              ///< 0: not ended by a signal, or unknown.
  std::string error_output{};  ///< The first 4 KiB of its standard error, printable and in one line. For our log.
};

/// Runs `command` with the open file `input` as standard input, and passes each piece of its standard output to `on_output`.
/// An error from `on_output` kills the child. The program must have an absolute path, and in a sandboxed server be one of
/// `system_requirements::programs`.
///
/// The child has no other descriptors. Its environment contains only LANG=C.UTF-8, PATH and its limits. Its working folder is
/// `/`. It has its own process group, and is killed when this process ends. When it ends, the rest of its group is killed.
/// If a launcher is installed (os/process/launcher.hpp), it must allow `renderer_command(command)`. `input` must then be a
/// regular file that is open for reading only.
///
/// Blocks. Threads: any, several at once. The calling thread must not end during the call, because the kernel then kills the
/// child.
/// Errors: timed_out (`limits::max_time` or `deadline`); cancelled (`stop`); response_too_large; errors of `on_output`. If the
/// child cannot be started: source_unavailable; invalid_argument (no absolute path); access_denied (not allowed by the
/// launcher).
[[nodiscard]] result<termination> run_confined(const std::vector<std::string>& command, int input, const limits& limits,
                                               const std::function<result<void>(std::string_view)>& on_output,
                                               const std::stop_token& stop, std::chrono::steady_clock::time_point deadline);

/// The environment variable in which a child receives the `to_text` of its limits.
inline constexpr const char* limits_variable = "HONDANA_LIMITS";

/// Formats limits as "20000 1073741824 67108864 536870912": `max_time` in milliseconds, then `max_memory_bytes`,
/// `max_output_bytes` and `max_unpacked_bytes`.
[[nodiscard]] std::string to_text(const limits& limits);
/// Parses a result of `to_text`; nullopt if it is malformed.
[[nodiscard]] std::optional<limits> parse_limits(std::string_view text);

/// What a launcher must allow so that `run_confined` can start this command.
[[nodiscard]] allowed_command renderer_command(const std::vector<std::string>& command);

/// The target for which `launcher::allows` says whether `run_confined` can start this command. Lacks the limits.
[[nodiscard]] child_target renderer_target(const std::vector<std::string>& command);

/// A child that `run_confined` has started. Destruction kills it and its group, and reaps it. Threads: one at a time.
class child {
 public:
  /// Starts `command` as `run_confined` describes. Errors: as there.
  [[nodiscard]] static result<child> start(const std::vector<std::string>& command, int input, const limits& limits);
  child(child&& other) noexcept;
  child& operator=(child&&) = delete;
  ~child();

  /// The read end of its standard output, non-blocking.
  disk::handle output;
  /// The read end of its standard error, non-blocking.
  disk::handle error_output;
  /// A pidfd, readable once the child has ended; -1 if the kernel has no pidfds.
  [[nodiscard]] int pidfd() const noexcept { return pidfd_.get(); }
  /// Returns false if the child is running. Otherwise sets the exit code and signal in `out`, and returns true; the first time,
  /// also kills the rest of its group and reaps it.
  bool has_ended(termination& out);

 private:
  child() noexcept = default;
  result<void> fork_into(const std::vector<std::string>& command, int input, const limits& limits, int out, int error_out);
  result<void> launch(const std::vector<std::string>& command, int input, const limits& limits, int out, int error_out);
  /// Reaps the child if it has ended, and stores how in `end_`. False: it is running.
  [[nodiscard]] bool reap_ended();
  void kill_group() const noexcept;
  static void decode_status(int status, termination& out);

  pid_t pid_ = -1;  // -1: not started, or reaped
  disk::handle pidfd_;
  std::shared_ptr<launcher> launcher_;  // null: this process has started the child itself
  disk::handle lifeline_;               // see launcher::attempt
  termination end_;                     // once it is reaped; without `error_output`
};

/// Called by a child: restricts its process permanently to `permissions`, as `sandbox::permissions::is_compute_only` describes.
/// Also limits memory, CPU time, files (none can be written, 64 can be open) and processes (none can be started).
/// Returns why some restrictions are missing, as a message for people; empty: none is missing. The others are then in force.
///
/// Threads: the process must not have a second thread. Errors: source_unavailable if it has one.
[[nodiscard]] result<std::string> confine_permanently(sandbox::permissions permissions, const limits& limits);

}  // namespace hondana::process
