/// Compiled access rules, and the normal form in which they compare URIs.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include <hondana/access.hpp>
#include <hondana/provider.hpp>
#include <hondana/uri.hpp>

#include "base/ignore/glob.hpp"

namespace hondana::access {

/// Returns the form of a canonical URI in which rules are compared: percent-escaped characters in NFC. A rule thus also matches
/// file names that are stored in NFD. Escapes that are not UTF-8 do not change. No separator is added or removed.
[[nodiscard]] std::string normalize_uri(std::string_view uri);
/// Whether `normalize_uri` may change the URI; cheap.
[[nodiscard]] bool needs_normalization(std::string_view uri) noexcept;

/// Returns the form of a URI pattern for normalized URIs. Its characters may be raw or escaped. Sets in brackets do not change.
[[nodiscard]] std::string normalize_pattern(std::string_view pattern);

/// One rule with compiled conditions. Immutable; threads: any.
class rule {
 public:
  /// `number`: position of the rule, from 1. Precondition: `definition` has passed `validate_access_rules`. Errors: those of
  /// compiling its templates.
  [[nodiscard]] static result<rule> make(access_rule definition, std::size_t number);

  [[nodiscard]] const access_rule& definition() const noexcept { return definition_; }
  [[nodiscard]] std::size_t number() const noexcept { return number_; }
  /// Whether the rule has conditions on entries: kinds or an audience.
  [[nodiscard]] bool has_entry_conditions() const noexcept {
    return !definition_.kinds.empty() || definition_.audience.has_value();
  }

  /// Whether the rule applies to a canonical URI, or to the resource that it is a part of. Ignores conditions on entries. True
  /// for every URI if the rule has neither URIs nor patterns; false if it names tools or prompts. NFC and NFD are equal.
  [[nodiscard]] bool matches_uri(std::string_view uri) const;
  /// As `matches_uri`, for a result of `normalize_uri`. Faster if many rules are checked.
  [[nodiscard]] bool matches_normalized_uri(std::string_view uri) const;
  /// Whether an entry meets the conditions on entries. Ignores all other conditions.
  [[nodiscard]] bool matches_entry(const resource& entry) const;
  /// Whether the rule applies to a tool: it names the tool, or has no conditions on resources, tools and prompts.
  [[nodiscard]] bool matches_tool(std::string_view name) const;
  /// As `matches_tool`, for a prompt.
  [[nodiscard]] bool matches_prompt(std::string_view name) const;

  /// How many of a template's URIs the rule applies to, apart from conditions on entries. `partial`: possibly some.
  enum class coverage : std::uint8_t { none, partial, full };
  /// The coverage of a template. `none` if the rule names tools or prompts.
  [[nodiscard]] coverage coverage_of(const uri_template& compiled) const;

 private:
  rule(access_rule definition, std::size_t number) : definition_(std::move(definition)), number_(number) {}
  /// Whether the rule names neither tools nor prompts.
  [[nodiscard]] bool applies_to_resources() const noexcept { return definition_.tools.empty() && definition_.prompts.empty(); }
  [[nodiscard]] bool matches_all_uris() const noexcept { return definition_.uris.empty() && definition_.patterns.empty(); }
  /// Whether the conditions on URIs match a URI in normal form, or the resource that it is a part of.
  [[nodiscard]] bool matches_uri_or_resource(std::string_view uri) const;
  /// Whether the conditions on URIs match a URI in normal form.
  [[nodiscard]] bool matches_uri_conditions(std::string_view uri) const;

  access_rule definition_;
  std::size_t number_;
  std::vector<std::string> prefixes_;
  std::vector<uri_template> templates_;
  std::vector<ignore::glob> patterns_;
  std::vector<std::string> pattern_starts_;  // the literal start of each pattern
};

/// Validates one rule, as `validate_access_rules` does. `number`: position of the rule for the error text, from 1; 0: none.
[[nodiscard]] result<void> check_rule(const access_rule& rule, std::size_t number = 0);

/// Whether `name` equals `pattern`, or starts with its text before a final `*`.
[[nodiscard]] bool matches_name(std::string_view pattern, std::string_view name) noexcept;

/// A URI without query and fragment: the whole resource.
[[nodiscard]] inline std::string_view strip_query_and_fragment(std::string_view uri) noexcept {
  return uri.substr(0, uri.find_first_of("?#"));
}

/// Whether the prefix of a rule includes a URI, as `uri_covers` decides. The prefix "a/" also includes the folder "a" itself,
/// whose contents list its files.
[[nodiscard]] bool prefix_applies(std::string_view prefix, std::string_view uri) noexcept;

}  // namespace hondana::access
