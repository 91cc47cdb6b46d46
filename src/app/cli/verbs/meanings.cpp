/// Looking words up in the lists of a server.
#include "app/cli/verbs/meanings.hpp"

#include <algorithm>
#include <array>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <set>

#include <hondana/uri.hpp>

#include "app/cli/flags/client_flags.hpp"
#include "app/cli/terminal/quantities.hpp"
#include "base/ascii/characters.hpp"
#include "base/uri/escapes.hpp"

namespace hondana::cli {
namespace {

constexpr std::size_t most_told = 5;
constexpr std::size_t most_looked_at = 100;

/// How servers by others say that a resource does not exist, for which 2026-07-28 has no number of its own.
constexpr std::array<std::string_view, 5> not_found_phrases{"not found", "unknown resource", "does not exist", "no such",
                                                            "there is no "};

/// The only one there is; nothing when there is none. Errors: invalid_argument for several.
result<std::string> only_one(const std::set<std::string>& found, std::string_view word, std::string_view what) {
  if (found.size() == 1) return *found.begin();
  std::string text =
      '"' + std::string(word) + "\" is the " + std::string(what) + " of " +
      (found.size() > most_looked_at ? "more than " + std::to_string(most_looked_at) : std::to_string(found.size())) + ": ";
  std::size_t count = 0;
  for (const auto& one : found) {
    if (++count > most_told) {
      text += ", and more";
      break;
    }
    text += (count == 1 ? "" : ", ") + one;
  }
  return fail(errc::invalid_argument, text + ". Give the whole URI or name.");
}

/// Or the beginning of one.
bool is_scheme(std::string_view text) {
  const auto is_letter = [](char c) { return ascii::is_letter(c); };
  const auto may_follow = [&](char c) { return is_letter(c) || (c >= '0' && c <= '9') || c == '+' || c == '-' || c == '.'; };
  return !text.empty() && is_letter(text[0]) && std::all_of(text.begin(), text.end(), may_follow);
}

failure malformed(const std::string& uri, const failure& why) {
  return {errc::invalid_argument, '"' + uri + "\" is malformed: " + why.public_text, {}};
}

/// The bytes at the end of a URI's beginning that may be the beginning of an escape.
std::size_t begun_escape(std::string_view text) {
  constexpr std::string_view digits = "0123456789ABCDEFabcdef";
  if (text.ends_with('%')) return 1;
  const bool has_digit = text.size() >= 2 && text[text.size() - 2] == '%' && digits.find(text.back()) != std::string_view::npos;
  return has_digit ? 2 : 0;
}

bool ends_in(std::string_view uri, const std::string& parts) {
  while (uri.ends_with('/')) uri.remove_suffix(1);
  if (!uri.ends_with(parts)) return false;
  if (parts.starts_with('/')) return true;
  uri.remove_suffix(parts.size());
  return uri.ends_with('/') || uri.ends_with(':');
}

}  // namespace

bool has_scheme(std::string_view text) {
  const auto colon = text.find(':');
  return colon != std::string_view::npos && is_scheme(text.substr(0, colon));
}

result<std::string> resource_named(client& of, std::string_view word, const call_options& how) {
  std::string parts(word.starts_with("./") ? word.substr(2) : word);
  while (parts.ends_with('/')) parts.pop_back();
  const auto encoded = percent_encode(parts, true);
  entry_filter wanted;
  // Where names and URIs spell it alike the server need not list everything.
  if (encoded == parts) wanted.text = parts;
  std::set<std::string> named;
  std::set<std::string> ending;
  for (const auto& one : of.resources(wanted, how)) {
    if (!one) return tl::unexpected(one.error());
    if (one->name == word) named.insert(one->uri);
    // A list may be endless; so many are several however many there are.
    if (named.size() > most_looked_at) break;
    if (ending.size() <= most_looked_at && !parts.empty() && (ends_in(one->uri, parts) || ends_in(one->uri, encoded)))
      ending.insert(one->uri);
  }
  if (!named.empty()) return only_one(named, word, "name");
  if (!ending.empty()) return only_one(ending, word, "end");
  return fail(errc::resource_not_found,
              "the server lists no resource named \"" + std::string(word) + "\", and none whose URI ends in it");
}

result<std::string> template_named(client& of, const std::string& word, const call_options& how) {
  if (word.find('{') != std::string::npos || has_scheme(word)) return word;
  std::set<std::string> named;
  for (const auto& one : of.templates(how)) {
    if (!one) return tl::unexpected(one.error());
    if (one->name == word) named.insert(one->uriTemplate);
    if (named.size() > most_looked_at) break;
  }
  if (!named.empty()) return only_one(named, word, "name");
  return fail(errc::resource_not_found, "the server lists no template named \"" + word + '"');
}

result<std::string> as_listed(const server_description& server, const std::string& typed) {
  if (!server.has_versions) return typed;
  auto canonical = canonical_uri(typed);
  if (!canonical) return tl::unexpected(malformed(typed, canonical.error()));
  return canonical;
}

result<std::string> beginning_as_listed(const std::string& typed) {
  constexpr std::string_view in_no_uri = "\"<>\\^`{|}";
  const auto refused = [&typed](const std::string& hint) {
    return fail(errc::invalid_argument,
                "expected a URI or its beginning, as `hondana ls` prints it, not \"" + typed + '"' + hint + '.');
  };
  const auto colon = std::min(typed.find(':'), typed.size());
  if (!is_scheme(std::string_view(typed).substr(0, colon))) return refused("");
  auto spelled = ascii::in_lower_case(typed.substr(0, colon));
  for (const char c : typed.substr(colon)) {
    const bool is_escaped = static_cast<unsigned char>(c) <= ' ' || c == 0x7f || in_no_uri.find(c) != std::string_view::npos;
    spelled += is_escaped ? percent_encode(std::string_view(&c, 1)) : std::string(1, c);
  }
  const auto whole = std::string_view(spelled).substr(0, spelled.size() - begun_escape(spelled));
  std::string storage;
  const auto canonical = uri::canonical_escapes(whole, storage);
  if (!canonical) return refused(": write a percent sign in a URI as %25");
  std::string out(*canonical);
  for (const char c : spelled.substr(whole.size())) out += c >= 'a' && c <= 'f' ? static_cast<char>(c - 'a' + 'A') : c;
  return out;
}

result<std::vector<std::pair<std::string, std::string>>> given_values(const command_line& line) {
  std::vector<std::pair<std::string, std::string>> out;
  for (const auto& one : line.all(with_flag)) {
    const auto equals = one.find('=');
    if (equals == std::string::npos) return fail(errc::invalid_argument, "--with is NAME=VALUE, not \"" + one + "\".");
    out.emplace_back(one.substr(0, equals), one.substr(equals + 1));
  }
  return out;
}

failure blamed_on(const std::string& uri, const failure& why) {
  if (why.code != errc::resource_not_found) return why;
  const auto canonical = canonical_uri(uri);
  return canonical ? why : malformed(uri, canonical.error());
}

failure why_not_read(const std::string& uri, const failure& why, bool names_reasons) {
  constexpr std::int64_t invalid_params = -32602;
  auto told = blamed_on(uri, why);
  if (told.code != errc::resource_not_found || !why.answer || why.answer->code != invalid_params) return told;
  if (why.answer->data.string_at("uri")) return told;
  const auto query = split_uri(uri).query;
  const bool has_parameters = query && !query->empty();
  const auto message = ascii::in_lower_case(why.answer->message);
  const bool says_not_found =
      !names_reasons && std::any_of(not_found_phrases.begin(), not_found_phrases.end(),
                                    [&message](std::string_view phrase) { return message.find(phrase) != std::string::npos; });
  if (says_not_found) return told;
  told.code = names_reasons || has_parameters ? errc::invalid_argument : errc::refused;
  return told;
}

std::string told_of_kept(const std::vector<read_item>& items) {
  bool is_any = false;
  std::optional<std::int64_t> oldest;
  for (const auto& one : items) {
    const auto* offline = one.meta.find("dev.hondana/offline");
    if (offline == nullptr || !offline->as_boolean().value_or(false)) continue;
    is_any = true;
    const auto* age = one.meta.find("dev.hondana/ageSeconds");
    if (const auto seconds = age == nullptr ? std::nullopt : age->as_integer(); seconds && *seconds >= oldest.value_or(0))
      oldest = seconds;
  }
  if (!is_any) return {};
  return "offline: the server cannot reach the source now; this is its cached copy" +
         (oldest ? ", last confirmed " + human_age(std::chrono::seconds(*oldest)) + " ago" : std::string());
}

}  // namespace hondana::cli
