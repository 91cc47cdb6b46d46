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
[[nodiscard]] std::string in_one_form(std::string_view uri);
/// Whether `in_one_form` may change the URI; cheap.
[[nodiscard]] bool has_forms(std::string_view uri) noexcept;

/// The same for a pattern, whose text may be raw or escaped. Sets in brackets do not change.
[[nodiscard]] std::string pattern_in_one_form(std::string_view pattern);

/// One rule with compiled conditions. Immutable; threads: any.
class rule {
 public:
  /// `number` counts from 1. `what` must have passed `check`. Errors: those of compiling its templates.
  [[nodiscard]] static result<rule> make(access_rule what, std::size_t number);

  [[nodiscard]] const access_rule& what() const noexcept { return what_; }
  [[nodiscard]] std::size_t number() const noexcept { return number_; }
  /// Whether it has conditions on entries.
  [[nodiscard]] bool looks_at_entries() const noexcept { return !what_.kinds.empty() || what_.audience.has_value(); }

  /// Whether its conditions on URIs match this canonical URI; conditions on entries are ignored. NFC and NFD are equal.
  [[nodiscard]] bool is_about_uri(std::string_view uri) const;
  /// The same for a result of `in_one_form`, for callers that check many rules.
  [[nodiscard]] bool is_about_uri_in_one_form(std::string_view uri) const;
  /// Whether its conditions on entries match; conditions on URIs are ignored.
  [[nodiscard]] bool is_about_entry(const resource& entry) const;
  [[nodiscard]] bool is_about_tool(std::string_view name) const;
  [[nodiscard]] bool is_about_prompt(std::string_view name) const;

  /// How much of a template's expansions the rule applies to, without conditions on entries.
  enum class share : std::uint8_t { none, some, all };
  [[nodiscard]] share share_of(const uri_template& of) const;

 private:
  rule(access_rule what, std::size_t number) : what_(std::move(what)), number_(number) {}
  [[nodiscard]] bool is_about_resources() const noexcept { return what_.tools.empty() && what_.prompts.empty(); }
  [[nodiscard]] bool is_about_all_uris() const noexcept { return what_.uris.empty() && what_.patterns.empty(); }
  /// Both require a URI in normal form.
  [[nodiscard]] bool fits_whole_or_part(std::string_view uri) const;
  [[nodiscard]] bool fits(std::string_view uri) const;

  access_rule what_;
  std::size_t number_;
  std::vector<std::string> prefixes_;
  std::vector<uri_template> templates_;
  std::vector<ignore::glob> patterns_;
  std::vector<std::string> pattern_starts_;  // a literal prefix of all URIs that match the pattern
};

/// Errors: as `check` of `access_rules`. With `number` 0, the text does not name the rule.
[[nodiscard]] result<void> check_rule(const access_rule& one, std::size_t number = 0);

/// Whether `name` equals `wanted`, or starts with its text before a final `*`.
[[nodiscard]] bool is_named(std::string_view wanted, std::string_view name) noexcept;

/// A URI without query and fragment: the resource that it is, or is a part of.
[[nodiscard]] inline std::string_view whole_of(std::string_view uri) noexcept { return uri.substr(0, uri.find_first_of("?#")); }

/// Whether a rule's prefix applies to a URI: as `covers`; and "a/" also applies to the folder "a", whose contents list its
/// files.
[[nodiscard]] bool is_about(std::string_view prefix, std::string_view uri) noexcept;

}  // namespace hondana::access
