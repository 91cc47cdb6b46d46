/// What every benchmark over HTTP needs: requests, and figures that are measured alike.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>
#include <string_view>

#include "../figures/figures.hpp"
#include "contestant.hpp"

namespace http_bench {

/// A request of the modern era for a method, of a URI where there is one. `fields`: further header lines, each with its CR LF.
[[nodiscard]] std::string post(const std::string& path, const std::string& method, const std::string& uri,
                               const std::string& fields = {});

/// A message of a client of 2025-11-25; `session` empty: none yet.
[[nodiscard]] std::string legacy_post(const std::string& message, const std::string& session);

/// An answer that has not changed for longer than a walk of the folder is trusted: files are described after the first list.
[[nodiscard]] std::string settled(std::uint16_t port, const std::string& request);

/// One run after a short one that warms up. `body`: bytes that every answer has.
void measure(const contestant& by, const std::string& request, std::size_t body, int connections,
             std::chrono::milliseconds time, bench::figures& into);

/// The arguments PROGRAM [MILLISECONDS [REPETITIONS]] of a benchmark (1000, 5), and the exit code of `run` with them.
[[nodiscard]] int run_with(
    int count, char** arguments, const char* name,
    const std::function<void(const std::string& program, std::chrono::milliseconds time, int repetitions)>& run);

}  // namespace http_bench
