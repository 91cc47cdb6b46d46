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

constexpr std::array<template_operator, 8> template_operators{{
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
constexpr octet_set literal_characters = unreserved.including(reserved);
constexpr octet_set name_characters = letters.including(digits).including("_");
/// Section 2.2: reserved for later extensions of the language.
constexpr octet_set reserved_operators("=,!@|");

class parser {
 public:
  explicit parser(std::string_view text) : text_(text) {}

  result<template_syntax> parse() {
    if (text_.size() > max_template_bytes) {
      return fail(errc::invalid_argument, "the template has " + std::to_string(text_.size()) + " bytes; at most " +
                                              std::to_string(max_template_bytes) + " are accepted");
    }
    while (position_ < text_.size()) {
      HONDANA_TRY(text_[position_] == '{' ? parse_expression() : parse_literal());
    }
    return std::move(syntax_);
  }

 private:
  [[nodiscard]] tl::unexpected<failure> syntax_error(std::size_t position, const std::string& problem) const {
    return fail(errc::invalid_argument, "the template is malformed at byte " + std::to_string(position) + ": " + problem);
  }
  [[nodiscard]] char peek() const { return position_ < text_.size() ? text_[position_] : '\0'; }

  result<void> parse_literal() {
    literal out;
    while (position_ < text_.size() && text_[position_] != '{') {
      const char c = text_[position_];
      std::size_t length = 1;
      if (c == '%') {
        const auto octet = escape_at(text_, position_);
        if (!octet) return syntax_error(position_, "a percent sign needs two hexadecimal digits after it");
        if (*octet == 0) return syntax_error(position_, "a URI cannot contain an escaped NUL");
        length = 3;
        out.expanded.append(text_, position_, length);
      } else if (static_cast<unsigned char>(c) >= 0x80U) {
        length = utf8_length(text_, position_);
        if (length == 0) return syntax_error(position_, "ill-formed UTF-8");
        for (const char raw : text_.substr(position_, length)) append_escape(out.expanded, static_cast<unsigned char>(raw));
      } else if (literal_characters.contains(c)) {
        out.expanded.push_back(c);
      } else {
        return syntax_error(position_,
                            c == '}' ? "this brace closes nothing" : "a URI cannot contain this character; escape it");
      }
      position_ += length;
    }
    std::string storage;
    out.canonical = canonical_escapes(out.expanded, storage).value_or(out.expanded);
    syntax_.parts.emplace_back(std::move(out));
    return {};
  }

  result<void> parse_expression() {
    const std::size_t open = position_++;
    if (++expressions_ > max_expressions) {
      return syntax_error(open, "more than " + std::to_string(max_expressions) + " expressions");
    }
    expression out{template_operators[0], {}};
    if (reserved_operators.contains(peek())) return syntax_error(position_, "this operator is reserved by RFC 6570");
    for (const template_operator& op : template_operators) {
      if (op.symbol != '\0' && op.symbol == peek()) {
        out.op = op;
        ++position_;
        break;
      }
    }
    while (true) {
      HONDANA_TRY(auto parsed, parse_variable(open));
      if (++variables_ > max_variables) {
        return syntax_error(open, "more than " + std::to_string(max_variables) + " variables");
      }
      if (std::find(syntax_.names.begin(), syntax_.names.end(), parsed.name) == syntax_.names.end()) {
        syntax_.names.push_back(parsed.name);
      } else {
        ++syntax_.repeated.try_emplace(parsed.name, 1).first->second;
      }
      out.variables.push_back(std::move(parsed));
      if (peek() == ',') {
        ++position_;
        continue;
      }
      break;
    }
    ++position_;
    syntax_.parts.emplace_back(std::move(out));
    return {};
  }

  /// Reads one variable and leaves the parser at the comma or brace after it.
  result<variable> parse_variable(std::size_t open) {
    variable out;
    const std::size_t start = position_;
    while (position_ < text_.size()) {
      if (name_characters.contains(text_[position_])) {
        ++position_;
      } else if (const auto octet = escape_at(text_, position_); octet && *octet != 0) {
        position_ += 3;
      } else if (text_[position_] == '.' && position_ > start && text_[position_ - 1] != '.') {
        ++position_;
      } else {
        break;
      }
    }
    out.name = text_.substr(start, position_ - start);
    if (position_ == text_.size()) return unclosed(open);
    if (out.name.empty()) return syntax_error(position_, "a variable name is missing");
    if (out.name.ends_with('.')) return syntax_error(position_ - 1, "a variable name may not end in a dot");
    std::string storage;
    out.key = canonical_escapes(out.name, storage).value_or(out.name);

    if (peek() == '*') {
      out.is_exploded = true;
      ++position_;
    } else if (peek() == ':') {
      const std::size_t digits_start = ++position_;
      while (digits.contains(peek()) && position_ - digits_start < 4)
        out.prefix_length = out.prefix_length * 10 + static_cast<unsigned>(text_[position_++] - '0');
      if (position_ == digits_start || text_[digits_start] == '0' || digits.contains(peek())) {
        return syntax_error(digits_start, "a prefix length is a number from 1 to 9999");
      }
    }
    if (position_ == text_.size()) return unclosed(open);
    if (peek() != ',' && peek() != '}') return syntax_error(position_, "this character is not allowed in a variable");
    return out;
  }

  [[nodiscard]] tl::unexpected<failure> unclosed(std::size_t open) const {
    return syntax_error(open, "this expression is never closed");
  }

  std::string_view text_;
  std::size_t position_ = 0;
  std::size_t expressions_ = 0;
  std::size_t variables_ = 0;
  template_syntax syntax_;
};

}  // namespace

result<template_syntax> parse_template(std::string_view text) { return parser(text).parse(); }

namespace {

using list_value = std::vector<std::string>;
using array_value = std::vector<std::pair<std::string, std::string>>;

void append_value(std::string& out, std::string_view value, const template_operator& op) {
  for (std::size_t position = 0; position < value.size(); ++position) {
    const char c = value[position];
    if (unreserved.contains(c) || (op.keeps_reserved && reserved.contains(c))) {
      out.push_back(c);
    } else if (op.keeps_reserved && escape_at(value, position)) {
      out.append(value, position, 3);
      position += 2;
    } else {
      append_escape(out, static_cast<unsigned char>(c));
    }
  }
}

class expansion_writer {
 public:
  expansion_writer(const template_operator& op, std::string& out) : op_(op), out_(out) {}

  result<void> add(const variable& variable, const uri_template_value& value) {
    if (variable.prefix_length != 0 && !std::holds_alternative<std::string>(value)) {
      return fail(errc::invalid_argument, "the template asks for a prefix of \"" + variable.name +
                                              "\", which is a list or an associative array; give a string");
    }
    std::visit([&](const auto& alternative) { add_value(variable, alternative); }, value);
    return {};
  }

 private:
  void add_value(const variable& variable, const std::string& value) {
    const std::string_view prefix = variable.prefix_length == 0
                                        ? std::string_view(value)
                                        : code_point_prefix(value, variable.prefix_length, op_.keeps_reserved);
    write_separator();
    if (op_.is_named) append_name(variable.name, prefix.empty());
    append_value(out_, prefix, op_);
  }

  void add_value(const variable& variable, const list_value& values) {
    if (values.empty()) return;
    if (variable.is_exploded) {
      for (const std::string& value : values) add_value({.name = variable.name, .key = {}}, value);
      return;
    }
    write_separator();
    if (op_.is_named) append_name(variable.name, false);
    for (std::size_t i = 0; i < values.size(); ++i) {
      if (i != 0) out_.push_back(',');
      append_value(out_, values[i], op_);
    }
  }

  void add_value(const variable& variable, const array_value& values) {
    if (values.empty()) return;
    if (!variable.is_exploded) {
      list_value flat;
      for (const auto& [name, value] : values) flat.insert(flat.end(), {name, value});
      add_value(variable, flat);
      return;
    }
    for (const auto& [name, value] : values) {
      write_separator();
      append_value(out_, name, op_.is_named ? template_operator{} : op_);
      if (!op_.is_named || op_.equals_before_empty || !value.empty()) out_.push_back('=');
      append_value(out_, value, op_);
    }
  }

  void append_name(std::string_view name, bool value_is_empty) {
    out_ += name;
    if (op_.equals_before_empty || !value_is_empty) out_.push_back('=');
  }

  void write_separator() {
    const char sign = std::exchange(has_started_, true) ? op_.separator : op_.lead;
    if (sign != '\0') out_.push_back(sign);
  }

  const template_operator& op_;
  std::string& out_;
  bool has_started_ = false;
};

}  // namespace

std::string_view code_point_prefix(std::string_view value, std::size_t count, bool escapes_as_one) noexcept {
  std::size_t position = 0;
  for (; count > 0 && position < value.size(); --count) {
    if (escapes_as_one && escape_at(value, position)) {
      position += 3;
    } else {
      position += std::max<std::size_t>(utf8_length(value, position), 1);
    }
  }
  return value.substr(0, position);
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
