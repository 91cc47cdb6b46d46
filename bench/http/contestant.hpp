/// A server under measurement: a child process on a core of its own that listens on a port.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "../process/child.hpp"

namespace http_bench {

/// Ended with the object. Threads: one.
class contestant {
 public:
  /// Starts it on `core` (-1: any), with its log in the file `log`, and waits until `port` is listened on, 20 s at most.
  contestant(std::vector<std::string> command, int core, std::uint16_t port, const std::string& log);
  /// A server that is a function, which never returns, in a forked process.
  contestant(const std::function<void()>& serve, int core, std::uint16_t port);

  [[nodiscard]] const bench::child& process() const noexcept { return process_; }
  [[nodiscard]] std::uint16_t port() const noexcept { return port_; }

 private:
  void await(const std::string& who, const std::string& log) const;
  bench::child process_;
  std::uint16_t port_;
};

/// A port that nothing listens on at the moment.
[[nodiscard]] std::uint16_t free_port();

}  // namespace http_bench
