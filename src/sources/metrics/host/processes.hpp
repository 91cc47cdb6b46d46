/// Processes by state, and the largest by name.
#pragma once

#include <cstddef>
#include <map>
#include <string>
#include <utility>

#include "sources/metrics/host/gathering.hpp"

namespace hondana::host {

/// Threads: one at a time.
class processes {
 public:
  static constexpr std::size_t most = 32'768;  ///< Further ones are not looked at.

  /// Names: how many of the largest are named; 0: none.
  void look(const std::string& proc, std::size_t names, gathering& to);

 private:
  struct times {
    double user = 0, system = 0;
  };
  struct group {
    times total{};        // of all that there were since the first look
    double recently = 0;  // since the last one
    double count = 0, threads = 0, resident = 0, virtual_size = 0;
  };
  using process_key = std::pair<int, double>;  // number and start, since numbers are used again

  void add(const group& one, const std::string& name, gathering& to) const;

  std::map<process_key, times> known_{};
  std::map<std::string, group> groups_{};
};

}  // namespace hondana::host
