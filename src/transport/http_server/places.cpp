/// Opening what is listened on.
#include "transport/http_server/places.hpp"

#include <string>
#include <utility>

#include "base/uri/host_port.hpp"

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

/// `HOST:PORT` with a literal address, or the path of a Unix socket.
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
  // All inherited ones are taken over before any is complained about.
  for (const int one : options.inherited) add(make_place(listening_socket::inherited(one), offer, options));
  if (options.inherited.empty()) add(make_place(open_own(options), offer, options));
  if (has_admin && (!first || options.inherited_admin >= 0))
    add(make_place(open_admin(options), site::offer::reports, options));
  if (first) return tl::unexpected(std::move(*first));
  return all;
}

}  // namespace hondana::transport::http_server
