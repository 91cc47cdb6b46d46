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

/// A `model::resource_filter`, prepared for many entries. Texts are compared in NFC. Words, and URI patterns without
/// percent-escapes, are also compared with the decoded URI. A URI prefix matches in all of its `prefix_forms`. Immutable;
/// threads: any.
class list_filter {
 public:
  /// Accepts every entry.
  list_filter() = default;
  /// A pattern with an error (see `ignore::glob::error`) matches no entry.
  explicit list_filter(model::resource_filter criteria);

  /// A common prefix of all URIs that can pass; may be empty.
  [[nodiscard]] const std::string& prefix() const noexcept { return prefix_; }
  /// Whether URI prefix and URI pattern contradict each other, so that no entry can pass.
  [[nodiscard]] bool is_unsatisfiable() const noexcept { return is_unsatisfiable_; }
  /// Whether the filter has no conditions, so that every entry passes.
  [[nodiscard]] bool accepts_all() const noexcept { return accepts_all_; }
  /// Equal for equal filters only. Empty if `accepts_all`.
  [[nodiscard]] const std::string& digest() const noexcept { return digest_; }

  /// Whether the entry passes. Adds about one to `steps` for each comparison of a byte.
  [[nodiscard]] bool matches(const resource& entry, std::uint64_t& steps) const;

 private:
  [[nodiscard]] bool matches_uri(const std::string& uri, std::uint64_t& steps) const;
  [[nodiscard]] bool contains_words(const resource& entry, std::uint64_t& steps) const;

  model::resource_filter criteria_;
  std::optional<ignore::glob> uri_pattern_;
  std::optional<ignore::glob> name_pattern_;
  std::vector<std::string> words_;     // in NFC and lower case
  std::vector<std::string> prefixes_;  // the URI must start with one of them; empty: no condition
  std::string prefix_;
  std::string digest_;
  bool has_escapes_ = false;  // the URI pattern has percent-escapes, so it is not compared with decoded URIs
  bool is_unsatisfiable_ = false;
  bool accepts_all_ = true;
};

/// The spellings of a URI prefix under which sources may list the same resources. The first is `prefix` as given. The others
/// have delimiters of path and query plain or escaped, and letters as given or composed (NFC). They are canonical, except for
/// an escape that is cut off at the end. At most five, without duplicates. A text that does not start with a scheme is returned
/// alone. Time: linear.
[[nodiscard]] std::vector<std::string> prefix_forms(std::string_view prefix);

/// The `prefix_forms` of all prefixes; may contain duplicates.
[[nodiscard]] std::vector<std::string> all_prefix_forms(const std::vector<std::string>& prefixes);

}  // namespace hondana::catalog
