/// Opens the sockets that `http_options` names, and accepts connections on them.
#include "transport/http_server/listener.hpp"

#include <sys/socket.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <string>
#include <utility>

#include "base/uri/web_url.hpp"
#include "transport/http_server/connection_limits.hpp"

namespace hondana::transport::http_server {
namespace {

result<void> refuse_exposure(const std::string& where, const http_options& options) {
  const std::string begin = "Cannot listen on " + where + ": other machines can reach that address, and ";
  if (!options.authenticator && !options.without_authentication) {
    return fail(errc::invalid_argument,
                begin +
                    "without authentication they could read everything. Use 127.0.0.1 or ::1; or require authentication "
                    "(--tokens FILE, or [auth] in the configuration); or, if everybody may read, use --without-authentication "
                    "(without_authentication = true in [http]). In the last two cases, also list the server's host names with "
                    "--host (hosts).");
  }
  if (options.hosts.empty()) {
    return fail(
        errc::invalid_argument,
        begin +
            "the server's host names are not configured. List them with --host (hosts in [http]), or use 127.0.0.1 or ::1.");
  }
  return {};
}

/// Opens the socket for reports: `HOST:PORT` with a literal address, or the path of a Unix socket.
result<listening_socket> open_admin(const http_options& options) {
  if (options.inherited_admin >= 0) return listening_socket::inherited(options.inherited_admin);
  if (options.admin.starts_with('/')) return listening_socket::on_path(options.admin);
  const auto where = uri::parse_host_port(options.admin);
  if (!where || !where->port) {
    return fail(errc::invalid_argument,
                "Cannot listen on \"" + options.admin +
                    "\" for reports: write ADDRESS:PORT with a literal address, such as 127.0.0.1:7326, "
                    "or the path of a Unix socket.");
  }
  auto address = where->host;
  if (address.starts_with('[')) address = address.substr(1, address.size() - 2);
  HONDANA_TRY(const auto is_safe, is_loopback(address));
  if (!is_safe) {
    HONDANA_TRY(refuse_exposure(options.admin, options));
  }
  return listening_socket::on_address(address, *where->port);
}

result<listening_socket> open_own(const http_options& options) {
  if (!options.socket.empty()) return listening_socket::on_path(options.socket, {options.socket_mode, options.socket_group});
  HONDANA_TRY(const auto is_safe, is_loopback(options.address));
  if (!is_safe) {
    const bool is_ipv6 = options.address.find(':') != std::string::npos;
    const auto where = (is_ipv6 ? '[' + options.address + ']' : options.address) + ':' + std::to_string(options.port);
    HONDANA_TRY(refuse_exposure(where, options));
  }
  return listening_socket::on_address(options.address, options.port);
}

result<place> make_place(result<listening_socket> opened, site::offer what, const http_options& options) {
  if (!opened) return tl::unexpected(std::move(opened.error()));
  if (opened->is_exposed()) {
    const auto where = opened->bound_address().empty() ? "all addresses" : opened->bound_address();
    HONDANA_TRY(refuse_exposure(where, options));
  }
  HONDANA_TRY(auto at, site::make(opened->bound_address(), what, options.hosts, options.origins));
  return place{std::move(*opened), std::move(at)};
}

}  // namespace

result<std::vector<place>> open_places(const http_options& options) {
  const bool has_admin = !options.admin.empty() || options.inherited_admin >= 0;
  const auto offer = has_admin ? site::offer::messages : site::offer::everything;
  std::vector<place> all;
  std::optional<failure> first;
  const auto add = [&](result<place> one) {
    if (one) return all.push_back(std::move(*one));
    if (!first) first = std::move(one.error());
  };
  // Take over all inherited sockets before the first error is returned.
  for (const int one : options.inherited) add(make_place(listening_socket::inherited(one), offer, options));
  if (options.inherited.empty()) add(make_place(open_own(options), offer, options));
  if (has_admin && (!first || options.inherited_admin >= 0))
    add(make_place(open_admin(options), site::offer::reports, options));
  if (first) return tl::unexpected(std::move(*first));
  return all;
}

namespace {

// Accepted connections before other events have their turn.
constexpr int accepts_in_a_row = 64;

/// Whether an error of accept(2) concerns only the connection, so that accepting can continue.
bool is_the_peers(int error) noexcept {
  switch (error) {
    case ECONNABORTED:
    case EINTR:
    case EPERM:
    case EPROTO:
    case ENETDOWN:
    case ENOPROTOOPT:
    case EHOSTDOWN:
    case ENONET:
    case EHOSTUNREACH:
    case EOPNOTSUPP:
    case ENETUNREACH:
      return true;
    default:
      return false;
  }
}

}  // namespace

listener::listener(std::shared_ptr<loop> on, listening_socket with, std::chrono::milliseconds pause, admit_function admit,
                   std::function<void(std::string_view)> log)
    : loop_(std::move(on)),
      socket_(std::move(with)),
      pause_time_(pause),
      admit_(std::move(admit)),
      log_(std::move(log)),
      readiness_(loop_->io),
      timer_(loop_->io, *this) {}

void listener::start() {
  readiness_.open(socket_.descriptor(), *this);
  readiness_.await_input();
}

void listener::stop() {
  if (std::exchange(stopped_, true)) return;
  timer_.cancel();
  readiness_.close();
  const auto closes = std::move(socket_);
}

void listener::ready(bool, bool) { accept(); }
void listener::due() { accept(); }

void listener::accept() {
  try {
    if (!accept_some()) return timer_.set(reactor::clock::now() + pause_time_);
  } catch (...) {
    readiness_.await_input();  // continue to accept others
    throw;
  }
  readiness_.await_input();
}

/// Accepts waiting connections. False: a resource is exhausted, retry later.
bool listener::accept_some() {
  for (int i = 0; i < accepts_in_a_row; ++i) {
    peer_address from;
    const int accepted = ::accept4(socket_.descriptor(), from.data(), from.room(), SOCK_NONBLOCK | SOCK_CLOEXEC);
    disk::handle connection(accepted);
    if (accepted >= 0 && leaves_enough(accepted)) {
      is_short_ = false;
      admit_(std::move(connection), from);
      continue;
    }
    const int why = errno;
    if (accepted >= 0)
      return note_shortage("the last file descriptors are reserved for the server's own work; raise the limit (ulimit -n)");
    if (why == EAGAIN || why == EWOULDBLOCK) break;
    if (is_the_peers(why)) continue;
    return note_shortage(std::strerror(why));
  }
  return true;
}

/// Logs a shortage once, until a connection is accepted again. Always returns false.
bool listener::note_shortage(std::string_view why) {
  if (!std::exchange(is_short_, true)) log_("cannot accept connections for now: " + std::string(why));
  return false;
}

}  // namespace hondana::transport::http_server
