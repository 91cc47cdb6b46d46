/// A compiled query, which says whether a record matches.
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

/// An RE2 expression from outside: bounded in length (4 KiB) and in what it is compiled to (`most_instructions`), which is how
/// many steps a byte may take. `^` and `$` match at the ends of lines. Errors:
/// invalid_argument, in which `what` names it ("grep").
[[nodiscard]] result<std::shared_ptr<const re2::RE2>> compile_expression(std::string_view expression, std::string_view what);

inline constexpr int most_instructions = 3000;

/// A query, compiled. Threads: any.
class matcher {
 public:
  /// Errors: invalid_argument for an expression that is none, too many fields, or a range that ends before it begins.
  [[nodiscard]] static result<matcher> compile(const query& of);

  /// Whether all that the query asks of a record's time, level, text and fields holds. A record without a time is in no range,
  /// and one without a level is of none.
  [[nodiscard]] bool accepts(const record& one) const;
  [[nodiscard]] bool accepts_time(const std::optional<instant>& time) const noexcept;
  [[nodiscard]] bool accepts_level(const std::optional<severity>& level) const noexcept;
  [[nodiscard]] bool accepts_text(std::string_view text) const;

  /// The expression where a record can match only what it also matches in a text with lines around the record's; else null.
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
