/// The local port that a browser is redirected to after a login, and the requests that arrive there.
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

redirect_request refused(int status) { return {redirect_request::kind::refused, status, {}}; }

bool is_visible(std::string_view text) noexcept {
  return std::all_of(text.begin(), text.end(), [](char c) { return c > ' ' && c < 0x7f; });
}

/// Removes and returns the next line, without its end. Empty if no complete line is left.
std::optional<std::string_view> next_line(std::string_view& rest) noexcept {
  const auto end = rest.find("\r\n");
  if (end == std::string_view::npos) return std::nullopt;
  const auto out = rest.substr(0, end);
  rest.remove_prefix(end + 2);
  return out;
}

/// A header field and how often it occurs; valid only if it occurs exactly once.
struct field {
  std::string_view value{};
  int times = 0;
};

}  // namespace

std::optional<std::string> parameter_in(std::string_view query, std::string_view name) {
  while (!query.empty()) {
    const auto one = uri::take_parameter(query);
    if (one.name != name) continue;
    auto value = percent_decode(one.value);
    return value ? std::optional(std::move(*value)) : std::nullopt;
  }
  return std::nullopt;
}

redirect_request read_redirect(std::string_view bytes, std::string_view host, std::string_view state) {
  const auto end = bytes.find("\r\n\r\n");
  if (bytes.size() > max_request_bytes || (end != std::string_view::npos && end + 4 > max_request_bytes)) return refused(431);
  if (end == std::string_view::npos) return {};
  auto rest = bytes.substr(0, end + 2);
  const auto line = *next_line(rest);
  const auto first = line.find(' ');
  const auto last = line.rfind(' ');
  if (first == std::string_view::npos || first == last || !line.substr(last + 1).starts_with("HTTP/1.")) return refused(400);
  const auto target = line.substr(first + 1, last - first - 1);
  if (!is_visible(target)) return refused(400);

  field named_host;
  field mode;
  field shown_as;
  while (const auto next = next_line(rest)) {
    const auto colon = next->find(':');
    if (colon == std::string_view::npos) return refused(400);
    const auto name = next->substr(0, colon);
    for (const auto& [called, to] :
         {std::pair("host", &named_host), std::pair("sec-fetch-mode", &mode), std::pair("sec-fetch-dest", &shown_as)}) {
      if (!ascii::is_same(name, called)) continue;
      to->value = trimmed(next->substr(colon + 1));
      ++to->times;
    }
  }
  if (named_host.times != 1 || named_host.value != host) return refused(421);
  const auto query = target.find('?');
  if (target.substr(0, query) != redirect_path) return refused(404);
  if (line.substr(0, first) != "GET") return refused(405);
  // A navigation inside a frame also sends `navigate`, so the destination must be a document.
  for (const auto& [one, wanted] : {std::pair(mode, "navigate"), std::pair(shown_as, "document")})
    if (one.times > 1 || (one.times == 1 && one.value != wanted)) return refused(403);
  const auto parameters = query == std::string_view::npos ? std::string_view() : target.substr(query + 1);
  if (parameter_in(parameters, "state") != state) return refused(400);
  if (!parameter_in(parameters, "code") && !parameter_in(parameters, "error")) return refused(400);
  return {redirect_request::kind::redirect, 0, std::string(target)};
}

