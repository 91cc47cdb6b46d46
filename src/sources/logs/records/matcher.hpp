/// A compiled query, which decides whether a record matches.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <hondana/error.hpp>

#include "sources/logs/records/log.hpp"

namespace re2 {
class RE2;
}

namespace hondana::records {

/// Compiles an RE2 expression from a client. Limits its length (4 KiB) and its compiled size (`most_instructions`), which is
/// the maximum number of steps per byte. `^` and `$` match at line ends. `what` names the expression in errors ("grep").
/// Errors: invalid_argument.
[[nodiscard]] result<std::shared_ptr<const re2::RE2>> compile_expression(std::string_view expression, std::string_view what);

inline constexpr int most_instructions = 3000;

/// A compiled query. Threads: any.
class matcher {
 public:
  /// Errors: invalid_argument for an invalid expression, too many fields, or a range that ends before it begins.
  [[nodiscard]] static result<matcher> compile(const query& of);

  /// Whether a record meets all conditions on time, level, text and fields. A record without a time matches no time range. A
  /// record without a level matches no level.
  [[nodiscard]] bool accepts(const record& one) const;
  [[nodiscard]] bool accepts_time(const std::optional<instant>& time) const noexcept;
  [[nodiscard]] bool accepts_level(const std::optional<severity>& level) const noexcept;
  [[nodiscard]] bool accepts_text(std::string_view text) const;

  /// The expression, if a text of several records can be searched for it: then it also finds each match within a single record.
  /// Otherwise null.
  [[nodiscard]] const re2::RE2* filter() const noexcept { return is_local_ ? grep_.get() : nullptr; }
  [[nodiscard]] bool asks_for_level() const noexcept { return at_least_.has_value(); }

 private:
  matcher() = default;

  std::optional<instant> since_, until_;
  std::optional<severity> at_least_;
  std::shared_ptr<const re2::RE2> grep_;
  bool is_local_ = false;
  std::vector<std::pair<std::string, std::string>> fields_;
};

}  // namespace hondana::records
