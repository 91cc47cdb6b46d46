/// One HTTP connection to the program, blocking, with deadlines of the kernel's.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace program_test {

/// Threads: one.
class http_client {
 public:
  /// Connects to 127.0.0.1; throws when nobody listens.
  explicit http_client(std::uint16_t port);
  ~http_client();
  http_client(const http_client&) = delete;
  http_client& operator=(const http_client&) = delete;

  /// Posts a request of the newest revision to /mcp and gives the body of the answer. Throws when there is none within 30 s,
  /// or another status than 200.
  std::string post(std::string_view message, std::string_view method);

 private:
  void fill();

  int socket_ = -1;
  std::string input_;
};

}  // namespace program_test
