/// A compiled query, which decides whether a record matches.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <hondana/error.hpp>

#include "sources/logs/records/log_backend.hpp"

namespace re2 {
class RE2;
}

namespace hondana::records {

/// Compiles an RE2 expression from a client. Limits its length (4 KiB) and its compiled size (`max_instructions`), which is
/// the maximum number of steps per byte. `^` and `$` match at line ends. `name`: of the expression, for errors ("grep").
/// Errors: invalid_argument.
[[nodiscard]] result<std::shared_ptr<const re2::RE2>> compile_expression(std::string_view expression, std::string_view name);

/// The maximum size of a compiled expression, in instructions of RE2.
inline constexpr int max_instructions = 3000;

/// A compiled query. Threads: any.
class record_matcher {
 public:
  /// Errors: invalid_argument for an invalid expression, too many fields, or a range that ends before it begins.
  [[nodiscard]] static result<record_matcher> compile(const log_query& query);

  /// Whether a record meets all conditions on time, level, text and fields. A record without a time does not meet `since` and
  /// `until`, a record without a level does not meet `min_level`.
  [[nodiscard]] bool accepts(const log_record& record) const;
  [[nodiscard]] bool accepts_time(const std::optional<instant>& time) const noexcept;
  [[nodiscard]] bool accepts_level(const std::optional<severity>& level) const noexcept;
  /// Whether a text meets the conditions `grep` and `fields`.
  [[nodiscard]] bool accepts_text(std::string_view text) const;

  /// Returns the compiled `grep` if a search in several records at once misses no record that matches by itself. Otherwise, and
  /// without `grep`, null.
  [[nodiscard]] const re2::RE2* prefilter() const noexcept { return is_local_ ? grep_.get() : nullptr; }
  [[nodiscard]] bool filters_level() const noexcept { return min_level_.has_value(); }

 private:
  record_matcher() = default;

  std::optional<instant> since_, until_;
  std::optional<severity> min_level_;
  std::shared_ptr<const re2::RE2> grep_;
  bool is_local_ = false;
  std::vector<std::pair<std::string, std::string>> fields_;
};

}  // namespace hondana::records
