/// Parses the headers of HTTP answers: status, media type, Retry-After, WWW-Authenticate and others.
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
int parse_status(std::string_view line) noexcept {
  const auto space = line.find(' ');
  if (space == std::string_view::npos) return 0;
  const auto digits = line.substr(space + 1, 3);
  int status = 0;
  const auto parsed = std::from_chars(digits.data(), digits.data() + digits.size(), status);
  return parsed.ec == std::errc() && status >= 100 ? status : 0;
}

}  // namespace

std::string response_head::media_type() const {
  return ascii::to_lower(trimmed(std::string_view(content_type).substr(0, content_type.find(';'))));
}

std::string response_head::charset() const {
  std::string_view remaining = content_type;
  for (auto semicolon = remaining.find(';'); semicolon != std::string_view::npos; semicolon = remaining.find(';')) {
    remaining.remove_prefix(semicolon + 1);
    const auto parameter = trimmed(remaining.substr(0, remaining.find(';')));
    const auto equals = parameter.find('=');
    if (equals == std::string_view::npos || !ascii::equals_ignore_case(trimmed(parameter.substr(0, equals)), "charset"))
      continue;
    auto value = trimmed(parameter.substr(equals + 1));
    if (value.size() >= 2 && value.front() == '"' && value.back() == '"') value = value.substr(1, value.size() - 2);
    return ascii::to_lower(value);
  }
  return {};
}

