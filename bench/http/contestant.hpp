/// A server under measurement: a child process on a core of its own.
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <string>
#include <vector>

namespace http_bench {

/// Ended with the object. Threads: one.
class contestant {
 public:
  /// Starts it on `core` (-1: any), with its output in the file `log`, and waits until `port` is listened on, 20 s at most.
  contestant(std::vector<std::string> command, int core, std::uint16_t port, const std::string& log);
  ~contestant();
  contestant(const contestant&) = delete;
  contestant& operator=(const contestant&) = delete;

  /// Processor time it has used, user and system, in seconds (utime and stime of /proc/PID/stat).
  [[nodiscard]] double processor_seconds() const;
  [[nodiscard]] std::uint16_t port() const noexcept { return port_; }

 private:
  pid_t pid_ = -1;
  std::uint16_t port_;
};

/// Keeps this process to one core; -1: does nothing.
void stay_on(int core);
/// A port that nothing listens on at the moment.
[[nodiscard]] std::uint16_t free_port();

}  // namespace http_bench
