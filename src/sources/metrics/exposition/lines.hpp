/// Single lines of an exposition.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <hondana/error.hpp>

#include "sources/metrics/exposition/parser.hpp"
#include "sources/metrics/series/identity.hpp"
#include "sources/metrics/series/sample.hpp"

namespace hondana::exposition {

/// Reads the lines with samples, into strings that are used again for the next.
class sample_line {
 public:
  sample_line(parser::format which, const limits& most) : which_(which), most_(most) {}

  /// `line`: UTF-8 without its end. Errors: as `parser::take`, without the line's number.
  [[nodiscard]] result<void> read(std::string_view line);
  [[nodiscard]] const series::identity& of() const noexcept { return of_; }
  [[nodiscard]] double value() const noexcept { return value_; }
  [[nodiscard]] std::optional<series::instant> at() const noexcept { return at_; }

 private:
  void skip_blanks() noexcept;
  [[nodiscard]] bool is_at_end() const noexcept { return next_ == end_; }
  [[nodiscard]] bool take(char c) noexcept;
  /// What stands between two parts: blanks, or in OpenMetrics exactly one.
  [[nodiscard]] bool take_separator() noexcept;
  [[nodiscard]] std::string_view take_word() noexcept;
  [[nodiscard]] std::string_view take_name(bool has_colons) noexcept;
  [[nodiscard]] tl::unexpected<failure> expected(std::string_view what) const;

  [[nodiscard]] result<void> read_labels();
  [[nodiscard]] result<void> read_label_value(std::string& into);
  [[nodiscard]] result<void> put_in_order();
  [[nodiscard]] result<void> read_number(double& into, std::string_view what);
  [[nodiscard]] result<void> read_time();
  [[nodiscard]] result<void> skip_exemplar();
  [[nodiscard]] series::label& next_label();
  void drop_labels_from(std::size_t count);

  parser::format which_;
  limits most_;
  const char* begin_ = nullptr;
  const char* next_ = nullptr;
  const char* end_ = nullptr;
  series::identity of_{};
  std::vector<series::label> unused_{};  ///< Keep the memory of their strings.
  double value_ = 0;
  std::optional<series::instant> at_{};
};

enum class comment : unsigned char { none, help, type, unit, end };
/// `# TYPE name text`; `text` is as it stands there.
struct comment_line {
  comment what = comment::none;
  std::string_view name{}, text{};
};
/// `line` begins with `#`, after blanks or not. Errors: invalid_argument, without the line's number.
[[nodiscard]] result<comment_line> read_comment(std::string_view line, parser::format which);

/// With the escapes of a help text, or of a label's value, put right. Others stay as they are.
[[nodiscard]] std::string unescaped(std::string_view text, bool has_quotes);

}  // namespace hondana::exposition
