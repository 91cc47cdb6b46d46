/// Waits on a local port for the request that a browser sends after a login (the redirect).
#include "auth/login/redirect_listener.hpp"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <poll.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <charconv>
#include <cstring>
#include <utility>
#include <vector>

#include <hondana/uri.hpp>

#include "auth/login/browser_login.hpp"
#include "base/ascii/ascii.hpp"
#include "base/uri/uri_syntax.hpp"
#include "transport/http_client/response_head.hpp"

namespace hondana::login {
namespace {

using transport::http_client::trimmed;

redirect_request reject(int status) { return {redirect_request::kind::rejected, status, {}}; }

bool is_visible(std::string_view text) noexcept {
  return std::all_of(text.begin(), text.end(), [](char c) { return c > ' ' && c < 0x7f; });
}

/// Removes and returns the next line, without its end. Empty if no complete line is left.
std::optional<std::string_view> next_line(std::string_view& input) noexcept {
  const auto end = input.find("\r\n");
  if (end == std::string_view::npos) return std::nullopt;
  const auto out = input.substr(0, end);
  input.remove_prefix(end + 2);
  return out;
}

/// A header field and how often it occurs; valid only if it occurs exactly once.
struct field {
  std::string_view value{};
  int count = 0;
};

}  // namespace

std::optional<std::string> find_parameter(std::string_view query, std::string_view name) {
  while (!query.empty()) {
    const auto parameter = uri::pop_parameter(query);
    if (parameter.name != name) continue;
    auto value = percent_decode(parameter.value);
    return value ? std::optional(std::move(*value)) : std::nullopt;
  }
  return std::nullopt;
}

redirect_request read_redirect(std::string_view bytes, std::string_view host, std::string_view state) {
  const auto end = bytes.find("\r\n\r\n");
  if (bytes.size() > max_request_bytes || (end != std::string_view::npos && end + 4 > max_request_bytes)) return reject(431);
  if (end == std::string_view::npos) return {};
  auto head = bytes.substr(0, end + 2);
  const auto line = *next_line(head);
  const auto first = line.find(' ');
  const auto last = line.rfind(' ');
  if (first == std::string_view::npos || first == last || !line.substr(last + 1).starts_with("HTTP/1.")) return reject(400);
  const auto target = line.substr(first + 1, last - first - 1);
  if (!is_visible(target)) return reject(400);

  field host_field;
  field mode;
  field destination;
  while (const auto next = next_line(head)) {
    const auto colon = next->find(':');
    if (colon == std::string_view::npos) return reject(400);
    const auto name = next->substr(0, colon);
    for (const auto& [known_name, known_field] :
         {std::pair("host", &host_field), std::pair("sec-fetch-mode", &mode), std::pair("sec-fetch-dest", &destination)}) {
      if (!ascii::equals_ignore_case(name, known_name)) continue;
      known_field->value = trimmed(next->substr(colon + 1));
      ++known_field->count;
    }
  }
  if (host_field.count != 1 || host_field.value != host) return reject(421);
  const auto query = target.find('?');
  if (target.substr(0, query) != redirect_path) return reject(404);
  if (line.substr(0, first) != "GET") return reject(405);
  // A navigation inside a frame also sends `navigate`, so the destination must be a document.
  for (const auto& [actual, expected] : {std::pair(mode, "navigate"), std::pair(destination, "document")})
    if (actual.count > 1 || (actual.count == 1 && actual.value != expected)) return reject(403);
  const auto parameters = query == std::string_view::npos ? std::string_view() : target.substr(query + 1);
  if (find_parameter(parameters, "state") != state) return reject(400);
  if (!find_parameter(parameters, "code") && !find_parameter(parameters, "error")) return reject(400);
  return {redirect_request::kind::redirect, 0, std::string(target)};
}

namespace {

constexpr std::size_t max_connections = 8;
constexpr std::chrono::seconds connection_timeout{5};
constexpr std::size_t max_line_bytes = 16u << 10;
constexpr std::string_view origin = "http://127.0.0.1:";

/// The port in a redirect URL of ours; 0 for other URLs.
std::uint16_t parse_port(std::string_view url) noexcept {
  if (!url.starts_with(origin) || !url.ends_with(redirect_path)) return 0;
  url.remove_prefix(origin.size());
  url.remove_suffix(std::min(url.size(), redirect_path.size()));
  std::uint16_t port = 0;
  const auto parsed = std::from_chars(url.data(), url.data() + url.size(), port);
  return parsed.ec == std::errc() && parsed.ptr == url.data() + url.size() ? port : 0;
}

result<disk::handle> listen_on(std::uint16_t port) {
  disk::handle out(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
  // A connection of the last login may still be in TIME_WAIT at the registered port.
  const int reuse = 1;
  ::setsockopt(out.get(), SOL_SOCKET, SO_REUSEADDR, &reuse, sizeof reuse);
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  address.sin_port = htons(port);
  if (!out.is_open() || ::bind(out.get(), reinterpret_cast<const sockaddr*>(&address), sizeof address) != 0 ||
      ::listen(out.get(), SOMAXCONN) != 0) {
    return fail(errc::source_unavailable,
                "cannot listen on 127.0.0.1:" + std::to_string(port) + " for the browser's redirect: " + std::strerror(errno));
  }
  return out;
}

std::string_view reason_phrase(int status) noexcept {
  switch (status) {
    case 200:
      return "OK";
    case 403:
      return "Forbidden";
    case 404:
      return "Not Found";
    case 405:
      return "Method Not Allowed";
    case 421:
      return "Misdirected Request";
    case 431:
      return "Request Header Fields Too Large";
    default:
      return "Bad Request";
  }
}

/// Sends without waiting. A client that does not read loses the answer.
void send_response(int socket, int status, std::string_view body) {
  std::string out = "HTTP/1.1 " + std::to_string(status) + ' ' + std::string(reason_phrase(status)) +
                    "\r\nContent-Type: text/plain; charset=utf-8\r\nContent-Length: " + std::to_string(body.size()) +
                    "\r\nCache-Control: no-store\r\nReferrer-Policy: no-referrer\r\nX-Content-Type-Options: nosniff\r\n"
                    "Content-Security-Policy: default-src 'none'\r\nConnection: close\r\n\r\n" +
                    std::string(body);
  static_cast<void>(::send(socket, out.data(), out.size(), MSG_NOSIGNAL | MSG_DONTWAIT));
  ::shutdown(socket, SHUT_WR);
}

/// An event descriptor that becomes readable when a stop is requested.
class stop_signal {
 public:
  explicit stop_signal(const std::stop_token& stop)
      : event_(::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK)), callback_(stop, event_writer{event_.get()}) {}
  [[nodiscard]] int get() const noexcept { return event_.get(); }

 private:
  struct event_writer {
    int event;
    void operator()() const noexcept { static_cast<void>(::eventfd_write(event, 1)); }
  };
  disk::handle event_;
  std::stop_callback<event_writer> callback_;
};

}  // namespace

result<redirect_listener> redirect_listener::open(const std::string& registered_uri, std::uint16_t port) {
  const auto requested_port = port != 0 ? port : parse_port(registered_uri);
  auto socket = listen_on(requested_port);
  if (!socket && requested_port != port) socket = listen_on(0);
  if (!socket) return tl::unexpected(std::move(socket.error()));
  sockaddr_in address{};
  socklen_t size = sizeof address;
  if (::getsockname(socket->get(), reinterpret_cast<sockaddr*>(&address), &size) != 0)
    return fail(errc::source_unavailable, "cannot determine the address for the browser's redirect");
  return redirect_listener(std::move(*socket), ntohs(address.sin_port));
}

std::string redirect_listener::host() const { return "127.0.0.1:" + std::to_string(port_); }

std::string redirect_listener::url() const { return redirect_url(port_); }

void redirect_listener::accept_connection() {
  disk::handle socket(::accept4(socket_.get(), nullptr, nullptr, SOCK_CLOEXEC | SOCK_NONBLOCK));
  if (!socket.is_open()) return;
  // Browsers open connections ahead of requests. At the limit, a new one replaces the oldest.
  if (connections_.size() >= max_connections) connections_.pop_front();
  connections_.push_back({std::move(socket), clock::now() + connection_timeout});
}

std::optional<std::string> redirect_listener::receive(std::list<client_connection>::iterator connection,
                                                      const std::string& state) {
  std::array<char, 4096> buffer;
  const auto received = ::recv(connection->socket.get(), buffer.data(), buffer.size(), 0);
  if (received < 0 && (errno == EAGAIN || errno == EINTR)) return std::nullopt;
  if (received <= 0) {
    connections_.erase(connection);
    return std::nullopt;
  }
  connection->bytes.append(buffer.data(), static_cast<std::size_t>(received));
  auto request = read_redirect(connection->bytes, host(), state);
  switch (request.type) {
    case redirect_request::kind::incomplete:
      return std::nullopt;
    case redirect_request::kind::rejected:
      send_response(connection->socket.get(), request.status,
                    "hondana is waiting for a login here, and this request is not that login.\n");
      connections_.erase(connection);
      return std::nullopt;
    case redirect_request::kind::redirect:
      break;
  }
  send_response(connection->socket.get(), 200,
                "hondana has received the answer. You can close this page and look at the terminal.\n");
  return "http://" + host() + request.target;
}

result<std::optional<std::string>> redirect_listener::wait(const std::string& state, std::chrono::milliseconds timeout,
                                                           const std::stop_token& stop, int terminal,
                                                           const line_handler& accept_line) {
  const auto deadline = clock::now() + timeout;
  const stop_signal stop_event(stop);
  std::string line;
  std::vector<pollfd> watched;
  for (;;) {
    if (stop.stop_requested()) return fail(errc::cancelled, "the login was cancelled");
    const auto now = clock::now();
    if (now >= deadline)
      return fail(errc::timed_out, "the login was not completed within " +
                                       std::to_string(std::chrono::duration_cast<std::chrono::seconds>(timeout).count()) +
                                       " s");
    while (!connections_.empty() && connections_.front().expires_at <= now) connections_.pop_front();
    watched = {{stop_event.get(), POLLIN, 0}, {socket_.get(), POLLIN, 0}, {terminal, POLLIN, 0}};
    for (const auto& connection : connections_) watched.push_back({connection.socket.get(), POLLIN, 0});
    const auto next = connections_.empty() ? deadline : std::min(deadline, connections_.front().expires_at);
    const auto wait_time = std::chrono::ceil<std::chrono::milliseconds>(next - now);
    if (::poll(watched.data(), watched.size(), monotonic_clock::poll_timeout(wait_time.count())) < 0 && errno != EINTR)
      return fail(errc::source_unavailable, std::string("cannot wait for the browser: ") + std::strerror(errno));

    auto it = connections_.begin();
    for (std::size_t i = 3; i < watched.size(); ++i) {
      const auto current = it++;
      if (watched[i].revents == 0) continue;
      if (auto redirect = receive(current, state)) return redirect;
    }
    if (watched[1].revents != 0) accept_connection();
    if (watched[2].revents == 0) continue;
    char c = 0;
    if (::read(terminal, &c, 1) != 1) {
      terminal = -1;  // poll() ignores negative descriptors
    } else if (c != '\n') {
      if (line.size() < max_line_bytes) line += c;
    } else if (accept_line(std::exchange(line, {}))) {
      return std::optional<std::string>();
    }
  }
}

}  // namespace hondana::login
