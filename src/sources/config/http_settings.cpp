/// The tables [http] and [http.tls]: addresses, limits and certificates of the HTTP server.
#include "sources/config/http_settings.hpp"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <sys/un.h>

#include <charconv>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "base/uri/web_url.hpp"
#include "sources/config/table_reader.hpp"

namespace hondana::config {
namespace {}  // namespace

result<tls_options> read_tls(section table) {
  tls_options options;
  error_collector errors;
  errors.assign_path(table, "certificate", options.certificate_file, "PEM file");
  errors.assign_path(table, "key", options.key_file, "PEM file");
  errors.assign_path(table, "client_authorities", options.client_ca_file, "PEM file");
  std::optional<std::string> client_mode;
  errors.assign(table.string("client_certificates"), client_mode);
  if (client_mode && *client_mode != "required" && *client_mode != "asked")
    errors.add(table.error_at("client_certificates", "expected \"required\" or \"asked\""));
  if (client_mode && options.client_ca_file.empty())
    errors.add(
        table.error_at("client_certificates", "needs client_authorities, a PEM file with the authorities that sign them"));
  options.requires_client_certificate = !options.client_ca_file.empty() && client_mode != "asked";
  if (options.certificate_file.empty() != options.key_file.empty() ||
      (options.certificate_file.empty() && !options.client_ca_file.empty()))
    errors.add(table.error_at(options.certificate_file.empty() ? "certificate" : "key",
                              "missing; TLS needs certificate and key, the paths of PEM files"));
  errors.check(table.finish());
  if (errors.first()) return tl::unexpected(std::move(*errors.first()));
  return options;
}

namespace {

constexpr std::size_t max_socket_path_bytes = sizeof(sockaddr_un::sun_path) - 1;
constexpr std::size_t min_body_bytes = 1024;
constexpr std::size_t max_body_bytes = 1u << 30;
constexpr std::size_t min_header_bytes = 1024;
constexpr std::size_t max_header_bytes = 1u << 20;
constexpr std::int64_t max_count = 1'000'000;

bool is_ip_literal(const std::string& address) {
  in6_addr bytes{};
  if (address.find('\0') != std::string::npos) return false;
  return ::inet_pton(AF_INET, address.c_str(), &bytes) == 1 || ::inet_pton(AF_INET6, address.c_str(), &bytes) == 1;
}

/// Requires a port, and an address instead of a host name.
bool is_ip_literal_with_port(const std::string& text) {
  const auto endpoint = uri::parse_host_port(text);
  if (!endpoint || !endpoint->port) return false;
  const auto& host = endpoint->host;
  return is_ip_literal(host.starts_with('[') ? host.substr(1, host.size() - 2) : host);
}

bool is_socket_path(const std::string& path) {
  return !path.empty() && path.size() <= max_socket_path_bytes && path.find('\0') == std::string::npos;
}

void read_size(section& table, std::string_view key, std::size_t low, std::size_t high, std::size_t& target,
               error_collector& errors) {
  std::optional<std::size_t> size;
  errors.assign(table.bytes(key), size);
  if (!size) return;
  if (*size < low || *size > high) {
    return errors.add(table.error_at(key, "expected " + std::to_string(low) + " to " + std::to_string(high) + " bytes"));
  }
  target = *size;
}

/// Reads a file mode: three or four octal digits, which must give the owner access.
void read_mode(section& table, unsigned& target, error_collector& errors) {
  std::optional<std::string> text;
  errors.assign(table.string("socket_mode"), text);
  if (!text) return;
  const auto [end, error] = std::from_chars(text->data(), text->data() + text->size(), target, 8);
  const bool is_mode = error == std::errc() && end == text->data() + text->size() && text->size() >= 3 && target <= 0777;
  if (!is_mode || (target & 0600) != 0600)
    errors.add(table.error_at("socket_mode", "expected a mode with read and write access for the owner, such as \"0660\""));
}

void read_addresses(section& table, http_settings& target, error_collector& errors) {
  errors.assign(table.string("address"), target.address);
  if (!is_ip_literal(target.address)) {
    errors.add(table.error_at("address", "expected a literal address, such as \"127.0.0.1\" or \"::1\""));
  }
  errors.assign(table.integer("port", 0, 65535), target.port);
  std::optional<std::string> socket;
  errors.assign(table.string("socket"), socket);
  if (socket) {
    target.socket_path = table.resolve_path(*socket);
    if (socket->empty() || !is_socket_path(target.socket_path)) {
      errors.add(table.error_at("socket", "expected a path of at most " + std::to_string(max_socket_path_bytes) + " bytes"));
    }
  }
  read_mode(table, target.socket_mode, errors);
  errors.assign(table.string("socket_group"), target.socket_group);
  errors.assign(table.string("admin"), target.admin_address);
  if (!target.admin_address.empty() && !(target.admin_address.front() == '/' ? is_socket_path(target.admin_address)
                                                                             : is_ip_literal_with_port(target.admin_address))) {
    errors.add(
        table.error_at("admin",
                       "expected a literal address with a port, such as \"127.0.0.1:7326\", or the absolute path of a Unix "
                       "socket"));
  }
}

void read_trusted_hosts(section& table, http_settings& target, error_collector& errors) {
  errors.assign(table.strings("hosts"), target.allowed_hosts);
  for (const auto& host : target.allowed_hosts) {
    if (uri::parse_host_port(host)) continue;
    errors.add(
        table.error_at("hosts", "\"" + host + "\" is not a host; expected \"name\", \"name:port\" or \"[IPv6 address]:port\""));
  }
  errors.assign(table.strings("origins"), target.allowed_origins);
  for (const auto& origin : target.allowed_origins) {
    if (uri::parse_origin(origin)) continue;
    errors.add(
        table.error_at("origins", "\"" + origin + "\" is not an origin; expected \"https://name\" or \"http://name:port\""));
  }
  errors.assign(table.strings("trusted_proxies"), target.trusted_proxies);
  errors.assign(table.boolean("without_authentication"), target.without_authentication);
}

void read_http_limits(section& table, http_settings& target, error_collector& errors) {
  read_size(table, "max_body", min_body_bytes, max_body_bytes, target.max_body_bytes, errors);
  read_size(table, "max_header", min_header_bytes, max_header_bytes, target.max_header_bytes, errors);
  errors.assign(table.integer("max_connections", 1, max_count), target.max_connections);
  errors.assign(table.integer("max_connections_per_address", 1, max_count), target.max_connections_per_address);
  errors.assign(table.integer("max_sessions", 1, max_count), target.max_sessions);
  errors.assign(table.integer("max_sessions_per_address", 1, max_count), target.max_sessions_per_address);
  errors.assign_time(table, "header_ms", target.header_timeout);
  errors.assign_time(table, "body_ms", target.body_timeout);
  errors.assign_time(table, "keep_alive_ms", target.keep_alive_timeout);
  errors.assign_time(table, "session_idle_ms", target.session_idle_timeout);
  errors.assign_time(table, "drain_ms", target.drain_timeout);
  errors.assign(table.integer("threads", 1, 256), target.threads);
}

}  // namespace

result<http_settings> read_http(section table) {
  http_settings http;
  error_collector errors;
  read_addresses(table, http, errors);
  read_trusted_hosts(table, http, errors);
  read_http_limits(table, http, errors);
  std::optional<section> tls;
  errors.assign(table.subsection("tls"), tls);
  if (tls) {
    auto parsed = read_tls(std::move(*tls));
    if (parsed) {
      http.tls = std::move(*parsed);
    } else {
      errors.add(std::move(parsed.error()));
    }
  }
  errors.check(table.finish());
  if (errors.first()) return tl::unexpected(std::move(*errors.first()));
  return http;
}

}  // namespace hondana::config
