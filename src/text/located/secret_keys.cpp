/// Keys of configuration whose values are secrets.
#include "text/located/secret_keys.hpp"

#include <algorithm>
#include <array>
#include <string>

#include "base/ascii/ascii.hpp"
#include "text/secrets/embedded_secrets.hpp"
#include "text/secrets/matcher.hpp"
#include "text/secrets/secret_names.hpp"

namespace hondana::located {
namespace {

/// Below these keys, keys are names of packages, permissions and commands.
constexpr auto lists_of_names = std::to_array<std::string_view>(
    {"dependencies", "devdependencies", "dev-dependencies", "build-dependencies", "peerdependencies", "optionaldependencies",
     "bundleddependencies", "require", "require-dev", "packages", "dev-packages", "resolutions", "overrides", "engines",
     "permissions", "scripts", "peerdependenciesmeta", "catalog"});
/// Tables below these keys are objects whose names may sound like secrets.
constexpr auto lists_of_things = std::to_array<std::string_view>({"jobs",
                                                                  "services",
                                                                  "volumes",
                                                                  "networks",
                                                                  "paths",
                                                                  "steps",
                                                                  "schemas",
                                                                  "responses",
                                                                  "definitions",
                                                                  "properties",
                                                                  "parameters",
                                                                  "profiles",
                                                                  "handlers",
                                                                  "plugins",
                                                                  "stages",
                                                                  "tasks",
                                                                  "targets",
                                                                  "securityschemes",
                                                                  "securitydefinitions",
                                                                  "examples",
                                                                  "requestbodies",
                                                                  "headers",
                                                                  "routes",
                                                                  "endpoints",
                                                                  "components",
                                                                  "modules",
                                                                  "patternproperties",
                                                                  "inputs"});
/// Members of tables that say where a secret is stored.
constexpr auto marks_of_places = std::to_array<std::string_view>(
    {"secretName", "secretKeyRef", "secretRef", "valueFrom", "existingSecret", "external", "file", "$ref", "vault", "source",
     "items", "remoteRef", "environment", "configMapKeyRef"});
/// Members of schemas, services, jobs and similar objects.
constexpr auto marks_of_things =
    std::to_array<std::string_view>({"properties", "schema", "allOf", "oneOf", "anyOf", "summary", "image", "script", "runs-on",
                                     "stage", "steps", "uses", "build", "get", "post", "put"});
constexpr auto types_of_schemas =
    std::to_array<std::string_view>({"string", "object", "integer", "number", "array", "boolean", "null", "bool"});
/// Last words of keys about the properties or the appearance of a secret, in addition to those for variables.
constexpr auto last_words = std::to_array<std::string_view>(
    {"class",       "reset",          "manager",  "engine",  "generator", "encoder",  "encoding", "validator",   "validators",
     "strategy",    "template",       "prefix",   "suffix",  "header",    "headers",  "param",    "parameter",   "rounds",
     "iterations",  "authentication", "rules",    "hint",    "prompt",    "message",  "title",    "description", "placeholder",
     "usage",       "history",        "attempts", "retries", "cost",      "strength", "filter",   "bucket",      "reference",
     "source",      "user",           "username", "login",   "email",     "comment",  "note",     "region",      "realm",
     "required",    "kind",           "target",   "group",   "owner",     "service",  "selector", "namespace",   "rotate",
     "renew",       "unit",           "interval", "refresh", "claim",     "claims",   "scope",    "scopes",      "entry",
     "environment", "detection",      "scan"});
/// Keys of names of secrets, without separators.
constexpr auto keys_of_places = std::to_array<std::string_view>(
    {"imagepullsecrets", "imagepullsecret", "pullsecrets", "pullsecret", "secretref", "secretrefs", "loadcredential",
     "loadcredentialencrypted", "importcredential", "passenvironment"});
constexpr auto words_of_truth =
    std::to_array<std::string_view>({"true", "false", "yes", "no", "on", "off", "null", "none", "~"});
constexpr auto stems_of_labels = std::to_array<std::string_view>(
    {"passwor", "passwd", "kennwor", "geheim", "token", "secret", "passphrase", "api key", "schlüssel"});
constexpr auto held = std::to_array<std::string_view>({"value", "default", "data", "content", "current", "previous", "text"});

template <class List>
bool has(const List& all, std::string_view one) {
  return std::find(all.begin(), all.end(), one) != all.end();
}

template <class List>
bool has_member(const node& table, const List& marks) {
  return std::any_of(marks.begin(), marks.end(), [&table](auto mark) { return table.find(mark) != nullptr; });
}

bool is_schema(const node& table) {
  const auto* type = table.find("type");
  return type != nullptr && type->is == kind::text && has(types_of_schemas, type->text);
}

std::string without_parting(std::string_view key) {
  std::string out;
  for (const char c : key) {
    if (secrets::is(secrets::kind::alnum, c)) out += ascii::lower(c);
  }
  return out;
}

std::string last_word(std::string_view key) {
  while (!key.empty() && !secrets::is(secrets::kind::alnum, key.back())) key.remove_suffix(1);
  auto begin = key.size();
  while (begin > 0 && secrets::is(secrets::kind::alnum, key[begin - 1])) {
    --begin;
    const bool is_capital = key[begin] >= 'A' && key[begin] <= 'Z';
    if (is_capital && begin > 0 && key[begin - 1] >= 'a' && key[begin - 1] <= 'z') break;
  }
  return ascii::in_lower_case(key.substr(begin));
}

/// Whether the key names a key of a Kubernetes secret, such as `adminPasswordKey`; so do all `existingSecret…`.
bool is_key_of_place(std::string_view key) {
  const auto plain = without_parting(key);
  return has(keys_of_places, plain) || plain.starts_with("existingsecret") || plain.ends_with("passwordkey");
}

bool is_about(std::string_view key) { return secrets::says_about(key) || has(last_words, last_word(key)); }

sureness told_by_part(std::string_view part) {
  if (is_about(part) || is_key_of_place(part)) return sureness::none;
  switch (secrets::told_by(part)) {
    case secrets::telling::strong:
      return ascii::is_same(part, "pass") ? sureness::doubtful : sureness::certain;
    case secrets::telling::weak:
      return sureness::doubtful;
    case secrets::telling::nothing:
      break;
  }
  return sureness::none;
}

/// How sure a key alone is. For a key with dots, the last part decides, then the parts before it.
sureness told_by_key(std::string_view key) {
  if (key.starts_with('/')) return sureness::none;
  const auto dot = key.rfind('.');
  const auto last = dot == std::string_view::npos ? key : key.substr(dot + 1);
  const auto own = told_by_part(last);
  if (dot == std::string_view::npos || own == sureness::certain || is_about(last) || is_key_of_place(last)) return own;
  for (auto rest = key.substr(0, dot);;) {
    const auto begin = rest.rfind('.');
    const auto part = begin == std::string_view::npos ? rest : rest.substr(begin + 1);
    if (told_by_part(part) == sureness::certain) return sureness::inherited;
    if (begin == std::string_view::npos) return own;
    rest = rest.substr(0, begin);
  }
}

bool is_structure(const node& of) noexcept { return of.is == kind::table || of.is == kind::list; }

/// Whether the text consists of words only, as in translations.
bool are_words_about_secrets(std::string_view text) {
  const auto is_of_words = [](char c) {
    return ascii::is_letter(c) || static_cast<unsigned char>(c) >= 0x80 ||
           std::string_view(" .,:;!?()'\"-").find(c) != std::string_view::npos;
  };
  if (!std::all_of(text.begin(), text.end(), is_of_words)) return false;
  const auto lower = ascii::in_lower_case(text);
  return std::any_of(stems_of_labels.begin(), stems_of_labels.end(),
                     [&lower](auto stem) { return lower.find(stem) != std::string::npos; }) ||
         std::any_of(text.begin(), text.end(), [](char c) { return static_cast<unsigned char>(c) >= 0x80; });
}

bool is_small_name(std::string_view text) noexcept {
  return std::all_of(text.begin(), text.end(),
                     [](char c) { return (c >= 'a' && c <= 'z') || c == '-' || c == '_' || c == '/'; });
}

}  // namespace

nature nature_of(const node& table) {
  return {table.find("remoteRef") != nullptr, has_member(table, marks_of_places),
          is_schema(table) || has_member(table, marks_of_things)};
}

sureness told_to(const member& one, const nature& table, const surroundings& around) {
  const auto above = ascii::in_lower_case(around.key);
  if (has(lists_of_names, above) || is_key_of_place(one.key) || table.is_kept_elsewhere) return sureness::none;
  if (is_structure(one.value) && has(lists_of_things, above)) return sureness::none;
  auto inherited = around.is_told >= sureness::inherited ? sureness::inherited : sureness::none;
  if (inherited != sureness::none && table.names_place) inherited = sureness::none;
  if (inherited != sureness::none && table.is_of_things) {
    // In a schema or a similar object, only members that hold a value, such as `default`, can contain the secret.
    const bool is_value = !is_structure(one.value) && has(held, ascii::in_lower_case(one.key));
    inherited = is_value ? sureness::inherited : sureness::none;
  }
  const auto own = told_by_key(one.key);
  if (own >= sureness::inherited) return own;
  if (inherited != sureness::none && !is_about(one.key)) return inherited;
  return own;
}

bool is_secret_by_key(const node& leaf, std::string_view key, sureness how) {
  const std::string_view text = leaf.text;
  if (how == sureness::none || text.empty() || secrets::stands_for_secret(text)) return false;
  if (how == sureness::doubtful) return secrets::may_be_password(text) && !secrets::is_name(text);
  if (has(words_of_truth, ascii::in_lower_case(text.substr(0, 8)))) return false;
  const bool is_number = leaf.is == kind::integer || leaf.is == kind::real;
  if (is_number && last_word(key) == "tokens") return false;  // a count of tokens, not a secret
  const auto dot = key.rfind('.');
  if (dot != std::string_view::npos) {
    if (are_words_about_secrets(text)) return false;
    const bool has_blank = text.find(' ') != std::string_view::npos;
    if (has_blank && told_by_part(key.substr(dot + 1)) != sureness::certain) return false;
  }
  if (key.find('/') != std::string_view::npos && is_small_name(text)) return false;
  return !names_secret(key, text);
}

bool names_secret(std::string_view key, std::string_view text) {
  return ascii::is_same(key, "secrets") && secrets::is_name(text) &&
         std::all_of(text.begin(), text.end(), [](char c) { return secrets::is(secrets::kind::dotted, c); });
}

}  // namespace hondana::located
