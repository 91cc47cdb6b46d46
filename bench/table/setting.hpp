/// Where a run of the table takes place: what is served, by whom, on which cores and for how long.
#pragma once

#include <chrono>
#include <string>
#include <vector>

#include "../process/child.hpp"
#include "../process/scratch.hpp"

namespace table_bench {

constexpr std::size_t mebibyte = 1u << 20;

/// A folder of 99 files, two of them of 1 MiB, and the programs that serve it.
struct setting {
  setting(std::string ours, std::string peers_folder, std::chrono::milliseconds a_run, int turns);

  [[nodiscard]] std::string uri_of(std::string_view name) const { return "file://" + in.path("served/" + std::string(name)); }
  /// A configuration for our program, whose file's path it returns: `port` 0 has none over HTTP.
  [[nodiscard]] std::string config(const std::string& name, std::uint16_t port, const std::string& settings = {}) const;
  /// A peer's command line, as Node runs it; empty where there is no Node or no such program.
  [[nodiscard]] std::vector<std::string> peer(const std::string& script, std::vector<std::string> arguments) const;

  std::string program;
  std::string peers;
  bench::scratch in;
  bench::cores on;
  std::chrono::milliseconds time;
  int repetitions;
  std::string node;  ///< Empty: there is none.
};

}  // namespace table_bench
