/// Reads header fields of HTTP answers.
#include "transport/http_client/response_head.hpp"

#include <algorithm>
#include <charconv>
#include <utility>

#include "base/ascii/characters.hpp"
#include "transport/http_client/curl_library.hpp"

namespace hondana::transport::http_client {
namespace {

/// "HTTP/1.1 200 OK", "HTTP/2 200"; 0 for anything else.
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
    // An informational answer is followed by another.
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
  // In seconds: a date may lie further ahead than the clock's own unit reaches.
  const std::chrono::seconds left(then - std::chrono::system_clock::to_time_t(now));
  return std::clamp(left, std::chrono::seconds(0), most);
}

}  // namespace hondana::transport::http_client
