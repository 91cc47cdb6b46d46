/// Label matchers and selectors in the syntax of PromQL: parsing, completion, matching and quoting.
#include "sources/metrics/series/selector.hpp"

#include <re2/re2.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <optional>
#include <utility>

#include "base/ascii/ascii.hpp"

namespace hondana::series {
namespace {

constexpr std::string_view hex_digits = "0123456789abcdef";
/// Prometheus treats a literal replacement character as invalid UTF-8. It accepts only the escape.
constexpr std::string_view replacement = "\xef\xbf\xbd";

int hex_value(char c) noexcept {
  if (c >= '0' && c <= '9') return c - '0';
  if (c >= 'a' && c <= 'f') return c - 'a' + 10;
  if (c >= 'A' && c <= 'F') return c - 'A' + 10;
  return 99;
}

/// The character for the letter of an escape.
char simple_escape(char letter) noexcept {
  switch (letter) {
    case 'a':
      return '\a';
    case 'b':
      return '\b';
    case 'f':
      return '\f';
    case 'n':
      return '\n';
    case 'r':
      return '\r';
    case 't':
      return '\t';
    case 'v':
      return '\v';
    default:
      return 0;
  }
}

void append_code_point(std::string& out, std::uint32_t point) {
  const auto add = [&out](std::uint32_t byte) { out += static_cast<char>(byte); };
  if (point < 0x80) return add(point);
  if (point < 0x800) {
    add(0xc0 | point >> 6);
  } else {
    if (point < 0x10000) {
      add(0xe0 | point >> 12);
    } else {
      add(0xf0 | point >> 18);
      add(0x80 | (point >> 12 & 0x3f));
    }
    add(0x80 | (point >> 6 & 0x3f));
  }
  add(0x80 | (point & 0x3f));
}

tl::unexpected<failure> error_at(std::size_t position, std::string_view reason) {
  return fail(errc::invalid_argument, "byte " + std::to_string(position + 1) + ": " + std::string(reason));
}

/// Parses the escape whose backslash is at `position`, and moves `position` behind it. Returns false if the text ends inside.
result<bool> read_escape(std::string_view text, std::size_t& position, char quote, std::string& out) {
  if (position + 1 >= text.size()) return false;
  const char letter = text[position + 1];
  if (letter == '\\' || letter == quote) {
    out += letter;
    position += 2;
    return true;
  }
  if (const char simple = simple_escape(letter)) {
    out += simple;
    position += 2;
    return true;
  }
  const bool is_octal = letter >= '0' && letter <= '7';
  const std::size_t digits = is_octal ? 3 : letter == 'x' ? 2 : letter == 'u' ? 4 : letter == 'U' ? 8 : 0;
  if (digits == 0) return error_at(position, "not a PromQL escape sequence");
  const std::size_t first_digit = is_octal ? position + 1 : position + 2;
  std::uint32_t value = 0;
  for (std::size_t i = first_digit; i < first_digit + digits; ++i) {
    if (i >= text.size()) return false;
    const int digit = hex_value(text[i]);
    if (digit >= (is_octal ? 8 : 16)) return error_at(i, is_octal ? "expected an octal digit" : "expected a hexadecimal digit");
    value = value * (is_octal ? 8 : 16) + static_cast<std::uint32_t>(digit);
  }
  const bool is_byte = is_octal || letter == 'x';
  if (is_byte ? value > 0xff : value > 0x10ffff || (value >= 0xd800 && value < 0xe000))
    return error_at(position, is_byte ? "an escape for more than one byte" : "not a Unicode code point");
  if (is_byte)
    out += static_cast<char>(value);
  else
    append_code_point(out, value);
  position = first_digit + digits;
  return true;
}

}  // namespace

void append_escaped(std::string& out, std::string_view value, char quote) {
  for (std::size_t i = 0; i < value.size(); ++i) {
    const char c = value[i];
    const auto byte = static_cast<unsigned char>(c);
    if (c == '\\' || c == quote) {
      out.append(1, '\\').append(1, c);
    } else if (c == '\n') {
      out += "\\n";
    } else if (c == '\t') {
      out += "\\t";
    } else if (byte < 0x20 || byte == 0x7f) {
      out.append("\\x").append(1, hex_digits[byte >> 4]).append(1, hex_digits[byte & 15]);
    } else if (value.substr(i, replacement.size()) == replacement) {
      out += "\\ufffd";
      i += replacement.size() - 1;
    } else {
      out += c;
    }
  }
}

result<quoted_text> read_quoted(std::string_view text, std::size_t position) {
  const std::size_t begin = position;
  const char quote = text[position++];
  quoted_text out;
  while (position < text.size()) {
    const char c = text[position];
    if (c == quote) {
      out.is_closed = true;
      ++position;
      break;
    }
    if (c == '\n' && quote != '`') return error_at(position, "write a line feed within quotes as \\n");
    if (c == '\\' && quote != '`') {
      HONDANA_TRY(const auto is_complete, read_escape(text, position, quote, out.value));
      if (!is_complete) break;
      continue;
    }
    out.value += c;
    ++position;
  }
  out.end = out.is_closed ? position : text.size();
  if (!is_utf8(out.value)) return error_at(begin, "the quoted text is not valid UTF-8");
  return out;
}

namespace {

constexpr std::int64_t max_program_bytes = 1 << 20;
/// Of a compiled expression. In the worst case, matching takes time proportional to this times the length of the value.
constexpr int max_program_steps = 20'000;

/// Words that PromQL does not accept as a metric name on their own, in any case.
constexpr std::array<std::string_view, 28> promql_keywords{
    "and",      "or",         "unless",      "atan2",   "sum",          "avg",      "count",  "min", "max",     "group",
    "stddev",   "stdvar",     "topk",        "bottomk", "count_values", "quantile", "offset", "by",  "without", "on",
    "ignoring", "group_left", "group_right", "bool",    "start",        "end",      "inf",    "nan"};

}  // namespace

std::string_view symbol_of(matcher::match_type type) noexcept {
  switch (type) {
    case matcher::match_type::equal:
      return "=";
    case matcher::match_type::not_equal:
      return "!=";
    case matcher::match_type::matches:
      return "=~";
    case matcher::match_type::matches_not:
      return "!~";
  }
  return "=";
}

result<matcher> matcher::create(std::string label_name, match_type type, std::string value) {
  if (!is_label_name(label_name))
    return fail(errc::invalid_argument,
                "not a valid label name: it must begin with a letter or _, followed by letters, digits and _");
  const auto reject = [&label_name](const std::string& reason) {
    return fail(errc::invalid_argument, "the value for the label " + label_name + " " + reason);
  };
  if (value.size() > max_value_bytes) return reject("is longer than " + std::to_string(max_value_bytes) + " bytes");
  if (!is_utf8(value)) return reject("is not valid UTF-8");
  std::shared_ptr<const re2::RE2> compiled;
  if (type == match_type::matches || type == match_type::matches_not) {
    re2::RE2::Options options;
    options.set_log_errors(false);
    options.set_max_mem(max_program_bytes);
    options.set_dot_nl(true);
    options.set_never_capture(true);
    auto regex = std::make_shared<const re2::RE2>(value, options);
    if (!regex->ok())
      return reject("is not a valid regular expression (" + regex->error() +
                    "); use RE2 syntax, without look-around and back references");
    if (regex->ProgramSize() > max_program_steps) return reject("is too large a regular expression; use fewer repetitions");
    compiled = std::move(regex);
  }
  return matcher(std::move(label_name), type, std::move(value), std::move(compiled));
}

bool matcher::matches(std::string_view value) const {
  switch (type_) {
    case match_type::equal:
      return value == value_;
    case match_type::not_equal:
      return value != value_;
    case match_type::matches:
      return re2::RE2::FullMatch(re2::StringPiece(value.data(), value.size()), *compiled_);
    case match_type::matches_not:
      return !re2::RE2::FullMatch(re2::StringPiece(value.data(), value.size()), *compiled_);
  }
  return false;
}

std::string matcher::to_text() const {
  std::string out = name_;
  out.append(symbol_of(type_)).append(1, '"');
  append_escaped(out, value_, '"');
  return out += '"';
}

bool selector::matches(const identity& identity) const {
  return (name.empty() || identity.name == name) &&
         std::all_of(matchers.begin(), matchers.end(),
                     [&identity](const matcher& matcher) { return matcher.matches(identity); });
}

std::string selector::to_text() const {
  const bool is_keyword =
      std::find(promql_keywords.begin(), promql_keywords.end(), ascii::to_lower(name)) != promql_keywords.end();
  std::string conditions;
  if (is_keyword) conditions.append("__name__=\"").append(name).append(1, '"');
  for (const auto& matcher : matchers) {
    if (!conditions.empty()) conditions += ',';
    conditions += matcher.to_text();
  }
  std::string out = is_keyword ? std::string() : name;
  if (conditions.empty() && !out.empty()) return out;
  return out.append(1, '{').append(conditions).append(1, '}');
}

namespace {

constexpr bool is_label_char(char c) noexcept {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_';
}

/// The maximum number of matchers with values of maximum length.
constexpr std::size_t max_body_bytes = selector::max_matchers * matcher::max_value_bytes;

/// Parses matchers. If the text ends inside one, `partial_` describes the incomplete part.
class matchers_parser {
 public:
  explicit matchers_parser(std::string_view text) : text_(text) {}

