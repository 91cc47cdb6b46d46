/// Passwords and their hashes as files of programs have them: .netrc, .pgpass, .htpasswd and shadow.
#include <algorithm>
#include <array>
#include <cstddef>
#include <optional>
#include <string_view>

#include "text/secrets/near.hpp"

namespace hondana::secrets {
namespace {

bool ends_word(char byte) noexcept { return byte == '\0' || is(kind::blank, byte); }

/// The word before `at`, where it begins with what parts it; empty when it is longer than is looked at.
span word_before(const place& near, std::size_t at) noexcept {
  auto end = at;
  while (end > 0 && is(kind::blank, near[end - 1])) --end;
  auto begin = end;
  while (begin > 0 && !is(kind::blank, near[begin - 1])) --begin;
  return begin == 0 && near.begin != 0 ? span{} : span{begin, end};
}

std::string_view text_of(const place& near, span what) noexcept { return near.text.substr(what.begin, what.end - what.begin); }

bool is_of_hash(char byte) noexcept {
  return is(kind::alnum, byte) || std::string_view("./$=,+-_").find(byte) != std::string_view::npos;
}

}  // namespace

std::optional<span> match_netrc(const place& near) {
  constexpr std::size_t offset = 3;  // of "swor"
  constexpr std::string_view name = "password";
  if (near.at < offset || !near.from(near.at - offset).starts_with(name)) return std::nullopt;
  const auto name_at = near.at - offset;
  auto begin = name_at + name.size();
  if (!is(kind::blank, near[begin]) || (name_at > 0 && !ends_word(near[name_at - 1]))) return std::nullopt;
  // Behind `login NAME`, `machine NAME` or `default`.
  const auto last = word_before(near, name_at);
  const auto before = word_before(near, last.begin);
  constexpr std::array<std::string_view, 3> fields{"login", "machine", "account"};
  near.count(name_at - before.begin + looked_at_most);
  const bool is_entry =
      text_of(near, last) == "default" ||
      (last.begin != last.end && std::find(fields.begin(), fields.end(), text_of(near, before)) != fields.end());
  if (!is_entry) return std::nullopt;
  while (is(kind::blank, near[begin])) ++begin;
  auto end = begin;
  while (end < near.text.size() && end - begin < looked_at_most && !ends_word(near[end])) ++end;
  if (end - begin == looked_at_most) end = near.uncut(kind::item, end);
  if (!may_be_password(text_of(near, {begin, end}))) return std::nullopt;
  return span{begin, end};
}

std::optional<span> match_pgpass(const place& near) {
  // `host:port:database:user:password`, from the colon before the port on.
  auto line = near.at;
  while (line > 0 && static_cast<unsigned char>(near[line - 1]) > ' ' && near[line - 1] != ':') --line;
  if (line == near.at || (line == 0 && near.begin != 0) || (line > 0 && near[line - 1] != '\n')) return std::nullopt;
  auto at = near.at + 1;
  const bool is_any = near[at] == '*';
  while (near[at] == '*' || (near[at] >= '0' && near[at] <= '9')) ++at;
  if (near[at] != ':' || (is_any && at != near.at + 2) || at > near.at + 6) return std::nullopt;
  for (int field = 0; field < 2; ++field) {
    const auto begin = ++at;
    while (at - begin < 64 && near[at] != ':' && static_cast<unsigned char>(near[at]) > ' ') at += near[at] == '\\' ? 2 : 1;
    if (at == begin || near[at] != ':') return std::nullopt;
  }
  const auto begin = at + 1;
  auto end = begin;
  while (end < near.text.size() && end - begin < looked_at_most && near[end] != '\n' && near[end] != '\r') ++end;
  near.count(end - line);
  if (end - begin == looked_at_most) end = near.uncut(kind::item, end);
  if (end == begin || is_template(text_of(near, {begin, end}))) return std::nullopt;
  return span{begin, end};
}

std::optional<span> match_password_hash(const place& near) {
  // `$2y$05$…`, `$apr1$salt$…`, `$6$rounds=5000$salt$…`, `$argon2id$v=19$…`, `{SSHA}…`
  const bool is_framed = near[near.at] == '{';
  const auto front = near.at + (near[near.at] == ':' ? 1 : 0);
  if (front == near.at && near.at > 0 && is(kind::alnum, near[near.at - 1])) return std::nullopt;
  const auto close = near.from(front).substr(0, 12).find(is_framed ? '}' : '$', 1);
  if (close == std::string_view::npos) return std::nullopt;
  const auto begin = front + close + 1;
  const auto rest = near.from(begin).substr(0, looked_at_most);
  std::size_t size = 0;
  while (size < rest.size() && (is_framed ? is(kind::base64, rest[size]) : is_of_hash(rest[size]))) ++size;
  near.count(size);
  const auto hash = rest.substr(0, size);
  const auto last = hash.substr(is_framed ? 0 : hash.rfind('$') + 1);
  const bool has_salt = is_framed || hash.find('$') != std::string_view::npos;
  if (!has_salt || last.size() < 22 || is_placeholder(last)) return std::nullopt;
  return span{begin, begin + size};
}

}  // namespace hondana::secrets
