/// Helpers for the readers of all formats: lines, places, tables, numbers, errors and limits.
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

node* growing_table::find(std::string_view key) {
  const auto found = known_.find(std::string(key));
  return found == known_.end() ? nullptr : &table_.members[found->second].value;
}

bool growing_table::put(std::string key, place key_at, node value) {
  const auto [known, is_new] = known_.try_emplace(key, table_.members.size());
  if (is_new) {
    table_.members.push_back({std::move(key), key_at, std::move(value)});
  } else {
    auto& there = table_.members[known->second];
    table_.replaced.push_back(std::exchange(there, {std::move(key), key_at, std::move(value)}));
  }
  return is_new;
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
  std::size_t whole = 0;     ///< Number of digits.
  std::size_t fraction = 0;  ///< Number of digits.
  bool has_point = false;
  bool has_exponent = false;
};

std::optional<decimal> decimal_of(std::string_view text) noexcept {
  decimal parts;
  parts.whole = drop_digits(text);
  parts.has_point = text.starts_with('.');
  if (parts.has_point) {
    text.remove_prefix(1);
    parts.fraction = drop_digits(text);
  }
  if (parts.whole + parts.fraction == 0) return std::nullopt;
  if (text.empty()) return parts;
  if (text.front() != 'e' && text.front() != 'E') return std::nullopt;
  text.remove_prefix(1);
  if (text.starts_with('-') || text.starts_with('+')) text.remove_prefix(1);
  if (drop_digits(text) == 0 || !text.empty()) return std::nullopt;
  parts.has_exponent = true;
  return parts;
}

/// The nearest double; infinite if the number is too large. `text` is a decimal number, with at most a `-` as its sign.
double nearest(std::string_view text) {
  double number = 0;
  if (std::from_chars(text.data(), text.data() + text.size(), number).ec != std::errc::result_out_of_range) return number;
  // from_chars reports underflow and overflow alike. The wider exponent range of long double tells them apart.
  long double wide = 0;
  const auto read = std::from_chars(text.data(), text.data() + text.size(), wide);
  if (read.ec == std::errc{}) return std::abs(wide) < 1 ? 0.0 : HUGE_VAL;
  const auto mark = text.find_first_of("eE");
  const bool is_small = mark != std::string_view::npos && text.substr(mark + 1).starts_with('-');
  return is_small ? 0.0 : HUGE_VAL;
}

/// The number without a plus sign and leading zeros.
std::string integer_text(std::string_view digits, bool is_negative) {
  digits.remove_prefix(std::min(digits.find_first_not_of('0'), digits.size() - 1));
  return (is_negative && digits != "0" ? "-" : "") + std::string(digits);
}

template <std::size_t count>
bool is_one_of(std::string_view text, const std::array<std::string_view, count>& words) {
  return std::find(words.begin(), words.end(), text) != words.end();
}

/// The value of digits after `0x` and `0o`; no value if they are not digits.
std::optional<plain_scalar> based(std::string_view written, place at) {
  const auto digits = written.substr(2);
  std::uint64_t whole = 0;
  const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), whole, written[1] == 'x' ? 16 : 8);
  if (end != digits.data() + digits.size() || digits.empty() || error == std::errc::invalid_argument) return std::nullopt;
  if (error != std::errc{}) return plain_scalar{text_node(std::string(written), at), scalar_doubt::too_large};
  return plain_scalar{number_node(kind::integer, std::to_string(whole), at)};
}

plain_scalar decimal_scalar(std::string_view written, std::string_view digits, const decimal& parts, place at) {
  const bool is_negative = written.starts_with('-');
  if (!parts.has_point && !parts.has_exponent) return {number_node(kind::integer, integer_text(digits, is_negative), at)};
  const auto number = nearest(digits);
  if (!std::isfinite(number)) return {text_node(std::string(written), at), scalar_doubt::too_large};
  return {number_node(kind::real, real_text(is_negative ? -number : number), at)};
}

}  // namespace

std::string real_text(double number) {
  std::array<char, 32> digits;  // the longest double has 24 characters
  std::string text(digits.data(), std::to_chars(digits.data(), digits.data() + digits.size(), number).ptr);
  if (text.find_first_of(".e") == std::string::npos) text += ".0";
  return text;
}

std::optional<node> json_number(std::string_view written, place at) {
  const auto digits = written.substr(written.starts_with('-') ? 1 : 0);
  const auto parts = decimal_of(digits);
  if (!parts || parts->whole == 0 || (parts->has_point && parts->fraction == 0)) return std::nullopt;
  if (digits.front() == '0' && parts->whole > 1) return std::nullopt;
  if (!parts->has_point && !parts->has_exponent) return number_node(kind::integer, std::string(written), at);
  const auto number = nearest(written);
  return number_node(kind::real, std::isfinite(number) ? real_text(number) : std::string(written), at);
}