head_reader::state head_reader::feed(std::string_view line) {
  bytes_ += line.size();
  if (is_too_long()) return state::too_long;
  if (is_complete_) return state::complete;
  line = trimmed(line);
  if (line.starts_with("HTTP/")) {
    head_ = {};
    head_.status = parse_status(line);
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
  if (ascii::equals_ignore_case(name, "content-type")) {
    head_.content_type = value;
  } else if (ascii::equals_ignore_case(name, "content-encoding")) {
    head_.content_encoding = ascii::to_lower(value);
  } else if (ascii::equals_ignore_case(name, "content-range")) {
    head_.content_range = value;
  } else if (ascii::equals_ignore_case(name, "date")) {
    head_.date = value;
  } else if (ascii::equals_ignore_case(name, "location")) {
    head_.location = value;
  } else if (ascii::equals_ignore_case(name, "mcp-session-id")) {
    head_.session_id.emplace(value);
  } else if (ascii::equals_ignore_case(name, "retry-after")) {
    head_.retry_after = value;
  } else if (ascii::equals_ignore_case(name, "cache-control")) {
    head_.cache_control += head_.cache_control.empty() ? "" : ",";
    head_.cache_control += value;
  } else if (ascii::equals_ignore_case(name, "www-authenticate")) {
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
  constexpr std::string_view punctuation = "!#$%&'*+-.^_`|~";
  return !text.empty() && std::all_of(text.begin(), text.end(), [&](char c) {
    return (c >= '0' && c <= '9') || ascii::is_letter(c) || punctuation.find(c) != std::string_view::npos;
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

std::optional<std::chrono::seconds> parse_max_age(std::string_view cache_control) {
  constexpr std::int64_t max_seconds = 365 * 86'400;
  std::optional<std::chrono::seconds> out;
  while (!cache_control.empty()) {
    const auto comma = cache_control.find(',');
    const auto directive = trimmed(cache_control.substr(0, comma));
    cache_control = comma == std::string_view::npos ? std::string_view() : cache_control.substr(comma + 1);
    if (ascii::equals_ignore_case(directive, "no-store") || ascii::equals_ignore_case(directive, "no-cache"))
      return std::chrono::seconds(0);
    const auto equals = directive.find('=');
    if (equals == std::string_view::npos || !ascii::equals_ignore_case(directive.substr(0, equals), "max-age")) continue;
    const auto digits = directive.substr(equals + 1);
    std::int64_t seconds = 0;
    const auto parsed = std::from_chars(digits.data(), digits.data() + digits.size(), seconds);
    if (parsed.ec == std::errc::result_out_of_range) seconds = max_seconds;
    if (parsed.ec == std::errc::invalid_argument || seconds < 0) continue;
    out = std::chrono::seconds(std::min(seconds, max_seconds));
  }
  return out;
}

std::optional<std::chrono::milliseconds> parse_retry_after(std::string_view text, std::chrono::system_clock::time_point now) {
  constexpr std::chrono::seconds max_delay{86'400};
  if (text.empty() || text.size() > 64) return std::nullopt;
  if (std::all_of(text.begin(), text.end(), [](char c) { return c >= '0' && c <= '9'; })) {
    std::int64_t seconds = 0;
    const auto parsed = std::from_chars(text.data(), text.data() + text.size(), seconds);
    return parsed.ec == std::errc() ? std::min(max_delay, std::chrono::seconds(seconds)) : max_delay;
  }
  if (!loaded_curl()) return std::nullopt;
  const auto date = curl().getdate(std::string(text).c_str(), nullptr);
  if (date < 0) return std::nullopt;
  // In seconds, because a far date would overflow the unit of the clock.
  const std::chrono::seconds delay(date - std::chrono::system_clock::to_time_t(now));
  return std::clamp(delay, std::chrono::seconds(0), max_delay);
}

namespace {

constexpr std::size_t max_challenges = 32;
constexpr std::size_t max_parameters = 32;

/// Parses a header field from left to right.
class field_cursor {
 public:
  explicit field_cursor(std::string_view text) : remaining_(text) {}

  [[nodiscard]] bool is_at_end() const noexcept { return remaining_.empty(); }
  [[nodiscard]] bool is_at(char c) const noexcept { return remaining_.starts_with(c); }

  bool skip_spaces() noexcept {
    const auto previous_size = remaining_.size();
    while (is_at(' ') || is_at('\t')) remaining_.remove_prefix(1);
    return remaining_.size() != previous_size;
  }
  bool skip(char c) noexcept {
    if (!is_at(c)) return false;
    remaining_.remove_prefix(1);
    return true;
  }
  /// A token; empty if there is none.
  std::string_view token() noexcept {
    std::size_t size = 0;
    while (size < remaining_.size() && is_field_name(remaining_.substr(size, 1))) ++size;
    const auto out = remaining_.substr(0, size);
    remaining_.remove_prefix(size);
    return out;
  }
  /// The contents of a quoted string; empty optional if it has no end.
  std::optional<std::string> quoted() {
    if (!skip('"')) return std::nullopt;
    std::string out;
    while (!remaining_.empty()) {
      if (skip('"')) return out;
      if (is_at('\\') && remaining_.size() > 1) remaining_.remove_prefix(1);
      out += remaining_.front();
      remaining_.remove_prefix(1);
    }
    return std::nullopt;
  }
  /// `= value` after a name. Otherwise empty, and the cursor does not move.
  std::optional<std::string> value() {
    const auto start = remaining_;
    skip_spaces();
    if (skip('=')) {
      skip_spaces();
      if (is_at('"')) return quoted();
      if (const auto token_text = token(); !token_text.empty()) return std::string(token_text);
    }
    remaining_ = start;
    return std::nullopt;
  }
  void skip_to_comma() {
    while (!remaining_.empty() && !is_at(',')) {
      if (is_at('"')) {
        static_cast<void>(quoted());
      } else {
        remaining_.remove_prefix(1);
      }
    }
  }

 private:
  std::string_view remaining_;
};

void parse_challenge_field(std::string_view field, std::vector<auth_challenge>& challenges) {
  field_cursor cursor(field);
  bool has_challenge = false;  // parameters belong to the last challenge
  while (!cursor.is_at_end()) {
    cursor.skip_spaces();
    if (cursor.skip(',')) continue;
    auto name = cursor.token();
    auto value = name.empty() ? std::nullopt : cursor.value();
    if (!name.empty() && !value) {
      if (challenges.size() >= max_challenges) return;
      challenges.push_back({ascii::to_lower(name), {}});
      has_challenge = true;
      if (!cursor.skip_spaces() || cursor.is_at(',')) continue;
      name = cursor.token();
      value = name.empty() ? std::nullopt : cursor.value();
    }
    if (value && has_challenge && challenges.back().parameters.size() < max_parameters)
      challenges.back().parameters.emplace_back(ascii::to_lower(name), std::move(*value));
    // This also skips a token68, which no supported scheme has.
    cursor.skip_to_comma();
  }
}

/// Removes the secret before truncating, so that no part of it remains.
std::string redact(std::string_view text, std::string_view secret) {
  constexpr std::size_t max_reason_bytes = 300;
  std::string out(text);
  for (auto position = secret.empty() ? std::string::npos : out.find(secret); position != std::string::npos;
       position = out.find(secret, position + 1))
    out.replace(position, secret.size(), "…");
  if (out.size() > max_reason_bytes) out.resize(max_reason_bytes);
  return out;
}

}  // namespace

std::string_view auth_challenge::parameter(std::string_view name) const noexcept {
  const auto match =
      std::find_if(parameters.begin(), parameters.end(), [name](const auto& entry) { return entry.first == name; });
  return match == parameters.end() ? std::string_view() : std::string_view(match->second);
}

std::vector<auth_challenge> parse_challenges(const std::vector<std::string>& fields) {
  std::vector<auth_challenge> out;
  for (const auto& field : fields) parse_challenge_field(field, out);
  return out;
}

bool requests_more_scopes(const std::vector<std::string>& fields) {
  const auto challenges = parse_challenges(fields);
  return std::any_of(challenges.begin(), challenges.end(), [](const auth_challenge& challenge) {
    return challenge.scheme == "bearer" && challenge.parameter("error") == "insufficient_scope";
  });
}

std::string extract_reason(const std::vector<std::string>& fields, std::string_view body, std::string_view secret) {
  for (const auto& challenge : parse_challenges(fields)) {
    if (const auto description = challenge.parameter("error_description"); !description.empty())
      return redact(description, secret);
  }
  const auto parsed = json::document::parse(body);
  if (!parsed) return {};
  const auto object = parsed->root().as_object("");
  const auto error = object ? object->find_object("error") : std::nullopt;
  if (!error || !*error) return {};
  const auto message = (*error)->find_string("message");
  return message && *message ? redact(**message, secret) : std::string();
}

}  // namespace hondana::transport::http_client
