/// Helpers for the readers of all formats: lines, ranges, tables, numbers, errors and limits.
#include "text/located/format_reader.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <cstdint>
#include <system_error>
#include <utility>

#include "base/ascii/ascii.hpp"
#include "text/secrets/matcher.hpp"
#include "text/secrets/redactor.hpp"

namespace hondana::located {

node* table_builder::find(std::string_view key) {
  const auto match = indices_.find(std::string(key));
  return match == indices_.end() ? nullptr : &table_.members[match->second].value;
}

bool table_builder::put(std::string key, source_range key_range, node value) {
  const auto [entry, is_inserted] = indices_.try_emplace(key, table_.members.size());
  if (is_inserted) {
    table_.members.push_back({std::move(key), key_range, std::move(value)});
  } else {
    auto& existing = table_.members[entry->second];
    table_.replaced.push_back(std::exchange(existing, {std::move(key), key_range, std::move(value)}));
  }
  return is_inserted;
}

namespace {

std::size_t drop_digits(std::string_view& text) noexcept {
  const auto end = std::find_if_not(text.begin(), text.end(), ascii::is_digit);
  const auto count = static_cast<std::size_t>(end - text.begin());
  text.remove_prefix(count);
  return count;
}

/// The parts of a decimal number without its sign.
struct decimal {
  std::size_t integer_digits = 0;   ///< Number of digits.
  std::size_t fraction_digits = 0;  ///< Number of digits.
  bool has_point = false;
  bool has_exponent = false;
};

std::optional<decimal> parse_decimal(std::string_view text) noexcept {
  decimal parts;
  parts.integer_digits = drop_digits(text);
  parts.has_point = text.starts_with('.');
  if (parts.has_point) {
    text.remove_prefix(1);
    parts.fraction_digits = drop_digits(text);
  }
  if (parts.integer_digits + parts.fraction_digits == 0) return std::nullopt;
  if (text.empty()) return parts;
  if (text.front() != 'e' && text.front() != 'E') return std::nullopt;
  text.remove_prefix(1);
  if (text.starts_with('-') || text.starts_with('+')) text.remove_prefix(1);
  if (drop_digits(text) == 0 || !text.empty()) return std::nullopt;
  parts.has_exponent = true;
  return parts;
}

/// The nearest double; infinite if the number is too large. `text` is a decimal number, with at most a `-` as its sign.
double nearest_double(std::string_view text) {
  double number = 0;
  if (std::from_chars(text.data(), text.data() + text.size(), number).ec != std::errc::result_out_of_range) return number;
  // from_chars reports underflow and overflow alike. The wider exponent range of long double tells them apart.
  long double wide = 0;
  const auto parsed = std::from_chars(text.data(), text.data() + text.size(), wide);
  if (parsed.ec == std::errc{}) return std::abs(wide) < 1 ? 0.0 : HUGE_VAL;
  const auto mark = text.find_first_of("eE");
  const bool is_small = mark != std::string_view::npos && text.substr(mark + 1).starts_with('-');
  return is_small ? 0.0 : HUGE_VAL;
}

/// The number without a plus sign and leading zeros.
std::string integer_text(std::string_view digits, bool is_negative) {
  digits.remove_prefix(std::min(digits.find_first_not_of('0'), digits.size() - 1));
  return (is_negative && digits != "0" ? "-" : "") + std::string(digits);
}

template <std::size_t Size>
bool is_one_of(std::string_view text, const std::array<std::string_view, Size>& words) {
  return std::find(words.begin(), words.end(), text) != words.end();
}

/// The value of digits after `0x` and `0o`; no value if they are not digits.
std::optional<plain_scalar> parse_based_integer(std::string_view literal, source_range range) {
  const auto digits = literal.substr(2);
  std::uint64_t integer = 0;
  const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), integer, literal[1] == 'x' ? 16 : 8);
  if (end != digits.data() + digits.size() || digits.empty() || error == std::errc::invalid_argument) return std::nullopt;
  if (error != std::errc{}) return plain_scalar{text_node(std::string(literal), range), scalar_issue::too_large};
  return plain_scalar{number_node(node_kind::integer, std::to_string(integer), range)};
}

plain_scalar decimal_scalar(std::string_view literal, std::string_view digits, const decimal& parts, source_range range) {
  const bool is_negative = literal.starts_with('-');
  if (!parts.has_point && !parts.has_exponent)
    return {number_node(node_kind::integer, integer_text(digits, is_negative), range)};
  const auto number = nearest_double(digits);
  if (!std::isfinite(number)) return {text_node(std::string(literal), range), scalar_issue::too_large};
  return {number_node(node_kind::real, real_text(is_negative ? -number : number), range)};
}

}  // namespace

std::string real_text(double number) {
  std::array<char, 32> digits;  // the longest double has 24 characters
  std::string text(digits.data(), std::to_chars(digits.data(), digits.data() + digits.size(), number).ptr);
  if (text.find_first_of(".e") == std::string::npos) text += ".0";
  return text;
}

