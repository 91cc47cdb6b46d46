/// Finding values.
#include "text/secrets/assigned.hpp"
#include "base/ascii/characters.hpp"

#include <algorithm>
#include <array>
#include <string>
#include <string_view>

namespace hondana::secrets {
namespace {

constexpr std::size_t longest_before = 32;  // of the line that is looked at before a name

bool ends_line(char byte) noexcept { return static_cast<unsigned char>(byte) < ' ' && byte != '\t'; }
bool is_quote(char byte) noexcept { return byte == '"' || byte == '\''; }

/// Whether a name at `at` is what its line begins with, or its line's `export`, item, comment or quotation.
bool begins_line(const place& near, std::size_t at) noexcept {
  const auto least = at - std::min(at, longest_before);
  const auto skip = [&](std::string_view bytes) {
    while (at > least && bytes.find(near[at - 1]) != std::string_view::npos) --at;
  };
  skip(" \t");
  constexpr std::array<std::string_view, 4> commands{"export", "set", "ENV", "ARG"};
  for (const auto word : commands) {
    if (at < least + word.size() || near.text.substr(at - word.size(), word.size()) != word) continue;
    at -= word.size();
    break;
  }
  skip(" \t#;/*+-");
  return at == 0 ? near.begin == 0 : ends_line(near[at - 1]);
}

/// Whether a quotation is open before a name, as far as its line is looked at.
bool is_within_quotes(const place& near, std::size_t begin, char quote) noexcept {
  bool is_open = false;
  for (auto at = begin; at > 0 && begin - at < longest_before && !ends_line(near[at - 1]); --at)
    is_open = is_open != (near[at - 1] == quote);
  return is_open;
}

/// Whether a list of settings goes on here, behind its separator: a blank, the end, or the next name.
bool goes_on(std::string_view rest) noexcept {
  if (rest.empty() || static_cast<unsigned char>(rest.front()) <= ' ') return true;
  if (rest.front() == '"') {
    const auto quoted = run_of(kind::dotted, rest.substr(1, longest_name));
    return quoted > 0 && rest.substr(1 + quoted).starts_with("\":");
  }
  const auto name = run_of(kind::dotted, rest.substr(0, longest_name));
  return name > 1 && name < rest.size() && (rest[name] == '=' || rest[name] == ':');
}

/// Where a value in quotes ends: at a quote that nothing escapes, or with its line.
std::size_t end_of_quoted(std::string_view text, std::size_t at, char quote, bool is_escaped) noexcept {
  for (; at < text.size() && !ends_line(text[at]); ++at) {
    if (is_escaped && text.substr(at).starts_with(std::string{'\\', quote})) return at;
    if (is_escaped) continue;
    if (text[at] == '\\' && at + 1 < text.size()) {
      // Where nothing is escaped, a backslash may be the last of the value.
      const bool is_last = text[at + 1] == quote && text.find(quote, at + 2) > text.find('\n', at + 2);
      at += is_last ? 0 : 1;
    } else if (text[at] == quote) {
      return at;
    }
  }
  return std::min(at, text.size());
}

bool ends_item(char byte) noexcept {
  return static_cast<unsigned char>(byte) <= ' ' || std::string_view("\"',;)]}").find(byte) != std::string_view::npos;
}

/// Where a value without quotes ends, as far as lists of settings go, whose name is at `begin`.
std::size_t end_of_item(const place& near, std::string_view text, std::size_t begin, std::size_t at) noexcept {
  const bool is_in_double = is_within_quotes(near, begin, '"');
  const bool is_in_single = is_within_quotes(near, begin, '\'');
  for (; at < text.size() && !ends_line(text[at]) && !ascii::is_blank(text[at]); ++at) {
    const char byte = text[at];
    const char next = near[at + 1];
    if ((byte == ',' || byte == ';' || byte == '&') && goes_on(near.from(at + 1))) break;
    if (byte == '\\' && is_in_double && std::string_view("nrt\"").find(next) != std::string_view::npos) break;
    if (!(byte == '"' && is_in_double) && !(byte == '\'' && is_in_single)) continue;
    if (ends_item(next) || next == '>' || next == ':') break;
  }
  return at;
}

/// Where a call with a string in it ends that `line` begins with; 0 when there is none.
std::size_t end_of_call(std::string_view line) noexcept {
  const auto name = run_of(kind::dotted, line);
  if (name == 0 || name == line.size() || line[name] != '(') return 0;
  std::size_t open = 0;
  bool has_string = false;
  for (auto at = name; at < line.size(); ++at) {
    has_string = has_string || is_quote(line[at]);
    if (line[at] == '(') ++open;
    if (line[at] == ')' && --open == 0) return has_string ? at + 1 : 0;
  }
  return 0;
}

/// Where a template or a call ends that a value begins with, blanks included; `at` when none is there.
std::size_t end_of_frame(std::string_view text, std::size_t at) noexcept {
  constexpr std::array<std::array<std::string_view, 2>, 6> frames{
      {{"{{", "}}"}, {"${", "}"}, {"$(", ")"}, {"<", ">"}, {"`", "`"}, {"#{", "}"}}};
  const auto line = text.substr(at, text.find('\n', at) - at);
  for (const auto& [open, close] : frames) {
    if (!line.starts_with(open)) continue;
    // `${{ name }}` ends with all its braces.
    auto end = line.find(close, open.size());
    if (end == std::string_view::npos) return at;
    for (end += close.size(); end < line.size() && line[end] == close.back() && close.back() == '}';) ++end;
    return at + end;
  }
  return at + end_of_call(line);
}

/// Whether a value may end at `at`, whatever it is.
bool ends_value(const place& near, std::size_t at) noexcept {
  const char byte = near[at];
  return static_cast<unsigned char>(byte) <= ' ' || is_quote(byte) ||
         ((byte == ',' || byte == ';') && goes_on(near.from(at + 1)));
}

/// Whether a value without quotes is a table or a list.
bool is_structure(std::string_view rest) noexcept {
  if (!rest.starts_with('{') && !rest.starts_with('[')) return false;
  const auto first = rest.substr(1, longest_name);
  if (first.empty() || static_cast<unsigned char>(first.front()) <= ' ') return true;
  const auto inside = first.substr(is_quote(first.front()) ? 1 : 0);
  const auto name = run_of(kind::dotted, inside);
  if (name == 0 || name == inside.size()) return false;
  if (inside.size() != first.size()) return inside[name] == first.front();
  return ascii::is_blank(inside[name]) || (name + 1 < inside.size() && ascii::is_blank(inside[name + 1]));
}

/// `<password>…<`, `<entry key="password">…<` and `<key>password</key> <string>…<`: behind the next tag's end.
std::optional<assigned> value_in_tags(const place& near, std::size_t begin, std::size_t at) {
  near.count(2 * longest_value);
  const auto line = near.from(begin).substr(0, longest_value);
  const auto text = near.text.substr(0, begin + line.size());
  auto open = text.find('>', at);
  if (near[at] == '<') {
    // Behind the end of the element that has the name: one that has the value.
    open = text.find("<string>", at);
    if (open == std::string_view::npos || open - at > longest_name) return std::nullopt;
    open += 7;
  }
  if (open == std::string_view::npos || text[open - 1] == '/') return std::nullopt;
  auto first = open + 1;
  constexpr std::string_view frame = "<![CDATA[";
  const bool is_framed = near.from(first).starts_with(frame);
  if (is_framed) first += frame.size();
  auto end = first;
  while (end < text.size() && !ends_line(text[end]) && text[end] != '<' && (!is_framed || text[end] != ']')) ++end;
  if (end == first || (near[end] != '<' && near[end] != ']')) return std::nullopt;
  return assigned{{first, end}};
}

/// Behind `value` in `name="password" value="…"`, `"name": "PASSWORD", "value": "…"` and in YAML on the next line; or at `at`.
std::size_t behind_value_name(const place& near, std::size_t at) noexcept {
  auto next = at;
  while (next - at < longest_name && (is(kind::blank, near[next]) || near[next] == ',' || is_quote(near[next]))) ++next;
  if (is(kind::dotted, near[next - 1]) || !begins_with(near.from(next), "value") || is(kind::dotted, near[next + 5])) return at;
  next += 5;
  if (is_quote(near[next])) ++next;
  while (ascii::is_blank(near[next])) ++next;
  return near[next] == '=' || near[next] == ':' ? next : at;
}

/// Whether a name is what `ENV`, `setenv` or fish's `set` gives a value behind a blank.
bool follows_command(const place& near, std::size_t begin) noexcept {
  auto at = begin;
  while (at > 0 && ascii::is_blank(near[at - 1])) --at;
  constexpr std::array<std::string_view, 5> commands{"ENV", "setenv", "set -x", "set -gx", "set -Ux"};
  const auto before = near.text.substr(0, at);
  return at != begin && std::any_of(commands.begin(), commands.end(),
                                    [&](auto one) { return before.ends_with(one) && begins_anew(near, at - one.size()); });
}

/// The default of a variable, in `${NAME:-default}` and `${NAME:default}`.
std::optional<assigned> default_at(const place& near, std::size_t at) noexcept {
  const auto begin = at + (near[at] == ':' && (near[at + 1] == '-' || near[at + 1] == '=') ? 2 : 1);
  if ((near[at] != ':' && near[at] != '=') || near[begin] == '?' || near[begin] == '$') return std::nullopt;
  const auto end = begin + run_of(kind::item, near.from(begin).substr(0, longest_value));
  near.count(2 * (end - begin));
  const auto close = near.text.substr(0, end).find('}', begin);
  if (close == std::string_view::npos || close == begin) return std::nullopt;
  return assigned{{begin, close}};
}

/// Whether a name is one that has its value behind a blank in the files it is from, those of Redis and of OpenLDAP.
bool takes_blank(const place& near, std::size_t begin, std::size_t at) noexcept {
  constexpr std::array<std::string_view, 4> names{"requirepass", "masterauth", "rootpw", "bindpw"};
  const auto name = near.text.substr(begin, run_of(kind::dotted, near.text.substr(begin, at - begin)));
  return near[at] != '=' && near[at] != ':' && std::find(names.begin(), names.end(), name) != names.end() &&
         begins_line(near, begin);
}

std::optional<assigned> word_at(const place& near, std::size_t at) noexcept {
  const char quote = is_quote(near[at]) ? near[at] : '\0';
  const auto begin = at + (quote != '\0' ? 1 : 0);
  const auto text = near.text.substr(0, begin + longest_value);
  auto end = begin;
  while (end < text.size() && !ends_line(text[end]) && (quote != '\0' ? text[end] != quote : !ascii::is_blank(text[end])))
    ++end;
  if (end == begin || near[at] == '=') return std::nullopt;
  return assigned{{begin, end}};
}

}  // namespace

namespace {

/// The value at `at`, behind what stands between it and its name.
std::optional<assigned> value_at(const place& near, std::size_t begin, std::size_t at, bool is_whole_line) {
  const bool is_escaped = near[at] == '\\' && near[at + 1] == '"';
  if (is_escaped) ++at;
  const auto text = near.text.substr(0, at + longest_value);
  if (is_quote(near[at])) {
    const auto end = end_of_quoted(text, at + 1, near[at], is_escaped);
    if (end == at + 1) return std::nullopt;
    const bool is_framed = end_of_frame(text.substr(0, end), at + 1) == end;
    return assigned{{at + 1, end}, is_framed && is_template(text.substr(at + 1, end - at - 1)), is_framed};
  }
  if (is_structure(near.from(at))) return std::nullopt;
  const auto framed = end_of_frame(text, at);
  if (framed != at) {
    const bool is_known = is_template(near.text.substr(at, framed - at));
    if (is_known ? ends_item(near[framed]) : ends_value(near, framed)) return assigned{{at, framed}, is_known, true};
  }
  auto end = at;
  // A password that a line gives may have any byte in it; behind a blank there is a comment, or the next setting.
  if (is_whole_line && begins_line(near, begin)) {
    while (end < text.size() && !ends_line(text[end]) && !ascii::is_blank(text[end])) ++end;
  } else {
    end = end_of_item(near, text, begin, at);
  }
  if (end == at) return std::nullopt;
  return assigned{{at, end}};
}

/// The tags and anchors of YAML that a value begins with.
struct yaml_properties {
  std::size_t size = 0;    // with the blanks behind them
  std::string_view tag{};  // empty where there are several, as no YAML has them
};

yaml_properties properties_of(std::string_view line) noexcept {
  line = line.substr(0, line.find_first_of("\r\n"));
  yaml_properties all;
  std::size_t tags = 0;
  while (const auto run = run_of_property(line.substr(all.size))) {
    auto property = line.substr(all.size, run);
    property = property.substr(0, property.find_first_of(" \t"));
    if (property.front() == '!') all.tag = tags++ == 0 ? property : std::string_view();
    all.size += run;
  }
  return all;
}

}  // namespace

std::optional<assigned> value_behind(const place& near, std::size_t begin, std::size_t at, bool is_whole_line) {
  const auto skip_blanks = [&near](std::size_t from) {
    while (ascii::is_blank(near[from])) ++from;
    return from;
  };
  if (begin >= 2 && near[begin - 1] == '{' && near[begin - 2] == '$') return default_at(near, at);
  if (near[at] == '<' || near[at] == '>' || (near[at] == ' ' && begin > 0 && near[begin - 1] == '<'))
    return value_in_tags(near, begin, at);
  if (near[at] == '\\' && near[at + 1] == '"') ++at;
  if (is_quote(near[at]) || near[at] == ']') ++at;
  if (near[at] == '>') return value_in_tags(near, begin, at);
  at = skip_blanks(at);
  at = behind_value_name(near, at);
  if (at > begin && ascii::is_blank(near[at - 1]) && (follows_command(near, begin) || takes_blank(near, begin, at)))
    return word_at(near, at);
  if (near[at] == ':' && near[at + 1] == '=') ++at;
  if (near[at] != '=' && near[at] != ':') return std::nullopt;
  const bool may_have_properties = near[at] == ':';
  ++at;
  if (near[at] == '>' && (ascii::is_blank(near[at + 1]) || is_quote(near[at + 1]))) ++at;
  at = skip_blanks(at);
  const auto properties = may_have_properties ? properties_of(near.from(at).substr(0, longest_value)) : yaml_properties{};
  near.count(3 * properties.size);
  const auto value = at + properties.size;
  auto found = value_at(near, begin, value, is_whole_line);
  if (properties.size == 0) return found;
  if (found && is_tagged_reference(properties.tag, near.text.substr(found->value.begin, found->value.end - found->value.begin)))
    return std::nullopt;
  if (!found) found = assigned{{value, value}};
  found->properties = {at, value};
  return found;
}

}  // namespace hondana::secrets
