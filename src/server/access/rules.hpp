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

/// A canonical URI whose escaped text is in NFC, whatever it was in: names of files may be in NFD, and a rule means the name
/// that people see. What is no UTF-8 stays as it is; no separator comes or goes.
[[nodiscard]] std::string in_one_form(std::string_view uri);
/// Whether that makes any difference; cheap.
[[nodiscard]] bool has_forms(std::string_view uri) noexcept;

/// The same of a pattern, where text may be raw and escaped; sets in brackets stay as they are.
[[nodiscard]] std::string pattern_in_one_form(std::string_view pattern);

/// One rule with its conditions compiled. Immutable; threads: any.
class rule {
 public:
  /// `number` counts from 1. `what` has passed `check`. Errors: those of what it has to compile.
  [[nodiscard]] static result<rule> make(access_rule what, std::size_t number);

  [[nodiscard]] const access_rule& what() const noexcept { return what_; }
  [[nodiscard]] std::size_t number() const noexcept { return number_; }
  /// Whether it has conditions that only an entry can meet.
  [[nodiscard]] bool looks_at_entries() const noexcept { return !what_.kinds.empty() || what_.audience.has_value(); }

  /// Whether it is about a resource of this canonical URI, its entry aside. NFC and NFD make no difference.
  [[nodiscard]] bool is_about_uri(std::string_view uri) const;
  /// The same of a URI that `in_one_form` made, for who asks many rules.
  [[nodiscard]] bool is_about_uri_in_one_form(std::string_view uri) const;
  /// Whether it is about what has this kind and these annotations, its URI aside.
  [[nodiscard]] bool is_about_entry(const resource& entry) const;
  [[nodiscard]] bool is_about_tool(std::string_view name) const;
  [[nodiscard]] bool is_about_prompt(std::string_view name) const;

  /// How much of what a template can expand to it is about, entries aside.
  enum class share : std::uint8_t { none, some, all };
  [[nodiscard]] share share_of(const uri_template& of) const;

 private:
  rule(access_rule what, std::size_t number) : what_(std::move(what)), number_(number) {}
  [[nodiscard]] bool is_about_resources() const noexcept { return what_.tools.empty() && what_.prompts.empty(); }
  [[nodiscard]] bool is_about_all_uris() const noexcept { return what_.uris.empty() && what_.patterns.empty(); }
  /// Of a URI in one form, as the next.
  [[nodiscard]] bool fits_whole_or_part(std::string_view uri) const;
  [[nodiscard]] bool fits(std::string_view uri) const;

  access_rule what_;
  std::size_t number_;
  std::vector<std::string> prefixes_;
  std::vector<uri_template> templates_;
  std::vector<ignore::glob> patterns_;
  std::vector<std::string> pattern_starts_;  // what all that a pattern fits begins with
};

/// Errors: as `check` of all; without a number they do not say which rule it is.
[[nodiscard]] result<void> check_rule(const access_rule& one, std::size_t number = 0);

/// Whether `name` is `wanted`, or begins as one that ends in `*` does.
[[nodiscard]] bool is_named(std::string_view wanted, std::string_view name) noexcept;

/// A URI without query and fragment: the resource that it is a part of, or itself.
[[nodiscard]] inline std::string_view whole_of(std::string_view uri) noexcept { return uri.substr(0, uri.find_first_of("?#")); }

/// Whether a prefix in a rule is about a URI: as `covers`, and "a/" is about the folder "a" too, which shows what is in it.
[[nodiscard]] bool is_about(std::string_view prefix, std::string_view uri) noexcept;

}  // namespace hondana::access
