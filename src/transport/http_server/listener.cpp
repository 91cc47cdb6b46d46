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

result<void> check_exposure(const std::string& address, const http_options& options) {
  const std::string prefix = "Cannot listen on " + address + ": other machines can reach that address, and ";
  if (!options.authenticator && !options.without_authentication) {
    return fail(errc::invalid_argument,
                prefix +
                    "without authentication they could read everything. Use 127.0.0.1 or ::1; or require authentication "
                    "(--tokens FILE, or [auth] in the configuration); or, if everybody may read, use --without-authentication "
                    "(without_authentication = true in [http]). In the last two cases, also list the server's host names with "
                    "--host (hosts).");
  }
  if (options.allowed_hosts.empty()) {
    return fail(
        errc::invalid_argument,
        prefix +
            "the server's host names are not configured. List them with --host (hosts in [http]), or use 127.0.0.1 or ::1.");
  }
  return {};
}

/// Opens the socket for reports: `HOST:PORT` with a literal address, or the path of a Unix socket. One of `admin_address` and
/// `inherited_admin_socket` must be set.
result<listening_socket> open_admin(const http_options& options) {
  if (options.inherited_admin_socket) return listening_socket::from_descriptor(*options.inherited_admin_socket);
  const auto& admin_address = *options.admin_address;
  if (admin_address.starts_with('/')) return listening_socket::bind_path(admin_address);
  const auto host_port = uri::parse_host_port(admin_address);
  if (!host_port || !host_port->port) {
    return fail(errc::invalid_argument,
                "Cannot listen on \"" + admin_address +
                    "\" for reports: write ADDRESS:PORT with a literal address, such as 127.0.0.1:7326, "
                    "or the path of a Unix socket.");
  }
  auto address = host_port->host;
  if (address.starts_with('[')) address = address.substr(1, address.size() - 2);
  HONDANA_TRY(const auto is_local, is_loopback(address));
  if (!is_local) {
    HONDANA_TRY(check_exposure(admin_address, options));
  }
  return listening_socket::bind_address(address, *host_port->port);
}

result<listening_socket> open_main(const http_options& options) {
  if (options.socket_path)
    return listening_socket::bind_path(*options.socket_path,
                                       {options.socket_mode, options.socket_group.value_or(std::string())});
  HONDANA_TRY(const auto is_local, is_loopback(options.address));
  if (!is_local) {
    const bool is_ipv6 = options.address.find(':') != std::string::npos;
    const auto address = (is_ipv6 ? '[' + options.address + ']' : options.address) + ':' + std::to_string(options.port);
    HONDANA_TRY(check_exposure(address, options));
  }
  return listening_socket::bind_address(options.address, options.port);
}

result<bound_site> make_bound_site(result<listening_socket> socket, site::offer offer, const http_options& options) {
  if (!socket) return tl::unexpected(std::move(socket.error()));
  if (socket->is_exposed()) {
    const auto address = socket->bound_address().empty() ? "all addresses" : socket->bound_address();
    HONDANA_TRY(check_exposure(address, options));
  }
  HONDANA_TRY(auto served_site, site::make(socket->bound_address(), offer, options.allowed_hosts, options.allowed_origins));
  return bound_site{std::move(*socket), std::move(served_site)};
}

}  // namespace

result<std::vector<bound_site>> open_sockets(const http_options& options) {
  const bool has_admin = options.admin_address || options.inherited_admin_socket;
  const auto offer = has_admin ? site::offer::messages : site::offer::everything;
  std::vector<bound_site> sites;
  std::optional<failure> first_error;
  const auto add = [&](result<bound_site> opened) {
    if (opened) return sites.push_back(std::move(*opened));
    if (!first_error) first_error = std::move(opened.error());
  };
  // Take over all inherited sockets before the first error is returned.
  for (const int descriptor : options.inherited_sockets)
    add(make_bound_site(listening_socket::from_descriptor(descriptor), offer, options));
  if (options.inherited_sockets.empty()) add(make_bound_site(open_main(options), offer, options));
  if (has_admin && (!first_error || options.inherited_admin_socket))
    add(make_bound_site(open_admin(options), site::offer::reports, options));
  if (first_error) return tl::unexpected(std::move(*first_error));
  return sites;
}

namespace {

// Accepted connections before other events are handled.
constexpr int max_accepts_per_round = 64;

/// Whether an error of accept(2) concerns only the connection, so that accepting can continue.
bool is_connection_error(int error) noexcept {
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

listener::listener(std::shared_ptr<io_loop> loop, listening_socket socket, std::chrono::milliseconds retry_delay,
                   accept_callback admit, std::function<void(std::string_view)> log)
    : loop_(std::move(loop)),
      socket_(std::move(socket)),
      retry_delay_(retry_delay),
      admit_(std::move(admit)),
      log_(std::move(log)),
      readiness_(loop_->io),
      timer_(loop_->io, *this) {}

void listener::start() {
  readiness_.open(socket_.descriptor(), *this);
  readiness_.await_input();
}

void listener::stop() {
  if (std::exchange(is_stopped_, true)) return;
  timer_.cancel();
  readiness_.close();
  const auto closed_socket = std::move(socket_);
}

void listener::on_ready(bool, bool) { accept(); }
void listener::on_timer() { accept(); }

void listener::accept() {
  try {
    if (!accept_some()) return timer_.set(reactor::clock::now() + retry_delay_);
  } catch (...) {
    readiness_.await_input();  // continue to accept others
    throw;
  }
  readiness_.await_input();
}

/// Accepts waiting connections. False: a resource is exhausted, retry later.
bool listener::accept_some() {
  for (int i = 0; i < max_accepts_per_round; ++i) {
    peer_address peer;
    const int accepted = ::accept4(socket_.descriptor(), peer.data(), peer.mutable_size(), SOCK_NONBLOCK | SOCK_CLOEXEC);
    disk::handle connection(accepted);
    if (accepted >= 0 && leaves_descriptor_reserve(accepted)) {
      has_shortage_ = false;
      admit_(std::move(connection), peer);
      continue;
    }
    const int code = errno;
    if (accepted >= 0)
      return log_shortage("the last file descriptors are reserved for the server's own work; raise the limit (ulimit -n)");
    if (code == EAGAIN || code == EWOULDBLOCK) break;
    if (is_connection_error(code)) continue;
    return log_shortage(std::strerror(code));
  }
  return true;
}

/// Logs a shortage once, until a connection is accepted again. Always returns false.
bool listener::log_shortage(std::string_view reason) {
  if (!std::exchange(has_shortage_, true)) log_("cannot accept connections for now: " + std::string(reason));
  return false;
}

}  // namespace hondana::transport::http_server
