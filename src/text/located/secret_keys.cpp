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
constexpr auto name_list_keys = std::to_array<std::string_view>(
    {"dependencies", "devdependencies", "dev-dependencies", "build-dependencies", "peerdependencies", "optionaldependencies",
     "bundleddependencies", "require", "require-dev", "packages", "dev-packages", "resolutions", "overrides", "engines",
     "permissions", "scripts", "peerdependenciesmeta", "catalog"});
/// Tables below these keys are objects whose names may sound like secrets.
constexpr auto object_list_keys = std::to_array<std::string_view>({"jobs",
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
constexpr auto reference_members = std::to_array<std::string_view>(
    {"secretName", "secretKeyRef", "secretRef", "valueFrom", "existingSecret", "external", "file", "$ref", "vault", "source",
     "items", "remoteRef", "environment", "configMapKeyRef"});
/// Members of schemas, services, jobs and similar objects.
constexpr auto definition_members =
    std::to_array<std::string_view>({"properties", "schema", "allOf", "oneOf", "anyOf", "summary", "image", "script", "runs-on",
                                     "stage", "steps", "uses", "build", "get", "post", "put"});
constexpr auto schema_types =
    std::to_array<std::string_view>({"string", "object", "integer", "number", "array", "boolean", "null", "bool"});
/// Last words of keys about the properties or the appearance of a secret, in addition to those for variables.
constexpr auto metadata_words = std::to_array<std::string_view>(
    {"class",       "reset",          "manager",  "engine",  "generator", "encoder",  "encoding", "validator",   "validators",
     "strategy",    "template",       "prefix",   "suffix",  "header",    "headers",  "param",    "parameter",   "rounds",
     "iterations",  "authentication", "rules",    "hint",    "prompt",    "message",  "title",    "description", "placeholder",
     "usage",       "history",        "attempts", "retries", "cost",      "strength", "filter",   "bucket",      "reference",
     "source",      "user",           "username", "login",   "email",     "comment",  "note",     "region",      "realm",
     "required",    "kind",           "target",   "group",   "owner",     "service",  "selector", "namespace",   "rotate",
     "renew",       "unit",           "interval", "refresh", "claim",     "claims",   "scope",    "scopes",      "entry",
     "environment", "detection",      "scan"});
/// Keys of names of secrets, without separators.
constexpr auto reference_keys = std::to_array<std::string_view>(
    {"imagepullsecrets", "imagepullsecret", "pullsecrets", "pullsecret", "secretref", "secretrefs", "loadcredential",
     "loadcredentialencrypted", "importcredential", "passenvironment"});
constexpr auto boolean_words =
    std::to_array<std::string_view>({"true", "false", "yes", "no", "on", "off", "null", "none", "~"});
constexpr auto label_stems = std::to_array<std::string_view>(
    {"passwor", "passwd", "kennwor", "geheim", "token", "secret", "passphrase", "api key", "schlüssel"});
constexpr auto value_keys =
    std::to_array<std::string_view>({"value", "default", "data", "content", "current", "previous", "text"});

template <class List>
bool contains(const List& list, std::string_view text) {
  return std::find(list.begin(), list.end(), text) != list.end();
}

template <class List>
bool has_member(const node& table, const List& names) {
  return std::any_of(names.begin(), names.end(), [&table](auto name) { return table.find(name) != nullptr; });
}

bool is_schema(const node& table) {
  const auto* type = table.find("type");
  return type != nullptr && type->kind == node_kind::text && contains(schema_types, type->text);
}

std::string strip_separators(std::string_view key) {
  std::string out;
  for (const char c : key) {
    if (secrets::is_in(secrets::byte_set::alnum, c)) out += ascii::to_lower(c);
  }
  return out;
}

std::string last_word(std::string_view key) {
  while (!key.empty() && !secrets::is_in(secrets::byte_set::alnum, key.back())) key.remove_suffix(1);
  auto begin = key.size();
  while (begin > 0 && secrets::is_in(secrets::byte_set::alnum, key[begin - 1])) {
    --begin;
    const bool is_capital = key[begin] >= 'A' && key[begin] <= 'Z';
    if (is_capital && begin > 0 && key[begin - 1] >= 'a' && key[begin - 1] <= 'z') break;
  }
  return ascii::to_lower(key.substr(begin));
}

/// Whether the key names a key of a Kubernetes secret, such as `adminPasswordKey`; so do all `existingSecret…`.
bool is_reference_key(std::string_view key) {
  const auto stripped = strip_separators(key);
  return contains(reference_keys, stripped) || stripped.starts_with("existingsecret") || stripped.ends_with("passwordkey");
}

bool is_metadata_key(std::string_view key) { return secrets::names_property(key) || contains(metadata_words, last_word(key)); }

secret_confidence assess_key_part(std::string_view part) {
  if (is_metadata_key(part) || is_reference_key(part)) return secret_confidence::none;
  switch (secrets::classify_name(part)) {
    case secrets::sensitivity::strong:
      return ascii::equals_ignore_case(part, "pass") ? secret_confidence::doubtful : secret_confidence::certain;
    case secrets::sensitivity::weak:
      return secret_confidence::doubtful;
    case secrets::sensitivity::none:
      break;
  }
  return secret_confidence::none;
}

/// How sure a key alone is. For a key with dots, the last part decides, then the parts before it.
secret_confidence assess_key(std::string_view key) {
  if (key.starts_with('/')) return secret_confidence::none;
  const auto dot = key.rfind('.');
  const auto last = dot == std::string_view::npos ? key : key.substr(dot + 1);
  const auto last_confidence = assess_key_part(last);
  if (dot == std::string_view::npos || last_confidence == secret_confidence::certain || is_metadata_key(last) ||
      is_reference_key(last))
    return last_confidence;
  for (auto remaining = key.substr(0, dot);;) {
    const auto begin = remaining.rfind('.');
    const auto part = begin == std::string_view::npos ? remaining : remaining.substr(begin + 1);
    if (assess_key_part(part) == secret_confidence::certain) return secret_confidence::inherited;
    if (begin == std::string_view::npos) return last_confidence;
    remaining = remaining.substr(0, begin);
  }
}

bool is_container(const node& tree) noexcept { return tree.kind == node_kind::table || tree.kind == node_kind::list; }

/// Whether the text consists of words only, as in translations.
bool are_words_about_secrets(std::string_view text) {
  const auto is_prose_character = [](char c) {
    return ascii::is_letter(c) || static_cast<unsigned char>(c) >= 0x80 ||
           std::string_view(" .,:;!?()'\"-").find(c) != std::string_view::npos;
  };
  if (!std::all_of(text.begin(), text.end(), is_prose_character)) return false;
  const auto lower = ascii::to_lower(text);
  return std::any_of(label_stems.begin(), label_stems.end(),
                     [&lower](auto stem) { return lower.find(stem) != std::string::npos; }) ||
         std::any_of(text.begin(), text.end(), [](char c) { return static_cast<unsigned char>(c) >= 0x80; });
}

bool is_lowercase_name(std::string_view text) noexcept {
  return std::all_of(text.begin(), text.end(),
                     [](char c) { return (c >= 'a' && c <= 'z') || c == '-' || c == '_' || c == '/'; });
}

}  // namespace

table_traits traits_of(const node& table) {
  return {table.find("remoteRef") != nullptr, has_member(table, reference_members),
          is_schema(table) || has_member(table, definition_members)};
}

secret_confidence assess_member(const member& entry, const table_traits& traits, const parent_context& parent) {
  const auto parent_key = ascii::to_lower(parent.key);
  if (contains(name_list_keys, parent_key) || is_reference_key(entry.key) || traits.is_external_secret)
    return secret_confidence::none;
  if (is_container(entry.value) && contains(object_list_keys, parent_key)) return secret_confidence::none;
  auto inherited = parent.confidence >= secret_confidence::inherited ? secret_confidence::inherited : secret_confidence::none;
  if (inherited != secret_confidence::none && traits.references_secret) inherited = secret_confidence::none;
  if (inherited != secret_confidence::none && traits.is_definition) {
    // In a schema or a similar object, only members that hold a value, such as `default`, can contain the secret.
    const bool is_value = !is_container(entry.value) && contains(value_keys, ascii::to_lower(entry.key));
    inherited = is_value ? secret_confidence::inherited : secret_confidence::none;
  }
  const auto own_confidence = assess_key(entry.key);
  if (own_confidence >= secret_confidence::inherited) return own_confidence;
  if (inherited != secret_confidence::none && !is_metadata_key(entry.key)) return inherited;
  return own_confidence;
}

bool is_secret_by_key(const node& leaf, std::string_view key, secret_confidence confidence) {
  const std::string_view text = leaf.text;
  if (confidence == secret_confidence::none || text.empty() || secrets::is_secret_reference(text)) return false;
  if (confidence == secret_confidence::doubtful) return secrets::may_be_password(text) && !secrets::is_name(text);
  if (contains(boolean_words, ascii::to_lower(text.substr(0, 8)))) return false;
  const bool is_number = leaf.kind == node_kind::integer || leaf.kind == node_kind::real;
  if (is_number && last_word(key) == "tokens") return false;  // a count of tokens, not a secret
  const auto dot = key.rfind('.');
  if (dot != std::string_view::npos) {
    if (are_words_about_secrets(text)) return false;
    const bool has_blank = text.find(' ') != std::string_view::npos;
    if (has_blank && assess_key_part(key.substr(dot + 1)) != secret_confidence::certain) return false;
  }
  if (key.find('/') != std::string_view::npos && is_lowercase_name(text)) return false;
  return !names_secret(key, text);
}

bool names_secret(std::string_view key, std::string_view text) {
  return ascii::equals_ignore_case(key, "secrets") && secrets::is_name(text) &&
         std::all_of(text.begin(), text.end(), [](char c) { return secrets::is_in(secrets::byte_set::dotted, c); });
}

}  // namespace hondana::located
