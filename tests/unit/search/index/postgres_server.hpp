/// A PostgreSQL of a test's own, from Debian's package.
#pragma once

#include <sys/types.h>

#include <string>

namespace hondana::search {

/// In a folder of its own, on a Unix socket and a free port of loopback; as root it runs as the user postgres. Whoever comes
/// over the socket is let in, over TCP with a password.
class postgres_server {
 public:
  /// Made when it is first asked for, and ended with the tests.
  static postgres_server& instance();

  postgres_server();
  postgres_server(const postgres_server&) = delete;
  postgres_server& operator=(const postgres_server&) = delete;
  ~postgres_server();

  [[nodiscard]] bool is_ready() const noexcept { return child_ > 0; }
  void start();
  /// At once, as when it crashes.
  void stop();

  /// Over the socket, as the user that owns all.
  [[nodiscard]] std::string url(const std::string& database = "postgres") const;
  /// Over TCP.
  [[nodiscard]] std::string tcp_url(const std::string& user) const;
  [[nodiscard]] int port() const noexcept { return port_; }
  [[nodiscard]] const std::string& folder() const noexcept { return folder_; }
  /// The first value of the first row, as text; fails the test when it cannot be run.
  std::string run(const std::string& sql, const std::string& database = "postgres") const;

 private:
  std::string folder_;
  int port_ = 0;
  pid_t child_ = 0;
  int messages_ = -1;
};

}  // namespace hondana::search
