/// Parses the URL of a Redis server, and reads its password.
#include "sources/analyses/cache/redis/redis_address.hpp"

#include <algorithm>
#include <charconv>
#include <optional>
#include <string_view>

#include <hondana/uri.hpp>

#include "os/disk/private_file.hpp"

namespace hondana::analyses {
namespace {

constexpr int max_database = 1'000'000;
constexpr std::size_t max_password_bytes = 4096;
constexpr std::size_t max_socket_path_bytes = 107;  // of a path in sockaddr_un
constexpr std::size_t max_prefix_bytes = 64;

tl::unexpected<failure> malformed_url(const std::string& reason) {
  return fail(errc::invalid_argument,
              "invalid Redis URL: " + reason +
                  "; expected redis://user@host:6379/0, rediss://… for TLS, or unix://user@/path/of/socket?db=0");
}

std::optional<int> parse_number(std::string_view text, int max) {
  int out = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), out);
  if (text.empty() || error != std::errc() || end != text.data() + text.size() || out < 0 || out > max) return std::nullopt;
  return out;
}

bool has_control_character(std::string_view text) {
  return std::any_of(text.begin(), text.end(), [](char c) { return static_cast<unsigned char>(c) <= 0x20 || c == 0x7f; });
}

/// Parses the part of a URL before the @. Errors: invalid_argument.
result<std::string> parse_user(std::string_view encoded) {
  if (encoded.find(':') != std::string_view::npos)
    return fail(errc::invalid_argument,
                "the Redis URL contains a password, which others can read there; remove it, change it, and put it into a file "
                "of mode 0600 or an environment variable");
  auto user = percent_decode(encoded);
  if (!user || user->empty() || has_control_character(*user)) return malformed_url("the user name is invalid");
  return std::move(*user);
}

result<redis_address> parse_unix_url(std::string_view input) {
  redis_address out;
  const auto authority = input.substr(0, input.find('/'));
  if (const auto at_sign = authority.rfind('@'); at_sign != std::string_view::npos) {
    HONDANA_TRY(auto user, parse_user(authority.substr(0, at_sign)));
    out.user = std::move(user);
    input.remove_prefix(at_sign + 1);
  }
  const auto query = std::min(input.find('?'), input.size());
  auto path = percent_decode(input.substr(0, query));
  if (!path || path->empty() || path->front() != '/' || path->find('\0') != std::string::npos)
    return malformed_url("the socket path must be absolute");
  if (path->size() > max_socket_path_bytes) return malformed_url("the socket path is longer than 107 bytes");
  if (query < input.size()) {
    const auto parameter = input.substr(query + 1);
    const auto database = parameter.starts_with("db=") ? parse_number(parameter.substr(3), max_database) : std::nullopt;
    if (!database) return malformed_url("only db=NUMBER may follow ?");
    out.database = *database;
  }
  out.socket_path = std::move(*path);
  out.display_name = "Redis at " + out.socket_path;
  return out;
}

}  // namespace

result<redis_address> parse_redis_url(const std::string& url) {
  if (has_control_character(url) || url.size() > 4096)
    return malformed_url("it contains spaces or control characters, or is longer than 4096 bytes");
  std::string_view remaining = url;
  if (remaining.starts_with("unix://")) return parse_unix_url(remaining.substr(7));
  redis_address out;
  out.uses_tls = remaining.starts_with("rediss://");
  if (!out.uses_tls && !remaining.starts_with("redis://"))
    return malformed_url("it must begin with redis://, rediss:// or unix://");
  remaining.remove_prefix(out.uses_tls ? 9 : 8);
  const auto slash = std::min(remaining.find_first_of("/?#"), remaining.size());
  auto authority = remaining.substr(0, slash);
  remaining.remove_prefix(slash);
  if (const auto at_sign = authority.rfind('@'); at_sign != std::string_view::npos) {
    HONDANA_TRY(auto user, parse_user(authority.substr(0, at_sign)));
    out.user = std::move(user);
    authority.remove_prefix(at_sign + 1);
  }
  if (authority.starts_with('[')) {
    const auto close = authority.find(']');
    if (close == std::string_view::npos) return malformed_url("a bracket is not closed");
    out.host = authority.substr(1, close - 1);
    authority.remove_prefix(close + 1);
  } else {
    const auto colon = std::min(authority.find(':'), authority.size());
    out.host = authority.substr(0, colon);
    authority.remove_prefix(colon);
  }
  if (out.host.empty() || out.host.find('%') != std::string::npos) return malformed_url("the host is missing or contains %");
  if (!authority.empty()) {
    const auto port = authority.front() == ':' ? parse_number(authority.substr(1), 65'535) : std::nullopt;
    if (!port || *port == 0) return malformed_url("the port must be a number from 1 to 65535");
    out.port = static_cast<std::uint16_t>(*port);
  }
  if (!remaining.empty() && remaining != "/") {
    const auto database = remaining.front() == '/' ? parse_number(remaining.substr(1), max_database) : std::nullopt;
    if (!database) return malformed_url("only /NUMBER, the database, may follow the host");
    out.database = *database;
  }
  out.display_name = "Redis at " + (out.host.find(':') == std::string::npos ? out.host : '[' + out.host + ']') + ':' +
                     std::to_string(out.port);
  return out;
}

result<std::string> read_redis_password(const std::string& file, const std::string& variable) {
  if (!file.empty() && !variable.empty())
    return fail(errc::invalid_argument,
                "the Redis password is set twice, by a file and by an environment variable; remove one of the two");
  if (!variable.empty()) {
    const char* const password = std::getenv(variable.c_str());
    if (password == nullptr || *password == '\0')
      return fail(errc::invalid_argument, "the environment variable " + variable + ", for the Redis password, is not set");
    return std::string(password);
  }
  if (file.empty()) return std::string();
  HONDANA_TRY(auto content, disk::read_private(file, max_password_bytes));
  auto out = std::move(content.bytes);
  if (out.ends_with('\n')) out.pop_back();
  if (out.ends_with('\r')) out.pop_back();
  if (out.empty()) return fail(errc::invalid_argument, "the Redis password file is empty: " + file);
  return out;
}

result<void> validate(const redis_options& options) {
  HONDANA_TRY(parse_redis_url(options.url));
  const bool is_valid_prefix = !options.prefix.empty() && options.prefix.size() <= max_prefix_bytes &&
                               std::all_of(options.prefix.begin(), options.prefix.end(), [](char c) {
                                 return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
                                        c == '-' || c == '_' || c == '.' || c == ':';
                               });
  if (!is_valid_prefix)
    return fail(errc::invalid_argument, "the prefix of keys in Redis must be 1 to 64 letters, digits and - _ . :");
  if (options.timeout < milliseconds(100) || options.timeout > std::chrono::minutes(5))
    return fail(errc::invalid_argument, "the timeout of Redis must be from 100 ms to 5 minutes");
  if (options.certificate_file.empty() != options.key_file.empty())
    return fail(errc::invalid_argument, "a client certificate for Redis and its key must be set together");
  return {};
}

}  // namespace hondana::analyses