  result<void> parse() {
    if (text_.size() > max_body_bytes)
      return fail(errc::invalid_argument, "longer than " + std::to_string(max_body_bytes) + " bytes");
    for (;;) {
      skip_blanks();
      if (position_ == text_.size()) {
        partial_ = {};
        partial_.prefix = text_;
        return {};
      }
      HONDANA_TRY(parse_matcher());
      if (!pending_) return {};
      skip_blanks();
      if (position_ == text_.size()) return {};
      if (text_[position_] != ',') return expected("a comma");
      ++position_;
      matchers_.push_back(*std::exchange(pending_, std::nullopt));
    }
  }

  /// All matchers. Fails unless the text ends after a complete matcher or a comma.
  result<std::vector<matcher>> finish() {
    if (pending_) matchers_.push_back(*std::exchange(pending_, std::nullopt));
    if (is_incomplete_) return expected(missing_);
    return std::move(matchers_);
  }

  partial_matchers partial() {
    partial_.matchers = std::move(matchers_);
    return std::move(partial_);
  }

 private:
  tl::unexpected<failure> expected(std::string_view description) const {
    return fail(errc::invalid_argument, "byte " + std::to_string(position_ + 1) + ": expected " + std::string(description) +
                                            (position_ < text_.size() ? "" : ", and the text ends"));
  }
  void skip_blanks() {
    while (position_ < text_.size() && ascii::is_json_space(text_[position_])) ++position_;
  }
  result<void> mark_incomplete(std::string_view missing) {
    is_incomplete_ = true;
    missing_ = missing;
    return {};
  }

