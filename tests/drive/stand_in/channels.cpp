/// How notices are written and sent.
#include "drive/stand_in/channels.hpp"

#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <chrono>
#include <string_view>
#include <utility>

#include "deadline.hpp"
#include "drive/stand_in/web.hpp"

namespace drive_test {

courier::courier() : thread_([this] { run(); }) {}

courier::~courier() {
  {
    const std::lock_guard lock(mutex_);
    is_stopping_ = true;
    if (socket_ >= 0) ::shutdown(socket_, SHUT_RDWR);
  }
  changed_.notify_all();
  thread_.join();
}

void courier::send(std::uint16_t port, std::string request) {
  const std::lock_guard lock(mutex_);
  if (queue_.size() < 10'000) queue_.emplace_back(port, std::move(request));
  changed_.notify_all();
}

std::size_t courier::delivered() const {
  const std::lock_guard lock(mutex_);
  return delivered_;
}

void courier::run() {
  std::unique_lock lock(mutex_);
  for (;;) {
    changed_.wait(lock, [this] { return is_stopping_ || !queue_.empty(); });
    if (is_stopping_) return;
    const auto [port, request] = std::move(queue_.front());
    queue_.pop_front();
    socket_ = ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    const int peer = socket_;
    lock.unlock();
    const timeval most{std::chrono::seconds(hondana_test::event_deadline).count(), 0};
    ::setsockopt(peer, SOL_SOCKET, SO_RCVTIMEO, &most, sizeof most);
    ::setsockopt(peer, SOL_SOCKET, SO_SNDTIMEO, &most, sizeof most);
    sockaddr_in to{};
    to.sin_family = AF_INET;
    to.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    to.sin_port = htons(port);
    std::array<char, 4096> buffer{};
    std::string heard;
    if (::connect(peer, reinterpret_cast<const sockaddr*>(&to), sizeof to) == 0 &&
        ::send(peer, request.data(), request.size(), MSG_NOSIGNAL) == static_cast<ssize_t>(request.size())) {
      while (heard.size() < 12) {
        const auto got = ::recv(peer, buffer.data(), buffer.size(), 0);
        if (got <= 0) break;
        heard.append(buffer.data(), static_cast<std::size_t>(got));
      }
    }
    lock.lock();
    ::close(peer);
    socket_ = -1;
    if (heard.starts_with("HTTP/1.1 2")) ++delivered_;
    changed_.notify_all();
  }
}

std::string notice(const channel& on, const std::string& state) {
  auto place = std::string_view(on.address);
  place.remove_prefix(place.find("//") + 2);
  const auto slash = std::min(place.find('/'), place.size());
  const auto host = std::string(place.substr(0, slash));
  const auto path = slash == place.size() ? std::string("/") : std::string(place.substr(slash));
  std::string out = "POST " + path + " HTTP/1.1\r\nHost: " + host + "\r\nContent-Length: 0\r\nAccept: */*\r\n";
  out +=
      "Content-Type: application/json; utf-8\r\nUser-Agent: APIs-Google; "
      "(+https://developers.google.com/webmasters/APIs-Google.html)\r\n";
  out += "X-Goog-Channel-ID: " + on.id + "\r\nX-Goog-Channel-Expiration: " + http_date(on.expires) + "\r\n";
  out += "X-Goog-Resource-State: " + state + "\r\nX-Goog-Message-Number: " + std::to_string(on.messages) + "\r\n";
  out += "X-Goog-Resource-ID: " + on.resource + "\r\nX-Goog-Resource-URI: " + on.resource_uri + "\r\n";
  if (!on.token.empty()) out += "X-Goog-Channel-Token: " + on.token + "\r\n";
  return out + "Connection: close\r\n\r\n";
}

std::uint16_t loopback_port(const std::string& address) {
  std::string_view left = address;
  for (const std::string_view start : {"http://127.0.0.1:", "http://localhost:", "https://127.0.0.1:", "https://localhost:"}) {
    if (!left.starts_with(start)) continue;
    left.remove_prefix(start.size());
    std::uint16_t port = 0;
    std::from_chars(left.data(), left.data() + left.size(), port);
    return port;
  }
  return 0;
}

}  // namespace drive_test
