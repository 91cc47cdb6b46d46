/// Parses parts of log lines: escape sequences, syslog priorities and headers of container runtimes at the beginning, and
/// fields of JSON or logfmt.
#include "sources/logs/records/fields.hpp"

#include <algorithm>

#include "base/ascii/ascii.hpp"

namespace hondana::records {
namespace {

constexpr std::string_view blanks = " \t\r\n";

std::size_t skip_blanks(std::string_view text, std::size_t offset) noexcept {
  return std::min(text.find_first_not_of(blanks, offset), text.size());
}

/// The position after the closing quote of the string whose opening quote is at `offset`.
std::size_t skip_string(std::string_view text, std::size_t offset) noexcept {
  for (++offset; offset < text.size(); ++offset) {
    if (text[offset] == '\\') {
      ++offset;
    } else if (text[offset] == '"') {
      return offset + 1;
    }
  }
  return text.size();
}

std::size_t skip_value(std::string_view text, std::size_t offset) noexcept {
  if (offset >= text.size()) return text.size();
  if (text[offset] == '"') return skip_string(text, offset);
  if (text[offset] != '{' && text[offset] != '[') {
    return std::min(text.find_first_of(",}] \t\r\n", offset), text.size());
  }
  for (std::size_t depth = 0; offset < text.size();) {
    if (text[offset] == '"') {
      offset = skip_string(text, offset);
      continue;
    }
    if (text[offset] == '{' || text[offset] == '[') ++depth;
    if ((text[offset] == '}' || text[offset] == ']') && --depth == 0) return offset + 1;
    ++offset;
  }
  return text.size();
}

/// Calls `visit` for the members of the object whose brace is at `offset`. Each step moves forward by a comma, a member, or one
/// unexpected byte.
template <class Visitor>
void for_each_member(std::string_view text, std::size_t offset, const Visitor& visit) {
  for (++offset; offset < text.size();) {
    offset = skip_blanks(text, offset);
    if (offset >= text.size() || text[offset] == '}') return;
    if (text[offset] != '"') {
      ++offset;
      continue;
    }
    const auto end = skip_string(text, offset);
    const auto name = text.substr(offset + 1, end - offset - (text[end - 1] == '"' && end - offset > 1 ? 2 : 1));
    offset = skip_blanks(text, end);
    if (offset >= text.size() || text[offset] != ':') continue;
    offset = skip_blanks(text, offset + 1);
    const auto value_end = skip_value(text, offset);
    if (!visit(name, text.substr(offset, value_end - offset))) return;
    offset = std::max(value_end, offset);
  }
}

template <class Visitor>
void for_each_element(std::string_view text, const Visitor& visit) {
  for (std::size_t offset = 1; offset < text.size();) {
    offset = skip_blanks(text, offset);
    if (offset >= text.size() || text[offset] == ']') return;
    const auto value_end = skip_value(text, offset);
    if (!visit(text.substr(offset, value_end - offset))) return;
    offset = skip_blanks(text, std::max(value_end, offset));
    if (offset < text.size() && text[offset] == ']') return;
    ++offset;
  }
}

constexpr bool is_name_char(char c) noexcept {
  return ascii::is_letter(c) || (c >= '0' && c <= '9') || c == '_' || c == '.' || c == '-' || c == '@' || c == '/';
}

/// Pairs such as `name=value` and `name="some value"`.
template <class Visitor>
void for_each_pair(std::string_view text, const Visitor& visit) {
  for (std::size_t offset = 0; offset < text.size();) {
    const auto begin = offset;
    while (offset < text.size() && is_name_char(text[offset])) ++offset;
    if (offset == begin || offset >= text.size() || text[offset] != '=') {
      if (offset == begin && text[offset] == '"') {
        offset = skip_string(text, offset);
      } else {
        offset = std::max(offset, begin + 1);
      }
      continue;
    }
    const auto name = text.substr(begin, offset - begin);
    ++offset;
    const auto end = offset < text.size() && text[offset] == '"' ? skip_string(text, offset)
                                                                 : std::min(text.find_first_of(blanks, offset), text.size());
    if (!visit(name, text.substr(offset, end - offset))) return;
    offset = end;
  }
}

using value_visitor = std::function<bool(std::string_view raw)>;

/// Visits a value, and the elements of an array. Returns whether to continue.
bool visit_value(std::string_view raw, const value_visitor& visit) {
  if (!visit(raw)) return false;
  bool proceeds = true;
  if (raw.starts_with('[')) {
    for_each_element(raw, [&](std::string_view element) {
      proceeds = visit(element);
      return proceeds;
    });
  }
  return proceeds;
}

/// Visits the values of a path, as `for_each_value` does. Returns whether to continue.
bool visit_json(std::string_view raw, std::string_view path, const value_visitor& visit, int max_nested_arrays) {
  bool proceeds = true;
  if (raw.starts_with('{')) {
    for_each_member(raw, 0, [&](std::string_view name, std::string_view value) {
      if (name == path) {
        proceeds = visit_value(value, visit);
      } else if (path.size() > name.size() && path[name.size()] == '.' && path.starts_with(name)) {
        proceeds = visit_json(value, path.substr(name.size() + 1), visit, max_nested_arrays);
      }
      return proceeds;
    });
  } else if (raw.starts_with('[') && !path.empty() && path[0] >= '0' && path[0] <= '9') {
    const auto end = std::min(path.find('.'), path.size());
    std::size_t index = 0;
    for (const char c : path.substr(0, std::min<std::size_t>(end, 9))) {
      if (c < '0' || c > '9') return true;
      index = index * 10 + static_cast<std::size_t>(c - '0');
    }
    for_each_element(raw, [&](std::string_view value) {
      if (index-- > 0) return true;
      proceeds =
          end == path.size() ? visit_value(value, visit) : visit_json(value, path.substr(end + 1), visit, max_nested_arrays);
      return false;
    });
  } else if (raw.starts_with('[') && max_nested_arrays > 0) {
    for_each_element(raw, [&](std::string_view value) {
      proceeds = visit_json(value, path, visit, max_nested_arrays - 1);
      return proceeds;
    });
  }
  return proceeds;
}

void append_utf8(std::string& out, char32_t code_point) {
  if (code_point < 0x80) {
    out += static_cast<char>(code_point);
  } else if (code_point < 0x800) {
    out += static_cast<char>(0xC0 | (code_point >> 6));
    out += static_cast<char>(0x80 | (code_point & 0x3F));
  } else if (code_point < 0x10000) {
    out += static_cast<char>(0xE0 | (code_point >> 12));
    out += static_cast<char>(0x80 | ((code_point >> 6) & 0x3F));
    out += static_cast<char>(0x80 | (code_point & 0x3F));
  } else {
    out += static_cast<char>(0xF0 | (code_point >> 18));
    out += static_cast<char>(0x80 | ((code_point >> 12) & 0x3F));
    out += static_cast<char>(0x80 | ((code_point >> 6) & 0x3F));
    out += static_cast<char>(0x80 | (code_point & 0x3F));
  }
}

std::optional<char32_t> parse_hex4(std::string_view text) noexcept {
  if (text.size() < 4) return std::nullopt;
  char32_t code = 0;
  for (const char c : text.substr(0, 4)) {
    const char low = ascii::to_lower(c);
    if (c >= '0' && c <= '9') {
      code = code * 16 + static_cast<char32_t>(c - '0');
    } else if (low >= 'a' && low <= 'f') {
      code = code * 16 + static_cast<char32_t>(low - 'a' + 10);
    } else {
      return std::nullopt;
    }
  }
  return code;
}

/// Resolves an escape whose backslash precedes `text`. Returns its length.
std::size_t append_unescaped(std::string_view text, std::string& out) {
  if (text.empty()) return 0;
  constexpr std::string_view escape_letters = "nrtbf";
  constexpr std::string_view escape_values = "\n\r\t\b\f";
  if (const auto index = escape_letters.find(text[0]); index != std::string_view::npos) {
    out += escape_values[index];
    return 1;
  }
  const auto unit = text[0] == 'u' ? parse_hex4(text.substr(1)) : std::nullopt;
  if (!unit) {
    out += text[0];
    return 1;
  }
  if (*unit < 0xD800 || *unit > 0xDFFF) {
    append_utf8(out, *unit);
    return 5;
  }
  const auto low = text.substr(5).starts_with("\\u") ? parse_hex4(text.substr(7)) : std::nullopt;
  if (*unit < 0xDC00 && low && *low >= 0xDC00 && *low <= 0xDFFF) {
    append_utf8(out, 0x10000 + ((*unit - 0xD800) << 10) + (*low - 0xDC00));
    return 11;
  }
  append_utf8(out, 0xFFFD);
  return 5;
}

}  // namespace

container_header parse_container_header(std::string_view line) noexcept {
  constexpr std::size_t max_time_bytes = 40, min_time_bytes = 20;
  constexpr std::string_view streams[] = {"stdout", "stderr"};
  if (line.empty() || !ascii::is_digit(line[0])) return {};
  const auto time_end = line.substr(0, max_time_bytes).find(' ');
  if (time_end == std::string_view::npos || time_end < min_time_bytes || line[10] != 'T') return {};
  const auto rest = line.substr(time_end + 1);
  for (const auto stream : streams) {
    if (!rest.starts_with(stream)) continue;
    // Tags may follow the letter after a colon.
    const auto tag = rest.substr(stream.size());
    if (tag.size() < 3 || tag[0] != ' ' || (tag[1] != 'P' && tag[1] != 'F') || (tag[2] != ' ' && tag[2] != ':')) return {};
    const auto end = tag.find(' ', 2);
    if (end == std::string_view::npos) return {};
    return {time_end + 1 + stream.size() + end + 1, tag[1] == 'P', stream};
  }
  return {};
}

std::string join_container_parts(std::string_view record) {
  std::string out;
  out.reserve(record.size());
  bool is_partial = false;
  while (!record.empty()) {
    const auto size = std::min(record.find('\n'), record.size() - 1) + 1;
    auto line = record.substr(0, size);
    record.remove_prefix(size);
    const auto header = parse_container_header(line);
    if (is_partial && header.size != 0) line.remove_prefix(header.size);
    is_partial = header.is_partial && !record.empty();
    if (is_partial) {
      while (line.ends_with('\n') || line.ends_with('\r')) line.remove_suffix(1);
    }
    out += line;
  }
  return out;
}

bool looks_like_json(std::string_view text) noexcept {
  const auto start = text.find_first_not_of(" \t");
  return start != std::string_view::npos && text[start] == '{';
}

std::string decode_value(std::string_view raw) {
  if (!raw.starts_with('"')) return std::string(raw);
  raw.remove_prefix(1);
  std::string out;
  for (std::size_t offset = 0; offset < raw.size();) {
    const auto stop = std::min(raw.find_first_of("\\\"", offset), raw.size());
    out += raw.substr(offset, stop - offset);
    if (stop >= raw.size() || raw[stop] == '"') break;
    offset = stop + 1 + append_unescaped(raw.substr(stop + 1), out);
  }
  return out;
}

void for_each_value(std::string_view text, std::string_view path, const value_visitor& visit) {
  constexpr int max_nested_arrays = 6;
  if (path.empty()) return;
  if (looks_like_json(text)) {
    visit_json(text.substr(text.find('{')), path, visit, max_nested_arrays);
    return;
  }
  bool proceeds = true;
  for_each_pair(text, [&](std::string_view name, std::string_view raw) {
    if (name == path) proceeds = visit(raw);
    return proceeds;
  });
  // JSON after a header of syslog or of a container runtime.
  const auto brace = text.substr(0, 1024).find(" {");
  if (proceeds && brace != std::string_view::npos) visit_json(text.substr(brace + 1), path, visit, max_nested_arrays);
}

std::optional<std::string> find_field(std::string_view text, std::string_view path) {
  std::optional<std::string> match;
  const auto take = [&match](std::string_view raw) {
    match = decode_value(raw);
    return false;
  };
  for_each_value(text, path, std::cref(take));
  return match;
}

void for_each_field(std::string_view text, const std::function<bool(std::string_view name, std::string_view raw)>& visit) {
  if (looks_like_json(text)) {
    for_each_member(text, text.find('{'), visit);
  } else {
    for_each_pair(text, visit);
  }
}

}  // namespace hondana::records