plain_scalar resolve_plain(std::string_view written, place at) {
  static constexpr std::array<std::string_view, 5> nulls{"", "~", "null", "Null", "NULL"};
  static constexpr std::array<std::string_view, 3> truths{"true", "True", "TRUE"};
  static constexpr std::array<std::string_view, 3> untruths{"false", "False", "FALSE"};
  static constexpr std::array<std::string_view, 6> unwritable{".inf", ".Inf", ".INF", ".nan", ".NaN", ".NAN"};
  if (is_one_of(written, nulls)) return {null_node(at)};
  if (is_one_of(written, truths)) return {boolean_node(true, at)};
  if (is_one_of(written, untruths)) return {boolean_node(false, at)};
  if (written.starts_with("0x") || written.starts_with("0o")) {
    if (auto number = based(written, at)) return std::move(*number);
  }
  const auto digits = written.substr(written.starts_with('-') || written.starts_with('+') ? 1 : 0);
  if (is_one_of(digits, unwritable)) return {text_node(std::string(written), at), scalar_doubt::unwritable};
  if (const auto parts = decimal_of(digits)) return decimal_scalar(written, digits, *parts, at);
  return {text_node(std::string(written), at)};
}

namespace {

/// "line 7: what"; `about` is the line number.
failure in_line(errc code, std::size_t line, std::string_view what) {
  failure out{code, "line " + std::to_string(line) + ": " + std::string(what), {}};
  out.about = std::to_string(line);
  return out;
}

}  // namespace

reading::reading(std::string_view text, const limits& most) : text_(text), most_(most) {
  lines_.push_back(0);
  for (auto end = text.find('\n'); end != std::string_view::npos; end = text.find('\n', end + 1)) lines_.push_back(end + 1);
}

std::uint32_t reading::line_of(std::size_t offset) const noexcept {
  return static_cast<std::uint32_t>(std::upper_bound(lines_.begin(), lines_.end(), offset) - lines_.begin());
}

std::size_t reading::begin_of_line(std::size_t line) const noexcept {
  return line == 0 || line > lines_.size() ? text_.size() : lines_[line - 1];
}

place reading::at(std::size_t begin, std::size_t end) const noexcept { return {begin, end, line_of(begin)}; }

tl::unexpected<failure> reading::wrong_in_line(std::size_t line, std::string_view what) const {
  return tl::unexpected(in_line(errc::invalid_argument, line, what));
}

tl::unexpected<failure> reading::too_many(std::size_t offset, std::string_view what) const {
  return tl::unexpected(in_line(errc::response_too_large, line_of(offset), what));
}

tl::unexpected<failure> reading::wrong(std::size_t offset, std::string_view what) const {
  return wrong_in_line(line_of(std::min(offset, text_.size())), what);
}

tl::unexpected<failure> reading::too_deep(std::size_t offset) const {
  return wrong(offset, "lists and tables are nested deeper than " + std::to_string(most_.depth) + " levels");
}

void reading::remark(std::size_t offset, std::string_view what) {
  if (remarks_.size() == most_remarks) return;
  if (remarks_.size() + 1 == most_remarks) {
    remarks_.emplace_back("further remarks are left out");
    return;
  }
  remarks_.push_back("line " + std::to_string(line_of(offset)) + ": " + std::string(what));
}

void reading::remark_duplicate(std::size_t offset, std::string_view key) {
  remark(offset, "the key " + shown(key) + " is repeated; this value is used");
}

result<void> reading::count(std::size_t offset, std::size_t values) {
  values_ += values;
  if (values_ <= most_.values) return {};
  return too_many(offset, "more than " + std::to_string(most_.values) + " values, counting each repetition by an alias");
}

result<void> reading::count_repeated(std::size_t offset, std::size_t bytes) {
  repeated_ += bytes;
  if (repeated_ <= most_.bytes) return {};
  return too_many(offset, "aliases repeat more than " + std::to_string(most_.bytes) + " bytes of text");
}

std::string shown(std::string_view key) {
  constexpr std::size_t longest = 80;
  const bool prints =
      std::none_of(key.begin(), key.end(), [](char c) { return static_cast<unsigned char>(c) < ' ' || c == 0x7F; });
  // Some formats read a line of a private key as a key. Masking alone would not recognize it.
  if (key.size() > longest || !prints || !secrets::is_name(key) || secrets::redact_text(key) != key) return "a key";
  return '"' + std::string(key) + '"';
}

}  // namespace hondana::located