  result<void> parse_matcher() {
    const auto begin = position_;
    while (position_ < text_.size() && is_label_char(text_[position_])) ++position_;
    const auto name = text_.substr(begin, position_ - begin);
    if (!is_label_name(name)) {
      position_ = begin;
      return expected("a label's name");
    }
    partial_ = {};
    partial_.prefix = text_.substr(0, begin);
    partial_.typed = name;
    skip_blanks();
    if (position_ == text_.size()) return mark_incomplete("=, !=, =~ or !~");
    if (name == "__name__") return fail(errc::invalid_argument, "__name__ cannot be matched here; the URI names the metric");
    if (matchers_.size() == selector::max_matchers)
      return fail(errc::invalid_argument, "more than " + std::to_string(selector::max_matchers) + " matchers");
    return parse_operator(name);
  }

  result<void> parse_operator(std::string_view name) {
    const char first = text_[position_];
    const char second = position_ + 1 < text_.size() ? text_[position_ + 1] : '\0';
    if (first == '=') {
      partial_.type = second == '~' ? matcher::match_type::matches : matcher::match_type::equal;
      position_ += second == '~' ? 2 : 1;
    } else if (first == '!' && position_ + 1 == text_.size()) {
      // Only `!=` leads to values that can be completed.
      partial_ = {{}, std::string(text_) + "=", std::string(name), matcher::match_type::not_equal, {}, false};
      ++position_;
      return mark_incomplete("= or ~");
    } else if (first == '!' && (second == '=' || second == '~')) {
      partial_.type = second == '=' ? matcher::match_type::not_equal : matcher::match_type::matches_not;
      position_ += 2;
    } else {
      return expected("=, !=, =~ or !~");
    }
    partial_.label_name = name;
    partial_.typed.clear();
    skip_blanks();
    partial_.prefix = text_.substr(0, position_);
    if (position_ == text_.size()) return mark_incomplete("a value in quotes");
    return parse_value(name);
  }

