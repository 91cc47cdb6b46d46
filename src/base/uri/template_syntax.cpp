/// A recursive-descent reader of URI templates.
#include "base/uri/template_syntax.hpp"

#include <algorithm>
#include <array>
#include <utility>

#include "base/uri/escapes.hpp"

namespace hondana::uri {
namespace {

constexpr std::array<operation, 8> operations{{
    {'\0', '\0', ',', false, false, false},
    {'+', '\0', ',', false, false, true},
    {'#', '#', ',', false, false, true},
    {'.', '.', '.', false, false, false},
    {'/', '/', '/', false, false, false},
    {';', ';', ';', true, false, false},
    {'?', '?', '&', true, true, false},
    {'&', '&', '&', true, true, false},
}};

/// Section 2.1, with the apostrophe that erratum 6937 puts back.
constexpr octet_set literal_characters = unreserved.with(reserved);
constexpr octet_set name_characters = letters.with(digits).with("_");
/// Section 2.2: kept for later extensions of the language.
constexpr octet_set operators_of_the_future("=,!@|");

class reader {
 public:
  explicit reader(std::string_view text) : text_(text) {}

  result<template_syntax> read() {
    if (text_.size() > max_template_bytes) {
      return fail(errc::invalid_argument, "the template has " + std::to_string(text_.size()) + " bytes; at most " +
                                              std::to_string(max_template_bytes) + " are accepted");
    }
    while (at_ < text_.size()) {
      HONDANA_TRY(text_[at_] == '{' ? read_expression() : read_literal());
    }
    return std::move(syntax_);
  }

 private:
  [[nodiscard]] tl::unexpected<failure> wrong(std::size_t at, const std::string& what) const {
    return fail(errc::invalid_argument, "the template is malformed at byte " + std::to_string(at) + ": " + what);
  }
  [[nodiscard]] char here() const { return at_ < text_.size() ? text_[at_] : '\0'; }

  result<void> read_literal() {
    literal out;
    while (at_ < text_.size() && text_[at_] != '{') {
      const char c = text_[at_];
      std::size_t length = 1;
      if (c == '%') {
        const auto octet = escape_at(text_, at_);
        if (!octet) return wrong(at_, "a percent sign needs two hexadecimal digits after it");
        if (*octet == 0) return wrong(at_, "a URI cannot contain an escaped NUL");
        length = 3;
        out.expanded.append(text_, at_, length);
      } else if (static_cast<unsigned char>(c) >= 0x80U) {
        length = utf8_length(text_, at_);
        if (length == 0) return wrong(at_, "ill-formed UTF-8");
        for (const char raw : text_.substr(at_, length)) append_escape(out.expanded, static_cast<unsigned char>(raw));
      } else if (literal_characters.has(c)) {
        out.expanded.push_back(c);
      } else {
        return wrong(at_, c == '}' ? "this brace closes nothing" : "a URI cannot contain this character; escape it");
      }
      at_ += length;
    }
    std::string storage;
    out.canonical = canonical_escapes(out.expanded, storage).value_or(out.expanded);
    syntax_.parts.emplace_back(std::move(out));
    return {};
  }

  result<void> read_expression() {
    const std::size_t open = at_++;
    if (++expressions_ > max_expressions) {
      return wrong(open, "more than " + std::to_string(max_expressions) + " expressions");
    }
    expression out{operations[0], {}};
    if (operators_of_the_future.has(here())) return wrong(at_, "this operator is reserved by RFC 6570");
    for (const operation& op : operations) {
      if (op.sign != '\0' && op.sign == here()) {
        out.op = op;
        ++at_;
        break;
      }
    }
    while (true) {
      HONDANA_TRY(auto one, read_variable(open));
      if (++variables_ > max_variables) {
        return wrong(open, "more than " + std::to_string(max_variables) + " variables");
      }
      if (std::find(syntax_.names.begin(), syntax_.names.end(), one.name) == syntax_.names.end()) {
        syntax_.names.push_back(one.name);
      } else {
        ++syntax_.repeated.try_emplace(one.name, 1).first->second;
      }
      out.variables.push_back(std::move(one));
      if (here() == ',') {
        ++at_;
        continue;
      }
      break;
    }
    ++at_;
    syntax_.parts.emplace_back(std::move(out));
    return {};
  }

  /// Reads one variable and leaves the reader at the comma or brace after it.
  result<variable> read_variable(std::size_t open) {
    variable out;
    const std::size_t start = at_;
    while (at_ < text_.size()) {
      if (name_characters.has(text_[at_])) {
        ++at_;
      } else if (const auto octet = escape_at(text_, at_); octet && *octet != 0) {
        at_ += 3;
      } else if (text_[at_] == '.' && at_ > start && text_[at_ - 1] != '.') {
        ++at_;
      } else {
        break;
      }
    }
    out.name = text_.substr(start, at_ - start);
    if (at_ == text_.size()) return unclosed(open);
    if (out.name.empty()) return wrong(at_, "a variable name is missing");
    if (out.name.ends_with('.')) return wrong(at_ - 1, "a variable name may not end in a dot");
    std::string storage;
    out.key = canonical_escapes(out.name, storage).value_or(out.name);

    if (here() == '*') {
      out.explode = true;
      ++at_;
    } else if (here() == ':') {
      const std::size_t digits_start = ++at_;
      while (digits.has(here()) && at_ - digits_start < 4)
        out.prefix = out.prefix * 10 + static_cast<unsigned>(text_[at_++] - '0');
      if (at_ == digits_start || text_[digits_start] == '0' || digits.has(here())) {
        return wrong(digits_start, "a prefix length is a number from 1 to 9999");
      }
    }
    if (at_ == text_.size()) return unclosed(open);
    if (here() != ',' && here() != '}') return wrong(at_, "this character is not allowed in a variable");
    return out;
  }

  [[nodiscard]] tl::unexpected<failure> unclosed(std::size_t open) const {
    return wrong(open, "this expression is never closed");
  }

  std::string_view text_;
  std::size_t at_ = 0;
  std::size_t expressions_ = 0;
  std::size_t variables_ = 0;
  template_syntax syntax_;
};

}  // namespace

result<template_syntax> parse_template(std::string_view text) { return reader(text).read(); }

}  // namespace hondana::uri
