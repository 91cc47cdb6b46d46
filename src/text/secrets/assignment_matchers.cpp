/// Matchers for settings with secret names, such as password.

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "base/ascii/ascii.hpp"
#include "text/secrets/matcher.hpp"
#include "text/secrets/secret_names.hpp"

namespace hondana::secrets {

inline constexpr std::size_t max_name_bytes = 64;
inline constexpr std::size_t max_value_bytes = max_examined_bytes;

/// A value, as far as it has been examined.
struct assigned_value {
  span value;                ///< Empty if only `properties` may be secret.
  bool is_harmless = false;  ///< Known not to be secret, even if it looks like one.
  bool is_framed = false;    ///< A template or a call, which may contain blanks.
  span properties{};         ///< YAML tags and anchors before the value.
};

/// The value of the name from `begin` to `position`. It follows `=`, `:`, `=>` or the blank of a command, or is in tags or in a
/// member called `value`. `is_whole_line`: if the name begins its line, the value extends to the next blank.
[[nodiscard]] std::optional<assigned_value> find_value(const match_context& context, std::size_t begin, std::size_t position,
                                                       bool is_whole_line);

namespace {

constexpr std::size_t max_prefix_bytes = 32;  // Limit for the part of the line before a name that is examined.

bool ends_line(char byte) noexcept { return static_cast<unsigned char>(byte) < ' ' && byte != '\t'; }
bool is_quote(char byte) noexcept { return byte == '"' || byte == '\''; }

/// Whether a name at `position` begins its line, or follows only `export`, a list dash, a comment mark or a quote.
bool begins_line(const match_context& context, std::size_t position) noexcept {
  const auto min_position = position - std::min(position, max_prefix_bytes);
  const auto skip = [&](std::string_view bytes) {
    while (position > min_position && bytes.find(context[position - 1]) != std::string_view::npos) --position;
  };
  skip(" \t");
  constexpr std::array<std::string_view, 4> commands{"export", "set", "ENV", "ARG"};
  for (const auto word : commands) {
    if (position < min_position + word.size() || context.text.substr(position - word.size(), word.size()) != word) continue;
    position -= word.size();
    break;
  }
  skip(" \t#;/*+-");
  return position == 0 ? context.offset == 0 : ends_line(context[position - 1]);
}

/// Whether a quotation is open before a name, within the examined part of its line.
bool is_within_quotes(const match_context& context, std::size_t begin, char quote) noexcept {
  bool is_open = false;
  for (auto position = begin; position > 0 && begin - position < max_prefix_bytes && !ends_line(context[position - 1]);
       --position)
    is_open = is_open != (context[position - 1] == quote);
  return is_open;
}

/// Whether a list of settings continues after a separator: a blank, the end, or another name follows.
bool continues_with_setting(std::string_view text) noexcept {
  if (text.empty() || static_cast<unsigned char>(text.front()) <= ' ') return true;
  if (text.front() == '"') {
    const auto quoted = run_length(byte_set::dotted, text.substr(1, max_name_bytes));
    return quoted > 0 && text.substr(1 + quoted).starts_with("\":");
  }
  const auto name = run_length(byte_set::dotted, text.substr(0, max_name_bytes));
  return name > 1 && name < text.size() && (text[name] == '=' || text[name] == ':');
}

/// The end of a quoted value: the first quote that is not escaped, or the end of the line.
std::size_t end_of_quoted(std::string_view text, std::size_t position, char quote, bool is_escaped) noexcept {
  for (; position < text.size() && !ends_line(text[position]); ++position) {
    if (is_escaped && text.substr(position).starts_with(std::string{'\\', quote})) return position;
    if (is_escaped) continue;
    if (text[position] == '\\' && position + 1 < text.size()) {
      // Without escapes, a backslash may be the last character of the value.
      const bool is_last = text[position + 1] == quote && text.find(quote, position + 2) > text.find('\n', position + 2);
      position += is_last ? 0 : 1;
    } else if (text[position] == quote) {
      return position;
    }
  }
  return std::min(position, text.size());
}

bool ends_item(char byte) noexcept {
  return static_cast<unsigned char>(byte) <= ' ' || std::string_view("\"',;)]}").find(byte) != std::string_view::npos;
}

/// The end of a value without quotes in a list of settings, whose name is at `begin`.
std::size_t end_of_item(const match_context& context, std::string_view text, std::size_t begin, std::size_t position) noexcept {
  const bool is_in_double = is_within_quotes(context, begin, '"');
  const bool is_in_single = is_within_quotes(context, begin, '\'');
  for (; position < text.size() && !ends_line(text[position]) && !ascii::is_blank(text[position]); ++position) {
    const char byte = text[position];
    const char next = context[position + 1];
    if ((byte == ',' || byte == ';' || byte == '&') && continues_with_setting(context.text_from(position + 1))) break;
    if (byte == '\\' && is_in_double && std::string_view("nrt\"").find(next) != std::string_view::npos) break;
    if (!(byte == '"' && is_in_double) && !(byte == '\'' && is_in_single)) continue;
    if (ends_item(next) || next == '>' || next == ':') break;
  }
  return position;
}

/// The end of a call with a string argument at the beginning of `line`; 0: none.
std::size_t end_of_call(std::string_view line) noexcept {
  const auto name = run_length(byte_set::dotted, line);
  if (name == 0 || name == line.size() || line[name] != '(') return 0;
  std::size_t open = 0;
  bool has_string = false;
  for (auto position = name; position < line.size(); ++position) {
    has_string = has_string || is_quote(line[position]);
    if (line[position] == '(') ++open;
    if (line[position] == ')' && --open == 0) return has_string ? position + 1 : 0;
  }
  return 0;
}

/// The end of a template or a call at `position`, including blanks; `position`: none.
std::size_t end_of_frame(std::string_view text, std::size_t position) noexcept {
  constexpr std::array<std::array<std::string_view, 2>, 6> frames{
      {{"{{", "}}"}, {"${", "}"}, {"$(", ")"}, {"<", ">"}, {"`", "`"}, {"#{", "}"}}};
  const auto line = text.substr(position, text.find('\n', position) - position);
  for (const auto& [open, close] : frames) {
    if (!line.starts_with(open)) continue;
    // `${{ name }}` ends after all of its braces.
    auto end = line.find(close, open.size());
    if (end == std::string_view::npos) return position;
    for (end += close.size(); end < line.size() && line[end] == close.back() && close.back() == '}';) ++end;
    return position + end;
  }
  return position + end_of_call(line);
}

/// Whether a value of any kind may end at `position`.
bool ends_value(const match_context& context, std::size_t position) noexcept {
  const char byte = context[position];
  return static_cast<unsigned char>(byte) <= ' ' || is_quote(byte) ||
         ((byte == ',' || byte == ';') && continues_with_setting(context.text_from(position + 1)));
}

/// Whether a value without quotes is a table or a list.
bool is_structure(std::string_view text) noexcept {
  if (!text.starts_with('{') && !text.starts_with('[')) return false;
  const auto first = text.substr(1, max_name_bytes);
  if (first.empty() || static_cast<unsigned char>(first.front()) <= ' ') return true;
  const auto inside = first.substr(is_quote(first.front()) ? 1 : 0);
  const auto name = run_length(byte_set::dotted, inside);
  if (name == 0 || name == inside.size()) return false;
  if (inside.size() != first.size()) return inside[name] == first.front();
  return ascii::is_blank(inside[name]) || (name + 1 < inside.size() && ascii::is_blank(inside[name + 1]));
}

/// The value in `<password>…<`, `<entry key="password">…<` or `<key>password</key> <string>…<`: after the end of the next tag.
std::optional<assigned_value> find_value_in_tags(const match_context& context, std::size_t begin, std::size_t position) {
  context.count(2 * max_value_bytes);
  const auto line = context.text_from(begin).substr(0, max_value_bytes);
  const auto text = context.text.substr(0, begin + line.size());
  auto open = text.find('>', position);
  if (context[position] == '<') {
    // After the end of the element with the name, an element with the value follows.
    open = text.find("<string>", position);
    if (open == std::string_view::npos || open - position > max_name_bytes) return std::nullopt;
    open += 7;
  }
  if (open == std::string_view::npos || text[open - 1] == '/') return std::nullopt;
  auto first = open + 1;
  constexpr std::string_view frame = "<![CDATA[";
  const bool is_framed = context.text_from(first).starts_with(frame);
  if (is_framed) first += frame.size();
  auto end = first;
  while (end < text.size() && !ends_line(text[end]) && text[end] != '<' && (!is_framed || text[end] != ']')) ++end;
  if (end == first || (context[end] != '<' && context[end] != ']')) return std::nullopt;
  return assigned_value{{first, end}};
}

/// The position after `value` in `name="password" value="…"`, in `"name": "PASSWORD", "value": "…"`, and on the next line in
/// YAML; `position` if there is none.
std::size_t skip_value_name(const match_context& context, std::size_t position) noexcept {
  auto next = position;
  while (next - position < max_name_bytes &&
         (is_in(byte_set::blank, context[next]) || context[next] == ',' || is_quote(context[next])))
    ++next;
  if (is_in(byte_set::dotted, context[next - 1]) || !starts_with_ignore_case(context.text_from(next), "value") ||
      is_in(byte_set::dotted, context[next + 5]))
    return position;
  next += 5;
  if (is_quote(context[next])) ++next;
  while (ascii::is_blank(context[next])) ++next;
  return context[next] == '=' || context[next] == ':' ? next : position;
}

/// Whether `ENV`, `setenv` or fish's `set` precedes the name, so that the value follows after a blank.
bool follows_command(const match_context& context, std::size_t begin) noexcept {
  auto position = begin;
  while (position > 0 && ascii::is_blank(context[position - 1])) --position;
  constexpr std::array<std::string_view, 5> commands{"ENV", "setenv", "set -x", "set -gx", "set -Ux"};
  const auto preceding = context.text.substr(0, position);
  return position != begin && std::any_of(commands.begin(), commands.end(), [&](auto command) {
           return preceding.ends_with(command) && may_begin_token(context, position - command.size());
         });
}

/// The default of a variable in `${NAME:-default}` and `${NAME:default}`.
std::optional<assigned_value> find_default(const match_context& context, std::size_t position) noexcept {
  const auto begin =
      position + (context[position] == ':' && (context[position + 1] == '-' || context[position + 1] == '=') ? 2 : 1);
  if ((context[position] != ':' && context[position] != '=') || context[begin] == '?' || context[begin] == '$')
    return std::nullopt;
  const auto end = begin + run_length(byte_set::item, context.text_from(begin).substr(0, max_value_bytes));
  context.count(2 * (end - begin));
  const auto close = context.text.substr(0, end).find('}', begin);
  if (close == std::string_view::npos || close == begin) return std::nullopt;
  return assigned_value{{begin, close}};
}

/// Whether the name is a setting of Redis or OpenLDAP that has its value after a blank.
bool takes_blank(const match_context& context, std::size_t begin, std::size_t position) noexcept {
  constexpr std::array<std::string_view, 4> names{"requirepass", "masterauth", "rootpw", "bindpw"};
  const auto name = context.text.substr(begin, run_length(byte_set::dotted, context.text.substr(begin, position - begin)));
  return context[position] != '=' && context[position] != ':' && std::find(names.begin(), names.end(), name) != names.end() &&
         begins_line(context, begin);
}

std::optional<assigned_value> find_word(const match_context& context, std::size_t position) noexcept {
  const char quote = is_quote(context[position]) ? context[position] : '\0';
  const auto begin = position + (quote != '\0' ? 1 : 0);
  const auto text = context.text.substr(0, begin + max_value_bytes);
  auto end = begin;
  while (end < text.size() && !ends_line(text[end]) && (quote != '\0' ? text[end] != quote : !ascii::is_blank(text[end])))
    ++end;
  if (end == begin || context[position] == '=') return std::nullopt;
  return assigned_value{{begin, end}};
}

/// The value at `position`, after its separator.
std::optional<assigned_value> parse_value(const match_context& context, std::size_t begin, std::size_t position,
                                          bool is_whole_line) {
  const bool is_escaped = context[position] == '\\' && context[position + 1] == '"';
  if (is_escaped) ++position;
  const auto text = context.text.substr(0, position + max_value_bytes);
  if (is_quote(context[position])) {
    const auto end = end_of_quoted(text, position + 1, context[position], is_escaped);
    if (end == position + 1) return std::nullopt;
    const bool is_framed = end_of_frame(text.substr(0, end), position + 1) == end;
    return assigned_value{
        {position + 1, end}, is_framed && is_template(text.substr(position + 1, end - position - 1)), is_framed};
  }
  if (is_structure(context.text_from(position))) return std::nullopt;
  const auto framed = end_of_frame(text, position);
  if (framed != position) {
    const bool is_harmless = is_template(context.text.substr(position, framed - position));
    if (is_harmless ? ends_item(context[framed]) : ends_value(context, framed))
      return assigned_value{{position, framed}, is_harmless, true};
  }
  auto end = position;
  // A password on its own line may contain any byte. After a blank, a comment or the next setting begins.
  if (is_whole_line && begins_line(context, begin)) {
    while (end < text.size() && !ends_line(text[end]) && !ascii::is_blank(text[end])) ++end;
  } else {
    end = end_of_item(context, text, begin, position);
  }
  if (end == position) return std::nullopt;
  return assigned_value{{position, end}};
}

/// The YAML tags and anchors before a value.
struct yaml_properties {
  std::size_t size = 0;    // including the blanks after them
  std::string_view tag{};  // empty if there are several, which YAML does not allow
};

yaml_properties parse_properties(std::string_view line) noexcept {
  line = line.substr(0, line.find_first_of("\r\n"));
  yaml_properties parsed;
  std::size_t tags = 0;
  while (const auto run = property_length(line.substr(parsed.size))) {
    auto property = line.substr(parsed.size, run);
    property = property.substr(0, property.find_first_of(" \t"));
    if (property.front() == '!') parsed.tag = tags++ == 0 ? property : std::string_view();
    parsed.size += run;
  }
  return parsed;
}

}  // namespace

std::optional<assigned_value> find_value(const match_context& context, std::size_t begin, std::size_t position,
                                         bool is_whole_line) {
  const auto skip_blanks = [&context](std::size_t start) {
    while (ascii::is_blank(context[start])) ++start;
    return start;
  };
  if (begin >= 2 && context[begin - 1] == '{' && context[begin - 2] == '$') return find_default(context, position);
  if (context[position] == '<' || context[position] == '>' ||
      (context[position] == ' ' && begin > 0 && context[begin - 1] == '<'))
    return find_value_in_tags(context, begin, position);
  if (context[position] == '\\' && context[position + 1] == '"') ++position;
  if (is_quote(context[position]) || context[position] == ']') ++position;
  if (context[position] == '>') return find_value_in_tags(context, begin, position);
  position = skip_blanks(position);
  position = skip_value_name(context, position);
  if (position > begin && ascii::is_blank(context[position - 1]) &&
      (follows_command(context, begin) || takes_blank(context, begin, position)))
    return find_word(context, position);
  if (context[position] == ':' && context[position + 1] == '=') ++position;
  if (context[position] != '=' && context[position] != ':') return std::nullopt;
  const bool may_have_properties = context[position] == ':';
  ++position;
  if (context[position] == '>' && (ascii::is_blank(context[position + 1]) || is_quote(context[position + 1]))) ++position;
  position = skip_blanks(position);
  const auto properties =
      may_have_properties ? parse_properties(context.text_from(position).substr(0, max_value_bytes)) : yaml_properties{};
  context.count(3 * properties.size);
  const auto value = position + properties.size;
  auto result = parse_value(context, begin, value, is_whole_line);
  if (properties.size == 0) return result;
  if (result &&
      is_tagged_reference(properties.tag, context.text.substr(result->value.begin, result->value.end - result->value.begin)))
    return std::nullopt;
  if (!result) result = assigned_value{{value, value}};
  result->properties = {position, value};
  return result;
}

namespace {

using words = std::span<const std::string_view>;

/// Endings of password names, with any prefix: `PGPASSWORD`, `clientsecret`.
constexpr std::array<std::string_view, 13> strong_endings{"password", "passwords",  "passwd",     "pwd",  "passphrase",
                                                          "passcode", "secret",     "secrets",    "pass", "passwds",
                                                          "pw",       "masterauth", "passphrases"};
/// Those of `strong_endings` that have no other meaning in sentences and switches.
constexpr std::array<std::string_view, 4> unambiguous_endings{"password", "passwd", "passphrase", "secret"};
/// Words that end like these by chance, and names of filters, roads and programs.
constexpr std::array<std::string_view, 21> harmless_endings{
    "bypass",    "compass",    "encompass",  "surpass", "trespass", "overpass", "underpass",
    "multipass", "singlepass", "onepass",    "twopass", "subpass",  "prepass",  "highpass",
    "lowpass",   "bandpass",   "renderpass", "allpass", "lastpass", "keepass",  "oldpwd"};
constexpr std::array<std::string_view, 5> weak_endings{"token", "tokens", "credential", "credentials", "keybase"};
constexpr std::array<std::string_view, 4> weak_words{"auth", "apikey", "accesskey", "psk"};
constexpr std::array<std::string_view, 25> key_qualifiers{
    "preshared", "api",     "access",  "private",    "secret", "encryption",   "signing", "account", "master",
    "shared",    "storage", "service", "auth",       "app",    "hmac",         "crypto",  "cipher",  "session",
    "license",   "webhook", "client",  "decryption", "host",   "subscription", "admin"};
/// Words before `token` that make it a pagination or cancellation token.
constexpr std::array<std::string_view, 13> harmless_token_qualifiers{"next",   "page",       "continuation", "cursor", "sync",
                                                                     "start",  "previous",   "prev",         "skip",   "resume",
                                                                     "marker", "pagination", "cancellation"};
/// Last words of names that are about a secret, but are not secrets.
constexpr std::array<std::string_view, 40> harmless_last_words{
    "id",      "name",    "file",   "path",       "url",   "uri",      "type",   "ttl",       "length", "size",
    "count",   "expires", "expiry", "expiration", "min",   "max",      "policy", "endpoint",  "regex",  "pattern",
    "field",   "header",  "prefix", "hint",       "label", "env",      "ref",    "algorithm", "method", "enabled",
    "timeout", "version", "public", "arn",        "alias", "location", "dir",    "required",  "title",  "description"};

bool is_one_of(std::string_view word, words list) {
  return std::any_of(list.begin(), list.end(), [word](auto entry) { return entry == word; });
}

bool ends_in(std::string_view word, words list) {
  return std::any_of(list.begin(), list.end(), [word](auto entry) { return word.ends_with(entry); });
}

bool is_strong(std::string_view word) { return ends_in(word, strong_endings) && !is_one_of(word, harmless_endings); }

/// The last words of a name such as `dbPassword`, `DB_PASSWORD`, `db.password`, in lower case.
struct name_words {
  std::array<std::string, 3> last;  // the last word is the last element
};

name_words split_words(std::string_view name) {
  name_words out;
  const auto add = [&out](std::string word) {
    if (word.empty()) return;
    std::rotate(out.last.begin(), out.last.begin() + 1, out.last.end());
    out.last.back() = std::move(word);
  };
  std::string word;
  char previous = '\0';
  for (const char byte : name) {
    const bool is_capital = byte >= 'A' && byte <= 'Z';
    const bool follows_lowercase = (previous >= 'a' && previous <= 'z') || (previous >= '0' && previous <= '9');
    if (!is_in(byte_set::alnum, byte) || (is_capital && follows_lowercase)) {
      add(std::move(word));
      word.clear();
    }
    if (is_in(byte_set::alnum, byte)) word += ascii::to_lower(byte);
    previous = byte;
  }
  while (!word.empty() && word.back() >= '0' && word.back() <= '9') word.pop_back();
  add(std::move(word));
  return out;
}

/// How much a name says about its value: nothing; it is a key; it is a password; it is a password without any doubt.
enum class confidence : std::uint8_t { none, weak, strong, certain };

/// `next_token`, `pagetoken`
bool is_harmless_token(std::string_view last, std::string_view second) {
  if (last.ends_with('s')) last.remove_suffix(1);
  if (!last.ends_with("token")) return false;
  last.remove_suffix(5);
  return last.empty() ? is_one_of(second, harmless_token_qualifiers) : ends_in(last, harmless_token_qualifiers);
}

confidence confidence_of(std::string_view name) {
  const auto split = split_words(name);
  const auto& last = split.last[2];
  const auto& second = split.last[1];
  if (is_one_of(last, harmless_last_words) || is_harmless_token(last, second)) return confidence::none;
  if (second == "public" || split.last[0] == "public") return confidence::none;
  if (is_strong(last)) return ends_in(last, unambiguous_endings) ? confidence::certain : confidence::strong;
  // "password_hash", "secret_key", "token_value"
  if (is_strong(second)) return confidence::weak;
  if (ends_in(last, weak_endings) || is_one_of(last, weak_words)) return confidence::weak;
  const bool is_key = last == "key" || last == "keys" || last == "salt";
  if (is_key && (is_one_of(second, key_qualifiers) || last == "salt")) return confidence::weak;
  if (last == "base" && second == "key") return confidence::weak;
  const bool ends_in_key =
      last.size() > 3 && last.ends_with("key") && is_one_of(std::string_view(last).substr(0, last.size() - 3), key_qualifiers);
  return ends_in_key ? confidence::weak : confidence::none;
}

/// Whether the value consists of words in lower case or with initial capitals, like keys of translations and message formats.
bool is_plain_word(std::string_view value) {
  bool is_begin = true;
  for (const char c : value) {
    const bool is_lowercase = (c >= 'a' && c <= 'z') || static_cast<unsigned char>(c) >= 0x80;
    const bool is_capital = c >= 'A' && c <= 'Z';
    if (!is_lowercase && !(is_capital && is_begin) && c != '-' && c != '_' && c != '.') return false;
    is_begin = !is_lowercase && !is_capital;
  }
  return true;
}

/// Whether the value is a translation of "password" (`login.password = Kennwort`), or contains letters outside ASCII, which are
/// unusual in passwords.
bool is_label(std::string_view value) {
  if (!is_plain_word(value)) return false;
  constexpr std::array<std::string_view, 3> stems{"passwor", "kennwort", "geheim"};
  for (std::size_t position = 0; position < value.size(); ++position) {
    const auto tail = value.substr(position);
    if (static_cast<unsigned char>(tail.front()) >= 0x80) return true;
    if (std::any_of(stems.begin(), stems.end(), [tail](auto stem) { return starts_with_ignore_case(tail, stem); })) return true;
  }
  return false;
}

/// Whether the value is a word that describes the state of a password.
bool is_state_word(std::string_view value) {
  constexpr std::array<std::string_view, 16> state_words{
      "password",  "required",  "optional",  "disabled",  "undefined", "username",  "external",  "internal",
      "generated", "encrypted", "plaintext", "incorrect", "mismatch",  "inherited", "unchanged", "forbidden"};
  return std::any_of(state_words.begin(), state_words.end(),
                     [value](auto entry) { return value.size() == entry.size() && starts_with_ignore_case(value, entry); });
}

bool is_space(char byte) noexcept { return is_in(byte_set::blank, byte); }

/// Whether `value` is a key: random, and long enough not to be anything else.
bool is_random_key(std::string_view value) {
  return value.size() >= 16 && !is_reference(value) && is_random(value) && std::none_of(value.begin(), value.end(), is_space);
}

/// Whether a word in a template or a call is a secret: `os.getenv("PW", "…")`, `{{ pw | default("…") }}`.
bool contains_secret(std::string_view value, confidence level) {
  const auto is_separator = [](char c) {
    return is_space(c) || std::string_view("\"'`,()[]{}$:=").find(c) != std::string_view::npos;
  };
  for (auto word_begin = value.begin(); word_begin != value.end();) {
    const auto end = std::find_if(word_begin, value.end(), is_separator);
    const std::string_view word(word_begin, end);
    if (!is_name(word) && (level == confidence::weak ? is_random_key(word) : may_be_password(word))) return true;
    word_begin = std::find_if_not(end, value.end(), is_separator);
  }
  return false;
}

/// Whether a word is the whole rest of its line, or quoted, and so not part of a sentence.
bool stands_alone(const match_context& context, const span& value) {
  const char following = context[value.end];
  return following == '"' || following == '\'' || following == '<' || static_cast<unsigned char>(following) < ' ';
}

bool is_secret(const match_context& context, std::string_view name, const assigned_value& assignment, confidence level) {
  const auto value = context.text.substr(assignment.value.begin, assignment.value.end - assignment.value.begin);
  if (level == confidence::weak) return assignment.is_framed ? contains_secret(value, level) : is_random_key(value);
  if (assignment.is_framed && contains_secret(value, level)) return true;
  const bool is_dotted = name.find('.') != std::string_view::npos;
  if (is_dotted && is_label(value)) return false;
  if (may_be_password(value)) return true;
  // A word in letters only is a password only if the name is unambiguous.
  return level == confidence::certain && value.size() >= 8 && is_plain_word(value) && !is_state_word(value) &&
         !is_reference(value) && !is_placeholder(value) && entropy_of(value) >= 2.5 && stands_alone(context, assignment.value);
}

}  // namespace

bool is_non_word(std::string_view text) noexcept {
  if (std::any_of(text.begin(), text.end(), is_space)) return false;
  std::array<bool, 4> classes{};
  for (const char c : text) {
    const std::size_t class_index = c >= 'a' && c <= 'z' ? 0 : c >= 'A' && c <= 'Z' ? 1 : c >= '0' && c <= '9' ? 2 : 3;
    classes[class_index] = true;
  }
  return text.size() >= 8 && std::count(classes.begin(), classes.end(), true) >= 2 && entropy_of(text) >= 2.5;
}

bool may_be_password(std::string_view value) { return !is_reference(value) && !is_placeholder(value) && is_non_word(value); }

namespace {

/// The range of tags and anchors that look like a password, including the blanks between them.
std::optional<span> secret_properties(const match_context& context, std::string_view name, const span& properties,
                                      confidence level) {
  std::optional<span> out;
  for (auto position = properties.begin; position < properties.end;) {
    auto end = position;
    while (end < properties.end && !is_space(context[end])) ++end;
    const auto property = context.text.substr(position, end - position);
    if (!is_plain_tag(property) && is_secret(context, name, {{position, end}}, level))
      out = span{out ? out->begin : position, end};
    for (position = end; position < properties.end && is_space(context[position]);) ++position;
  }
  return out;
}

/// The value of the setting whose name surrounds the anchor, if `classify` says that the name is secret. `is_name_byte`: which
/// bytes belong to names.
template <class IsNameByte, class Classify>
std::optional<span> match_named(const match_context& context, IsNameByte is_name_byte, Classify classify) {
  auto begin = context.position;
  while (begin > 0 && context.position - begin < max_name_bytes && is_name_byte(context[begin - 1])) --begin;
  // If a name contains several anchors, only the first one handles it. One that is too far from the beginning belongs to no
  // name.
  const auto text = context.text_from(begin).substr(0, 2 * max_name_bytes);
  const auto size = static_cast<std::size_t>(std::find_if_not(text.begin(), text.end(), is_name_byte) - text.begin());
  context.count(context.position - begin + size);
  const auto level = classify(context.text.substr(begin, size));
  if (level == confidence::none) return std::nullopt;
  const auto assignment = find_value(context, begin, begin + size, level != confidence::weak);
  if (!assignment) return std::nullopt;
  const auto& value = assignment->value;
  context.count((assignment->is_framed ? 3 : 2) * (value.end - value.begin));
  const auto name = context.text.substr(begin, size);
  auto masked_properties = secret_properties(context, name, assignment->properties, level);
  if (assignment->is_harmless || !is_secret(context, name, *assignment, level)) return masked_properties;
  const bool is_truncated = value.end - value.begin >= max_value_bytes - 1;
  return span{masked_properties ? masked_properties->begin : value.begin,
              is_truncated ? context.extend_to_run_end(byte_set::item, value.end) : value.end};
}

}  // namespace

std::optional<span> match_assignment(const match_context& context) {
  return match_named(
      context, [](char c) { return is_in(byte_set::dotted, c); },
      [](std::string_view name) {
        return name.empty() || name.size() > max_name_bytes ? confidence::none : confidence_of(name);
      });
}

std::optional<span> match_localized_assignment(const match_context& context) {
  const auto classify = [&context](std::string_view name) {
    // Most of these words occur in sentences. Only a setting is followed by a separator.
    auto next = static_cast<std::size_t>(name.data() - context.text.data()) + name.size();
    while (context[next] == ' ') ++next;
    if (std::string_view("\"'=:<>]\\").find(context[next]) == std::string_view::npos) return confidence::none;
    context.count(2 * name.size());
    return name.size() < 2 * max_name_bytes && names_localized_password(name) ? confidence::strong : confidence::none;
  };
  // In scripts without blanks, a name may follow a sentence directly.
  return match_named(
      context, [](char c) { return is_in(byte_set::dotted, c) || static_cast<unsigned char>(c) >= 0x80; }, classify);
}

}  // namespace hondana::secrets