std::optional<node> parse_json_number(std::string_view literal, source_range range) {
  const auto digits = literal.substr(literal.starts_with('-') ? 1 : 0);
  const auto parts = parse_decimal(digits);
  if (!parts || parts->integer_digits == 0 || (parts->has_point && parts->fraction_digits == 0)) return std::nullopt;
  if (digits.front() == '0' && parts->integer_digits > 1) return std::nullopt;
  if (!parts->has_point && !parts->has_exponent) return number_node(node_kind::integer, std::string(literal), range);
  const auto number = nearest_double(literal);
  return number_node(node_kind::real, std::isfinite(number) ? real_text(number) : std::string(literal), range);
}

plain_scalar resolve_plain(std::string_view literal, source_range range) {
  static constexpr std::array<std::string_view, 5> null_words{"", "~", "null", "Null", "NULL"};
  static constexpr std::array<std::string_view, 3> true_words{"true", "True", "TRUE"};
  static constexpr std::array<std::string_view, 3> false_words{"false", "False", "FALSE"};
  static constexpr std::array<std::string_view, 6> unrepresentable{".inf", ".Inf", ".INF", ".nan", ".NaN", ".NAN"};
  if (is_one_of(literal, null_words)) return {null_node(range)};
  if (is_one_of(literal, true_words)) return {boolean_node(true, range)};
  if (is_one_of(literal, false_words)) return {boolean_node(false, range)};
  if (literal.starts_with("0x") || literal.starts_with("0o")) {
    if (auto number = parse_based_integer(literal, range)) return std::move(*number);
  }
  const auto digits = literal.substr(literal.starts_with('-') || literal.starts_with('+') ? 1 : 0);
  if (is_one_of(digits, unrepresentable)) return {text_node(std::string(literal), range), scalar_issue::unrepresentable};
  if (const auto parts = parse_decimal(digits)) return decimal_scalar(literal, digits, *parts, range);
  return {text_node(std::string(literal), range)};
}

namespace {

/// "line 7: MESSAGE"; `subject` is the line number.
failure failure_in_line(errc code, std::size_t line, std::string_view message) {
  failure out{code, "line " + std::to_string(line) + ": " + std::string(message), {}};
  out.subject = std::to_string(line);
  return out;
}

}  // namespace

parse_context::parse_context(std::string_view text, const parse_limits& limits) : text_(text), limits_(limits) {
  line_begins_.push_back(0);
  for (auto end = text.find('\n'); end != std::string_view::npos; end = text.find('\n', end + 1))
    line_begins_.push_back(end + 1);
}

std::uint32_t parse_context::line_of(std::size_t offset) const noexcept {
  return static_cast<std::uint32_t>(std::upper_bound(line_begins_.begin(), line_begins_.end(), offset) - line_begins_.begin());
}

std::size_t parse_context::begin_of_line(std::size_t line) const noexcept {
  return line == 0 || line > line_begins_.size() ? text_.size() : line_begins_[line - 1];
}

source_range parse_context::range_of(std::size_t begin, std::size_t end) const noexcept { return {begin, end, line_of(begin)}; }

tl::unexpected<failure> parse_context::error_in_line(std::size_t line, std::string_view message) const {
  return tl::unexpected(failure_in_line(errc::invalid_argument, line, message));
}

tl::unexpected<failure> parse_context::limit_error(std::size_t offset, std::string_view message) const {
  return tl::unexpected(failure_in_line(errc::response_too_large, line_of(offset), message));
}

tl::unexpected<failure> parse_context::error_at(std::size_t offset, std::string_view message) const {
  return error_in_line(line_of(std::min(offset, text_.size())), message);
}

tl::unexpected<failure> parse_context::depth_error(std::size_t offset) const {
  return error_at(offset, "lists and tables are nested deeper than " + std::to_string(limits_.max_depth) + " levels");
}

void parse_context::warn(std::size_t offset, std::string_view message) {
  if (warnings_.size() == max_warnings) return;
  if (warnings_.size() + 1 == max_warnings) {
    warnings_.emplace_back("further remarks are left out");
    return;
  }
  warnings_.push_back("line " + std::to_string(line_of(offset)) + ": " + std::string(message));
}

void parse_context::warn_duplicate(std::size_t offset, std::string_view key) {
  warn(offset, "the key " + display_key(key) + " is repeated; this value is used");
}

result<void> parse_context::count_values(std::size_t offset, std::size_t values) {
  value_count_ += values;
  if (value_count_ <= limits_.max_values) return {};
  return limit_error(offset,
                     "more than " + std::to_string(limits_.max_values) + " values, counting each repetition by an alias");
}

result<void> parse_context::count_repeated(std::size_t offset, std::size_t bytes) {
  repeated_bytes_ += bytes;
  if (repeated_bytes_ <= limits_.max_bytes) return {};
  return limit_error(offset, "aliases repeat more than " + std::to_string(limits_.max_bytes) + " bytes of text");
}

std::string display_key(std::string_view key) {
  constexpr std::size_t max_bytes = 80;
  const bool is_printable =
      std::none_of(key.begin(), key.end(), [](char c) { return static_cast<unsigned char>(c) < ' ' || c == 0x7F; });
  // Some formats read a line of a private key as a key. Masking alone would not recognize it.
  if (key.size() > max_bytes || !is_printable || !secrets::is_name(key) || secrets::redact_text(key) != key) return "a key";
  return '"' + std::string(key) + '"';
}

}  // namespace hondana::located
