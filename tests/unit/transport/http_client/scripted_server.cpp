/// How the scripted server reads, sends and stops.
#include "unit/transport/http_client/scripted_server.hpp"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <signal.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <stdexcept>

namespace hondana_test {

scripted_connection::~scripted_connection() {
  SSL_free(tls_);
  ::close(socket_);
}

bool scripted_connection::shake_hands() {
  if (!identity_) return true;
  tls_ = identity_->accept(socket_);
  return tls_ != nullptr;
}

void scripted_connection::interrupt() { ::shutdown(socket_, SHUT_RDWR); }

bool scripted_connection::send(std::string_view bytes) {
  while (!bytes.empty()) {
    const auto sent = tls_ != nullptr
                          ? SSL_write(tls_, bytes.data(), static_cast<int>(std::min<std::size_t>(bytes.size(), 1u << 20)))
                          : ::send(socket_, bytes.data(), bytes.size(), MSG_NOSIGNAL);
    if (sent <= 0) return false;
    bytes.remove_prefix(static_cast<std::size_t>(sent));
  }
  return true;
}

bool scripted_connection::answer(int status, std::string_view content_type, std::string_view body,
                                 std::string_view more_fields) {
  std::string out = "HTTP/1.1 " + std::to_string(status) + " Reason\r\n" + std::string(more_fields);
  if (!content_type.empty()) out += "Content-Type: " + std::string(content_type) + "\r\n";
  return send(out + "Content-Length: " + std::to_string(body.size()) + "\r\n\r\n" + std::string(body));
}

bool scripted_connection::open_stream(std::string_view more_fields) {
  return send("HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nConnection: close\r\n" + std::string(more_fields) +
              "\r\n");
}

bool scripted_connection::fill() {
  char buffer[65536];
  const auto got = tls_ != nullptr ? SSL_read(tls_, buffer, sizeof buffer) : ::recv(socket_, buffer, sizeof buffer, 0);
  if (got <= 0) return false;
  input_.append(buffer, static_cast<std::size_t>(got));
  return true;
}

bool scripted_connection::sees_the_end() {
  errno = 0;
  while (fill()) input_.clear();
  return errno != EAGAIN;
}

void scripted_connection::close() {
  ::shutdown(socket_, SHUT_RDWR);
  is_closed_ = true;
}

void scripted_connection::vanish() {
  const linger now{1, 0};
  ::setsockopt(socket_, SOL_SOCKET, SO_LINGER, &now, sizeof now);
  // The descriptor's number stays taken, so that nobody else's is closed later.
  const int spare = ::socket(AF_INET, SOCK_STREAM, 0);
  ::dup2(spare, socket_);
  ::close(spare);
  is_closed_ = true;
}

std::optional<heard_request> scripted_connection::next_request() {
  if (is_closed_) return std::nullopt;
  std::size_t end = 0;
  while ((end = input_.find("\r\n\r\n")) == std::string::npos) {
    if (!fill()) return std::nullopt;
    // A TLS greeting where none is expected is refused at once, as HTTP servers do.
    if (input_.front() == '\x16') {
      answer(400, "text/plain", "Bad Request");
      close();
      return std::nullopt;
    }
  }
  heard_request out;
  out.at = std::chrono::steady_clock::now();
  std::string_view head = std::string_view(input_).substr(0, end + 2);
  const auto line = head.substr(0, head.find("\r\n"));
  out.method = line.substr(0, line.find(' '));
  const auto target = line.substr(out.method.size() + 1);
  out.target = target.substr(0, target.find(' '));
  head.remove_prefix(line.size() + 2);
  while (!head.empty()) {
    const auto field = head.substr(0, head.find("\r\n"));
    const auto colon = field.find(':');
    std::string name(field.substr(0, colon));
    std::transform(name.begin(), name.end(), name.begin(),
                   [](char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c + 32) : c; });
    auto value = field.substr(std::min(colon + 1, field.size()));
    while (value.starts_with(' ')) value.remove_prefix(1);
    out.fields[name] = value;
    head.remove_prefix(field.size() + 2);
  }
  input_.erase(0, end + 4);
  const auto size = out.fields.contains("content-length") ? std::stoul(out.fields["content-length"]) : 0;
  while (input_.size() < size) {
    if (!fill()) return std::nullopt;
  }
  out.body = input_.substr(0, size);
  input_.erase(0, size);
  return out;
}

