/// The smallest of HTTP servers.
#include "exporter.hpp"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/socket.h>
#include <unistd.h>

#include <array>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

#include "made_values.hpp"

namespace metrics_bench {
namespace {

constexpr int different_answers = 4;

bool send_all(int to, std::string_view bytes) {
  while (!bytes.empty()) {
    const auto count = ::send(to, bytes.data(), bytes.size(), MSG_NOSIGNAL);
    if (count <= 0) return false;
    bytes.remove_prefix(static_cast<std::size_t>(count));
  }
  return true;
}

[[noreturn]] void serve(int listening, const std::vector<std::string>& answers) {
  for (std::size_t next = 0;;) {
    const int one = ::accept(listening, nullptr, nullptr);
    if (one < 0) bench::fail("accept");
    const int on = 1;
    ::setsockopt(one, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
    std::string heard;
    std::array<char, 16384> window{};
    for (;;) {
      const auto count = ::recv(one, window.data(), window.size(), 0);
      if (count <= 0) break;
      heard.append(window.data(), static_cast<std::size_t>(count));
      if (!heard.ends_with("\r\n\r\n")) continue;
      heard.clear();
      if (!send_all(one, answers[next++ % answers.size()])) break;
    }
    ::close(one);
  }
}

}  // namespace

exporter start_exporter(std::size_t series, int core) {
  const int listening = ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  sockaddr_in at{};
  at.sin_family = AF_INET;
  at.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  socklen_t size = sizeof at;
  if (listening < 0 || ::bind(listening, reinterpret_cast<sockaddr*>(&at), sizeof at) != 0 || ::listen(listening, 8) != 0 ||
      ::getsockname(listening, reinterpret_cast<sockaddr*>(&at), &size) != 0)
    bench::fail("an exporter's socket");
  made_values values(series);
  std::vector<std::string> answers;
  for (int i = 0; i < different_answers; ++i) {
    static_cast<void>(values.next(i));
    const auto body = values.exposed();
    answers.push_back("HTTP/1.1 200 OK\r\nContent-Type: text/plain; version=0.0.4; charset=utf-8\r\nContent-Length: " +
                      std::to_string(body.size()) + "\r\n\r\n" + body);
  }
  exporter out;
  out.port = ntohs(at.sin_port);
  out.bytes = answers.front().size();
  out.process = std::make_unique<bench::child>([&](int, int) { serve(listening, answers); }, core);
  ::close(listening);
  return out;
}

}  // namespace metrics_bench
