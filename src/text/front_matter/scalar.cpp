/// The tag resolution of YAML's core schema.
#include "text/front_matter/scalar.hpp"
#include "base/ascii/characters.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <cstdint>
#include <system_error>

namespace hondana::front_matter {
namespace {

template <std::size_t count>
bool is_one_of(std::string_view text, const std::array<std::string_view, count>& words) {
  return std::find(words.begin(), words.end(), text) != words.end();
}

/// Takes the digits from the front of `text` and says how many there were.
std::size_t drop_digits(std::string_view& text) noexcept {
  const auto end = std::find_if_not(text.begin(), text.end(), ascii::is_digit);
  const auto count = static_cast<std::size_t>(end - text.begin());
  text.remove_prefix(count);
  return count;
}

/// Whether this is a decimal number without its sign: `1`, `1.`, `.5`, `1.5e3`.
bool is_decimal(std::string_view text) noexcept {
  const auto whole = drop_digits(text);
  std::size_t fraction = 0;
  if (text.starts_with('.')) {
    text.remove_prefix(1);
    fraction = drop_digits(text);
  }
  if (whole + fraction == 0) return false;
  if (text.empty()) return true;
  if (text.front() != 'e' && text.front() != 'E') return false;
  text.remove_prefix(1);
  if (text.starts_with('-') || text.starts_with('+')) text.remove_prefix(1);
  return drop_digits(text) != 0 && text.empty();
}

/// Whether a decimal that is not zero, and beyond what a double can be, is too small and not too large.
bool is_tiny(std::string_view text) noexcept {
  const auto mark = text.find_first_of("eE");
  const auto digits = text.substr(0, mark);
  std::int64_t exponent = 0;
  if (mark != std::string_view::npos) {
    auto written = text.substr(mark + 1);
    if (written.starts_with('+')) written.remove_prefix(1);
    const auto [end, error] = std::from_chars(written.data(), written.data() + written.size(), exponent);
    // No text that is parsed has as many digits as would make up for it.
    if (error != std::errc{}) return written.starts_with('-');
  }
  const auto point = static_cast<std::int64_t>(std::min(digits.find('.'), digits.size()));
  const auto first = static_cast<std::int64_t>(std::min(digits.find_first_not_of("0."), digits.size()));
  return (point - first) + exponent < 0;
}

std::optional<value> number_of(std::string_view text, bool is_negative) {
  if (std::all_of(text.begin(), text.end(), ascii::is_digit)) {
    std::int64_t whole = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), whole);
    if (error == std::errc{}) return value(is_negative ? -whole : whole);
  }
  double number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  // An underflow and an overflow are reported alike; the one is as good as zero, the other is nothing.
  if (error == std::errc::result_out_of_range && is_tiny(text))
    number = 0;
  else if (error != std::errc{} || !std::isfinite(number))
    return std::nullopt;
  return value(is_negative ? -number : number);
}

/// Digits after `0x` or `0o`; null when these are none.
std::optional<value> based(std::string_view digits, int base) {
  std::uint64_t whole = 0;
  const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), whole, base);
  if (end != digits.data() + digits.size() || digits.empty() || error == std::errc::invalid_argument) return value(nullptr);
  if (error != std::errc{}) return std::nullopt;
  return value(whole);
}

}  // namespace

std::optional<value> resolve_plain(std::string_view text) {
  static constexpr std::array<std::string_view, 5> nulls{"", "~", "null", "Null", "NULL"};
  static constexpr std::array<std::string_view, 3> truths{"true", "True", "TRUE"};
  static constexpr std::array<std::string_view, 3> untruths{"false", "False", "FALSE"};
  static constexpr std::array<std::string_view, 6> unwritable{".inf", ".Inf", ".INF", ".nan", ".NaN", ".NAN"};
  if (is_one_of(text, nulls)) return value(nullptr);
  if (is_one_of(text, truths)) return value(true);
  if (is_one_of(text, untruths)) return value(false);
  if (text.starts_with("0x") || text.starts_with("0o")) {
    auto number = based(text.substr(2), text[1] == 'x' ? 16 : 8);
    if (!number || !number->is_null()) return number;
    return value(text);
  }
  const bool is_signed = text.starts_with('-') || text.starts_with('+');
  const auto unsigned_text = text.substr(is_signed ? 1 : 0);
  if (is_one_of(unsigned_text, unwritable)) return std::nullopt;
  if (is_decimal(unsigned_text)) return number_of(unsigned_text, text.starts_with('-'));
  return value(text);
}

}  // namespace hondana::front_matter
