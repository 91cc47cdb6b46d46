/// Quoted texts of PromQL: how they are written and read.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

#include <hondana/error.hpp>

#include "sources/metrics/series/selector.hpp"

namespace hondana::series {

/// "=", "!=", "=~", "!~".
[[nodiscard]] std::string_view text_of(matcher::relation how) noexcept;

/// Appends `value` as it stands between two of `quote`, `"` or `'`: escaped where PromQL needs it, and where a person could not
/// see what it is. `value` is UTF-8.
void append_escaped(std::string& out, std::string_view value, char quote);

struct quoted_text {
  std::string value{};
  std::size_t end = 0;     ///< Where reading went on to: behind the second quote, or the end of the text.
  bool is_closed = false;  ///< The second quote is there.
};
/// Reads a quoted text that begins at `at`, where its first quote stands. A text that ends within is not closed; an escape that
/// ends with the text is left out. Errors: invalid_argument with the byte (from 1) for an escape that is none, a line feed
/// where none can be, and what is no UTF-8.
[[nodiscard]] result<quoted_text> read_quoted(std::string_view text, std::size_t at);

}  // namespace hondana::series
