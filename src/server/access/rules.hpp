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

/// The normal form of a canonical URI: its escaped text in NFC. File names may be in NFD, and a rule means the name that people
/// see. Text that is not UTF-8 does not change. No separator is added or removed.
[[nodiscard]] std::string normalize_uri(std::string_view uri);
/// Whether `normalize_uri` may change the URI; cheap.
[[nodiscard]] bool needs_normalization(std::string_view uri) noexcept;

/// The same for a pattern, whose text may be raw or escaped. Sets in brackets do not change.
[[nodiscard]] std::string normalize_pattern(std::string_view pattern);

/// One rule with compiled conditions. Immutable; threads: any.
class rule {
 public:
  /// `number` counts from 1. `definition` must have passed `validate_access_rules`. Errors: those of compiling its templates.
  [[nodiscard]] static result<rule> make(access_rule definition, std::size_t number);

  [[nodiscard]] const access_rule& definition() const noexcept { return definition_; }
  [[nodiscard]] std::size_t number() const noexcept { return number_; }
  /// Whether it has conditions on entries.
  [[nodiscard]] bool has_entry_conditions() const noexcept {
    return !definition_.kinds.empty() || definition_.audience.has_value();
  }

  /// Whether its conditions on URIs match this canonical URI; conditions on entries are ignored. NFC and NFD are equal.
  [[nodiscard]] bool matches_uri(std::string_view uri) const;
  /// The same for a result of `normalize_uri`, for callers that check many rules.
  [[nodiscard]] bool matches_normalized_uri(std::string_view uri) const;
  /// Whether its conditions on entries match; conditions on URIs are ignored.
  [[nodiscard]] bool matches_entry(const resource& entry) const;
  [[nodiscard]] bool matches_tool(std::string_view name) const;
  [[nodiscard]] bool matches_prompt(std::string_view name) const;

  /// How much of a template's expansions the rule applies to, without conditions on entries.
  enum class coverage : std::uint8_t { none, partial, full };
  [[nodiscard]] coverage coverage_of(const uri_template& compiled) const;

 private:
  rule(access_rule definition, std::size_t number) : definition_(std::move(definition)), number_(number) {}
  [[nodiscard]] bool applies_to_resources() const noexcept { return definition_.tools.empty() && definition_.prompts.empty(); }
  [[nodiscard]] bool matches_all_uris() const noexcept { return definition_.uris.empty() && definition_.patterns.empty(); }
  /// Both require a URI in normal form.
  [[nodiscard]] bool matches_uri_or_resource(std::string_view uri) const;
  [[nodiscard]] bool matches_uri_conditions(std::string_view uri) const;

  access_rule definition_;
  std::size_t number_;
  std::vector<std::string> prefixes_;
  std::vector<uri_template> templates_;
  std::vector<ignore::glob> patterns_;
  std::vector<std::string> pattern_starts_;  // a literal prefix of all URIs that match the pattern
};

/// Errors: as `validate_access_rules`. With `number` 0, the text does not name the rule.
[[nodiscard]] result<void> check_rule(const access_rule& rule, std::size_t number = 0);

/// Whether `name` equals `pattern`, or starts with its text before a final `*`.
[[nodiscard]] bool matches_name(std::string_view pattern, std::string_view name) noexcept;

/// A URI without query and fragment: the resource that it is, or is a part of.
[[nodiscard]] inline std::string_view strip_query_and_fragment(std::string_view uri) noexcept {
  return uri.substr(0, uri.find_first_of("?#"));
}

/// Whether a rule's prefix applies to a URI: as `uri_covers`; and "a/" also applies to the folder "a", whose contents list its
/// files.
[[nodiscard]] bool prefix_applies(std::string_view prefix, std::string_view uri) noexcept;

}  // namespace hondana::access