scripted_server::scripted_server(script plays, const std::string& socket, std::shared_ptr<const tls_identity> identity)
    : plays_(std::move(plays)), identity_(std::move(identity)) {
  // OpenSSL writes without MSG_NOSIGNAL.
  if (identity_) ::signal(SIGPIPE, SIG_IGN);
  const int family = socket.empty() ? AF_INET : AF_UNIX;
  listening_ = ::socket(family, SOCK_STREAM | SOCK_CLOEXEC, 0);
  int bound = -1;
  if (socket.empty()) {
    sockaddr_in here{};
    here.sin_family = AF_INET;
    here.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    bound = ::bind(listening_, reinterpret_cast<const sockaddr*>(&here), sizeof here);
    socklen_t size = sizeof here;
    ::getsockname(listening_, reinterpret_cast<sockaddr*>(&here), &size);
    port_ = ntohs(here.sin_port);
  } else {
    sockaddr_un here{};
    here.sun_family = AF_UNIX;
    std::strncpy(here.sun_path, socket.c_str(), sizeof here.sun_path - 1);
    bound = ::bind(listening_, reinterpret_cast<const sockaddr*>(&here), sizeof here);
  }
  if (bound != 0 || ::listen(listening_, 1024) != 0) throw std::runtime_error("the scripted server cannot listen");
  accepting_ = std::thread([this] { accept_all(); });
}

scripted_server::~scripted_server() {
  {
    const std::lock_guard lock(mutex_);
    is_stopping_ = true;
    for (const auto& one : open_) one->interrupt();
  }
  ::shutdown(listening_, SHUT_RDWR);
  accepting_.join();
  {
    const std::lock_guard lock(mutex_);
    for (const auto& one : open_) one->interrupt();
  }
  for (auto& one : threads_) one.join();
  ::close(listening_);
}

std::string scripted_server::url(std::string_view path) const {
  return (identity_ ? "https://127.0.0.1:" : "http://127.0.0.1:") + std::to_string(port_) + std::string(path);
}

void scripted_server::accept_all() {
  for (;;) {
    const int socket = ::accept4(listening_, nullptr, nullptr, SOCK_CLOEXEC);
    if (socket < 0) return;
    const int on = 1;
    ::setsockopt(socket, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
    // No wait of a script is endless.
    const timeval most{std::chrono::seconds(call_patience).count(), 0};
    ::setsockopt(socket, SOL_SOCKET, SO_RCVTIMEO, &most, sizeof most);
    ::setsockopt(socket, SOL_SOCKET, SO_SNDTIMEO, &most, sizeof most);
    ++connections_;
    const std::lock_guard lock(mutex_);
    auto& one = *open_.emplace_back(std::make_unique<scripted_connection>(socket, identity_));
    if (is_stopping_) one.interrupt();
    threads_.emplace_back([this, &one] { serve(one); });
  }
}

void scripted_server::serve(scripted_connection& one) {
  if (!one.shake_hands()) {
    one.close();
    return;
  }
  while (auto request = one.next_request()) {
    {
      const std::lock_guard lock(mutex_);
      heard_.push_back(*request);
      changed_.notify_all();
    }
    if (!plays_(*request, one)) break;
  }
  one.close();
}

std::vector<heard_request> scripted_server::requests(std::size_t count) {
  std::unique_lock lock(mutex_);
  changed_.wait_for(lock, call_patience, [&] { return heard_.size() >= count; });
  return heard_;
}

std::vector<heard_request> scripted_server::requests(const std::string& method, std::size_t count) {
  std::unique_lock lock(mutex_);
  std::vector<heard_request> out;
  changed_.wait_for(lock, call_patience, [&] {
    out.clear();
    for (const auto& one : heard_) {
      if (one.method == method) out.push_back(one);
    }
    return out.size() >= count;
  });
  return out;
}

void scripted_server::forget() {
  const std::lock_guard lock(mutex_);
  heard_.clear();
}

std::string asking(std::uint64_t id, std::string_view method) {
  return R"({"jsonrpc":"2.0","id":)" + std::to_string(id) + R"(,"method":")" + std::string(method) + "\"}";
}

std::string answering(std::uint64_t id, std::string_view result) {
  return R"({"jsonrpc":"2.0","id":)" + std::to_string(id) + R"(,"result":)" + std::string(result) + "}";
}

hondana::channel::outgoing_message call(std::uint64_t id, std::string_view method) {
  hondana::channel::outgoing_message out;
  out.text = asking(id, method);
  out.call = id;
  out.is_opening = method == "initialize";
  return out;
}

hondana::channel::outgoing_message notice(std::string_view method) {
  hondana::channel::outgoing_message out;
  out.text = R"({"jsonrpc":"2.0","method":")" + std::string(method) + "\"}";
  return out;
}

std::string event(std::string_view data, std::string_view id) {
  return (id.empty() ? std::string() : "id: " + std::string(id) + "\n") + "data: " + std::string(data) + "\n\n";
}

}  // namespace hondana_test
