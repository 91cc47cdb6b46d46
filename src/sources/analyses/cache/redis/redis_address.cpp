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

constexpr int highest_database = 1'000'000;
constexpr std::size_t longest_password = 4096;
constexpr std::size_t longest_socket = 107;  // of a path in sockaddr_un
constexpr std::size_t longest_prefix = 64;

tl::unexpected<failure> malformed_url(const std::string& why) {
  return fail(errc::invalid_argument,
              "invalid Redis URL: " + why +
                  "; expected redis://user@host:6379/0, rediss://… for TLS, or unix://user@/path/of/socket?db=0");
}

std::optional<int> whole_number(std::string_view text, int most) {
  int out = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), out);
  if (text.empty() || error != std::errc() || end != text.data() + text.size() || out < 0 || out > most) return std::nullopt;
  return out;
}

bool has_control(std::string_view text) {
  return std::any_of(text.begin(), text.end(), [](char c) { return static_cast<unsigned char>(c) <= 0x20 || c == 0x7f; });
}

/// Parses the part of a URL before the @. Errors: invalid_argument.
result<std::string> user_in(std::string_view who) {
  if (who.find(':') != std::string_view::npos)
    return fail(errc::invalid_argument,
                "the Redis URL contains a password, which others can read there; remove it, change it, and put it into a file "
                "of mode 0600 or an environment variable");
  auto user = percent_decode(who);
  if (!user || user->empty() || has_control(*user)) return malformed_url("the user name is invalid");
  return std::move(*user);
}

result<redis_address> socket_address(std::string_view rest) {
  redis_address out;
  const auto authority = rest.substr(0, rest.find('/'));
  if (const auto at = authority.rfind('@'); at != std::string_view::npos) {
    HONDANA_TRY(auto user, user_in(authority.substr(0, at)));
    out.user = std::move(user);
    rest.remove_prefix(at + 1);
  }
  const auto query = std::min(rest.find('?'), rest.size());
  auto path = percent_decode(rest.substr(0, query));
  if (!path || path->empty() || path->front() != '/' || path->find('\0') != std::string::npos)
    return malformed_url("the socket path must be absolute");
  if (path->size() > longest_socket) return malformed_url("the socket path is longer than 107 bytes");
  if (query < rest.size()) {
    const auto words = rest.substr(query + 1);
    const auto database = words.starts_with("db=") ? whole_number(words.substr(3), highest_database) : std::nullopt;
    if (!database) return malformed_url("only db=NUMBER may follow ?");
    out.database = *database;
  }
  out.socket = std::move(*path);
  out.name = "Redis at " + out.socket;
  return out;
}

}  // namespace

result<redis_address> redis_address_of(const std::string& url) {
  if (has_control(url) || url.size() > 4096)
    return malformed_url("it contains spaces or control characters, or is longer than 4096 bytes");
  std::string_view rest = url;
  if (rest.starts_with("unix://")) return socket_address(rest.substr(7));
  redis_address out;
  out.is_tls = rest.starts_with("rediss://");
  if (!out.is_tls && !rest.starts_with("redis://")) return malformed_url("it must begin with redis://, rediss:// or unix://");
  rest.remove_prefix(out.is_tls ? 9 : 8);
  const auto slash = std::min(rest.find_first_of("/?#"), rest.size());
  auto authority = rest.substr(0, slash);
  rest.remove_prefix(slash);
  if (const auto at = authority.rfind('@'); at != std::string_view::npos) {
    HONDANA_TRY(auto user, user_in(authority.substr(0, at)));
    out.user = std::move(user);
    authority.remove_prefix(at + 1);
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
    const auto port = authority.front() == ':' ? whole_number(authority.substr(1), 65'535) : std::nullopt;
    if (!port || *port == 0) return malformed_url("the port must be a number from 1 to 65535");
    out.port = static_cast<std::uint16_t>(*port);
  }
  if (!rest.empty() && rest != "/") {
    const auto database = rest.front() == '/' ? whole_number(rest.substr(1), highest_database) : std::nullopt;
    if (!database) return malformed_url("only /NUMBER, the database, may follow the host");
    out.database = *database;
  }
  out.name = "Redis at " + (out.host.find(':') == std::string::npos ? out.host : '[' + out.host + ']') + ':' +
             std::to_string(out.port);
  return out;
}

result<std::string> redis_password(const std::string& file, const std::string& variable) {
  if (!file.empty() && !variable.empty())
    return fail(errc::invalid_argument,
                "the Redis password is set twice, by a file and by an environment variable; remove one of the two");
  if (!variable.empty()) {
    const char* const found = std::getenv(variable.c_str());
    if (found == nullptr || *found == '\0')
      return fail(errc::invalid_argument, "the environment variable " + variable + ", for the Redis password, is not set");
    return std::string(found);
  }
  if (file.empty()) return std::string();
  HONDANA_TRY(auto read, disk::read_private(file, longest_password));
  auto out = std::move(read.bytes);
  if (out.ends_with('\n')) out.pop_back();
  if (out.ends_with('\r')) out.pop_back();
  if (out.empty()) return fail(errc::invalid_argument, "the Redis password file is empty: " + file);
  return out;
}

result<void> check(const redis_options& what) {
  HONDANA_TRY(redis_address_of(what.url));
  const bool is_plain = !what.prefix.empty() && what.prefix.size() <= longest_prefix &&
                        std::all_of(what.prefix.begin(), what.prefix.end(), [](char c) {
                          return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '-' ||
                                 c == '_' || c == '.' || c == ':';
                        });
  if (!is_plain) return fail(errc::invalid_argument, "the prefix of keys in Redis must be 1 to 64 letters, digits and - _ . :");
  if (what.patience < milliseconds(100) || what.patience > std::chrono::minutes(5))
    return fail(errc::invalid_argument, "the timeout of Redis must be from 100 ms to 5 minutes");
  if (what.certificate.empty() != what.key.empty())
    return fail(errc::invalid_argument, "a client certificate for Redis and its key must be set together");
  return {};
}

}  // namespace hondana::analyses
