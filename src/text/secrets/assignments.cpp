/// Settings whose names say that they are secret, in configuration, environments and logs.
#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "base/ascii/characters.hpp"
#include "text/secrets/assigned.hpp"
#include "text/secrets/near.hpp"
#include "text/secrets/telling_names.hpp"

namespace hondana::secrets {
namespace {

using words = std::span<const std::string_view>;

/// What names of passwords end in, whatever is written in front of it: `PGPASSWORD`, `clientsecret`.
constexpr std::array<std::string_view, 13> strong_ends{"password", "passwords",  "passwd",     "pwd",  "passphrase",
                                                       "passcode", "secret",     "secrets",    "pass", "passwds",
                                                       "pw",       "masterauth", "passphrases"};
/// Those of them that no sentence and no switch has for anything else.
constexpr std::array<std::string_view, 4> plain_ends{"password", "passwd", "passphrase", "secret"};
/// Words that end like that by chance, and what filters, roads and programs are called.
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
/// Before `token` these tell where a list goes on, or who may stop something.
constexpr std::array<std::string_view, 13> before_harmless_token{"next",   "page",       "continuation", "cursor", "sync",
                                                                 "start",  "previous",   "prev",         "skip",   "resume",
                                                                 "marker", "pagination", "cancellation"};
/// With one of these at its end a name is of something about a secret.
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

/// The words of a name such as `dbPassword`, `DB_PASSWORD`, `db.password`, in small letters; the last few.
struct name_words {
  std::array<std::string, 3> last;  // the last word last
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

/// How much a name says about its value: nothing, that it is a key, that it is a password, or that in so many words.
enum class weight : std::uint8_t { none, weak, strong, plain };

/// `next_token`, `pagetoken`.
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

/// Letters in words, each with a capital at most in front: what keys of translations and of message formats stand for.
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

/// What translations call a password (`login.password = Kennwort`), or words that no one types.
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

/// Letters of one case that say what is the matter with a password, not which it is.
bool is_remark(std::string_view value) {
  constexpr std::array<std::string_view, 16> remarks{
      "password",  "required",  "optional",  "disabled",  "undefined", "username",  "external",  "internal",
      "generated", "encrypted", "plaintext", "incorrect", "mismatch",  "inherited", "unchanged", "forbidden"};
  return std::any_of(remarks.begin(), remarks.end(),
                     [value](auto one) { return value.size() == one.size() && begins_with(value, one); });
}

bool is_white(char byte) noexcept { return is(kind::blank, byte); }

/// Whether `value` is a key, random and long enough not to be anything else.
bool is_drawn_key(std::string_view value) {
  return value.size() >= 16 && !is_reference(value) && is_random(value) && std::none_of(value.begin(), value.end(), is_white);
}

/// Whether one of the words in a template or a call is a secret: `os.getenv("PW", "…")`, `{{ pw | default("…") }}`.
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

/// Whether a value of letters is all of its line, or in quotes, and not a part of a sentence.
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
  // Letters of one case: a word, which is a password only where a name says so.
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

/// The tags and anchors that look like a password themselves, with what stands between them.
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

/// The value of the setting whose name, of bytes that `is_of_name`, is around the anchor, where `weigh` says that it is secret.
template <class IsOfName, class Weigh>
std::optional<span> match_named(const place& near, IsOfName is_of_name, Weigh weigh) {
  auto begin = near.at;
  while (begin > 0 && near.at - begin < longest_name && is_of_name(near[begin - 1])) --begin;
  // Of several anchors in one name the first speaks for it; one that is too far behind it is not a name's.
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
    // Most words like these stand in sentences, which have nothing of a setting behind them.
    auto behind = static_cast<std::size_t>(name.data() - near.text.data()) + name.size();
    while (near[behind] == ' ') ++behind;
    if (std::string_view("\"'=:<>]\\").find(near[behind]) == std::string_view::npos) return weight::none;
    near.count(2 * name.size());
    return name.size() < 2 * longest_name && says_password_abroad(name) ? weight::strong : weight::none;
  };
  // A name may be the end of a sentence in a script that has no blanks.
  return match_named(near, [](char c) { return is(kind::dotted, c) || static_cast<unsigned char>(c) >= 0x80; }, weigh);
}

}  // namespace hondana::secrets
