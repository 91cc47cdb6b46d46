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

int digit_of(char c) noexcept {
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

tl::unexpected<failure> refused_at(std::size_t at, std::string_view why) {
  return fail(errc::invalid_argument, "byte " + std::to_string(at + 1) + ": " + std::string(why));
}

/// Parses the escape whose backslash is at `at`, and moves `at` behind it. Returns false if the text ends inside.
result<bool> read_escape(std::string_view text, std::size_t& at, char quote, std::string& out) {
  if (at + 1 >= text.size()) return false;
  const char letter = text[at + 1];
  if (letter == '\\' || letter == quote) {
    out += letter;
    at += 2;
    return true;
  }
  if (const char simple = simple_escape(letter)) {
    out += simple;
    at += 2;
    return true;
  }
  const bool is_octal = letter >= '0' && letter <= '7';
  const std::size_t digits = is_octal ? 3 : letter == 'x' ? 2 : letter == 'u' ? 4 : letter == 'U' ? 8 : 0;
  if (digits == 0) return refused_at(at, "not a PromQL escape sequence");
  const std::size_t first = is_octal ? at + 1 : at + 2;
  std::uint32_t value = 0;
  for (std::size_t i = first; i < first + digits; ++i) {
    if (i >= text.size()) return false;
    const int digit = digit_of(text[i]);
    if (digit >= (is_octal ? 8 : 16))
      return refused_at(i, is_octal ? "expected an octal digit" : "expected a hexadecimal digit");
    value = value * (is_octal ? 8 : 16) + static_cast<std::uint32_t>(digit);
  }
  const bool is_byte = is_octal || letter == 'x';
  if (is_byte ? value > 0xff : value > 0x10ffff || (value >= 0xd800 && value < 0xe000))
    return refused_at(at, is_byte ? "an escape for more than one byte" : "not a Unicode code point");
  if (is_byte)
    out += static_cast<char>(value);
  else
    append_code_point(out, value);
  at = first + digits;
  return true;
}

}  // namespace

void append_escaped(std::string& out, std::string_view value, char quote) {
  for (std::size_t at = 0; at < value.size(); ++at) {
    const char c = value[at];
    const auto byte = static_cast<unsigned char>(c);
    if (c == '\\' || c == quote) {
      out.append(1, '\\').append(1, c);
    } else if (c == '\n') {
      out += "\\n";
    } else if (c == '\t') {
      out += "\\t";
    } else if (byte < 0x20 || byte == 0x7f) {
      out.append("\\x").append(1, hex_digits[byte >> 4]).append(1, hex_digits[byte & 15]);
    } else if (value.substr(at, replacement.size()) == replacement) {
      out += "\\ufffd";
      at += replacement.size() - 1;
    } else {
      out += c;
    }
  }
}

result<quoted_text> read_quoted(std::string_view text, std::size_t at) {
  const std::size_t begin = at;
  const char quote = text[at++];
  quoted_text out;
  while (at < text.size()) {
    const char c = text[at];
    if (c == quote) {
      out.is_closed = true;
      ++at;
      break;
    }
    if (c == '\n' && quote != '`') return refused_at(at, "write a line feed within quotes as \\n");
    if (c == '\\' && quote != '`') {
      HONDANA_TRY(const auto whole, read_escape(text, at, quote, out.value));
      if (!whole) break;
      continue;
    }
    out.value += c;
    ++at;
  }
  out.end = out.is_closed ? at : text.size();
  if (!is_utf8(out.value)) return refused_at(begin, "the quoted text is not valid UTF-8");
  return out;
}

namespace {

constexpr std::int64_t most_program_bytes = 1 << 20;
/// Of a compiled expression. In the worst case, matching takes time proportional to this times the length of the value.
constexpr int most_program_steps = 20'000;

/// Words that PromQL does not accept as a metric name on their own, in any case.
constexpr std::array<std::string_view, 28> words_of_promql{
    "and",      "or",         "unless",      "atan2",   "sum",          "avg",      "count",  "min", "max",     "group",
    "stddev",   "stdvar",     "topk",        "bottomk", "count_values", "quantile", "offset", "by",  "without", "on",
    "ignoring", "group_left", "group_right", "bool",    "start",        "end",      "inf",    "nan"};

}  // namespace

std::string_view text_of(matcher::relation how) noexcept {
  switch (how) {
    case matcher::relation::equal:
      return "=";
    case matcher::relation::not_equal:
      return "!=";
    case matcher::relation::matches:
      return "=~";
    case matcher::relation::matches_not:
      return "!~";
  }
  return "=";
}

