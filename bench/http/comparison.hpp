/// Small reads from the real program in several configurations, in turn, beside the first of them.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <string>
#include <vector>

#include "../process/scratch.hpp"
#include "contestant.hpp"
#include "workload.hpp"

namespace http_bench {

/// One server, and the request that it answers.
struct entrant {
  std::string name;
  std::unique_ptr<contestant> server;
  std::string request;
  std::size_t body = 0;
};

/// How a server is configured besides its port and the folder that it serves.
struct configuration {
  std::string tables{};
  std::string of_source{};  ///< Members of the source.
  std::string token{};      ///< What requests carry; empty: nothing.
};

class comparison {
 public:
  /// Puts the load on a processor of its own where there are two.
  explicit comparison(std::string program);

  [[nodiscard]] const std::filesystem::path& folder() const noexcept { return in_.folder(); }
  /// Starts a server with one I/O loop. Throws when it does not answer.
  void enter(const std::string& name, std::uint16_t port, const configuration& how);
  /// Measures all in turn and prints a Markdown table; `what` heads its first column. The first is what the others are held
  /// against.
  void run(const char* what, std::chrono::milliseconds time, int repetitions) const;

 private:
  std::string program_;
  bench::scratch in_;
  bench::cores on_;
  std::vector<entrant> all_;
};

}  // namespace http_bench
