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

inline constexpr std::size_t longest_name = 64;
inline constexpr std::size_t longest_value = looked_at_most;

/// A value, as far as it has been examined.
struct assigned {
  span value;              ///< Empty if only `properties` may be secret.
  bool is_known = false;   ///< Known not to be secret, even if it looks like one.
  bool is_framed = false;  ///< A template or a call, which may contain blanks.
  span properties{};       ///< YAML tags and anchors before the value.
};

/// The value of the name from `begin` to `at`. It follows `=`, `:`, `=>` or the blank of a command, or is in tags or in a
/// member called `value`. `is_whole_line`: if the name begins its line, the value extends to the next blank.
[[nodiscard]] std::optional<assigned> value_behind(const place& near, std::size_t begin, std::size_t at, bool is_whole_line);

namespace {

constexpr std::size_t longest_before = 32;  // Limit for the part of the line before a name that is examined.

bool ends_line(char byte) noexcept { return static_cast<unsigned char>(byte) < ' ' && byte != '\t'; }
bool is_quote(char byte) noexcept { return byte == '"' || byte == '\''; }

/// Whether a name at `at` begins its line, or follows only `export`, a list dash, a comment mark or a quote.
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

/// Whether a quotation is open before a name, within the examined part of its line.
bool is_within_quotes(const place& near, std::size_t begin, char quote) noexcept {
  bool is_open = false;
  for (auto at = begin; at > 0 && begin - at < longest_before && !ends_line(near[at - 1]); --at)
    is_open = is_open != (near[at - 1] == quote);
  return is_open;
}

/// Whether a list of settings continues after a separator: a blank, the end, or another name follows.
bool goes_on(std::string_view rest) noexcept {
  if (rest.empty() || static_cast<unsigned char>(rest.front()) <= ' ') return true;
  if (rest.front() == '"') {
    const auto quoted = run_of(kind::dotted, rest.substr(1, longest_name));
    return quoted > 0 && rest.substr(1 + quoted).starts_with("\":");
  }
  const auto name = run_of(kind::dotted, rest.substr(0, longest_name));
  return name > 1 && name < rest.size() && (rest[name] == '=' || rest[name] == ':');
}

/// The end of a quoted value: the first quote that is not escaped, or the end of the line.
std::size_t end_of_quoted(std::string_view text, std::size_t at, char quote, bool is_escaped) noexcept {
  for (; at < text.size() && !ends_line(text[at]); ++at) {
    if (is_escaped && text.substr(at).starts_with(std::string{'\\', quote})) return at;
    if (is_escaped) continue;
    if (text[at] == '\\' && at + 1 < text.size()) {
      // Without escapes, a backslash may be the last character of the value.
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

/// The end of a value without quotes in a list of settings, whose name is at `begin`.
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

/// The end of a call with a string argument at the beginning of `line`; 0: none.
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

/// The end of a template or a call at `at`, including blanks; `at`: none.
std::size_t end_of_frame(std::string_view text, std::size_t at) noexcept {
  constexpr std::array<std::array<std::string_view, 2>, 6> frames{
      {{"{{", "}}"}, {"${", "}"}, {"$(", ")"}, {"<", ">"}, {"`", "`"}, {"#{", "}"}}};
  const auto line = text.substr(at, text.find('\n', at) - at);
  for (const auto& [open, close] : frames) {
    if (!line.starts_with(open)) continue;
    // `${{ name }}` ends after all of its braces.
    auto end = line.find(close, open.size());
    if (end == std::string_view::npos) return at;
    for (end += close.size(); end < line.size() && line[end] == close.back() && close.back() == '}';) ++end;
    return at + end;
  }
  return at + end_of_call(line);
}

/// Whether a value of any kind may end at `at`.
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

/// The value in `<password>…<`, `<entry key="password">…<` or `<key>password</key> <string>…<`: after the end of the next tag.
std::optional<assigned> value_in_tags(const place& near, std::size_t begin, std::size_t at) {
  near.count(2 * longest_value);
  const auto line = near.from(begin).substr(0, longest_value);
  const auto text = near.text.substr(0, begin + line.size());
  auto open = text.find('>', at);
  if (near[at] == '<') {
    // After the end of the element with the name, an element with the value follows.
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

/// The position after `value` in `name="password" value="…"`, in `"name": "PASSWORD", "value": "…"`, and on the next line in
/// YAML; `at` if there is none.
std::size_t behind_value_name(const place& near, std::size_t at) noexcept {
  auto next = at;
  while (next - at < longest_name && (is(kind::blank, near[next]) || near[next] == ',' || is_quote(near[next]))) ++next;
  if (is(kind::dotted, near[next - 1]) || !begins_with(near.from(next), "value") || is(kind::dotted, near[next + 5])) return at;
  next += 5;
  if (is_quote(near[next])) ++next;
  while (ascii::is_blank(near[next])) ++next;
  return near[next] == '=' || near[next] == ':' ? next : at;
}

/// Whether `ENV`, `setenv` or fish's `set` precedes the name, so that the value follows after a blank.
bool follows_command(const place& near, std::size_t begin) noexcept {
  auto at = begin;
  while (at > 0 && ascii::is_blank(near[at - 1])) --at;
  constexpr std::array<std::string_view, 5> commands{"ENV", "setenv", "set -x", "set -gx", "set -Ux"};
  const auto before = near.text.substr(0, at);
  return at != begin && std::any_of(commands.begin(), commands.end(),
                                    [&](auto one) { return before.ends_with(one) && begins_anew(near, at - one.size()); });
}

/// The default of a variable in `${NAME:-default}` and `${NAME:default}`.
std::optional<assigned> default_at(const place& near, std::size_t at) noexcept {
  const auto begin = at + (near[at] == ':' && (near[at + 1] == '-' || near[at + 1] == '=') ? 2 : 1);
  if ((near[at] != ':' && near[at] != '=') || near[begin] == '?' || near[begin] == '$') return std::nullopt;
  const auto end = begin + run_of(kind::item, near.from(begin).substr(0, longest_value));
  near.count(2 * (end - begin));
  const auto close = near.text.substr(0, end).find('}', begin);
  if (close == std::string_view::npos || close == begin) return std::nullopt;
  return assigned{{begin, close}};
}

/// Whether the name is a setting of Redis or OpenLDAP that has its value after a blank.
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

/// The value at `at`, after its separator.
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
  // A password on its own line may contain any byte. After a blank, a comment or the next setting begins.
  if (is_whole_line && begins_line(near, begin)) {
    while (end < text.size() && !ends_line(text[end]) && !ascii::is_blank(text[end])) ++end;
  } else {
    end = end_of_item(near, text, begin, at);
  }
  if (end == at) return std::nullopt;
  return assigned{{at, end}};
}

/// The YAML tags and anchors before a value.
struct yaml_properties {
  std::size_t size = 0;    // including the blanks after them
  std::string_view tag{};  // empty if there are several, which YAML does not allow
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

namespace {

using words = std::span<const std::string_view>;

/// Endings of password names, with any prefix: `PGPASSWORD`, `clientsecret`.
constexpr std::array<std::string_view, 13> strong_ends{"password", "passwords",  "passwd",     "pwd",  "passphrase",
                                                       "passcode", "secret",     "secrets",    "pass", "passwds",
                                                       "pw",       "masterauth", "passphrases"};
/// Those of `strong_ends` that have no other meaning in sentences and switches.
constexpr std::array<std::string_view, 4> plain_ends{"password", "passwd", "passphrase", "secret"};
/// Words that end like these by chance, and names of filters, roads and programs.
constexpr std::array<std::string_view, 21> harmless_ends{
    "bypass",    "compass",    "encompass",  "surpass", "trespass", "overpass", "underpass",
    "multipass", "singlepass", "onepass",    "twopass", "subpass",  "prepass",  "highpass",
    "lowpass",   "bandpass",   "renderpass", "allpass", "lastpass", "keepass",  "oldpwd"};
constexpr std::array<std::string_view, 5> weak_ends{"token", "tokens", "credential", "credentials", "keybase"};
constexpr std::array<std::string_view, 4> weak_words{"auth", "apikey", "accesskey", "psk"};
constexpr std::array<std::string_view, 25> before_key{
    "preshared", "api",     "access",  "private",    "secret", "encryption",   "signing", "account", "master",
    "shared",    "storage", "service", "auth",       "app",    "hmac",         "crypto",  "cipher",  "session",
    "license",   "webhook", "client",  "decryption", "host",   "subscription", "admin"};
/// Words before `token` that make it a pagination or cancellation token.
constexpr std::array<std::string_view, 13> before_harmless_token{"next",   "page",       "continuation", "cursor", "sync",
                                                                 "start",  "previous",   "prev",         "skip",   "resume",
                                                                 "marker", "pagination", "cancellation"};
/// Last words of names that are about a secret, but are not secrets.
constexpr std::array<std::string_view, 40> harmless{
    "id",      "name",    "file",   "path",       "url",   "uri",      "type",   "ttl",       "length", "size",
    "count",   "expires", "expiry", "expiration", "min",   "max",      "policy", "endpoint",  "regex",  "pattern",
    "field",   "header",  "prefix", "hint",       "label", "env",      "ref",    "algorithm", "method", "enabled",
    "timeout", "version", "public", "arn",        "alias", "location", "dir",    "required",  "title",  "description"};

bool is_one_of(std::string_view word, words list) {
  return std::any_of(list.begin(), list.end(), [word](auto one) { return one == word; });
}

bool ends_in(std::string_view word, words list) {
  return std::any_of(list.begin(), list.end(), [word](auto one) { return word.ends_with(one); });
}

bool is_strong(std::string_view word) { return ends_in(word, strong_ends) && !is_one_of(word, harmless_ends); }

/// The last words of a name such as `dbPassword`, `DB_PASSWORD`, `db.password`, in lower case.
struct name_words {
  std::array<std::string, 3> last;  // the last word is the last element
};

name_words words_of(std::string_view name) {
  name_words out;
  const auto add = [&out](std::string word) {
    if (word.empty()) return;
    std::rotate(out.last.begin(), out.last.begin() + 1, out.last.end());
    out.last.back() = std::move(word);
  };
  std::string word;
  char before = '\0';
  for (const char byte : name) {
    const bool is_capital = byte >= 'A' && byte <= 'Z';
    const bool follows_small = (before >= 'a' && before <= 'z') || (before >= '0' && before <= '9');
    if (!is(kind::alnum, byte) || (is_capital && follows_small)) {
      add(std::move(word));
      word.clear();
    }
    if (is(kind::alnum, byte)) word += ascii::lower(byte);
    before = byte;
  }
  while (!word.empty() && word.back() >= '0' && word.back() <= '9') word.pop_back();
  add(std::move(word));
  return out;
}

/// How much a name says about its value: nothing; it is a key; it is a password; it is a password without any doubt.
enum class weight : std::uint8_t { none, weak, strong, plain };

/// `next_token`, `pagetoken`
bool is_harmless_token(std::string_view last, std::string_view second) {
  if (last.ends_with('s')) last.remove_suffix(1);
  if (!last.ends_with("token")) return false;
  last.remove_suffix(5);
  return last.empty() ? is_one_of(second, before_harmless_token) : ends_in(last, before_harmless_token);
}

weight weight_of(std::string_view name) {
  const auto of = words_of(name);
  const auto& last = of.last[2];
  const auto& second = of.last[1];
  if (is_one_of(last, harmless) || is_harmless_token(last, second)) return weight::none;
  if (second == "public" || of.last[0] == "public") return weight::none;
  if (is_strong(last)) return ends_in(last, plain_ends) ? weight::plain : weight::strong;
  // "password_hash", "secret_key", "token_value"
  if (is_strong(second)) return weight::weak;
  if (ends_in(last, weak_ends) || is_one_of(last, weak_words)) return weight::weak;
  const bool is_key = last == "key" || last == "keys" || last == "salt";
  if (is_key && (is_one_of(second, before_key) || last == "salt")) return weight::weak;
  if (last == "base" && second == "key") return weight::weak;
  const bool ends_in_key =
      last.size() > 3 && last.ends_with("key") && is_one_of(std::string_view(last).substr(0, last.size() - 3), before_key);
  return ends_in_key ? weight::weak : weight::none;
}

/// Whether the value consists of words in lower case or with initial capitals, like keys of translations and message formats.
bool is_plain_word(std::string_view value) {
  bool is_begin = true;
  for (const char c : value) {
    const bool is_small = (c >= 'a' && c <= 'z') || static_cast<unsigned char>(c) >= 0x80;
    const bool is_capital = c >= 'A' && c <= 'Z';
    if (!is_small && !(is_capital && is_begin) && c != '-' && c != '_' && c != '.') return false;
    is_begin = !is_small && !is_capital;
  }
  return true;
}

/// Whether the value is a translation of "password" (`login.password = Kennwort`), or contains letters outside ASCII, which are
/// unusual in passwords.
bool is_label(std::string_view value) {
  if (!is_plain_word(value)) return false;
  constexpr std::array<std::string_view, 3> stems{"passwor", "kennwort", "geheim"};
  for (std::size_t at = 0; at < value.size(); ++at) {
    const auto rest = value.substr(at);
    if (static_cast<unsigned char>(rest.front()) >= 0x80) return true;
    if (std::any_of(stems.begin(), stems.end(), [rest](auto one) { return begins_with(rest, one); })) return true;
  }
  return false;
}

/// Whether the value is a word that describes the state of a password.
bool is_remark(std::string_view value) {
  constexpr std::array<std::string_view, 16> remarks{
      "password",  "required",  "optional",  "disabled",  "undefined", "username",  "external",  "internal",
      "generated", "encrypted", "plaintext", "incorrect", "mismatch",  "inherited", "unchanged", "forbidden"};
  return std::any_of(remarks.begin(), remarks.end(),
                     [value](auto one) { return value.size() == one.size() && begins_with(value, one); });
}

bool is_white(char byte) noexcept { return is(kind::blank, byte); }

/// Whether `value` is a key: random, and long enough not to be anything else.
bool is_drawn_key(std::string_view value) {
  return value.size() >= 16 && !is_reference(value) && is_random(value) && std::none_of(value.begin(), value.end(), is_white);
}

/// Whether a word in a template or a call is a secret: `os.getenv("PW", "…")`, `{{ pw | default("…") }}`.
bool holds_secret(std::string_view value, weight how) {
  const auto parts = [](char c) { return is_white(c) || std::string_view("\"'`,()[]{}$:=").find(c) != std::string_view::npos; };
  for (auto at = value.begin(); at != value.end();) {
    const auto end = std::find_if(at, value.end(), parts);
    const std::string_view word(at, end);
    if (!is_name(word) && (how == weight::weak ? is_drawn_key(word) : may_be_password(word))) return true;
    at = std::find_if_not(end, value.end(), parts);
  }
  return false;
}

/// Whether a word is the whole rest of its line, or quoted, and so not part of a sentence.
bool stands_alone(const place& near, const span& value) {
  const char behind = near[value.end];
  return behind == '"' || behind == '\'' || behind == '<' || static_cast<unsigned char>(behind) < ' ';
}

bool is_secret(const place& near, std::string_view name, const assigned& found, weight how) {
  const auto value = near.text.substr(found.value.begin, found.value.end - found.value.begin);
  if (how == weight::weak) return found.is_framed ? holds_secret(value, how) : is_drawn_key(value);
  if (found.is_framed && holds_secret(value, how)) return true;
  const bool is_dotted = name.find('.') != std::string_view::npos;
  if (is_dotted && is_label(value)) return false;
  if (may_be_password(value)) return true;
  // A word in letters only is a password only if the name is unambiguous.
  return how == weight::plain && value.size() >= 8 && is_plain_word(value) && !is_remark(value) && !is_reference(value) &&
         !is_placeholder(value) && entropy_of(value) >= 2.5 && stands_alone(near, found.value);
}

}  // namespace

bool is_no_word(std::string_view what) noexcept {
  if (std::any_of(what.begin(), what.end(), is_white)) return false;
  std::array<bool, 4> classes{};
  for (const char c : what) {
    const std::size_t of = c >= 'a' && c <= 'z' ? 0 : c >= 'A' && c <= 'Z' ? 1 : c >= '0' && c <= '9' ? 2 : 3;
    classes[of] = true;
  }
  return what.size() >= 8 && std::count(classes.begin(), classes.end(), true) >= 2 && entropy_of(what) >= 2.5;
}

bool may_be_password(std::string_view value) { return !is_reference(value) && !is_placeholder(value) && is_no_word(value); }

namespace {

/// The range of tags and anchors that look like a password, including the blanks between them.
std::optional<span> secret_properties(const place& near, std::string_view name, const span& properties, weight how) {
  std::optional<span> out;
  for (auto at = properties.begin; at < properties.end;) {
    auto end = at;
    while (end < properties.end && !is_white(near[end])) ++end;
    const auto property = near.text.substr(at, end - at);
    if (!is_plain_tag(property) && is_secret(near, name, {{at, end}}, how)) out = span{out ? out->begin : at, end};
    for (at = end; at < properties.end && is_white(near[at]);) ++at;
  }
  return out;
}

/// The value of the setting whose name surrounds the anchor, if `weigh` says that the name is secret. `is_of_name`: which bytes
/// belong to names.
template <class IsOfName, class Weigh>
std::optional<span> match_named(const place& near, IsOfName is_of_name, Weigh weigh) {
  auto begin = near.at;
  while (begin > 0 && near.at - begin < longest_name && is_of_name(near[begin - 1])) --begin;
  // If a name contains several anchors, only the first one handles it. One that is too far from the beginning belongs to no
  // name.
  const auto rest = near.from(begin).substr(0, 2 * longest_name);
  const auto size = static_cast<std::size_t>(std::find_if_not(rest.begin(), rest.end(), is_of_name) - rest.begin());
  near.count(near.at - begin + size);
  const auto how = weigh(near.text.substr(begin, size));
  if (how == weight::none) return std::nullopt;
  const auto found = value_behind(near, begin, begin + size, how != weight::weak);
  if (!found) return std::nullopt;
  const auto& value = found->value;
  near.count((found->is_framed ? 3 : 2) * (value.end - value.begin));
  const auto name = near.text.substr(begin, size);
  auto masked = secret_properties(near, name, found->properties, how);
  if (found->is_known || !is_secret(near, name, *found, how)) return masked;
  const bool is_cut = value.end - value.begin >= longest_value - 1;
  return span{masked ? masked->begin : value.begin, is_cut ? near.uncut(kind::item, value.end) : value.end};
}

}  // namespace

std::optional<span> match_assignment(const place& near) {
  return match_named(
      near, [](char c) { return is(kind::dotted, c); },
      [](std::string_view name) { return name.empty() || name.size() > longest_name ? weight::none : weight_of(name); });
}

std::optional<span> match_assignment_abroad(const place& near) {
  const auto weigh = [&near](std::string_view name) {
    // Most of these words occur in sentences. Only a setting is followed by a separator.
    auto behind = static_cast<std::size_t>(name.data() - near.text.data()) + name.size();
    while (near[behind] == ' ') ++behind;
    if (std::string_view("\"'=:<>]\\").find(near[behind]) == std::string_view::npos) return weight::none;
    near.count(2 * name.size());
    return name.size() < 2 * longest_name && says_password_abroad(name) ? weight::strong : weight::none;
  };
  // In scripts without blanks, a name may follow a sentence directly.
  return match_named(near, [](char c) { return is(kind::dotted, c) || static_cast<unsigned char>(c) >= 0x80; }, weigh);
}

}  // namespace hondana::secrets