result<matcher> matcher::of(std::string label_name, relation how, std::string value) {
  if (!is_label_name(label_name))
    return fail(errc::invalid_argument,
                "not a valid label name: it must begin with a letter or _, followed by letters, digits and _");
  const auto refused = [&label_name](const std::string& why) {
    return fail(errc::invalid_argument, "the value for the label " + label_name + " " + why);
  };
  if (value.size() > longest_value) return refused("is longer than " + std::to_string(longest_value) + " bytes");
  if (!is_utf8(value)) return refused("is not valid UTF-8");
  std::shared_ptr<const re2::RE2> compiled;
  if (how == relation::matches || how == relation::matches_not) {
    re2::RE2::Options options;
    options.set_log_errors(false);
    options.set_max_mem(most_program_bytes);
    options.set_dot_nl(true);
    options.set_never_capture(true);
    auto made = std::make_shared<const re2::RE2>(value, options);
    if (!made->ok())
      return refused("is not a valid regular expression (" + made->error() +
                     "); use RE2 syntax, without look-around and back references");
    if (made->ProgramSize() > most_program_steps) return refused("is too large a regular expression; use fewer repetitions");
    compiled = std::move(made);
  }
  return matcher(std::move(label_name), how, std::move(value), std::move(compiled));
}

bool matcher::admits(std::string_view value) const {
  switch (how_) {
    case relation::equal:
      return value == value_;
    case relation::not_equal:
      return value != value_;
    case relation::matches:
      return re2::RE2::FullMatch(re2::StringPiece(value.data(), value.size()), *compiled_);
    case relation::matches_not:
      return !re2::RE2::FullMatch(re2::StringPiece(value.data(), value.size()), *compiled_);
  }
  return false;
}

std::string matcher::to_text() const {
  std::string out = name_;
  out.append(text_of(how_)).append(1, '"');
  append_escaped(out, value_, '"');
  return out += '"';
}

bool selector::admits(const identity& of) const {
  return (name.empty() || of.name == name) &&
         std::all_of(matchers.begin(), matchers.end(), [&of](const matcher& one) { return one.admits(of); });
}

std::string selector::to_text() const {
  const bool is_word =
      std::find(words_of_promql.begin(), words_of_promql.end(), ascii::in_lower_case(name)) != words_of_promql.end();
  std::string inside;
  if (is_word) inside.append("__name__=\"").append(name).append(1, '"');
  for (const auto& one : matchers) {
    if (!inside.empty()) inside += ',';
    inside += one.to_text();
  }
  std::string out = is_word ? std::string() : name;
  if (inside.empty() && !out.empty()) return out;
  return out.append(1, '{').append(inside).append(1, '}');
}

namespace {

constexpr bool can_be_in_label(char c) noexcept {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_';
}

/// The maximum number of matchers with values of maximum length.
constexpr std::size_t longest_body = selector::most_matchers * matcher::longest_value;

/// Parses matchers. If the text ends inside one, `rest_` describes the incomplete part.
class body {
 public:
  explicit body(std::string_view text) : text_(text) {}

  result<void> read() {
    if (text_.size() > longest_body)
      return fail(errc::invalid_argument, "longer than " + std::to_string(longest_body) + " bytes");
    for (;;) {
      skip_blanks();
      if (at_ == text_.size()) {
        rest_ = {};
        rest_.before = text_;
        return {};
      }
      HONDANA_TRY(read_one());
      if (!last_) return {};
      skip_blanks();
      if (at_ == text_.size()) return {};
      if (text_[at_] != ',') return expected("a comma");
      ++at_;
      whole_.push_back(*std::exchange(last_, std::nullopt));
    }
  }

  /// All matchers. Fails unless the text ends after a complete matcher or a comma.
  result<std::vector<matcher>> all() {
    if (last_) whole_.push_back(*std::exchange(last_, std::nullopt));
    if (is_cut_) return expected(cut_needs_);
    return std::move(whole_);
  }

  partial_matchers partial() {
    rest_.whole = std::move(whole_);
    return std::move(rest_);
  }

 private:
  tl::unexpected<failure> expected(std::string_view what) const {
    return fail(errc::invalid_argument, "byte " + std::to_string(at_ + 1) + ": expected " + std::string(what) +
                                            (at_ < text_.size() ? "" : ", and the text ends"));
  }
  void skip_blanks() {
    while (at_ < text_.size() && ascii::is_json_space(text_[at_])) ++at_;
  }
  result<void> cut(std::string_view needs) {
    is_cut_ = true;
    cut_needs_ = needs;
    return {};
  }

