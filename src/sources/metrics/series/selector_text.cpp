/// Reads the body of a selector, whole or as far as somebody has typed it.
#include <algorithm>
#include <optional>
#include <utility>

#include "base/ascii/characters.hpp"
#include "sources/metrics/series/quoting.hpp"
#include "sources/metrics/series/selector.hpp"

namespace hondana::series {
namespace {

constexpr bool can_be_in_label(char c) noexcept {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_';
}

/// Four times what all values can hold, escaped as long as can be.
constexpr std::size_t longest_body = selector::most_matchers * matcher::longest_value;

/// Reads matchers one after the other. Where the text ends within one, `rest` says what was being typed.
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

  /// All of them; the text must have ended behind one, or behind a comma.
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
      // Only `!=` leads to a value that can be completed.
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
  std::optional<matcher> last_{};  ///< Read, and no comma behind it yet.
  partial_matchers rest_{};
  bool is_cut_ = false;
  std::string_view cut_needs_{};
};

/// Also where an escape would make a character of a byte that is none by itself.
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
  // Bytes that may still become a character are as good as not typed yet.
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
