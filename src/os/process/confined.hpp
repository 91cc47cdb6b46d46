/// Short-lived child processes that can do nothing but turn their input into output.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <stop_token>
#include <string>
#include <string_view>
#include <vector>

#include <hondana/error.hpp>

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

}  // namespace hondana::process
