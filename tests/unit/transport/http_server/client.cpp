/// A blocking HTTP client that does exactly what a test says, also what no client should.
#include "unit/transport/http_server/client.hpp"

#include <arpa/inet.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <openssl/err.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <sys/un.h>
#include <unistd.h>

#include <array>
#include <cctype>
#include <cerrno>
#include <chrono>
#include <cstring>
#include <stdexcept>
#include <utility>

#include "deadline.hpp"
#include "transport/tls/socket_bio.hpp"
#include "unit/transport/http_server/run_over_tls.hpp"

namespace hondana_test {

client::client() : client(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0)) {}

client::client(int socket) : socket_(socket) {
  if (socket_ < 0) throw std::runtime_error("no socket");
  const timeval wait{std::chrono::seconds(event_deadline).count(), 0};
  ::setsockopt(socket_, SOL_SOCKET, SO_RCVTIMEO, &wait, sizeof wait);
  ::setsockopt(socket_, SOL_SOCKET, SO_SNDTIMEO, &wait, sizeof wait);
}

client::client(std::uint16_t port, int receive_buffer) : client() {
  if (receive_buffer != 0) ::setsockopt(socket_, SOL_SOCKET, SO_RCVBUF, &receive_buffer, sizeof receive_buffer);
  connect(port);
}

client client::at_path(const std::string& path) {
  client made(::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0));
  sockaddr_un to{};
  to.sun_family = AF_UNIX;
  if (path.size() >= sizeof to.sun_path) throw std::runtime_error("the path is too long");
  std::memcpy(to.sun_path, path.data(), path.size());
  if (::connect(made.socket_, reinterpret_cast<const sockaddr*>(&to), sizeof to) != 0)
    throw std::runtime_error("cannot connect");
  return made;
}

client client::from_address(const char* literal, std::uint16_t port) {
  client made;
  sockaddr_in own{};
  own.sin_family = AF_INET;
  ::inet_pton(AF_INET, literal, &own.sin_addr);
  if (::bind(made.socket_, reinterpret_cast<const sockaddr*>(&own), sizeof own) != 0) throw std::runtime_error("cannot bind");
  made.connect(port);
  return made;
}

void client::connect(std::uint16_t port) {
  sockaddr_in to{};
  to.sin_family = AF_INET;
  to.sin_port = htons(port);
  to.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  if (::connect(socket_, reinterpret_cast<const sockaddr*>(&to), sizeof to) != 0) throw std::runtime_error("cannot connect");
  if (speaks_tls(port) && !shake_hands()) throw std::runtime_error("cannot shake hands: " + trouble_);
}

bool client::shake_hands(const tls_manner& how) {
  ERR_clear_error();
  SSL_CTX* with = SSL_CTX_new(TLS_client_method());
  bool is_set = SSL_CTX_set_max_proto_version(with, how.newest) == 1 && SSL_CTX_set_min_proto_version(with, how.oldest) == 1;
  // Old enough suites to see them refused.
  SSL_CTX_set_security_level(with, 0);
  if (how.suites != nullptr) is_set = is_set && SSL_CTX_set_cipher_list(with, how.suites) == 1;
  if (!how.authorities.empty()) {
    is_set = is_set && SSL_CTX_load_verify_file(with, how.authorities.c_str()) == 1;
    SSL_CTX_set_verify(with, SSL_VERIFY_PEER, nullptr);
  }
  if (!how.certificate.empty())
    is_set = is_set && SSL_CTX_use_certificate_chain_file(with, how.certificate.c_str()) == 1 &&
             SSL_CTX_use_PrivateKey_file(with, how.key.c_str(), SSL_FILETYPE_PEM) == 1;
  if (!how.protocols.empty())
    SSL_CTX_set_alpn_protos(with, reinterpret_cast<const unsigned char*>(how.protocols.data()),
                            static_cast<unsigned>(how.protocols.size()));
  tls_ = SSL_new(with);
  SSL_CTX_free(with);
  if (!is_set || tls_ == nullptr) throw std::runtime_error("TLS cannot be set up");
  if (how.resumes != nullptr) SSL_set_session(tls_, how.resumes);
  BIO* const bio = hondana::tls::make_socket_bio(socket_);
  SSL_set_bio(tls_, bio, bio);
  const bool is_done = SSL_connect(tls_) == 1;
  if (!is_done) note_trouble();
  return is_done;
}

void client::note_trouble() {
  const char* const text = ERR_reason_error_string(ERR_peek_last_error());
  if (text != nullptr) trouble_ = text;
  ERR_clear_error();
}

long client::serial() const {
  X509* const shown = tls_ != nullptr ? SSL_get0_peer_certificate(tls_) : nullptr;
  return shown != nullptr ? ASN1_INTEGER_get(X509_get0_serialNumber(shown)) : 0;
}

client::client(client&& other) noexcept
    : socket_(std::exchange(other.socket_, -1)),
      tls_(std::exchange(other.tls_, nullptr)),
      trouble_(std::move(other.trouble_)),
      input_(std::move(other.input_)),
      ended_(other.ended_) {}

client::~client() {
  SSL_free(tls_);
  if (socket_ >= 0) ::close(socket_);
}

bool client::send(std::string_view bytes) {
  while (!bytes.empty()) {
    const auto count = tls_ != nullptr ? SSL_write(tls_, bytes.data(), static_cast<int>(bytes.size()))
                                       : ::send(socket_, bytes.data(), bytes.size(), MSG_NOSIGNAL);
    if (count <= 0) {
      note_trouble();
      return false;
    }
    bytes.remove_prefix(static_cast<std::size_t>(count));
  }
  return true;
}

