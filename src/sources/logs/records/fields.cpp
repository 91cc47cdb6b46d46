/// Parses parts of log lines: escape sequences and syslog priorities at the beginning, and fields of JSON or logfmt.
#include "sources/logs/records/fields.hpp"

#include <algorithm>

#include "base/ascii/ascii.hpp"

namespace hondana::records {
namespace {

constexpr std::string_view blanks = " \t\r\n";

std::size_t behind_blanks(std::string_view text, std::size_t at) noexcept {
  return std::min(text.find_first_not_of(blanks, at), text.size());
}

/// The position after the closing quote of the string whose opening quote is at `at`.
std::size_t behind_string(std::string_view text, std::size_t at) noexcept {
  for (++at; at < text.size(); ++at) {
    if (text[at] == '\\') {
      ++at;
    } else if (text[at] == '"') {
      return at + 1;
    }
  }
  return text.size();
}

std::size_t behind_value(std::string_view text, std::size_t at) noexcept {
  if (at >= text.size()) return text.size();
  if (text[at] == '"') return behind_string(text, at);
  if (text[at] != '{' && text[at] != '[') {
    return std::min(text.find_first_of(",}] \t\r\n", at), text.size());
  }
  for (std::size_t depth = 0; at < text.size();) {
    if (text[at] == '"') {
      at = behind_string(text, at);
      continue;
    }
    if (text[at] == '{' || text[at] == '[') ++depth;
    if ((text[at] == '}' || text[at] == ']') && --depth == 0) return at + 1;
    ++at;
  }
  return text.size();
}

/// Calls `each` for the members of the object whose brace is at `at`. Each step moves forward by a comma, a member, or one
/// unexpected byte.
template <class Each>
void each_member(std::string_view text, std::size_t at, const Each& each) {
  for (++at; at < text.size();) {
    at = behind_blanks(text, at);
    if (at >= text.size() || text[at] == '}') return;
    if (text[at] != '"') {
      ++at;
      continue;
    }
    const auto end = behind_string(text, at);
    const auto name = text.substr(at + 1, end - at - (text[end - 1] == '"' && end - at > 1 ? 2 : 1));
    at = behind_blanks(text, end);
    if (at >= text.size() || text[at] != ':') continue;
    at = behind_blanks(text, at + 1);
    const auto behind = behind_value(text, at);
    if (!each(name, text.substr(at, behind - at))) return;
    at = std::max(behind, at);
  }
}

template <class Each>
void each_element(std::string_view text, const Each& each) {
  for (std::size_t at = 1; at < text.size();) {
    at = behind_blanks(text, at);
    if (at >= text.size() || text[at] == ']') return;
    const auto behind = behind_value(text, at);
    if (!each(text.substr(at, behind - at))) return;
    at = behind_blanks(text, std::max(behind, at));
    if (at < text.size() && text[at] == ']') return;
    ++at;
  }
}

constexpr bool is_of_name(char c) noexcept {
  return ascii::is_letter(c) || (c >= '0' && c <= '9') || c == '_' || c == '.' || c == '-' || c == '@' || c == '/';
}

/// Pairs such as `name=value` and `name="some value"`.
template <class Each>
void each_pair(std::string_view text, const Each& each) {
  for (std::size_t at = 0; at < text.size();) {
    const auto begin = at;
    while (at < text.size() && is_of_name(text[at])) ++at;
    if (at == begin || at >= text.size() || text[at] != '=') {
      if (at == begin && text[at] == '"') {
        at = behind_string(text, at);
      } else {
        at = std::max(at, begin + 1);
      }
      continue;
    }
    const auto name = text.substr(begin, at - begin);
    ++at;
    const auto end =
        at < text.size() && text[at] == '"' ? behind_string(text, at) : std::min(text.find_first_of(blanks, at), text.size());
    if (!each(name, text.substr(at, end - at))) return;
    at = end;
  }
}

std::optional<std::string> in_json(std::string_view raw, std::string_view path) {
  std::optional<std::string> found;
  if (raw.starts_with('{')) {
    each_member(raw, 0, [&](std::string_view name, std::string_view value) {
      if (name == path) {
        found = text_of_raw(value);
      } else if (path.size() > name.size() && path[name.size()] == '.' && path.starts_with(name)) {
        found = in_json(value, path.substr(name.size() + 1));
      }
      return !found;
    });
  } else if (raw.starts_with('[') && !path.empty() && path[0] >= '0' && path[0] <= '9') {
    const auto end = std::min(path.find('.'), path.size());
    std::size_t number = 0;
    for (const char c : path.substr(0, std::min<std::size_t>(end, 9))) {
      if (c < '0' || c > '9') return std::nullopt;
      number = number * 10 + static_cast<std::size_t>(c - '0');
    }
    each_element(raw, [&](std::string_view value) {
      if (number-- > 0) return true;
      found = end == path.size() ? text_of_raw(value) : in_json(value, path.substr(end + 1));
      return false;
    });
  }
  return found;
}

void append_point(std::string& out, char32_t point) {
  if (point < 0x80) {
    out += static_cast<char>(point);
  } else if (point < 0x800) {
    out += static_cast<char>(0xC0 | (point >> 6));
    out += static_cast<char>(0x80 | (point & 0x3F));
  } else if (point < 0x10000) {
    out += static_cast<char>(0xE0 | (point >> 12));
    out += static_cast<char>(0x80 | ((point >> 6) & 0x3F));
    out += static_cast<char>(0x80 | (point & 0x3F));
  } else {
    out += static_cast<char>(0xF0 | (point >> 18));
    out += static_cast<char>(0x80 | ((point >> 12) & 0x3F));
    out += static_cast<char>(0x80 | ((point >> 6) & 0x3F));
    out += static_cast<char>(0x80 | (point & 0x3F));
  }
}

std::optional<char32_t> four_digits(std::string_view text) noexcept {
  if (text.size() < 4) return std::nullopt;
  char32_t sum = 0;
  for (const char c : text.substr(0, 4)) {
    const char low = ascii::lower(c);
    if (c >= '0' && c <= '9') {
      sum = sum * 16 + static_cast<char32_t>(c - '0');
    } else if (low >= 'a' && low <= 'f') {
      sum = sum * 16 + static_cast<char32_t>(low - 'a' + 10);
    } else {
      return std::nullopt;
    }
  }
  return sum;
}

/// Resolves an escape whose backslash precedes `text`. Returns its length.
std::size_t take_escape(std::string_view text, std::string& out) {
  if (text.empty()) return 0;
  constexpr std::string_view written = "nrtbf";
  constexpr std::string_view meant = "\n\r\t\b\f";
  if (const auto known = written.find(text[0]); known != std::string_view::npos) {
    out += meant[known];
    return 1;
  }
  const auto unit = text[0] == 'u' ? four_digits(text.substr(1)) : std::nullopt;
  if (!unit) {
    out += text[0];
    return 1;
  }
  if (*unit < 0xD800 || *unit > 0xDFFF) {
    append_point(out, *unit);
    return 5;
  }
  const auto low = text.substr(5).starts_with("\\u") ? four_digits(text.substr(7)) : std::nullopt;
  if (*unit < 0xDC00 && low && *low >= 0xDC00 && *low <= 0xDFFF) {
    append_point(out, 0x10000 + ((*unit - 0xD800) << 10) + (*low - 0xDC00));
    return 11;
  }
  append_point(out, 0xFFFD);
  return 5;
}

}  // namespace

bool looks_like_json(std::string_view text) noexcept {
  const auto at = text.find_first_not_of(" \t");
  return at != std::string_view::npos && text[at] == '{';
}

std::string text_of_raw(std::string_view raw) {
  if (!raw.starts_with('"')) return std::string(raw);
  raw.remove_prefix(1);
  std::string out;
  for (std::size_t at = 0; at < raw.size();) {
    const auto stop = std::min(raw.find_first_of("\\\"", at), raw.size());
    out += raw.substr(at, stop - at);
    if (stop >= raw.size() || raw[stop] == '"') break;
    at = stop + 1 + take_escape(raw.substr(stop + 1), out);
  }
  return out;
}

std::optional<std::string> field_of(std::string_view text, std::string_view path) {
  if (path.empty()) return std::nullopt;
  if (looks_like_json(text)) return in_json(text.substr(text.find('{')), path);
  std::optional<std::string> found;
  each_pair(text, [&](std::string_view name, std::string_view raw) {
    if (name == path) found = text_of_raw(raw);
    return !found;
  });
  if (found) return found;
  // JSON after a header of syslog or of a container runtime.
  const auto brace = text.substr(0, 1024).find(" {");
  return brace == std::string_view::npos ? std::nullopt : in_json(text.substr(brace + 1), path);
}

void each_field(std::string_view text, const std::function<bool(std::string_view name, std::string_view raw)>& each) {
  if (looks_like_json(text)) {
    each_member(text, text.find('{'), each);
  } else {
    each_pair(text, each);
  }
}

}  // namespace hondana::records
