/// One HTTP request and its answer, read as it comes.
#include "transcripts/http_exchange.hpp"

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
#include <utility>

#include "deadline.hpp"

namespace transcripts {
namespace {

using nothing_or = tl::expected<void, std::string>;

tl::unexpected<std::string> wrong(const std::string& what) { return tl::unexpected(what); }

std::string lower(std::string_view text) {
  std::string out(text);
  for (auto& c : out) {
    if (c >= 'A' && c <= 'Z') c = static_cast<char>(c - 'A' + 'a');
  }
  return out;
}

}  // namespace

http_exchange::http_exchange(std::uint16_t port) : socket_(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0)) {
  sockaddr_in to{};
  to.sin_family = AF_INET;
  to.sin_port = htons(port);
  to.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  const int at_once = 1;
  ::setsockopt(socket_, IPPROTO_TCP, TCP_NODELAY, &at_once, sizeof at_once);
  is_connected_ = ::connect(socket_, reinterpret_cast<const sockaddr*>(&to), sizeof to) == 0;
}

http_exchange::~http_exchange() { ::close(socket_); }

/// A server may answer and close before it has everything; then its answer counts.
void http_exchange::write(std::string_view bytes, bool bytewise) {
  while (!bytes.empty()) {
    const auto count = ::send(socket_, bytes.data(), bytewise ? 1 : bytes.size(), MSG_NOSIGNAL);
    if (count < 0 && errno == EINTR) continue;
    if (count <= 0) return;
    bytes.remove_prefix(static_cast<std::size_t>(count));
  }
}

/// False at the end of the connection.
tl::expected<bool, std::string> http_exchange::read_some(time_point deadline) {
  std::array<char, 65536> buffer;
  const auto left = std::chrono::duration_cast<std::chrono::milliseconds>(deadline - std::chrono::steady_clock::now());
  pollfd ready{socket_, POLLIN, 0};
  if (left.count() <= 0 || ::poll(&ready, 1, static_cast<int>(left.count())) <= 0) {
    return wrong("no complete HTTP answer in time, but: " + (input_ + body_).substr(0, 500));
  }
  const auto count = ::recv(socket_, buffer.data(), buffer.size(), 0);
  if (count < 0) return wrong(std::string("the connection broke: ") + std::strerror(errno));
  input_.append(buffer.data(), static_cast<std::size_t>(count));
  return count > 0;
}

nothing_or http_exchange::begin(std::string_view request, bool bytewise, time_point deadline) {
  if (!is_connected_) return wrong("cannot connect");
  write(request, bytewise);
  while (!has_ended_ && !(has_head_ && is_stream_)) {
    const auto more = read_some(deadline);
    if (!more) return wrong(more.error());
    has_ended_ = !*more;
    if (!has_head_ && input_.find("\r\n\r\n") == std::string::npos) continue;
    if (!has_head_) {
      if (auto read = read_head(); !read) return read;
    }
    if (auto read = read_body(); !read) return read;
  }
  return has_head_ ? nothing_or() : wrong("not an HTTP answer: " + input_.substr(0, 500));
}

nothing_or http_exchange::take_arrived() {
  const auto more = read_some(std::chrono::steady_clock::now() + hondana_test::event_deadline);
  if (!more) return wrong(more.error());
  has_ended_ = !*more;
  return read_body();
}

