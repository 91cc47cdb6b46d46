/// Parses and expands URI templates (RFC 6570).
#include "base/uri/template_syntax.hpp"

#include <algorithm>
#include <array>
#include <type_traits>
#include <utility>
#include <variant>
#include <vector>

#include "base/uri/uri_syntax.hpp"

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

/// Section 2.1, with the apostrophe that erratum 6937 restores.
constexpr octet_set literal_characters = unreserved.with(reserved);
constexpr octet_set name_characters = letters.with(digits).with("_");
/// Section 2.2: reserved for later extensions of the language.
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

namespace {

using list_value = std::vector<std::string>;
using array_value = std::vector<std::pair<std::string, std::string>>;

void append_value(std::string& out, std::string_view value, const operation& op) {
  for (std::size_t at = 0; at < value.size(); ++at) {
    const char c = value[at];
    if (unreserved.has(c) || (op.keeps_reserved && reserved.has(c))) {
      out.push_back(c);
    } else if (op.keeps_reserved && escape_at(value, at)) {
      out.append(value, at, 3);
      at += 2;
    } else {
      append_escape(out, static_cast<unsigned char>(c));
    }
  }
}

class expansion_writer {
 public:
  expansion_writer(const operation& op, std::string& out) : op_(op), out_(out) {}

  result<void> add(const variable& variable, const uri_template_value& value) {
    if (variable.prefix != 0 && !std::holds_alternative<std::string>(value)) {
      return fail(errc::invalid_argument, "the template asks for a prefix of \"" + variable.name +
                                              "\", which is a list or an associative array; give a string");
    }
    std::visit([&](const auto& given) { add_value(variable, given); }, value);
    return {};
  }

 private:
  void add_value(const variable& variable, const std::string& value) {
    const std::string_view taken =
        variable.prefix == 0 ? std::string_view(value) : code_point_prefix(value, variable.prefix, op_.keeps_reserved);
    separate();
    if (op_.named) append_name(variable.name, taken.empty());
    append_value(out_, taken, op_);
  }

  void add_value(const variable& variable, const list_value& values) {
    if (values.empty()) return;
    if (variable.explode) {
      for (const std::string& value : values) add_value({.name = variable.name, .key = {}}, value);
      return;
    }
    separate();
    if (op_.named) append_name(variable.name, false);
    for (std::size_t i = 0; i < values.size(); ++i) {
      if (i != 0) out_.push_back(',');
      append_value(out_, values[i], op_);
    }
  }

  void add_value(const variable& variable, const array_value& values) {
    if (values.empty()) return;
    if (!variable.explode) {
      list_value flat;
      for (const auto& [name, value] : values) flat.insert(flat.end(), {name, value});
      add_value(variable, flat);
      return;
    }
    for (const auto& [name, value] : values) {
      separate();
      append_value(out_, name, op_.named ? operation{} : op_);
      if (!op_.named || op_.equals_before_empty || !value.empty()) out_.push_back('=');
      append_value(out_, value, op_);
    }
  }

  void append_name(std::string_view name, bool value_is_empty) {
    out_ += name;
    if (op_.equals_before_empty || !value_is_empty) out_.push_back('=');
  }

  void separate() {
    const char sign = std::exchange(started_, true) ? op_.separator : op_.lead;
    if (sign != '\0') out_.push_back(sign);
  }

  const operation& op_;
  std::string& out_;
  bool started_ = false;
};

}  // namespace

std::string_view code_point_prefix(std::string_view value, std::size_t count, bool whole_escapes) noexcept {
  std::size_t at = 0;
  for (; count > 0 && at < value.size(); --count) {
    if (whole_escapes && escape_at(value, at)) {
      at += 3;
    } else {
      at += std::max<std::size_t>(utf8_length(value, at), 1);
    }
  }
  return value.substr(0, at);
}

result<std::string> expand_template(const template_syntax& syntax, const uri_template_values& values) {
  std::string out;
  for (const auto& part : syntax.parts) {
    if (const auto* text = std::get_if<literal>(&part)) {
      out += text->expanded;
      continue;
    }
    const auto& [op, variables] = std::get<expression>(part);
    expansion_writer writer(op, out);
    for (const variable& variable : variables) {
      const auto value = values.find(variable.name);
      if (value == values.end()) continue;
      HONDANA_TRY(writer.add(variable, value->second));
    }
  }
  return out;
}

}  // namespace hondana::uri
