/// Filters of lists, prepared for many entries, and alternative spellings of URI prefixes.
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

/// A prepared filter. Text is compared in NFC, also with the decoded form of URIs. A prefix is compared in all its spellings.
/// Immutable; threads: any.
class filter {
 public:
  /// A filter that every entry passes.
  filter() = default;
  /// A pattern with a fault (see `ignore::glob::fault`) matches nothing.
  explicit filter(model::resource_filter what);

  /// A common prefix of all URIs that can pass, from the spellings of the prefix and the start of the pattern; may be empty.
  [[nodiscard]] const std::string& prefix() const noexcept { return prefix_; }
  /// Whether no entry can pass, because prefix and pattern contradict each other.
  [[nodiscard]] bool is_hopeless() const noexcept { return is_hopeless_; }
  /// Whether every entry passes.
  [[nodiscard]] bool is_open() const noexcept { return is_open_; }
  /// Equal for equal filters only; empty for an open one.
  [[nodiscard]] const std::string& digest() const noexcept { return digest_; }

  /// Adds the cost to `steps`, about one per byte examined. In the worst case, patterns of 256 bytes and a URI of 16 KiB cost
  /// 26 million.
  [[nodiscard]] bool passes(const resource& entry, std::uint64_t& steps) const;

 private:
  [[nodiscard]] bool fits_uri(const std::string& uri, std::uint64_t& steps) const;
  [[nodiscard]] bool holds_words(const resource& entry, std::uint64_t& steps) const;

  model::resource_filter what_;
  std::optional<ignore::glob> uri_pattern_;
  std::optional<ignore::glob> name_pattern_;
  std::vector<std::string> words_;       // in NFC and lower case
  std::vector<std::string> beginnings_;  // a URI starts with one of them; empty: no condition
  std::string prefix_;
  std::string digest_;
  bool is_spelled_ = false;  // the pattern has percent-escapes, like URIs in lists
  bool is_hopeless_ = false;
  bool is_open_ = true;
};

/// A URI prefix as given, then the spellings under which sources may list the same resources. They are canonical except at the
/// end, with the delimiters of path and query plain or escaped, and letters as given or composed (NFC). At most five, without
/// duplicates. A text that is not the start of a URI with a scheme is returned alone. Time: linear.
[[nodiscard]] std::vector<std::string> spellings_of_prefix(std::string_view asked);

/// The spellings of all prefixes.
[[nodiscard]] std::vector<std::string> in_all_spellings(const std::vector<std::string>& prefixes);

}  // namespace hondana::catalog
