/// Header fields of HTTP answers: status, media type, Retry-After, WWW-Authenticate.
#include "transport/http_client/response_head.hpp"

#include <algorithm>
#include <charconv>
#include <optional>
#include <utility>

#include "base/ascii/ascii.hpp"
#include "base/json/reader.hpp"
#include "transport/http_client/curl.hpp"

namespace hondana::transport::http_client {
namespace {

/// "HTTP/1.1 200 OK" → 200, "HTTP/2 200" → 200; 0 for anything else.
int status_in(std::string_view line) noexcept {
  const auto space = line.find(' ');
  if (space == std::string_view::npos) return 0;
  const auto digits = line.substr(space + 1, 3);
  int status = 0;
  const auto read = std::from_chars(digits.data(), digits.data() + digits.size(), status);
  return read.ec == std::errc() && status >= 100 ? status : 0;
}

}  // namespace

std::string response_head::media_type() const {
  return ascii::in_lower_case(trimmed(std::string_view(content_type).substr(0, content_type.find(';'))));
}

std::string response_head::charset() const {
  std::string_view rest = content_type;
  for (auto at = rest.find(';'); at != std::string_view::npos; at = rest.find(';')) {
    rest.remove_prefix(at + 1);
    const auto parameter = trimmed(rest.substr(0, rest.find(';')));
    const auto equals = parameter.find('=');
    if (equals == std::string_view::npos || !ascii::is_same(trimmed(parameter.substr(0, equals)), "charset")) continue;
    auto value = trimmed(parameter.substr(equals + 1));
    if (value.size() >= 2 && value.front() == '"' && value.back() == '"') value = value.substr(1, value.size() - 2);
    return ascii::in_lower_case(value);
  }
  return {};
}

head_reader::state head_reader::take(std::string_view line) {
  bytes_ += line.size();
  if (bytes_ > max_head_bytes) return state::too_long;
  if (is_complete_) return state::complete;
  line = trimmed(line);
  if (line.starts_with("HTTP/")) {
    head_ = {};
    head_.status = status_in(line);
    return state::reading;
  }
  if (line.empty()) {
    // Another header follows an informational answer (1xx).
    is_complete_ = head_.status >= 200 || head_.status == 101;
    return is_complete_ ? state::complete : state::reading;
  }
  const auto colon = line.find(':');
  if (colon == std::string_view::npos) return state::reading;
  const auto name = line.substr(0, colon);
  const auto value = trimmed(line.substr(colon + 1));
  if (ascii::is_same(name, "content-type")) {
    head_.content_type = value;
  } else if (ascii::is_same(name, "content-encoding")) {
    head_.content_encoding = ascii::in_lower_case(value);
  } else if (ascii::is_same(name, "content-range")) {
    head_.content_range = value;
  } else if (ascii::is_same(name, "date")) {
    head_.date = value;
  } else if (ascii::is_same(name, "location")) {
    head_.location = value;
  } else if (ascii::is_same(name, "mcp-session-id")) {
    head_.session_id.emplace(value);
  } else if (ascii::is_same(name, "retry-after")) {
    head_.retry_after = value;
  } else if (ascii::is_same(name, "cache-control")) {
    head_.cache_control += head_.cache_control.empty() ? "" : ",";
    head_.cache_control += value;
  } else if (ascii::is_same(name, "www-authenticate")) {
    head_.challenges.emplace_back(value);
  }
  return state::reading;
}

std::string_view trimmed(std::string_view text) noexcept {
  while (!text.empty() && (text.front() == ' ' || text.front() == '\t')) text.remove_prefix(1);
  while (!text.empty() && (text.back() == ' ' || text.back() == '\t' || text.back() == '\r' || text.back() == '\n'))
    text.remove_suffix(1);
  return text;
}

bool is_field_name(std::string_view text) noexcept {
  constexpr std::string_view others = "!#$%&'*+-.^_`|~";
  return !text.empty() && std::all_of(text.begin(), text.end(), [&](char c) {
    return (c >= '0' && c <= '9') || ascii::is_letter(c) || others.find(c) != std::string_view::npos;
  });
}

bool is_field_value(std::string_view text) noexcept {
  return std::all_of(text.begin(), text.end(), [](char c) {
    const auto octet = static_cast<unsigned char>(c);
    return c == '\t' || (octet >= 0x20 && octet != 0x7f);
  });
}

bool is_session_id(std::string_view text) noexcept {
  return !text.empty() && text.size() <= max_session_id_bytes &&
         std::all_of(text.begin(), text.end(), [](char c) { return c >= 0x21 && c <= 0x7e; });
}

std::optional<std::chrono::seconds> max_age_in(std::string_view cache_control) {
  constexpr std::int64_t longest = 365 * 86'400;
  std::optional<std::chrono::seconds> out;
  while (!cache_control.empty()) {
    const auto comma = cache_control.find(',');
    const auto one = trimmed(cache_control.substr(0, comma));
    cache_control = comma == std::string_view::npos ? std::string_view() : cache_control.substr(comma + 1);
    if (ascii::is_same(one, "no-store") || ascii::is_same(one, "no-cache")) return std::chrono::seconds(0);
    const auto equals = one.find('=');
    if (equals == std::string_view::npos || !ascii::is_same(one.substr(0, equals), "max-age")) continue;
    const auto digits = one.substr(equals + 1);
    std::int64_t seconds = 0;
    const auto read = std::from_chars(digits.data(), digits.data() + digits.size(), seconds);
    if (read.ec == std::errc::result_out_of_range) seconds = longest;
    if (read.ec == std::errc::invalid_argument || seconds < 0) continue;
    out = std::chrono::seconds(std::min(seconds, longest));
  }
  return out;
}

std::optional<std::chrono::milliseconds> parse_retry_after(std::string_view text, std::chrono::system_clock::time_point now) {
  constexpr std::chrono::seconds most{86'400};
  if (text.empty() || text.size() > 64) return std::nullopt;
  if (std::all_of(text.begin(), text.end(), [](char c) { return c >= '0' && c <= '9'; })) {
    std::int64_t seconds = 0;
    const auto read = std::from_chars(text.data(), text.data() + text.size(), seconds);
    return read.ec == std::errc() ? std::min(most, std::chrono::seconds(seconds)) : most;
  }
  if (!loaded_curl()) return std::nullopt;
  const auto then = curl().getdate(std::string(text).c_str(), nullptr);
  if (then < 0) return std::nullopt;
  // In seconds, because a far date would overflow the unit of the clock.
  const std::chrono::seconds left(then - std::chrono::system_clock::to_time_t(now));
  return std::clamp(left, std::chrono::seconds(0), most);
}

namespace {

constexpr std::size_t most_challenges = 32;
constexpr std::size_t most_parameters = 32;

/// Parses a header field from left to right.
class field_cursor {
 public:
  explicit field_cursor(std::string_view text) : rest_(text) {}

  [[nodiscard]] bool is_at_end() const noexcept { return rest_.empty(); }
  [[nodiscard]] bool is_at(char c) const noexcept { return rest_.starts_with(c); }

  bool skip_spaces() noexcept {
    const auto before = rest_.size();
    while (is_at(' ') || is_at('\t')) rest_.remove_prefix(1);
    return rest_.size() != before;
  }
  bool skip(char c) noexcept {
    if (!is_at(c)) return false;
    rest_.remove_prefix(1);
    return true;
  }
  /// A token; empty if there is none.
  std::string_view token() noexcept {
    std::size_t size = 0;
    while (size < rest_.size() && is_field_name(rest_.substr(size, 1))) ++size;
    const auto out = rest_.substr(0, size);
    rest_.remove_prefix(size);
    return out;
  }
  /// The contents of a quoted string; empty optional if it has no end.
  std::optional<std::string> quoted() {
    if (!skip('"')) return std::nullopt;
    std::string out;
    while (!rest_.empty()) {
      if (skip('"')) return out;
      if (is_at('\\') && rest_.size() > 1) rest_.remove_prefix(1);
      out += rest_.front();
      rest_.remove_prefix(1);
    }
    return std::nullopt;
  }
  /// `= value` after a name. Otherwise empty, and the cursor does not move.
  std::optional<std::string> value() {
    const auto before = rest_;
    skip_spaces();
    if (skip('=')) {
      skip_spaces();
      if (is_at('"')) return quoted();
      if (const auto plain = token(); !plain.empty()) return std::string(plain);
    }
    rest_ = before;
    return std::nullopt;
  }
  void skip_to_comma() {
    while (!rest_.empty() && !is_at(',')) {
      if (is_at('"')) {
        static_cast<void>(quoted());
      } else {
        rest_.remove_prefix(1);
      }
    }
  }

 private:
  std::string_view rest_;
};

void read_field(std::string_view field, std::vector<auth_challenge>& into) {
  field_cursor at(field);
  bool is_inside = false;  // parameters belong to the last challenge
  while (!at.is_at_end()) {
    at.skip_spaces();
    if (at.skip(',')) continue;
    auto name = at.token();
    auto value = name.empty() ? std::nullopt : at.value();
    if (!name.empty() && !value) {
      if (into.size() >= most_challenges) return;
      into.push_back({ascii::in_lower_case(name), {}});
      is_inside = true;
      if (!at.skip_spaces() || at.is_at(',')) continue;
      name = at.token();
      value = name.empty() ? std::nullopt : at.value();
    }
    if (value && is_inside && into.back().parameters.size() < most_parameters)
      into.back().parameters.emplace_back(ascii::in_lower_case(name), std::move(*value));
    // This also skips a token68, which no supported scheme has.
    at.skip_to_comma();
  }
}

/// Removes the secret before truncating, so that no part of it remains.
std::string without(std::string_view said, std::string_view secret) {
  constexpr std::size_t longest_reason = 300;
  std::string out(said);
  for (auto at = secret.empty() ? std::string::npos : out.find(secret); at != std::string::npos; at = out.find(secret, at + 1))
    out.replace(at, secret.size(), "…");
  if (out.size() > longest_reason) out.resize(longest_reason);
  return out;
}

}  // namespace

std::string_view auth_challenge::parameter(std::string_view name) const noexcept {
  const auto found = std::find_if(parameters.begin(), parameters.end(), [name](const auto& one) { return one.first == name; });
  return found == parameters.end() ? std::string_view() : std::string_view(found->second);
}

std::vector<auth_challenge> challenges_in(const std::vector<std::string>& fields) {
  std::vector<auth_challenge> out;
  for (const auto& field : fields) read_field(field, out);
  return out;
}

bool wants_more_scopes(const std::vector<std::string>& fields) {
  const auto all = challenges_in(fields);
  return std::any_of(all.begin(), all.end(), [](const auth_challenge& one) {
    return one.scheme == "bearer" && one.parameter("error") == "insufficient_scope";
  });
}

std::string reason_in(const std::vector<std::string>& fields, std::string_view body, std::string_view secret) {
  for (const auto& one : challenges_in(fields)) {
    if (const auto said = one.parameter("error_description"); !said.empty()) return without(said, secret);
  }
  const auto parsed = json::document::parse(body);
  if (!parsed) return {};
  const auto whole = parsed->root().as_object("");
  const auto error = whole ? whole->find_object("error") : std::nullopt;
  if (!error || !*error) return {};
  const auto message = (*error)->find_string("message");
  return message && *message ? without(**message, secret) : std::string();
}

}  // namespace hondana::transport::http_client
