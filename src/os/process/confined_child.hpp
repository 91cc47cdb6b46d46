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

/// The limits of a child. It receives `max_time`, `max_memory_bytes` and `max_unpacked_bytes` and applies them to itself
/// (`confine_permanently`). This process enforces `max_time` and `max_output_bytes` even if the child does not.
struct limits {
  std::chrono::milliseconds max_time{
      20'000};  ///< Wall-clock time, and CPU time rounded up to seconds. Then the child is killed.
  std::uint64_t max_memory_bytes = 1ull << 30;      ///< Address space in bytes.
  std::uint64_t max_output_bytes = 64ull << 20;     ///< Bytes of standard output. The child is killed when it writes more.
  std::uint64_t max_unpacked_bytes = 512ull << 20;  ///< Bytes that it may decompress from its input.
};

/// How a child ended that was not killed for exceeding its limits.
struct termination {
  int exit_code = 0;  ///< -1: killed by a signal.
  int signal = 0;
  std::string error_output{};  ///< The first 4 KiB of its standard error, printable and in one line. For our log.
};

/// Runs `command` with the open file `input` as standard input, and passes each piece of its output to `on_output`.
/// An error from `on_output` kills the child. The program must have an absolute path and be one of those in
/// `system_requirements::programs`.
///
/// The child has no other descriptors. Its environment contains only LANG=C.UTF-8, PATH and its limits. Its working folder is
/// `/`. It has its own process group and dies with this process. When it ends, remaining processes in its group are killed.
/// If a launcher starts programs (os/process/launcher.hpp), it must allow `renderer_command(command)`. `input` must then be a
/// regular file that is open for reading only.
///
/// Blocks. Threads: any, several at once. The calling thread must not end during the call, because the kernel then kills the
/// child.
/// Errors: timed_out; cancelled; response_too_large; source_unavailable (it cannot be started); access_denied (the launcher
/// does not allow it); errors of `on_output`.
[[nodiscard]] result<termination> run_confined(const std::vector<std::string>& command, int input, const limits& limits,
                                               const std::function<result<void>(std::string_view)>& on_output,
                                               const std::stop_token& stop, std::chrono::steady_clock::time_point deadline);

inline constexpr const char* limits_variable = "HONDANA_LIMITS";

/// "20000 1073741824 67108864 536870912": `max_time` in milliseconds, then `max_memory_bytes`, `max_output_bytes` and
/// `max_unpacked_bytes`.
[[nodiscard]] std::string to_text(const limits& limits);
/// Parses such a text; nothing when it is malformed.
[[nodiscard]] std::optional<limits> parse_limits(std::string_view text);

/// What a launcher must allow so that `run_confined` can start this command.
[[nodiscard]] allowed_command renderer_command(const std::vector<std::string>& command);

/// The request to a launcher for this command, without its limits.
[[nodiscard]] child_target renderer_target(const std::vector<std::string>& command);

/// A started child. Destruction kills it and its group, and reaps it. Threads: one at a time.
class child {
 public:
  /// Errors: as `run_confined`.
  [[nodiscard]] static result<child> start(const std::vector<std::string>& command, int input, const limits& limits);
  child(child&& other) noexcept;
  child& operator=(child&&) = delete;
  ~child();

  /// Non-blocking ends of its standard output and standard error.
  disk::handle output;
  disk::handle error_output;
  /// A pidfd, readable once the child has ended; -1 if the kernel has no pidfds.
  [[nodiscard]] int pidfd() const noexcept { return pidfd_.get(); }
  /// If the child has ended: kills the rest of its group, reaps it, describes its end in `out` and returns true.
  bool has_ended(termination& out);

 private:
  child() noexcept = default;
  result<void> fork_into(const std::vector<std::string>& command, int input, const limits& limits, int out, int error_out);
  result<void> launch(const std::vector<std::string>& command, int input, const limits& limits, int out, int error_out);
  void kill_group() const noexcept;
  static void decode_status(int status, termination& out);

  pid_t pid_ = -1;
  disk::handle pidfd_;
  std::shared_ptr<launcher> launcher_;  // null: this process has started the child itself
  disk::handle lifeline_;               // see launcher::attempt
};

/// Restricts this process permanently to `permissions` and to the system calls of a process that only computes.
/// Also limits memory, CPU time, files (none can be written, few can be open) and processes (none can be started). Returns a
/// message for people about restrictions that this kernel cannot enforce; empty: none. They are not errors, so that the
/// renderer continues with the others.
///
/// Threads: must be called before the process starts a second thread. Errors: source_unavailable when there is a second thread.
[[nodiscard]] result<std::string> confine_permanently(sandbox::permissions permissions, const limits& limits);

}  // namespace hondana::process
