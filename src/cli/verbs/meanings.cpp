/// Looking words up in the lists of a server.
#include "cli/verbs/meanings.hpp"

#include <algorithm>
#include <set>

#include <hondana/uri.hpp>

#include "cli/flags/client_flags.hpp"
#include "letters/lower_case.hpp"

namespace hondana::cli {
namespace {

constexpr std::size_t most_told = 5;
constexpr std::size_t most_looked_at = 100;

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
  return fail(errc::invalid_argument, text + ". Give the one that is meant in full.");
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
  if (colon == std::string_view::npos || colon == 0) return false;
  const auto is_letter = [](char c) { return letters::is_letter(c); };
  const auto may_follow = [&](char c) { return is_letter(c) || (c >= '0' && c <= '9') || c == '+' || c == '-' || c == '.'; };
  const auto scheme = text.substr(0, colon);
  return is_letter(scheme[0]) && std::all_of(scheme.begin(), scheme.end(), may_follow);
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
  if (canonical) return why;
  return {errc::invalid_argument, '"' + uri + "\" is malformed: " + canonical.error().public_text, {}};
}

}  // namespace hondana::cli
