/// Decides where `hondana serve` listens: combines command line, configuration and socket activation.
#include "app/cli/listening.hpp"

#include <unistd.h>

#include <charconv>
#include <cstdlib>
#include <filesystem>
#include <string>
#include <string_view>
#include <utility>

#include <hondana/authenticator.hpp>

#include "base/uri/web_url.hpp"
#include "transport/http_server/forwarded.hpp"
#include "transport/http_server/listening_socket.hpp"
#include "transport/tls/tls_session.hpp"

namespace hondana::cli {
namespace {

constexpr int first_descriptor = 3;
constexpr int max_descriptors = 64;

std::string extract_variable(const char* name) {
  const char* value = std::getenv(name);
  std::string text = value == nullptr ? "" : value;
  ::unsetenv(name);
  return text;
}

/// -1 if the text is not a number.
long environment_number(std::string_view text) {
  long value = -1;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  return error == std::errc{} && end == text.data() + text.size() ? value : -1;
}

}  // namespace

result<inherited_sockets> adopt_inherited_sockets() {
  const auto pid = extract_variable("LISTEN_PID");
  const auto count_text = extract_variable("LISTEN_FDS");
  const auto names = extract_variable("LISTEN_FDNAMES");
  inherited_sockets out;
  // Variables left over from a parent process are for that process.
  if (environment_number(pid) != ::getpid() || count_text.empty()) return out;
  const auto count = environment_number(count_text);
  if (count < 0 || count > max_descriptors) {
    return fail(errc::invalid_argument, "Cannot take over sockets: LISTEN_FDS=" + count_text + " is not a number up to " +
                                            std::to_string(max_descriptors) +
                                            ". systemd, or the program that started hondana, sets it.");
  }
  std::string_view remaining = names;
  for (int i = 0; i < count; ++i) {
    const auto colon = remaining.find(':');
    const auto name = remaining.substr(0, colon);
    remaining = colon == std::string_view::npos ? std::string_view() : remaining.substr(colon + 1);
    if (name == "admin" && !out.admin_socket) {
      out.admin_socket = first_descriptor + i;
    } else {
      out.message_sockets.push_back(first_descriptor + i);
    }
  }
  return out;
}

http_options listening_options(const serve_command& command, const config::http_settings& configured,
                               const inherited_sockets& inherited) {
  http_options out;
  out.address = command.address.value_or(configured.address);
  out.port = command.port.value_or(configured.port);
  // A flag for TCP overrides a configured socket.
  const bool requests_tcp = command.address || command.port;
  if (!requests_tcp) out.socket_path = configured.socket_path;
  if (!command.socket_path.empty()) out.socket_path = command.socket_path;
  out.socket_mode = configured.socket_mode;
  out.socket_group = configured.socket_group;
  out.inherited_sockets = inherited.message_sockets;
  out.admin_address = command.admin_address.empty() ? configured.admin_address : std::optional(command.admin_address);
  out.inherited_admin_socket = inherited.admin_socket;
  out.allowed_hosts = configured.allowed_hosts;
  out.allowed_hosts.insert(out.allowed_hosts.end(), command.allowed_hosts.begin(), command.allowed_hosts.end());
  out.allowed_origins = configured.allowed_origins;
  out.allowed_origins.insert(out.allowed_origins.end(), command.allowed_origins.begin(), command.allowed_origins.end());
  out.trusted_proxies = configured.trusted_proxies;
  out.without_authentication = configured.without_authentication || command.without_authentication;
  out.tls = configured.tls;
  if (!command.tls_certificate_file.empty()) {
    if (!out.tls) out.tls.emplace();
    out.tls->certificate_file = command.tls_certificate_file;
    out.tls->key_file = command.tls_key_file;
  }
  out.max_body_bytes = configured.max_body_bytes;
  out.max_header_bytes = configured.max_header_bytes;
  out.max_connections = configured.max_connections;
  out.max_connections_per_address = configured.max_connections_per_address;
  out.max_sessions = configured.max_sessions;
  out.max_sessions_per_address = configured.max_sessions_per_address;
  out.header_timeout = configured.header_timeout;
  out.body_timeout = configured.body_timeout;
  out.keep_alive_timeout = configured.keep_alive_timeout;
  out.session_idle_timeout = configured.session_idle_timeout;
  out.threads = configured.threads;
  return out;
}

result<void> check_listening(const serve_command& command, const config::settings& configured) {
  const auto& http = configured.http;
  if (const auto proxies = transport::http_server::trusted_proxies::make(http.trusted_proxies); !proxies)
    return tl::unexpected(configured.error_at("http.trusted_proxies", proxies.error().public_text));
  if (http.socket_group) {
    if (const auto group = transport::http_server::find_group(*http.socket_group); !group)
      return tl::unexpected(configured.error_at("http.socket_group", group.error().public_text));
  }
  if (!http.tls || !command.tls_certificate_file.empty()) return {};
  const auto context = tls::context::make(*http.tls);
  if (context) return {};
  const auto& error = context.error();
  const auto* const key = error.subject == tls::client_authorities_role ? "client_ca_file"
                          : error.subject == tls::key_role              ? "key_file"
                                                                        : "certificate_file";
  return tl::unexpected(configured.error_at("http.tls." + std::string(key), error.public_text));
}

bool exposes_tokens(const http_options& http) {
  if (!http.authenticator || !http.authenticator->accepts_tokens() || http.tls) return false;
  // For proxies, Unix sockets and inherited sockets, this server cannot know whether the network path is encrypted.
  if (!http.inherited_sockets.empty() || http.socket_path || !http.trusted_proxies.empty()) return false;
  return !transport::http_server::is_loopback(http.address).value_or(true);
}

greeting_info make_greeting_info(const http_options& http, std::uint16_t port) {
  greeting_info out;
  if (!http.inherited_sockets.empty()) {
    out.is_inherited = true;
    return out;
  }
  if (http.socket_path) {
    // Users paste the path into commands that run in other folders.
    std::error_code error;
    const auto path = std::filesystem::absolute(*http.socket_path, error);
    out.socket_path = error ? *http.socket_path : path.lexically_normal().string();
    return out;
  }
  // Clients cannot connect to a wildcard address. Use the first host instead; it may include a proxy's port.
  const bool is_wildcard = http.address == "0.0.0.0" || http.address == "::";
  const bool is_ipv6 = http.address.find(':') != std::string::npos;
  auto host = is_wildcard && !http.allowed_hosts.empty() ? http.allowed_hosts.front()
              : is_ipv6                                  ? '[' + http.address + ']'
                                                         : http.address;
  const auto parsed = uri::parse_host_port(host);
  if (!parsed || !parsed->port) host += ':' + std::to_string(port);
  out.url = (http.tls ? "https://" : "http://") + host + "/mcp";
  return out;
}

}  // namespace hondana::cli
