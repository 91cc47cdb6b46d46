/// One HTTP connection to the program, blocking, with deadlines of the kernel's.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

namespace program_test {

/// Threads: one.
class http_client {
 public:
  /// Connects to 127.0.0.1; throws when nobody listens.
  explicit http_client(std::uint16_t port);
  /// Connects to a Unix socket; throws when nobody listens.
  explicit http_client(const std::string& path);
  ~http_client();
  http_client(const http_client&) = delete;
  http_client& operator=(const http_client&) = delete;

  /// Posts a request of the newest revision to /mcp and gives the body of the answer. Throws when there is none before the
  /// deadline, or another status than 200.
  std::string post(std::string_view message, std::string_view method, std::string_view name = {});
  /// Asks by GET, with these header fields, each with CRLF behind it; the whole answer. Throws when there is none before
  /// the deadline.
  std::string get(std::string_view target, std::string_view fields = "Host: localhost\r\n");
  /// Asks by GET and gives the status; the content is thrown away. Throws when there is no answer before the
  /// deadline.
  int status_of(std::string_view target);
  /// Sends just this; throws when it is not taken.
  void send(std::string_view text);
  /// The body of the next answer. Throws when there is none before the deadline.
  std::string receive();

 private:
  void connect(const void* address, std::size_t size);
  void fill();

  int socket_ = -1;
  std::string input_;
  std::string head_;
};

}  // namespace program_test
