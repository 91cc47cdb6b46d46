/// Filters of lists, prepared for many entries, and other spellings of their URI prefixes.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <hondana/resource.hpp>

#include "base/ignore/glob.hpp"
#include "protocol/model/operations.hpp"

namespace hondana::catalog {

/// What people type is compared in NFC on both sides, and with what URIs spell by escapes, too; a prefix in all its spellings.
/// Immutable; threads: any.
class filter {
 public:
  /// A filter that everything passes.
  filter() = default;
  /// A pattern with a fault (see `ignore::glob::fault`) lets nothing pass.
  explicit filter(model::resource_filter what);

  /// What every URI that can pass starts with, from the spellings of the prefix and the beginning of the pattern; may be empty.
  [[nodiscard]] const std::string& prefix() const noexcept { return prefix_; }
  /// Whether nothing can pass, since prefix and pattern contradict each other.
  [[nodiscard]] bool is_hopeless() const noexcept { return is_hopeless_; }
  /// Whether everything passes.
  [[nodiscard]] bool is_open() const noexcept { return is_open_; }
  /// The same for equal filters and for no others; empty for one that is open.
  [[nodiscard]] const std::string& digest() const noexcept { return digest_; }

  /// Adds what it cost to `steps`, roughly in bytes looked at; patterns of 256 bytes and a URI of 16 KiB cost 26 million at
  /// worst.
  [[nodiscard]] bool passes(const resource& entry, std::uint64_t& steps) const;

 private:
  [[nodiscard]] bool fits_uri(const std::string& uri, std::uint64_t& steps) const;
  [[nodiscard]] bool holds_words(const resource& entry, std::uint64_t& steps) const;

  model::resource_filter what_;
  std::optional<ignore::glob> uri_pattern_;
  std::optional<ignore::glob> name_pattern_;
  std::vector<std::string> words_;       // composed, in lower case
  std::vector<std::string> beginnings_;  // one of which a URI starts with; none: any will do
  std::string prefix_;
  std::string digest_;
  bool is_spelled_ = false;  // the pattern has escapes, as URIs in lists
  bool is_hopeless_ = false;
  bool is_open_ = true;
};

/// The beginning of a URI as it was asked for, and then as sources may list what a read of that spelling reaches: canonical but
/// for its end, the delimiters of its path and query plain, or escaped, its letters as they are or composed (NFC). Each once,
/// five at most. What is no beginning of a URI with its scheme is given back alone. Time: linear.
[[nodiscard]] std::vector<std::string> spellings_of_prefix(std::string_view asked);

/// Of all of them.
[[nodiscard]] std::vector<std::string> in_all_spellings(const std::vector<std::string>& prefixes);

}  // namespace hondana::catalog
