/// What every benchmark over HTTP needs: a folder, requests, and figures that are measured alike.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "contestant.hpp"

namespace http_bench {

/// A folder for the run, removed at the end.
struct scratch {
  scratch();
  ~scratch();
  scratch(const scratch&) = delete;
  scratch& operator=(const scratch&) = delete;
  std::filesystem::path path;
};

/// Throws when it cannot.
void write(const std::filesystem::path& path, std::string_view content);

[[nodiscard]] std::string text_in(const std::filesystem::path& path);

/// A request of the modern era for a method, of a URI where there is one. `fields`: further header lines, each with its CR LF.
[[nodiscard]] std::string post(const std::string& path, const std::string& method, const std::string& uri,
                               const std::string& fields = {});

/// An answer that has not changed for longer than a walk of the folder is trusted: files are described after the first list.
[[nodiscard]] std::string settled(std::uint16_t port, const std::string& request);

struct figures {
  std::vector<double> rates;  ///< Answers a second.
  std::vector<double> costs;  ///< Processor time of the server in microseconds an answer.
};

/// One run after a short one that warms up. `body`: bytes that every answer has.
void measure(const contestant& by, const std::string& request, std::size_t body, int connections,
             std::chrono::milliseconds time, figures& into);

/// The arguments PROGRAM [MILLISECONDS [REPETITIONS]] of a benchmark (1000, 5), and the exit code of `run` with them.
[[nodiscard]] int run_with(
    int count, char** arguments, const char* name,
    const std::function<void(const std::string& program, std::chrono::milliseconds time, int repetitions)>& run);

[[nodiscard]] double median(std::vector<double> values);

}  // namespace http_bench
