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

/// The limits of a child. It receives `time`, `memory` and `unpacked` and applies them to itself (`shut_in`).
/// This process enforces `time` and `output` even if the child does not.
struct limits {
  std::chrono::milliseconds time{20'000};  ///< Wall-clock time, and CPU time rounded up to seconds. Then the child is killed.
  std::uint64_t memory = 1ull << 30;       ///< Address space in bytes.
  std::uint64_t output = 64ull << 20;      ///< Bytes of standard output. The child is killed when it writes more.
  std::uint64_t unpacked = 512ull << 20;   ///< Bytes that it may decompress from its input.
};

/// How a child ended that was not killed for exceeding its limits.
struct ended {
  int exit_code = 0;  ///< -1: killed by a signal.
  int signal = 0;
  std::string problems{};  ///< The first 4 KiB of its standard error, printable and in one line. For our log.
};

/// Runs `command` with the open file `input` as standard input, and passes each piece of its output to `hears`.
/// An error from `hears` kills the child. The program must have an absolute path and be one of those in `needs::programs`.
///
/// The child has no other descriptors. Its environment contains only LANG=C.UTF-8, PATH and its limits. Its working folder is
/// `/`. It has its own process group and dies with this process. When it ends, remaining processes in its group are killed.
/// If a launcher starts programs (os/process/launcher.hpp), it must know `renderer_command(command)`. `input` must then be a
/// regular file that is open for reading only.
///
/// Blocks. Threads: any, several at once. The calling thread must not end during the call, because the kernel then kills the
/// child.
/// Errors: timed_out; cancelled; response_too_large; source_unavailable (it cannot be started); access_denied (the launcher
/// does not know it); errors of `hears`.
[[nodiscard]] result<ended> run_confined(const std::vector<std::string>& command, int input, const limits& most,
                                         const std::function<result<void>(std::string_view)>& hears,
                                         const std::stop_token& stop, std::chrono::steady_clock::time_point until);

inline constexpr const char* limits_variable = "HONDANA_LIMITS";

/// "20000 1073741824 67108864 536870912": time in milliseconds, then memory, output and unpacked in bytes.
[[nodiscard]] std::string text_of(const limits& of);
/// Parses such a text; nothing when it is malformed.
[[nodiscard]] std::optional<limits> limits_in(std::string_view text);

/// The form in which a launcher must know a command that `run_confined` starts.
[[nodiscard]] known_command renderer_command(const std::vector<std::string>& command);

/// The request to a launcher for this command, without its limits.
[[nodiscard]] child_target renderer_target(const std::vector<std::string>& command);

/// A started child. Destruction kills it and its group, and reaps it. Threads: one at a time.
class child {
 public:
  /// Errors: as `run_confined`.
  [[nodiscard]] static result<child> start(const std::vector<std::string>& command, int input, const limits& most);
  child(child&& other) noexcept;
  child& operator=(child&&) = delete;
  ~child();

  /// Non-blocking ends of its standard output and standard error.
  disk::handle output;
  disk::handle problems;
  /// A pidfd, readable once the child has ended; -1 if the kernel has no pidfds.
  [[nodiscard]] int ending() const noexcept { return process_.get(); }
  /// If the child has ended: kills the rest of its group, reaps it, describes its end in `into` and returns true.
  bool has_ended(ended& into);

 private:
  child() noexcept = default;
  result<void> fork_into(const std::vector<std::string>& command, int input, const limits& most, int out, int problems_out);
  result<void> launch(const std::vector<std::string>& command, int input, const limits& most, int out, int problems_out);
  void kill_group() const noexcept;
  static void look_at(int status, ended& into);

  pid_t pid_ = -1;
  disk::handle process_;
  std::shared_ptr<launcher> by_;  // null: this process has started the child itself
  disk::handle tie_;              // see launcher::attempt
};

/// Restricts this process permanently to `to` and to the system calls of a process that only computes.
/// Also limits memory, CPU time, files (none can be written, few can be open) and processes (none can be started). Returns a
/// message for people about restrictions that this kernel cannot enforce; empty: none. They are not errors, so that the
/// renderer continues with the others.
///
/// Threads: must be called before the process starts a second thread. Errors: source_unavailable when there is a second thread.
[[nodiscard]] result<std::string> shut_in(sandbox::permissions to, const limits& most);

}  // namespace hondana::process
