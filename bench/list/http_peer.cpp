/// Asking for pages.
#include "http_peer.hpp"

#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cstdlib>
#include <stdexcept>
#include <string_view>

namespace list_bench {
namespace {

[[noreturn]] void fail_with(const std::string& what) { throw std::runtime_error(what); }

}  // namespace

http_peer::http_peer(std::uint16_t port) : socket_(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0)) {
  sockaddr_in to{};
  to.sin_family = AF_INET;
  to.sin_port = htons(port);
  to.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  if (socket_ < 0 || ::connect(socket_, reinterpret_cast<const sockaddr*>(&to), sizeof to) != 0) fail_with("connect");
}

http_peer::~http_peer() { ::close(socket_); }

void http_peer::list(const std::string& cursor) {
  const std::string message =
      R"({"jsonrpc":"2.0","id":1,"method":"resources/list","params":{)" +
      (cursor.empty() ? "" : R"("cursor":")" + cursor + R"(",)") +
      R"("_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientInfo":)"
      R"({"name":"bench","version":"1"},"io.modelcontextprotocol/clientCapabilities":{}}}})";
  const auto request =
      "POST /mcp HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nAccept: application/json, "
      "text/event-stream\r\nMCP-Protocol-Version: 2026-07-28\r\nMcp-Method: resources/list\r\nContent-Length: " +
      std::to_string(message.size()) + "\r\n\r\n" + message;
  if (::send(socket_, request.data(), request.size(), MSG_NOSIGNAL) != static_cast<ssize_t>(request.size())) fail_with("send");
  std::string had;
  std::size_t wanted = std::string::npos;
  while (had.size() < wanted) {
    const auto count = ::recv(socket_, buffer_.data(), buffer_.size(), 0);
    if (count <= 0) fail_with("the server ended early");
    had.append(buffer_.data(), static_cast<std::size_t>(count));
    const auto end = had.find("\r\n\r\n");
    if (wanted != std::string::npos || end == std::string::npos) continue;
    if (!had.starts_with("HTTP/1.1 200 ")) fail_with("refused: " + had);
    constexpr std::string_view field = "Content-Length: ";
    wanted = end + 4 + std::strtoul(had.c_str() + had.find(field) + field.size(), nullptr, 10);
  }
  if (had.find("collection-") == std::string::npos) fail_with("an empty page");
}

}  // namespace list_bench
