/// The tables [http] and [http.tls]: addresses, limits and certificates of the HTTP server.
#include "sources/config/http_settings.hpp"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <sys/un.h>

#include <array>
#include <charconv>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "base/uri/web_url.hpp"
#include "sources/config/table_reader.hpp"

namespace hondana::config {
result<tls_options> read_tls(section table) {
  tls_options options;
  table_reader reader(table);
  reader.file("certificate_file", options.certificate_file, "PEM file");
  reader.file("key_file", options.key_file, "PEM file");
  reader.file("client_ca_file", options.client_ca_file, "PEM file");
  constexpr std::array<std::pair<std::string_view, bool>, 2> client_modes{{{"required", true}, {"optional", false}}};
  bool requires_client_certificate = true;
  reader.choice("client_certificates", client_modes, requires_client_certificate);
  if (table.has("client_certificates") && !options.client_ca_file)
    reader.add_error_at("client_certificates", "needs client_ca_file, a PEM file with the authorities that sign them");
  options.requires_client_certificate = options.client_ca_file && requires_client_certificate;
  if (options.certificate_file.empty() != options.key_file.empty() ||
      (options.certificate_file.empty() && options.client_ca_file))
    reader.add_error_at(options.certificate_file.empty() ? "certificate_file" : "key_file",
                        "missing; TLS needs certificate_file and key_file, the paths of PEM files");
  HONDANA_TRY(reader.finish());
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

/// Reads a file mode: three or four octal digits, which must give the owner access.
void read_mode(table_reader& reader, unsigned& target) {
  const auto text = reader.string("socket_mode");
  if (!text) return;
  const auto [end, error] = std::from_chars(text->data(), text->data() + text->size(), target, 8);
  const bool is_mode = error == std::errc() && end == text->data() + text->size() && text->size() >= 3 && target <= 0777;
  if (!is_mode || (target & 0600) != 0600)
    reader.add_error_at("socket_mode", "expected a mode with read and write access for the owner, such as \"0660\"");
}

void read_addresses(table_reader& reader, http_settings& target) {
  reader.string("address", target.address);
  if (!is_ip_literal(target.address))
    reader.add_error_at("address", "expected a literal address, such as \"127.0.0.1\" or \"::1\"");
  reader.integer("port", 0, 65535, target.port);
  if (const auto socket = reader.string("socket")) {
    target.socket_path = reader.resolve_path(*socket);
    if (socket->empty() || !is_socket_path(*target.socket_path))
      reader.add_error_at("socket", "expected a path of at most " + std::to_string(max_socket_path_bytes) + " bytes");
  }
  read_mode(reader, target.socket_mode);
  reader.text("socket_group", target.socket_group);
  reader.text("admin", target.admin_address);
  if (target.admin_address && !(target.admin_address->starts_with('/') ? is_socket_path(*target.admin_address)
                                                                       : is_ip_literal_with_port(*target.admin_address))) {
    reader.add_error_at("admin",
                        "expected a literal address with a port, such as \"127.0.0.1:7326\", or the absolute path of a Unix "
                        "socket");
  }
}

void read_trusted_hosts(table_reader& reader, http_settings& target) {
  reader.strings("hosts", target.allowed_hosts);
  for (const auto& host : target.allowed_hosts) {
    if (uri::parse_host_port(host)) continue;
    reader.add_error_at("hosts", "\"" + host + "\" is not a host; expected \"name\", \"name:port\" or \"[IPv6 address]:port\"");
  }
  reader.strings("origins", target.allowed_origins);
  for (const auto& origin : target.allowed_origins) {
    if (uri::parse_origin(origin)) continue;
    reader.add_error_at("origins", "\"" + origin + "\" is not an origin; expected \"https://name\" or \"http://name:port\"");
  }
  reader.strings("trusted_proxies", target.trusted_proxies);
  reader.boolean("without_authentication", target.without_authentication);
}

void read_http_limits(table_reader& reader, http_settings& target) {
  reader.bytes("max_body_bytes", min_body_bytes, max_body_bytes, target.max_body_bytes);
  reader.bytes("max_header_bytes", min_header_bytes, max_header_bytes, target.max_header_bytes);
  reader.integer("max_connections", 1, max_count, target.max_connections);
  reader.integer("max_connections_per_address", 1, max_count, target.max_connections_per_address);
  reader.integer("max_sessions", 1, max_count, target.max_sessions);
  reader.integer("max_sessions_per_address", 1, max_count, target.max_sessions_per_address);
  reader.milliseconds("header_timeout_ms", target.header_timeout);
  reader.milliseconds("body_timeout_ms", target.body_timeout);
  reader.milliseconds("keep_alive_timeout_ms", target.keep_alive_timeout);
  reader.milliseconds("session_idle_timeout_ms", target.session_idle_timeout);
  reader.milliseconds("drain_timeout_ms", target.drain_timeout);
  reader.integer("threads", 1, 256, target.threads);
}

}  // namespace

result<http_settings> read_http(section table) {
  http_settings http;
  table_reader reader(table);
  read_addresses(reader, http);
  read_trusted_hosts(reader, http);
  read_http_limits(reader, http);
  reader.subtable("tls", read_tls, http.tls);
  HONDANA_TRY(reader.finish());
  return http;
}

}  // namespace hondana::config
