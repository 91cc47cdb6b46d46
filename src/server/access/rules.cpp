/// Compiled access rules, and the normal form in which they compare URIs.
#include "server/access/rules.hpp"

#include <algorithm>
#include <utility>

#include <hondana/uri.hpp>

#include "base/ascii/ascii.hpp"
#include "protocol/model/caller_checks.hpp"
#include "text/language/language.hpp"

namespace hondana::access {
namespace {

int hex_value(char c) noexcept {
  if (c >= '0' && c <= '9') return c - '0';
  if (c >= 'A' && c <= 'F') return c - 'A' + 10;
  if (c >= 'a' && c <= 'f') return c - 'a' + 10;
  return -1;
}

/// The byte from 0x80 on that is escaped at `position`. 0: none.
unsigned char escaped_byte_at(std::string_view text, std::size_t position) noexcept {
  if (text[position] != '%' || position + 2 >= text.size()) return 0;
  const int high = hex_value(text[position + 1]);
  const int low = hex_value(text[position + 2]);
  return high < 8 || low < 0 ? 0 : static_cast<unsigned char>(high * 16 + low);
}

bool is_ascii(char c) noexcept { return static_cast<unsigned char>(c) < 0x80; }

/// A run of characters to compose. Combining marks follow the letter that they modify, which may be ASCII.
struct composable_run {
  std::string text{};
  std::string_view first{};  ///< How its first character is written, if that is ASCII.
};

/// The ASCII character at `position`, raw or escaped, that can combine with marks. 0: none. Besides letters, these are the
/// signs with a composed form for "struck through": `<`, `=` and `>`.
char base_character_at(std::string_view text, std::size_t position) noexcept {
  const auto escaped = text.substr(position, 3);
  if (ascii::is_letter(text[position]) || text[position] == '=') return text[position];
  return escaped == "%3C" ? '<' : escaped == "%3D" ? '=' : escaped == "%3E" ? '>' : '\0';
}

void append_composed(composable_run& run, std::string& out) {
  const auto composed = run.text.size() < 2 ? run.text : language::to_nfc(run.text);
  std::string_view remaining = composed;
  if (!run.first.empty() && remaining.front() == run.text.front()) {
    out += run.first;
    remaining.remove_prefix(1);
  }
  for (const char c : remaining) {
    if (is_ascii(c)) {
      out += c;
    } else {
      out += percent_encode({&c, 1});
    }
  }
  run = {};
}

std::string composed_escapes(std::string_view text, bool has_sets) {
  std::string out;
  composable_run run;
  bool in_set = false;
  for (std::size_t position = 0; position < text.size(); ++position) {
    const char c = text[position];
    const auto byte = escaped_byte_at(text, position);
    if (has_sets && c == '[') in_set = true;
    if (in_set) {
      append_composed(run, out);
      out += c;
      in_set = c != ']';
    } else if (byte != 0) {
      run.text += static_cast<char>(byte);
      position += 2;
    } else if (!is_ascii(c)) {
      run.text += c;
    } else {
      append_composed(run, out);
      // Neither separators nor escapes of ASCII are composed.
      const auto written = text.substr(position, c == '%' ? 3 : 1);
      if (const char first = base_character_at(text, position); first != '\0') {
        run = {std::string(1, first), written};
      } else {
        out += written;
      }
      position += written.size() - 1;
    }
  }
  append_composed(run, out);
  return out;
}

}  // namespace

bool needs_normalization(std::string_view uri) noexcept {
  for (auto position = uri.find('%'); position != std::string_view::npos; position = uri.find('%', position + 1)) {
    if (escaped_byte_at(uri, position) != 0) return true;
  }
  return !std::all_of(uri.begin(), uri.end(), is_ascii);
}

std::string normalize_uri(std::string_view uri) {
  return needs_normalization(uri) ? composed_escapes(uri, false) : std::string(uri);
}

std::string normalize_pattern(std::string_view pattern) {
  return needs_normalization(pattern) ? composed_escapes(pattern, true) : std::string(pattern);
}

namespace {

bool is_template(std::string_view text) { return text.find('{') != std::string_view::npos; }

std::string message_prefix(std::size_t number) {
  return number == 0 ? std::string() : "Access rules: rule " + std::to_string(number) + ": ";
}

tl::unexpected<failure> reject(std::size_t number, const std::string& reason) {
  return fail(errc::invalid_argument, message_prefix(number) + reason);
}

result<void> check_names(std::size_t number, std::string_view key, const std::vector<std::string>& names) {
  for (const auto& name : names) {
    if (name.empty()) return reject(number, std::string(key) + " has an empty name. Write one, or \"*\" for all.");
    const auto star = name.find('*');
    if (star != std::string::npos && star + 1 != name.size()) {
      return reject(number, std::string(key) + ": \"" + name + "\" has a * before its end. Use * only as the last character.");
    }
  }
  return {};
}

result<void> check_uri(std::size_t number, const std::string& uri) {
  if (is_template(uri)) {
    if (const auto compiled = uri_template::compile(uri); !compiled) return reject(number, compiled.error().public_text);
    return {};
  }
  const auto canonical = canonical_uri(uri);
  if (!canonical) return reject(number, "\"" + uri + "\": " + canonical.error().public_text);
  if (*canonical == uri) return {};
  return reject(number, "\"" + uri + "\" is not in canonical form. Write " + *canonical + ".");
}

/// Patterns such as "*.md" are meant for paths, and would silently match no URI.
bool can_match_uris(std::string_view pattern) {
  return pattern.starts_with("**") || split_uri(ignore::literal_start(pattern)).scheme.size() > 1;
}

bool matches_any(const std::vector<std::string>& patterns, std::string_view name) {
  return std::any_of(patterns.begin(), patterns.end(),
                     [name](const std::string& pattern) { return matches_name(pattern, name); });
}

/// Whether two sets of URIs can overlap. Each is given by its common prefix.
bool may_overlap(std::string_view a, std::string_view b) { return a.starts_with(b) || b.starts_with(a); }

/// Whether a prefix covers every URI that starts with `beginning`.
bool covers_all_from(std::string_view prefix, std::string_view beginning) {
  if (!beginning.starts_with(prefix)) return false;
  if (prefix.ends_with('/')) return true;
  return beginning.size() > prefix.size() && std::string_view("/?#").find(beginning[prefix.size()]) != std::string_view::npos;
}

}  // namespace

result<void> check_rule(const access_rule& rule, std::size_t number) {
  const std::pair<std::string_view, const std::vector<std::string>*> names[] = {
      {"identities", &rule.identities}, {"groups", &rule.groups}, {"tools", &rule.tools}, {"prompts", &rule.prompts}};
  for (const auto& [key, list] : names) {
    HONDANA_TRY(check_names(number, key, *list));
  }
  for (const auto& scope : rule.scopes) {
    if (!model::is_scope(scope))
      return reject(number, "\"" + scope + "\" is not a scope. Write each scope as a string of its own, without spaces.");
  }
  if (std::find(rule.kinds.begin(), rule.kinds.end(), std::string()) != rule.kinds.end()) {
    return reject(number, "kinds has an empty string. Remove it.");
  }
  for (const auto& uri : rule.uris) {
    HONDANA_TRY(check_uri(number, uri));
  }
  for (const auto& pattern : rule.patterns) {
    if (!can_match_uris(pattern)) {
      return reject(number, "the pattern \"" + pattern +
                                "\" matches no URI, because patterns match whole URIs. Begin it with a scheme, " +
                                "as in file:///srv/**, or with **/.");
    }
    const auto compiled = ignore::glob::for_path(pattern);
    if (!compiled.error().empty()) return reject(number, "the pattern \"" + pattern + "\": " + std::string(compiled.error()));
  }
  const bool has_conditions = !rule.uris.empty() || !rule.patterns.empty() || !rule.kinds.empty() || rule.audience;
  if (has_conditions && (!rule.tools.empty() || !rule.prompts.empty())) {
    return reject(number, "it names tools or prompts and has conditions on resources. Split it into two rules.");
  }
  return {};
}

bool matches_name(std::string_view pattern, std::string_view name) noexcept {
  return pattern.ends_with('*') ? name.starts_with(pattern.substr(0, pattern.size() - 1)) : name == pattern;
}

bool prefix_applies(std::string_view prefix, std::string_view uri) noexcept {
  return uri_covers(prefix, uri) ||
         (prefix.ends_with('/') && prefix.substr(0, prefix.size() - 1) == strip_query_and_fragment(uri));
}

result<rule> rule::make(access_rule definition, std::size_t number) {
  rule created(std::move(definition), number);
  for (const auto& uri : created.definition_.uris) {
    if (!is_template(uri)) {
      created.prefixes_.push_back(normalize_uri(uri));
      continue;
    }
    HONDANA_TRY(auto compiled, uri_template::compile(normalize_uri(uri)));
    created.templates_.push_back(std::move(compiled));
  }
  for (const auto& raw_pattern : created.definition_.patterns) {
    const auto pattern = normalize_pattern(raw_pattern);
    created.patterns_.push_back(ignore::glob::for_path(pattern));
    created.pattern_starts_.emplace_back(ignore::literal_start(pattern));
  }
  return created;
}

bool rule::matches_uri_conditions(std::string_view uri) const {
  std::uint64_t steps = 0;
  return std::any_of(prefixes_.begin(), prefixes_.end(), [uri](const auto& prefix) { return prefix_applies(prefix, uri); }) ||
         std::any_of(templates_.begin(), templates_.end(),
                     [uri](const auto& compiled) { return compiled.match(uri).has_value(); }) ||
         std::any_of(patterns_.begin(), patterns_.end(), [&](const auto& pattern) { return pattern.matches(uri, steps); });
}

bool rule::matches_uri(std::string_view uri) const {
  return needs_normalization(uri) ? matches_normalized_uri(normalize_uri(uri)) : matches_normalized_uri(uri);
}

bool rule::matches_normalized_uri(std::string_view uri) const {
  if (!applies_to_resources()) return false;
  return matches_all_uris() || matches_uri_or_resource(uri);
}

bool rule::matches_uri_or_resource(std::string_view uri) const {
  if (matches_uri_conditions(uri)) return true;
  const auto resource_uri = strip_query_and_fragment(uri);
  return resource_uri.size() != uri.size() && matches_uri_conditions(resource_uri);
}

bool rule::matches_entry(const resource& entry) const {
  if (!definition_.kinds.empty() &&
      std::find(definition_.kinds.begin(), definition_.kinds.end(), entry.kind) == definition_.kinds.end())
    return false;
  const auto& audience = entry.annotations.audience;
  return !definition_.audience || std::find(audience.begin(), audience.end(), *definition_.audience) != audience.end();
}

bool rule::matches_tool(std::string_view name) const {
  if (!applies_to_resources()) return matches_any(definition_.tools, name);
  return matches_all_uris() && !has_entry_conditions();
}

bool rule::matches_prompt(std::string_view name) const {
  if (!applies_to_resources()) return matches_any(definition_.prompts, name);
  return matches_all_uris() && !has_entry_conditions();
}

rule::coverage rule::coverage_of(const uri_template& compiled) const {
  if (!applies_to_resources()) return coverage::none;
  if (matches_all_uris()) return coverage::full;
  const auto beginning = normalize_uri(compiled.literal_prefix());
  const auto text = normalize_uri(compiled.text());
  const bool is_all =
      std::any_of(prefixes_.begin(), prefixes_.end(), [&](const auto& prefix) { return covers_all_from(prefix, beginning); }) ||
      std::any_of(templates_.begin(), templates_.end(),
                  [&](const auto& own_template) { return own_template.text() == text; }) ||
      std::find(definition_.patterns.begin(), definition_.patterns.end(), "**") != definition_.patterns.end();
  if (is_all) return coverage::full;
  const bool is_some =
      std::any_of(prefixes_.begin(), prefixes_.end(), [&](const auto& prefix) { return may_overlap(prefix, beginning); }) ||
      std::any_of(templates_.begin(), templates_.end(),
                  [&](const auto& own_template) { return may_overlap(own_template.literal_prefix(), beginning); }) ||
      std::any_of(pattern_starts_.begin(), pattern_starts_.end(),
                  [&](const auto& start) { return may_overlap(start, beginning); });
  return is_some ? coverage::partial : coverage::none;
}

}  // namespace hondana::access

namespace hondana::inline v0 {

result<void> validate_access_rules(const access_rules& rules) {
  if (rules.group_claim.empty()) {
    return fail(errc::invalid_argument, "Access rules: the name of the group claim is empty. Set one, such as \"groups\".");
  }
  for (std::size_t i = 0; i < rules.rules.size(); ++i) {
    HONDANA_TRY(access::check_rule(rules.rules[i], i + 1));
  }
  return {};
}

}  // namespace hondana::inline v0
