/// Private members of JSON web keys.
#include "text/secrets/json_web_key.hpp"

#include <algorithm>
#include <array>
#include <cstddef>

#include "text/secrets/matcher.hpp"

namespace hondana::secrets {
namespace {

constexpr std::size_t max_key_bytes = 16 * 1024;  // of a key on each side of its `kty`; an RSA key of 8192 bits has 8 KiB
static_assert(2 * max_key_bytes < context_bytes_after);
constexpr std::string_view type_member = "\"kty";

/// JSON that may be inside a string, which may be inside another one. Each of its quotes then has the same number of
/// backslashes before it.
class nested_json {
 public:
  /// `text` has a quote at `position`.
  nested_json(std::string_view text, std::size_t position) noexcept : text_(text) {
    while (position > backslashes_ && text[position - 1 - backslashes_] == '\\') ++backslashes_;
  }

  [[nodiscard]] std::size_t backslashes() const noexcept { return backslashes_; }
  /// Whether the quote at `position` begins or ends a string.
  [[nodiscard]] bool is_quote(std::size_t position) const noexcept {
    if (text_[position] != '"' || position < backslashes_) return false;
    std::size_t count = 0;
    while (count < position && count <= backslashes_ && text_[position - 1 - count] == '\\') ++count;
    return count == backslashes_;
  }
  /// The quote that ends the string that begins before `position`; `limit` if there is none.
  [[nodiscard]] std::size_t end_of_string(std::size_t position, std::size_t limit) const noexcept {
    while (position < limit && !is_quote(position)) ++position;
    return position;
  }
  /// The position of the colon after the quote at `quote`; 0 if another character follows.
  [[nodiscard]] std::size_t colon_after(std::size_t quote, std::size_t limit) const noexcept {
    auto position = quote + 1;
    while (position < limit && is_in(byte_set::blank, text_[position])) ++position;
    return position < limit && text_[position] == ':' ? position : 0;
  }
  /// The position after the opening brace of the object around `position`; `min_position` if it is not visible.
  [[nodiscard]] std::size_t begin_of_object(std::size_t position, std::size_t min_position) const noexcept {
    std::size_t depth = 0;
    bool is_in_string = false;
    for (; position > min_position; --position) {
      const char c = text_[position - 1];
      if (c == '"' && is_quote(position - 1)) is_in_string = !is_in_string;
      if (is_in_string) continue;
      if (c == '}' || c == ']') ++depth;
      if (c != '{' && c != '[') continue;
      if (depth == 0) return position;
      --depth;
    }
    return min_position;
  }