long client::receive_some(char* into, std::size_t size) {
  if (tls_ == nullptr) return ::recv(socket_, into, size, 0);
  const int count = SSL_read(tls_, into, static_cast<int>(size));
  if (count <= 0) note_trouble();
  return count;
}

bool client::fill() {
  std::array<char, 65536> buffer;
  const auto count = receive_some(buffer.data(), buffer.size());
  if (count <= 0) {
    ended_ = true;
    return false;
  }
  input_.append(buffer.data(), static_cast<std::size_t>(count));
  return true;
}

std::string client::receive_until(std::string_view end) {
  while (input_.find(end) == std::string::npos) {
    if (!fill()) return std::exchange(input_, {});
  }
  const auto size = input_.find(end) + end.size();
  auto out = input_.substr(0, size);
  input_.erase(0, size);
  return out;
}

bool client::has_received(std::string_view end) {
  const int flags = ::fcntl(socket_, F_GETFL);
  ::fcntl(socket_, F_SETFL, flags | O_NONBLOCK);
  std::array<char, 65536> buffer;
  while (!ended_) {
    errno = 0;
    const auto count = receive_some(buffer.data(), buffer.size());
    if (count > 0) {
      input_.append(buffer.data(), static_cast<std::size_t>(count));
      continue;
    }
    const bool may_come =
        tls_ != nullptr ? SSL_get_error(tls_, static_cast<int>(count)) == SSL_ERROR_WANT_READ : count < 0 && errno == EAGAIN;
    if (may_come) break;
    ended_ = true;
  }
  ::fcntl(socket_, F_SETFL, flags);
  return ended_ || input_.find(end) != std::string::npos;
}

answer client::receive(bool has_body) {
  answer out;
  auto head = receive_until("\r\n\r\n");
  while (head.starts_with("HTTP/1.1 1")) head = receive_until("\r\n\r\n");
  if (!head.starts_with("HTTP/1.1 ") || !head.ends_with("\r\n\r\n")) return out;
  out.status = std::stoi(head.substr(9, 3));
  for (auto at = head.find("\r\n") + 2; at + 2 < head.size();) {
    const auto end = head.find("\r\n", at);
    const auto colon = head.find(": ", at);
    std::string name = head.substr(at, colon - at);
    for (char& c : name) c = static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
    out.fields[name] = head.substr(colon + 2, end - colon - 2);
    at = end + 2;
  }
  if (!has_body || out.status == 204) {
    out.is_complete = true;
  } else if (out.fields.contains("content-length")) {
    const auto size = std::stoull(out.fields["content-length"]);
    while (input_.size() < size && fill()) {
    }
    out.is_complete = input_.size() >= size;
    out.body = input_.substr(0, size);
    input_.erase(0, out.body.size());
  } else if (out.fields.contains("transfer-encoding")) {
    for (;;) {
      const auto line = receive_until("\r\n");
      if (!line.ends_with("\r\n")) return out;
      const auto size = std::stoull(line, nullptr, 16);
      while (input_.size() < size + 2 && fill()) {
      }
      if (input_.size() < size + 2) {
        out.body += std::exchange(input_, {});
        return out;
      }
      out.body += input_.substr(0, size);
      input_.erase(0, size + 2);
      if (size == 0) break;
    }
    out.is_complete = true;
  } else {
    while (fill()) {
    }
    out.body = std::exchange(input_, {});
    out.is_complete = true;
  }
  return out;
}

bool client::sees_the_end() {
  if (!input_.empty()) return false;
  if (ended_) return true;
  char byte = 0;
  errno = 0;
  const auto count = receive_some(&byte, 1);
  return count == 0 || (count < 0 && (errno == ECONNRESET || (tls_ != nullptr && errno == 0)));
}

void client::vanish() {
  const linger at_once{1, 0};
  ::setsockopt(socket_, SOL_SOCKET, SO_LINGER, &at_once, sizeof at_once);
  ::close(std::exchange(socket_, -1));
}

namespace {

/// The first string after `key` in compact JSON.
std::string string_after(std::string_view body, std::string_view key) {
  const auto at = body.find(key);
  if (at == std::string_view::npos) return {};
  const auto rest = body.substr(at + key.size());
  return std::string(rest.substr(0, rest.find('"')));
}

std::string mirrored(std::string_view body) {
  const auto revision = string_after(body, "\"io.modelcontextprotocol/protocolVersion\":\"");
  if (revision.empty()) return {};
  auto out = "MCP-Protocol-Version: " + revision + "\r\nMcp-Method: " + string_after(body, "\"method\":\"") + "\r\n";
  if (const auto name = string_after(body, "\"uri\":\""); !name.empty()) out += "Mcp-Name: " + name + "\r\n";
  return out;
}

}  // namespace

std::string modern(std::string_view method, std::string_view id, std::string_view params) {
  return R"({"jsonrpc":"2.0","id":)" + std::string(id) + R"(,"method":")" + std::string(method) + R"(","params":{)" +
         std::string(params) +
         R"("_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientCapabilities":{}}}})";
}

std::string post(std::string_view body, std::string_view more) {
  return "POST /mcp HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Type: application/json\r\n"
         "Accept: application/json, text/event-stream\r\nContent-Length: " +
         std::to_string(body.size()) + "\r\n" + mirrored(body) + std::string(more) + "\r\n" + std::string(body);
}

std::string old_post(std::string_view body) {
  return "POST /mcp HTTP/1.0\r\nHost: localhost\r\nContent-Type: application/json\r\n" + mirrored(body) +
         "Content-Length: " + std::to_string(body.size()) + "\r\n\r\n" + std::string(body);
}

std::string get(std::string_view target) { return "GET " + std::string(target) + " HTTP/1.1\r\nHost: localhost\r\n\r\n"; }

}  // namespace hondana_test