  result<void> parse_value(std::string_view name) {
    if (text_[position_] != '"' && text_[position_] != '\'' && text_[position_] != '`') return expected("a value in quotes");
    partial_.prefix += text_[position_];
    partial_.has_quote = true;
    auto value = read_quoted(text_, position_);
    if (!value) return fail(errc::invalid_argument, value.error().public_text);
    position_ = value->end;
    partial_.typed = value->value;
    if (!value->is_closed) {
      if (value->value.size() > matcher::max_value_bytes) return expected("a shorter value");
      return mark_incomplete("the second quote");
    }
    auto created = matcher::create(std::string(name), partial_.type, std::move(value->value));
    if (!created) return tl::unexpected(std::move(created).error());
    pending_ = std::move(*created);
    return {};
  }

  std::string_view text_;
  std::size_t position_ = 0;
  std::vector<matcher> matchers_{};
  std::optional<matcher> pending_{};  ///< Complete, but not followed by a comma yet.
  partial_matchers partial_{};
  bool is_incomplete_ = false;
  std::string_view missing_{};
};

/// Also needed since an escape can produce a byte that is not valid UTF-8 on its own.
result<void> check_utf8(std::string_view text) {
  if (is_utf8(text)) return {};
  return fail(errc::invalid_argument, "expected UTF-8, such as job=\"api\".");
}

}  // namespace

result<std::vector<matcher>> parse_matchers(std::string_view text) {
  if (auto valid = check_utf8(text); !valid) return tl::unexpected(std::move(valid).error());
  matchers_parser parser(text);
  if (auto parsed = parser.parse(); !parsed) return tl::unexpected(std::move(parsed).error());
  return parser.finish();
}

result<partial_matchers> parse_partial_matchers(std::string_view text) {
  // An incomplete character at the end counts as not typed yet.
  for (int dropped = 0; dropped < 3 && !text.empty() && !is_utf8(text); ++dropped) text.remove_suffix(1);
  if (auto valid = check_utf8(text); !valid) return tl::unexpected(std::move(valid).error());
  matchers_parser parser(text);
  if (auto parsed = parser.parse(); !parsed) return tl::unexpected(std::move(parsed).error());
  return parser.partial();
}

std::string partial_matchers::completed(std::string_view completion) const {
  if (label_name.empty()) return prefix + std::string(completion);
  std::string out = prefix;
  char quote = '"';
  if (has_quote && out.ends_with('\'')) quote = '\'';
  if (has_quote) out.pop_back();
  out += quote;
  append_escaped(out, completion, quote);
  return out += quote;
}

}  // namespace hondana::series
