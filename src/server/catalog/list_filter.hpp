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
class list_filter {
 public:
  /// A filter that every entry passes.
  list_filter() = default;
  /// A pattern with an error (see `ignore::glob::error`) matches nothing.
  explicit list_filter(model::resource_filter criteria);

  /// A common prefix of all URIs that can pass, from the spellings of the prefix and the start of the pattern; may be empty.
  [[nodiscard]] const std::string& prefix() const noexcept { return prefix_; }
  /// Whether no entry can pass, because prefix and pattern contradict each other.
  [[nodiscard]] bool is_unsatisfiable() const noexcept { return is_unsatisfiable_; }
  /// Whether every entry passes.
  [[nodiscard]] bool accepts_all() const noexcept { return accepts_all_; }
  /// Equal for equal filters only; empty for an open one.
  [[nodiscard]] const std::string& digest() const noexcept { return digest_; }

  /// Adds the cost to `steps`, about one per byte examined. In the worst case, patterns of 256 bytes and a URI of 16 KiB cost
  /// 26 million.
  [[nodiscard]] bool matches(const resource& entry, std::uint64_t& steps) const;

 private:
  [[nodiscard]] bool matches_uri(const std::string& uri, std::uint64_t& steps) const;
  [[nodiscard]] bool contains_words(const resource& entry, std::uint64_t& steps) const;

  model::resource_filter criteria_;
  std::optional<ignore::glob> uri_pattern_;
  std::optional<ignore::glob> name_pattern_;
  std::vector<std::string> words_;     // in NFC and lower case
  std::vector<std::string> prefixes_;  // a URI starts with one of them; empty: no condition
  std::string prefix_;
  std::string digest_;
  bool has_escapes_ = false;  // the pattern has percent-escapes, like URIs in lists
  bool is_unsatisfiable_ = false;
  bool accepts_all_ = true;
};

/// A URI prefix as given, then the spellings under which sources may list the same resources. They are canonical except at the
/// end, with the delimiters of path and query plain or escaped, and letters as given or composed (NFC). At most five, without
/// duplicates. A text that is not the start of a URI with a scheme is returned alone. Time: linear.
[[nodiscard]] std::vector<std::string> prefix_forms(std::string_view prefix);

/// The spellings of all prefixes.
[[nodiscard]] std::vector<std::string> all_prefix_forms(const std::vector<std::string>& prefixes);

}  // namespace hondana::catalog
