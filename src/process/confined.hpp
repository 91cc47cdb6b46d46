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

/// What a child may use.
struct limits {
  std::chrono::milliseconds time{20'000};  ///< Wall clock, and rounded up processor time; then it is killed.
  std::uint64_t memory = 1ull << 30;       ///< Address space.
  std::uint64_t output = 64ull << 20;      ///< Bytes of its standard output; beyond it is killed.
};

/// How it ended, when it was not killed for its limits.
struct ended {
  int exit_code = 0;  ///< -1: by a signal.
  int signal = 0;
  std::string problems{};  ///< The first 4 KiB of its standard error, printable. For our log.
};

/// Runs `command` (of those that `needs::programs` names, absolute) with the open file `input` as its standard input, and hands
/// each piece of its output to `hears`; an error from there kills it. The child has no other descriptor, an empty environment
/// but for LANG=C.UTF-8 and PATH, the root of the file system as its folder, its own process group, and dies with this process.
/// Blocks. Threads: any, several at once. Errors: timed_out, cancelled, response_too_large, source_unavailable (it cannot be
/// started), the hearer's.
[[nodiscard]] result<ended> run_confined(const std::vector<std::string>& command, int input, const limits& most,
                                         const std::function<result<void>(std::string_view)>& hears,
                                         const std::stop_token& stop, std::chrono::steady_clock::time_point until);

}  // namespace hondana::process
