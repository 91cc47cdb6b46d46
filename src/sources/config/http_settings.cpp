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
namespace {

void read_path(section& from, std::string_view key, std::string& into, collector& errors) {
  std::optional<std::string> path;
  errors.take(from.string(key), path);
  if (!path) return;
  if (path->empty() || path->find('\0') != std::string::npos)
    return errors.note(from.wrong(key, "expected the path of a PEM file"));
  into = from.path_from(*path);
}

}  // namespace

result<tls_options> read_tls(section from) {
  tls_options made;
  collector errors;
  read_path(from, "certificate", made.certificate, errors);
  read_path(from, "key", made.key, errors);
  read_path(from, "client_authorities", made.client_authorities, errors);
  std::optional<std::string> clients;
  errors.take(from.string("client_certificates"), clients);
  if (clients && *clients != "required" && *clients != "asked")
    errors.note(from.wrong("client_certificates", "expected \"required\" or \"asked\""));
  if (clients && made.client_authorities.empty())
    errors.note(from.wrong("client_certificates", "needs client_authorities, a PEM file with the authorities that sign them"));
  made.needs_client_certificate = !made.client_authorities.empty() && clients != "asked";
  if (made.certificate.empty() != made.key.empty() || (made.certificate.empty() && !made.client_authorities.empty()))
    errors.note(from.wrong(made.certificate.empty() ? "certificate" : "key",
                           "missing; TLS needs certificate and key, the paths of PEM files"));
  errors.check(from.finish());
  if (errors.first()) return tl::unexpected(std::move(*errors.first()));
  return made;
}

namespace {

constexpr std::size_t longest_socket_path = sizeof(sockaddr_un::sun_path) - 1;
constexpr std::size_t least_body = 1024;
constexpr std::size_t most_body = 1u << 30;
constexpr std::size_t least_header = 1024;
constexpr std::size_t most_header = 1u << 20;
constexpr std::int64_t most_connections = 1'000'000;

bool is_literal(const std::string& address) {
  in6_addr bytes{};
  if (address.find('\0') != std::string::npos) return false;
  return ::inet_pton(AF_INET, address.c_str(), &bytes) == 1 || ::inet_pton(AF_INET6, address.c_str(), &bytes) == 1;
}

/// Requires a port, and an address instead of a host name.
bool is_literal_with_port(const std::string& text) {
  const auto where = uri::parse_host_port(text);
  if (!where || !where->port) return false;
  const auto& host = where->host;
  return is_literal(host.starts_with('[') ? host.substr(1, host.size() - 2) : host);
}

bool is_socket_path(const std::string& path) {
  return !path.empty() && path.size() <= longest_socket_path && path.find('\0') == std::string::npos;
}

void take_strings(section& from, std::string_view key, std::vector<std::string>& into, collector& errors) {
  auto all = from.strings(key);
  if (!all) return errors.note(std::move(all.error()));
  into = std::move(*all);
}

void take_size(section& from, std::string_view key, std::size_t low, std::size_t high, std::size_t& into, collector& errors) {
  std::optional<std::size_t> size;
  errors.take(from.bytes(key), size);
  if (!size) return;
  if (*size < low || *size > high) {
    return errors.note(from.wrong(key, "expected " + std::to_string(low) + " to " + std::to_string(high) + " bytes"));
  }
  into = *size;
}

/// Reads a file mode: three or four octal digits, which must give the owner access.
void read_mode(section& from, unsigned& into, collector& errors) {
  std::optional<std::string> text;
  errors.take(from.string("socket_mode"), text);
  if (!text) return;
  const auto [end, error] = std::from_chars(text->data(), text->data() + text->size(), into, 8);
  const bool is_mode = error == std::errc() && end == text->data() + text->size() && text->size() >= 3 && into <= 0777;
  if (!is_mode || (into & 0600) != 0600)
    errors.note(from.wrong("socket_mode", "expected a mode with read and write access for the owner, such as \"0660\""));
}

void read_places(section& from, http_settings& into, collector& errors) {
  errors.take(from.string("address"), into.address);
  if (!is_literal(into.address)) {
    errors.note(from.wrong("address", "expected a literal address, such as \"127.0.0.1\" or \"::1\""));
  }
  errors.take(from.integer("port", 0, 65535), into.port);
  std::optional<std::string> socket;
  errors.take(from.string("socket"), socket);
  if (socket) {
    into.socket = from.path_from(*socket);
    if (socket->empty() || !is_socket_path(into.socket)) {
      errors.note(from.wrong("socket", "expected a path of at most " + std::to_string(longest_socket_path) + " bytes"));
    }
  }
  read_mode(from, into.socket_mode, errors);
  errors.take(from.string("socket_group"), into.socket_group);
  errors.take(from.string("admin"), into.admin);
  if (!into.admin.empty() && !(into.admin.front() == '/' ? is_socket_path(into.admin) : is_literal_with_port(into.admin))) {
    errors.note(from.wrong("admin",
                           "expected a literal address with a port, such as \"127.0.0.1:7326\", or the absolute path of a Unix "
                           "socket"));
  }
}

void read_guests(section& from, http_settings& into, collector& errors) {
  take_strings(from, "hosts", into.hosts, errors);
  for (const auto& one : into.hosts) {
    if (uri::parse_host_port(one)) continue;
    errors.note(
        from.wrong("hosts", "\"" + one + "\" is not a host; expected \"name\", \"name:port\" or \"[IPv6 address]:port\""));
  }
  take_strings(from, "origins", into.origins, errors);
  for (const auto& one : into.origins) {
    if (uri::parse_origin(one)) continue;
    errors.note(from.wrong("origins", "\"" + one + "\" is not an origin; expected \"https://name\" or \"http://name:port\""));
  }
  take_strings(from, "trusted_proxies", into.trusted_proxies, errors);
  errors.take(from.boolean("without_authentication"), into.without_authentication);
}

void read_bounds(section& from, http_settings& into, collector& errors) {
  take_size(from, "max_body", least_body, most_body, into.max_body, errors);
  take_size(from, "max_header", least_header, most_header, into.max_header, errors);
  errors.take(from.integer("max_connections", 1, most_connections), into.max_connections);
  errors.take(from.integer("max_connections_per_address", 1, most_connections), into.max_connections_per_address);
  errors.take(from.integer("max_sessions", 1, most_connections), into.max_sessions);
  errors.take(from.integer("max_sessions_per_address", 1, most_connections), into.max_sessions_per_address);
  errors.take_time(from, "header_ms", into.header_time);
  errors.take_time(from, "body_ms", into.body_time);
  errors.take_time(from, "keep_alive_ms", into.keep_alive);
  errors.take_time(from, "session_idle_ms", into.session_idle);
  errors.take_time(from, "drain_ms", into.drain_time);
  errors.take(from.integer("threads", 1, 256), into.threads);
}

}  // namespace

result<http_settings> read_http(section from) {
  http_settings made;
  collector errors;
  read_places(from, made, errors);
  read_guests(from, made, errors);
  read_bounds(from, made, errors);
  std::optional<section> tls;
  errors.take(from.subsection("tls"), tls);
  if (tls) {
    auto read = read_tls(std::move(*tls));
    if (read) {
      made.tls = std::move(*read);
    } else {
      errors.note(std::move(read.error()));
    }
  }
  errors.check(from.finish());
  if (errors.first()) return tl::unexpected(std::move(*errors.first()));
  return made;
}

}  // namespace hondana::config