 private:
  std::string_view text_;
  std::size_t backslashes_ = 0;
};

bool is_alnum(char c) noexcept { return is_in(byte_set::alnum, c); }
bool is_key_digit(char c) noexcept { return is_in(byte_set::word, c) || is_in(byte_set::base64, c); }
bool is_yaml_quote(char c) noexcept { return c == '"' || c == '\''; }

bool is_number(std::string_view value) noexcept {
  return !value.empty() && std::all_of(value.begin(), value.end(), is_key_digit);
}

/// Whether a YAML name ends at `position` of a line.
bool ends_name(std::string_view line, std::size_t position) noexcept {
  const bool is_quoted = position < line.size() && is_yaml_quote(line[position]);
  position = std::min(line.find_first_not_of(" \t", position + (is_quoted ? 1 : 0)), line.size());
  return position < line.size() && line[position] == ':' &&
         (is_quoted || position + 1 == line.size() || is_in(byte_set::blank, line[position + 1]));
}

/// Whether a line belongs to the YAML block whose names begin at `column`.
bool is_in_block(std::string_view line, std::size_t column) noexcept {
  const auto content = line.find_first_not_of(" \t\r");
  return content == std::string_view::npos || line[content] == '#' || (content >= column && !line.starts_with("---"));
}

/// Extends `lines` to the whole YAML block whose names begin at `column`. `is_truncated`: the text begins in the middle of a
/// line.
span block_around(std::string_view text, span lines, std::size_t column, bool is_truncated) noexcept {
  const auto is_item = [&](std::string_view line) {
    return line.find_first_not_of(' ') < column && line.find_first_not_of(" -") == column;
  };
  bool is_first = is_item(text.substr(lines.begin, lines.end - lines.begin));
  while (!is_first && lines.begin > 0) {
    const auto begin = lines.begin < 2 ? 0 : text.rfind('\n', lines.begin - 2) + 1;  // 0 without a newline
    const auto line = text.substr(begin, lines.begin - 1 - begin);
    is_first = is_item(line);
    if ((is_truncated && begin == 0) || (!is_first && !is_in_block(line, column))) break;
    lines.begin = begin;
  }
  while (lines.end < text.size()) {
    const auto end = std::min(text.find('\n', lines.end + 1), text.size());
    if (!is_in_block(text.substr(lines.end + 1, end - lines.end - 1), column)) break;
    lines.end = end;
  }
  return lines;
}

/// Whether the `kty` at `position` may be the name of a member. These letters may also occur inside encoded numbers.
bool is_type_at(std::string_view text, std::size_t position) noexcept {
  return (position == 0 || !is_key_digit(text[position - 1])) && position + 3 < text.size() &&
         (is_yaml_quote(text[position + 3]) || text[position + 3] == ':' || text[position + 3] == ' ');
}

}  // namespace

bool is_private_member(std::string_view type, std::string_view name) noexcept {
  if (type == "oct") return name == "k";
  if (type != "RSA" && type != "EC" && type != "OKP") return false;
  constexpr std::array<std::string_view, 7> names{"d", "p", "q", "dp", "dq", "qi", "oth"};
  return std::find(names.begin(), names.end(), name) != names.end();
}

void find_web_key(std::string_view text, std::size_t position, run_cache& runs, std::vector<span>& spans) {
  const nested_json json(text, position);
  // Stop at another `"kty`, so that two keys share no byte.
  auto min_position = position - std::min(position, max_key_bytes);
  if (const auto previous = text.substr(min_position, position - min_position).rfind(type_member);
      previous != std::string_view::npos)
    min_position += previous + type_member.size();
  const auto after_type = position + type_member.size();
  const auto limit =
      std::min({text.size(), position + max_key_bytes, text.substr(0, position + max_key_bytes).find(type_member, after_type)});
  runs.count(3 * (limit - min_position));
  const auto name_end = json.end_of_string(after_type, std::min(limit, after_type + json.backslashes() + 1));
  const auto colon = name_end < limit ? json.colon_after(name_end, limit) : 0;
  if (colon == 0 || name_end != after_type + json.backslashes()) return;
  const auto content = [&](std::size_t begin, std::size_t quote) {
    return text.substr(begin, quote - std::min(json.backslashes(), quote - begin) - begin);
  };
  auto type = colon + 1;
  while (type < limit && (is_in(byte_set::blank, text[type]) || text[type] == '\\')) ++type;
  if (type >= limit || text[type] != '"') return;
  const auto type_name = content(type + 1, json.end_of_string(type + 1, limit));

  std::string_view name;
  std::size_t depth = 0;
  for (auto next = json.begin_of_object(position, min_position); next < limit; ++next) {
    const char c = text[next];
    if (c == '"' && json.is_quote(next)) {
      const auto begin = next + 1;
      next = json.end_of_string(begin, limit);
      const auto string_value = content(begin, next);
      if (next < limit && json.colon_after(next, limit) != 0) {
        if (depth == 0) name = string_value;
      } else if (is_private_member(type_name, name) && is_number(string_value)) {
        spans.push_back({begin, begin + string_value.size()});
      }
    }
    if (c == '{' || c == '[') ++depth;
    if (c == '}' || c == ']') {
      if (depth == 0) return;
      --depth;
    }
    if (c == ',' && depth == 0) name = {};
  }
}

void find_web_key_in_yaml(std::string_view text, std::size_t position, run_cache& runs, std::vector<span>& spans) {
  if (!is_type_at(text, position)) return;
  // Stop at another `kty` here, too.
  auto min_position = position - std::min(position, max_key_bytes);
  for (auto other = position;
       (other = text.substr(min_position, other - min_position).rfind("kty")) != std::string_view::npos;) {
    other += min_position;
    if (!is_type_at(text, other)) continue;
    min_position = other + 3;
    break;
  }
  auto limit = std::min(text.size(), position + max_key_bytes);
  for (auto other = position + 3; (other = text.substr(0, limit).find("kty", other)) != std::string_view::npos; ++other) {
    if (is_type_at(text, other)) limit = other;
  }
  runs.count(4 * (limit - min_position));
  const auto part = text.substr(min_position, limit - min_position);
  const bool is_quoted = position > min_position && is_yaml_quote(text[position - 1]);
  const auto name = position - min_position - (is_quoted ? 1 : 0);
  const auto begin = part.rfind('\n', name) + 1;  // 0 without a newline
  const auto end = std::min(part.find('\n', name), part.size());
  const auto column = name - begin;
  if ((begin == 0 && min_position != 0) || part.substr(begin, column).find_first_not_of(" -") != std::string_view::npos) return;
  const auto after_type = position - min_position + 3;
  if (!ends_name(part.substr(0, end), after_type)) return;
  const auto type_begin = std::min(part.find_first_not_of(" \t:\"'", after_type), end);
  const auto type = part.substr(type_begin, run_length(byte_set::alnum, part.substr(type_begin)));

  std::string_view member;
  const auto lines = block_around(part, {begin, end}, column, min_position != 0);
  for (auto next = lines.begin; next < lines.end;) {
    const auto line = part.substr(next, std::min(part.find('\n', next), lines.end) - next);
    for (std::size_t i = 0; i < line.size();) {
      const char previous = i == 0 ? ' ' : line[i - 1];
      if (line[i] == '#' && is_in(byte_set::blank, previous)) break;
      const auto size =
          static_cast<std::size_t>(std::find_if_not(line.begin() + static_cast<std::ptrdiff_t>(i), line.end(), is_key_digit) -
                                   line.begin()) -
          i;
      const auto word = line.substr(i, size);
      if (size != 0 && ends_name(line, i + size)) {
        if (i - (is_yaml_quote(previous) ? 1 : 0) == column) member = word;
      } else if (is_private_member(type, member) && std::any_of(word.begin(), word.end(), is_alnum) &&
                 std::string_view("!&*|>").find(previous) == std::string_view::npos) {
        spans.push_back({min_position + next + i, min_position + next + i + size});
      }
      i += std::max<std::size_t>(size, 1);
    }
    next += line.size() + 1;
  }
}

}  // namespace hondana::secrets
