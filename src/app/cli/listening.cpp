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
constexpr int most_descriptors = 64;

std::string take_variable(const char* name) {
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

result<inherited_sockets> take_inherited_sockets() {
  const auto pid = take_variable("LISTEN_PID");
  const auto count_text = take_variable("LISTEN_FDS");
  const auto names = take_variable("LISTEN_FDNAMES");
  inherited_sockets out;
  // Variables left over from a parent process are for that process.
  if (environment_number(pid) != ::getpid() || count_text.empty()) return out;
  const auto count = environment_number(count_text);
  if (count < 0 || count > most_descriptors) {
    return fail(errc::invalid_argument, "Cannot take over sockets: LISTEN_FDS=" + count_text + " is not a number up to " +
                                            std::to_string(most_descriptors) +
                                            ". systemd, or the program that started hondana, sets it.");
  }
  std::string_view rest = names;
  for (int i = 0; i < count; ++i) {
    const auto colon = rest.find(':');
    const auto name = rest.substr(0, colon);
    rest = colon == std::string_view::npos ? std::string_view() : rest.substr(colon + 1);
    if (name == "admin" && out.admin < 0) {
      out.admin = first_descriptor + i;
    } else {
      out.messages.push_back(first_descriptor + i);
    }
  }
  return out;
}

http_options listening_options(const serve_command& asked, const config::http_settings& configured,
                               const inherited_sockets& inherited) {
  http_options out;
  out.address = asked.address.value_or(configured.address);
  out.port = asked.port.value_or(configured.port);
  // A flag for TCP overrides a configured socket.
  const bool asks_for_tcp = asked.address || asked.port;
  out.socket = !asked.socket.empty() ? asked.socket : asks_for_tcp ? std::string() : configured.socket;
  out.socket_mode = configured.socket_mode;
  out.socket_group = configured.socket_group;
  out.inherited = inherited.messages;
  out.admin = asked.admin.empty() ? configured.admin : asked.admin;
  out.inherited_admin = inherited.admin;
  out.hosts = configured.hosts;
  out.hosts.insert(out.hosts.end(), asked.hosts.begin(), asked.hosts.end());
  out.origins = configured.origins;
  out.origins.insert(out.origins.end(), asked.origins.begin(), asked.origins.end());
  out.trusted_proxies = configured.trusted_proxies;
  out.without_authentication = configured.without_authentication || asked.without_authentication;
  out.tls = configured.tls;
  if (!asked.tls_certificate.empty()) {
    out.tls.certificate = asked.tls_certificate;
    out.tls.key = asked.tls_key;
  }
  out.max_body_bytes = configured.max_body;
  out.max_header_bytes = configured.max_header;
  out.max_connections = configured.max_connections;
  out.max_connections_per_address = configured.max_connections_per_address;
  out.max_sessions = configured.max_sessions;
  out.max_sessions_per_address = configured.max_sessions_per_address;
  out.header_time = configured.header_time;
  out.body_time = configured.body_time;
  out.keep_alive_time = configured.keep_alive;
  out.session_idle_time = configured.session_idle;
  out.threads = configured.threads;
  return out;
}

result<void> check_listening(const serve_command& asked, const config::settings& configured) {
  const auto& http = configured.http;
  if (const auto proxies = transport::http_server::trusted_proxies::make(http.trusted_proxies); !proxies)
    return tl::unexpected(configured.wrong("http.trusted_proxies", proxies.error().public_text));
  if (!http.socket_group.empty()) {
    if (const auto group = transport::http_server::group_named(http.socket_group); !group)
      return tl::unexpected(configured.wrong("http.socket_group", group.error().public_text));
  }
  if (http.tls == tls_options{} || !asked.tls_certificate.empty()) return {};
  const auto made = tls::context::make(http.tls);
  if (made) return {};
  const auto& why = made.error();
  const auto* const key = why.about == tls::client_authorities_role ? "client_authorities"
                          : why.about == tls::key_role              ? "key"
                                                                    : "certificate";
  return tl::unexpected(configured.wrong("http.tls." + std::string(key), why.public_text));
}

bool shows_tokens(const http_options& http) {
  if (!http.authenticator || !http.authenticator->takes_tokens() || !http.tls.certificate.empty()) return false;
  // For proxies, Unix sockets and inherited sockets, this server cannot know whether the network path is encrypted.
  if (!http.inherited.empty() || !http.socket.empty() || !http.trusted_proxies.empty()) return false;
  return !transport::http_server::is_loopback(http.address).value_or(true);
}

greeting_facts place_of(const http_options& http, std::uint16_t port) {
  greeting_facts out;
  if (!http.inherited.empty()) {
    out.is_inherited = true;
    return out;
  }
  if (!http.socket.empty()) {
    // Users paste the path into commands that run in other folders.
    std::error_code unknown;
    const auto whole = std::filesystem::absolute(http.socket, unknown);
    out.socket = unknown ? http.socket : whole.lexically_normal().string();
    return out;
  }
  // Clients cannot connect to a wildcard address. Use the first host instead; it may include a proxy's port.
  const bool is_any = http.address == "0.0.0.0" || http.address == "::";
  const bool is_ipv6 = http.address.find(':') != std::string::npos;
  auto host = is_any && !http.hosts.empty() ? http.hosts.front() : is_ipv6 ? '[' + http.address + ']' : http.address;
  const auto named = uri::parse_host_port(host);
  if (!named || !named->port) host += ':' + std::to_string(port);
  out.url = (http.tls.certificate.empty() ? "http://" : "https://") + host + "/mcp";
  return out;
}

}  // namespace hondana::cli
