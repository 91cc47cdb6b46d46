/// A Redis server of a test's own, from Debian's package.
#pragma once

#include <sys/types.h>

#include <string>
#include <vector>

#include "sources/analyses/cache/redis/redis_store.hpp"

namespace hondana::analyses {

/// In a folder of its own, on a Unix socket and a free port of loopback, with a password and an append-only file that is synced
/// always. Ended with the object.
class redis_server {
 public:
  /// `settings`: further words of its command line, such as "--maxmemory", "8mb". `is_tls`: the port speaks TLS, with a
  /// certificate that `authorities` vouches for.
  explicit redis_server(std::vector<std::string> settings = {}, bool is_tls = false);
  redis_server(const redis_server&) = delete;
  redis_server& operator=(const redis_server&) = delete;
  ~redis_server();

  void start();
  /// At once, as when it crashes.
  void kill();
  [[nodiscard]] pid_t pid() const noexcept { return child_; }
  /// So that it answers nothing, and goes on.
  void pause() const;
  void go_on() const;

  /// Over the socket; its keys begin with `prefix`. Answers may take minutes.
  [[nodiscard]] redis_options options(const std::string& prefix = "test") const;
  /// Over the port.
  [[nodiscard]] redis_options tcp_options(const std::string& prefix = "test") const;
  [[nodiscard]] int port() const noexcept { return port_; }
  [[nodiscard]] const std::string& folder() const noexcept { return folder_; }
  /// A command over the socket, and its reply as text; fails the test where it cannot be asked.
  std::string ask(const std::vector<std::string>& words) const;

  static constexpr const char* password = "secret-word-of-the-test";

 private:
  std::string folder_;
  std::vector<std::string> settings_;
  bool is_tls_;
  int port_ = 0;
  pid_t child_ = 0;
  int messages_ = -1;
};

}  // namespace hondana::analyses
