/// A line over HTTP: every message is a POST on a connection of its own.
#include "transcripts/line.hpp"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>
#include <array>
#include <cerrno>
#include <charconv>
#include <cstring>
#include <deque>

#include <hondana/server.hpp>

#include "transcripts/servers.hpp"

namespace transcripts {
namespace {

tl::unexpected<std::string> wrong(const std::string& what) { return tl::unexpected(what); }

struct response {
  int status = 0;
  std::string content_type;
  std::string body;
};

class connection {
 public:
  connection() : socket_(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0)) {}
  connection(const connection&) = delete;
  connection& operator=(const connection&) = delete;
  ~connection() { ::close(socket_); }

  bool connect(std::uint16_t port) {
    sockaddr_in to{};
    to.sin_family = AF_INET;
    to.sin_port = htons(port);
    to.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    const int at_once = 1;
    ::setsockopt(socket_, IPPROTO_TCP, TCP_NODELAY, &at_once, sizeof at_once);
    return ::connect(socket_, reinterpret_cast<const sockaddr*>(&to), sizeof to) == 0;
  }

  /// A server may answer and close before it has everything; then its answer counts.
  void write(std::string_view bytes, bool bytewise) {
    while (!bytes.empty()) {
      const auto count = ::send(socket_, bytes.data(), bytewise ? 1 : bytes.size(), MSG_NOSIGNAL);
      if (count < 0 && errno == EINTR) continue;
      if (count <= 0) return;
      bytes.remove_prefix(static_cast<std::size_t>(count));
    }
  }

  /// Everything until the server closes.
  tl::expected<std::string, std::string> read(time_point deadline) {
    std::string all;
    std::array<char, 65536> buffer;
    for (;;) {
      const auto left = std::chrono::duration_cast<std::chrono::milliseconds>(deadline - std::chrono::steady_clock::now());
      pollfd ready{socket_, POLLIN, 0};
      if (left.count() <= 0 || ::poll(&ready, 1, static_cast<int>(left.count())) <= 0) {
        return wrong("no complete HTTP answer in time, but " + std::to_string(all.size()) + " bytes: " + all.substr(0, 500));
      }
      const auto count = ::recv(socket_, buffer.data(), buffer.size(), 0);
      if (count < 0) return wrong(std::string("the connection broke: ") + std::strerror(errno));
      if (count == 0) return all;
      all.append(buffer.data(), static_cast<std::size_t>(count));
    }
  }

 private:
  int socket_;
};

std::string lower(std::string_view text) {
  std::string out(text);
  for (auto& c : out) {
    if (c >= 'A' && c <= 'Z') c = static_cast<char>(c - 'A' + 'a');
  }
  return out;
}

tl::expected<std::string, std::string> join_chunks(std::string_view rest) {
  std::string body;
  for (;;) {
    std::size_t size = 0;
    const auto read = std::from_chars(rest.data(), rest.data() + rest.size(), size, 16);
    const auto digits = static_cast<std::size_t>(read.ptr - rest.data());
    if (digits == 0 || !rest.substr(digits).starts_with("\r\n")) return wrong("a chunk without size");
    rest.remove_prefix(digits + 2);
    if (size == 0)
      return rest == "\r\n" ? tl::expected<std::string, std::string>(std::move(body)) : wrong("bytes behind the last chunk");
    if (rest.size() < size + 2 || rest.substr(size, 2) != "\r\n") return wrong("a chunk is cut off");
    body += rest.substr(0, size);
    rest.remove_prefix(size + 2);
  }
}

tl::expected<response, std::string> parse(std::string_view all) {
  const auto end = all.find("\r\n\r\n");
  if (!all.starts_with("HTTP/1.1 ") || end == std::string_view::npos)
    return wrong("not an HTTP answer: " + std::string(all.substr(0, 500)));
  auto head = all.substr(0, end);
  const auto rest = all.substr(end + 4);
  response out;
  std::from_chars(head.data() + 9, head.data() + head.size(), out.status);
  bool is_chunked = false;
  std::optional<std::size_t> length;
  for (auto place = head.find("\r\n"); place != std::string_view::npos; place = head.find("\r\n")) {
    head.remove_prefix(place + 2);
    const auto field = head.substr(0, head.find("\r\n"));
    const auto colon = field.find(": ");
    if (colon == std::string_view::npos) return wrong("not a header field: " + std::string(field));
    const auto name = lower(field.substr(0, colon));
    const auto value = field.substr(colon + 2);
    if (name == "content-type") out.content_type = value;
    if (name == "transfer-encoding") is_chunked = value == "chunked";
    if (name == "mcp-session-id") return wrong("a session id where there are no sessions");
    if (name == "content-length") {
      length = 0;
      std::from_chars(value.data(), value.data() + value.size(), *length);
    }
  }
  if (is_chunked) {
    auto body = join_chunks(rest);
    if (!body) return wrong(body.error());
    out.body = std::move(*body);
  } else {
    if (length.value_or(0) != rest.size())
      return wrong("the body has " + std::to_string(rest.size()) + " bytes, its head says otherwise");
    out.body = rest;
  }
  return out;
}

class http_line final : public line {
 public:
  http_line(hondana::server&& server, bool bytewise) : server_(std::move(server)), bytewise_(bytewise) {}

  tl::expected<void, std::string> listen() {
    hondana::http_options options;
    options.port = 0;
    auto service = hondana::http_service::start(server_, options);
    if (!service) return wrong(service.error().public_text);
    service_.emplace(std::move(*service));
    return {};
  }

  tl::expected<void, std::string> send(const sending& what, time_point deadline) override {
    connection to;
    if (!to.connect(service_->port())) return wrong("cannot connect");
    to.write(head_of(what) + what.bytes, bytewise_);
    const auto all = to.read(deadline);
    if (!all) return wrong(all.error());
    auto answer = parse(*all);
    if (!answer) return wrong(answer.error());
    status_ = answer->status;
    if (answer->body.empty()) return {};
    if (answer->content_type != "application/json") return wrong("the answer is of type " + answer->content_type);
    messages_.push_back(std::move(answer->body));
    return {};
  }

  std::optional<std::string> receive(time_point) override {
    if (messages_.empty()) return std::nullopt;
    auto next = std::move(messages_.front());
    messages_.pop_front();
    return next;
  }

  std::optional<int> status() const override { return status_; }

  tl::expected<void, std::string> send_end(std::string_view, time_point) override {
    return wrong("a POST has no end of its own");
  }

  tl::expected<std::vector<std::string>, std::string> finish(time_point) override {
    return std::vector<std::string>(messages_.begin(), messages_.end());
  }

 private:
  std::string head_of(const sending& what) const {
    std::string head = "POST /mcp HTTP/1.1\r\n";
    for (const auto& [name, value] : what.headers) head += name + ": " + value + "\r\n";
    head += "Host: 127.0.0.1:" + std::to_string(service_->port()) +
            "\r\nConnection: close\r\nContent-Length: " + std::to_string(what.bytes.size()) + "\r\n\r\n";
    return head;
  }

  hondana::server server_;
  bool bytewise_;
  std::optional<hondana::http_service> service_;
  std::deque<std::string> messages_;
  int status_ = 0;
};

}  // namespace

tl::expected<std::unique_ptr<line>, std::string> open_http_line(const std::string& server, bool bytewise) {
  auto made = make_server(server);
  if (!made) return tl::unexpected(made.error());
  auto opened = std::make_unique<http_line>(std::move(*made), bytewise);
  if (const auto listens = opened->listen(); !listens) return tl::unexpected(listens.error());
  return opened;
}

}  // namespace transcripts