  result<void> read_one() {
    const auto begin = at_;
    while (at_ < text_.size() && can_be_in_label(text_[at_])) ++at_;
    const auto name = text_.substr(begin, at_ - begin);
    if (!is_label_name(name)) {
      at_ = begin;
      return expected("a label's name");
    }
    rest_ = {};
    rest_.before = text_.substr(0, begin);
    rest_.typed = name;
    skip_blanks();
    if (at_ == text_.size()) return cut("=, !=, =~ or !~");
    if (name == "__name__") return fail(errc::invalid_argument, "__name__ cannot be matched here; the URI names the metric");
    if (whole_.size() == selector::most_matchers)
      return fail(errc::invalid_argument, "more than " + std::to_string(selector::most_matchers) + " matchers");
    return read_relation(name);
  }

  result<void> read_relation(std::string_view name) {
    const char first = text_[at_];
    const char second = at_ + 1 < text_.size() ? text_[at_ + 1] : '\0';
    if (first == '=') {
      rest_.how = second == '~' ? matcher::relation::matches : matcher::relation::equal;
      at_ += second == '~' ? 2 : 1;
    } else if (first == '!' && at_ + 1 == text_.size()) {
      // Only `!=` leads to values that can be completed.
      rest_ = {{}, std::string(text_) + "=", std::string(name), matcher::relation::not_equal, {}, false};
      ++at_;
      return cut("= or ~");
    } else if (first == '!' && (second == '=' || second == '~')) {
      rest_.how = second == '=' ? matcher::relation::not_equal : matcher::relation::matches_not;
      at_ += 2;
    } else {
      return expected("=, !=, =~ or !~");
    }
    rest_.label_name = name;
    rest_.typed.clear();
    skip_blanks();
    rest_.before = text_.substr(0, at_);
    if (at_ == text_.size()) return cut("a value in quotes");
    return read_value(name);
  }

  result<void> read_value(std::string_view name) {
    if (text_[at_] != '"' && text_[at_] != '\'' && text_[at_] != '`') return expected("a value in quotes");
    rest_.before += text_[at_];
    rest_.has_quote = true;
    auto value = read_quoted(text_, at_);
    if (!value) return fail(errc::invalid_argument, value.error().public_text);
    at_ = value->end;
    rest_.typed = value->value;
    if (!value->is_closed) {
      if (value->value.size() > matcher::longest_value) return expected("a shorter value");
      return cut("the second quote");
    }
    auto made = matcher::of(std::string(name), rest_.how, std::move(value->value));
    if (!made) return tl::unexpected(std::move(made).error());
    last_ = std::move(*made);
    return {};
  }

  std::string_view text_;
  std::size_t at_ = 0;
  std::vector<matcher> whole_{};
  std::optional<matcher> last_{};  ///< Complete, but not followed by a comma yet.
  partial_matchers rest_{};
  bool is_cut_ = false;
  std::string_view cut_needs_{};
};

/// Also needed since an escape can produce a byte that is not valid UTF-8 on its own.
result<void> expect_utf8(std::string_view text) {
  if (is_utf8(text)) return {};
  return fail(errc::invalid_argument, "expected UTF-8, such as job=\"api\".");
}

}  // namespace

result<std::vector<matcher>> parse_matchers(std::string_view text) {
  if (auto fine = expect_utf8(text); !fine) return tl::unexpected(std::move(fine).error());
  body of(text);
  if (auto done = of.read(); !done) return tl::unexpected(std::move(done).error());
  return of.all();
}

result<partial_matchers> parse_partial_matchers(std::string_view text) {
  // An incomplete character at the end counts as not typed yet.
  for (int cut = 0; cut < 3 && !text.empty() && !is_utf8(text); ++cut) text.remove_suffix(1);
  if (auto fine = expect_utf8(text); !fine) return tl::unexpected(std::move(fine).error());
  body of(text);
  if (auto done = of.read(); !done) return tl::unexpected(std::move(done).error());
  return of.partial();
}

std::string partial_matchers::completed(std::string_view with) const {
  if (label_name.empty()) return before + std::string(with);
  std::string out = before;
  char quote = '"';
  if (has_quote && out.ends_with('\'')) quote = '\'';
  if (has_quote) out.pop_back();
  out += quote;
  append_escaped(out, with, quote);
  return out += quote;
}

}  // namespace hondana::series