nothing_or http_exchange::read_head() {
  const auto end = input_.find("\r\n\r\n");
  if (!input_.starts_with("HTTP/1.1 ")) return wrong("not an HTTP answer: " + input_.substr(0, 500));
  auto head = std::string_view(input_).substr(0, end);
  std::from_chars(head.data() + 9, head.data() + head.size(), status_);
  for (auto place = head.find("\r\n"); place != std::string_view::npos; place = head.find("\r\n")) {
    head.remove_prefix(place + 2);
    const auto field = head.substr(0, head.find("\r\n"));
    const auto colon = field.find(": ");
    if (colon == std::string_view::npos) return wrong("not a header field: " + std::string(field));
    const auto name = lower(field.substr(0, colon));
    const auto value = field.substr(colon + 2);
    if (name == "content-type") content_type_ = value;
    if (name == "transfer-encoding") is_chunked_ = value == "chunked";
    if (name == "mcp-session-id") session_id_ = std::string(value);
    if (name == "content-length") {
      length_ = 0;
      std::from_chars(value.data(), value.data() + value.size(), *length_);
    }
  }
  input_.erase(0, end + 4);
  has_head_ = true;
  is_stream_ = content_type_ == "text/event-stream";
  return {};
}

nothing_or http_exchange::read_body() {
  if (is_chunked_) {
    if (auto read = read_chunks(); !read) return read;
  } else {
    body_ += std::exchange(input_, {});
  }
  if (is_stream_) {
    if (auto read = read_events(); !read) return read;
  }
  if (!has_ended_) return {};
  if (is_chunked_ && !has_last_chunk_) return wrong("the answer is cut off: " + body_.substr(0, 500));
  if (is_stream_) return body_.empty() ? nothing_or() : wrong("the stream ends inside an event: " + body_.substr(0, 500));
  if (!is_chunked_ && length_.value_or(0) != body_.size()) {
    return wrong("the body has " + std::to_string(body_.size()) + " bytes, its head says otherwise");
  }
  if (body_.empty()) return {};
  if (content_type_ != "application/json") return wrong("the answer is of type " + content_type_);
  messages_.push_back(std::exchange(body_, {}));
  return {};
}

nothing_or http_exchange::read_chunks() {
  for (;;) {
    const auto line = input_.find("\r\n");
    if (line == std::string::npos) return {};
    if (has_last_chunk_) return input_ == "\r\n" || input_.empty() ? nothing_or() : wrong("bytes behind the last chunk");
    std::size_t size = 0;
    const auto read = std::from_chars(input_.data(), input_.data() + line, size, 16);
    if (line == 0 || read.ptr != input_.data() + line) return wrong("a chunk without size: " + input_.substr(0, 100));
    if (input_.size() < line + 2 + size + 2) return {};
    if (input_.compare(line + 2 + size, 2, "\r\n") != 0) return wrong("a chunk longer than its size");
    if (size == 0) {
      has_last_chunk_ = true;
      input_.erase(0, line + 4);
      return input_.empty() ? nothing_or() : wrong("bytes behind the last chunk");
    }
    body_.append(input_, line + 2, size);
    input_.erase(0, line + 2 + size + 2);
  }
}

/// Spec: HTML, server-sent events#parsing-an-event-stream.
nothing_or http_exchange::read_events() {
  for (auto end = body_.find("\n\n"); end != std::string::npos; end = body_.find("\n\n")) {
    auto block = std::string_view(body_).substr(0, end + 1);
    std::string data;
    bool has_data = false;
    for (auto stop = block.find('\n'); stop != std::string_view::npos; stop = block.find('\n')) {
      const auto one = block.substr(0, stop);
      block.remove_prefix(stop + 1);
      if (one.starts_with("data: ")) {
        if (std::exchange(has_data, true)) data += '\n';
        data += one.substr(6);
      } else if (one.starts_with("id: ")) {
        ids_.emplace_back(one.substr(4));
      } else if (!one.starts_with(":") && !one.starts_with("retry: ") && !one.starts_with("event: ")) {
        return wrong("not a line of an event stream: " + std::string(one.substr(0, 200)));
      }
    }
    if (!data.empty()) messages_.push_back(std::move(data));
    body_.erase(0, end + 2);
  }
  return {};
}

std::vector<std::string> http_exchange::take_messages() { return std::exchange(messages_, {}); }
std::vector<std::string> http_exchange::take_event_ids() { return std::exchange(ids_, {}); }

}  // namespace transcripts