namespace {

constexpr std::size_t max_guests = 8;
constexpr std::chrono::seconds time_of_guest{5};
constexpr std::size_t max_line_bytes = 16u << 10;
constexpr std::string_view origin = "http://127.0.0.1:";

/// The port in a redirect URL of ours; 0 for other URLs.
std::uint16_t port_in(std::string_view url) noexcept {
  if (!url.starts_with(origin) || !url.ends_with(redirect_path)) return 0;
  url.remove_prefix(origin.size());
  url.remove_suffix(std::min(url.size(), redirect_path.size()));
  std::uint16_t port = 0;
  const auto read = std::from_chars(url.data(), url.data() + url.size(), port);
  return read.ec == std::errc() && read.ptr == url.data() + url.size() ? port : 0;
}

result<disk::handle> bound_to(std::uint16_t port) {
  disk::handle out(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
  // A connection of the last login may still be in TIME_WAIT at the registered port.
  const int on = 1;
  ::setsockopt(out.get(), SOL_SOCKET, SO_REUSEADDR, &on, sizeof on);
  sockaddr_in here{};
  here.sin_family = AF_INET;
  here.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  here.sin_port = htons(port);
  if (!out.is_open() || ::bind(out.get(), reinterpret_cast<const sockaddr*>(&here), sizeof here) != 0 ||
      ::listen(out.get(), SOMAXCONN) != 0) {
    return fail(errc::source_unavailable,
                "cannot listen on 127.0.0.1:" + std::to_string(port) + " for the browser's redirect: " + std::strerror(errno));
  }
  return out;
}

std::string_view meaning_of(int status) noexcept {
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
void answer(int socket, int status, std::string_view words) {
  std::string out = "HTTP/1.1 " + std::to_string(status) + ' ' + std::string(meaning_of(status)) +
                    "\r\nContent-Type: text/plain; charset=utf-8\r\nContent-Length: " + std::to_string(words.size()) +
                    "\r\nCache-Control: no-store\r\nReferrer-Policy: no-referrer\r\nX-Content-Type-Options: nosniff\r\n"
                    "Content-Security-Policy: default-src 'none'\r\nConnection: close\r\n\r\n" +
                    std::string(words);
  static_cast<void>(::send(socket, out.data(), out.size(), MSG_NOSIGNAL | MSG_DONTWAIT));
  ::shutdown(socket, SHUT_WR);
}

/// An event descriptor that becomes readable when a stop is requested.
class stop_signal {
 public:
  explicit stop_signal(const std::stop_token& stop)
      : event_(::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK)), heard_(stop, ringing{event_.get()}) {}
  [[nodiscard]] int get() const noexcept { return event_.get(); }

 private:
  struct ringing {
    int event;
    void operator()() const noexcept { static_cast<void>(::eventfd_write(event, 1)); }
  };
  disk::handle event_;
  std::stop_callback<ringing> heard_;
};

}  // namespace

result<redirect_listener> redirect_listener::open(const std::string& before, std::uint16_t port) {
  const auto wanted = port != 0 ? port : port_in(before);
  auto socket = bound_to(wanted);
  if (!socket && wanted != port) socket = bound_to(0);
  if (!socket) return tl::unexpected(std::move(socket.error()));
  sockaddr_in here{};
  socklen_t size = sizeof here;
  if (::getsockname(socket->get(), reinterpret_cast<sockaddr*>(&here), &size) != 0)
    return fail(errc::source_unavailable, "cannot determine the address for the browser's redirect");
  return redirect_listener(std::move(*socket), ntohs(here.sin_port));
}

std::string redirect_listener::host() const { return "127.0.0.1:" + std::to_string(port_); }

std::string redirect_listener::url() const { return redirect_url(port_); }

void redirect_listener::admit() {
  disk::handle one(::accept4(socket_.get(), nullptr, nullptr, SOCK_CLOEXEC | SOCK_NONBLOCK));
  if (!one.is_open()) return;
  // Browsers open connections ahead of requests. At the limit, a new one replaces the oldest.
  if (guests_.size() >= max_guests) guests_.pop_front();
  guests_.push_back({std::move(one), clock::now() + time_of_guest});
}

std::optional<std::string> redirect_listener::hear(std::list<guest>::iterator one, const std::string& state) {
  std::array<char, 4096> buffer;
  const auto got = ::recv(one->socket.get(), buffer.data(), buffer.size(), 0);
  if (got < 0 && (errno == EAGAIN || errno == EINTR)) return std::nullopt;
  if (got <= 0) {
    guests_.erase(one);
    return std::nullopt;
  }
  one->bytes.append(buffer.data(), static_cast<std::size_t>(got));
  auto asked = read_redirect(one->bytes, host(), state);
  switch (asked.what) {
    case redirect_request::kind::incomplete:
      return std::nullopt;
    case redirect_request::kind::refused:
      answer(one->socket.get(), asked.status, "hondana is waiting for a login here, and this request is not that login.\n");
      guests_.erase(one);
      return std::nullopt;
    case redirect_request::kind::redirect:
      break;
  }
  answer(one->socket.get(), 200, "hondana has received the answer. You can close this page and look at the terminal.\n");
  return "http://" + host() + asked.target;
}

result<std::optional<std::string>> redirect_listener::wait(const std::string& state, std::chrono::milliseconds time,
                                                           const std::stop_token& stop, int typed, const line_hearer& hears) {
  const auto until = clock::now() + time;
  const stop_signal stopped(stop);
  std::string line;
  std::vector<pollfd> watched;
  for (;;) {
    if (stop.stop_requested()) return fail(errc::cancelled, "the login was cancelled");
    const auto now = clock::now();
    if (now >= until)
      return fail(errc::timed_out, "the login was not completed within " +
                                       std::to_string(std::chrono::duration_cast<std::chrono::seconds>(time).count()) + " s");
    while (!guests_.empty() && guests_.front().until <= now) guests_.pop_front();
    watched = {{stopped.get(), POLLIN, 0}, {socket_.get(), POLLIN, 0}, {typed, POLLIN, 0}};
    for (const auto& one : guests_) watched.push_back({one.socket.get(), POLLIN, 0});
    const auto next = guests_.empty() ? until : std::min(until, guests_.front().until);
    const auto pause = std::chrono::ceil<std::chrono::milliseconds>(next - now);
    if (::poll(watched.data(), watched.size(), monotonic_clock::poll_timeout(pause.count())) < 0 && errno != EINTR)
      return fail(errc::source_unavailable, std::string("cannot wait for the browser: ") + std::strerror(errno));

    auto one = guests_.begin();
    for (std::size_t i = 3; i < watched.size(); ++i) {
      const auto present = one++;
      if (watched[i].revents == 0) continue;
      if (auto redirect = hear(present, state)) return redirect;
    }
    if (watched[1].revents != 0) admit();
    if (watched[2].revents == 0) continue;
    char c = 0;
    if (::read(typed, &c, 1) != 1) {
      typed = -1;  // poll() ignores negative descriptors
    } else if (c != '\n') {
      if (line.size() < max_line_bytes) line += c;
    } else if (hears(std::exchange(line, {}))) {
      return std::optional<std::string>();
    }
  }
}

}  // namespace hondana::login
