/// A compiled JSON Schema: its nodes, their keywords, and regular expressions translated for RE2.
#include "protocol/schema/program.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <string_view>
#include <utility>
#include <vector>

namespace hondana::schema {
namespace {

constexpr std::size_t max_pattern_bytes = 4096;
constexpr int max_pattern_memory = 1 << 20;

/// Long names of Unicode categories, which RE2 does not support.
constexpr std::array<std::pair<std::string_view, std::string_view>, 8> categories{{
    {"Letter", "L"},
    {"Lowercase_Letter", "Ll"},
    {"Uppercase_Letter", "Lu"},
    {"Number", "N"},
    {"digit", "Nd"},
    {"Decimal_Number", "Nd"},
    {"Punctuation", "P"},
    {"Symbol", "S"},
}};

/// Translates the escape after the backslash at `position` for RE2, and moves `position` behind it.
std::string translate_escape(std::string_view text, std::size_t& position) {
  const char c = text[position];
  if ((c == 'p' || c == 'P') && position + 1 < text.size() && text[position + 1] == '{') {
    const auto end = text.find('}', position);
    if (end != std::string_view::npos) {
      const auto name = text.substr(position + 2, end - position - 2);
      for (const auto& [long_name, short_name] : categories) {
        if (name != long_name) continue;
        position = end + 1;
        return std::string("\\") + c + '{' + std::string(short_name) + '}';
      }
    }
  }
  if (c == 'c' && position + 1 < text.size()) {
    constexpr std::string_view digits = "0123456789abcdef";
    const auto control = static_cast<unsigned>(static_cast<unsigned char>(text[position + 1])) & 0x1Fu;
    position += 2;
    return std::string("\\x") + digits[control >> 4] + digits[control & 0xF];
  }
  if (c == 'u' && position + 4 < text.size()) {
    const auto code = text.substr(position + 1, 4);
    if (code.find_first_not_of("0123456789abcdefABCDEF") == std::string_view::npos) {
      position += 5;
      return "\\x{" + std::string(code) + '}';
    }
  }
  ++position;
  return std::string("\\") + c;
}

std::string translate_pattern(std::string_view text) {
  std::string out;
  for (std::size_t position = 0; position < text.size();) {
    if (text[position] == '\\' && position + 1 < text.size()) {
      ++position;
      out += translate_escape(text, position);
    } else {
      out.push_back(text[position++]);
    }
  }
  return out;
}

}  // namespace

tl::expected<std::shared_ptr<const RE2>, std::string> compile_pattern(const std::string& text) {
  if (text.size() > max_pattern_bytes) return tl::unexpected(std::string("longer than 4096 bytes"));
  RE2::Options options;
  options.set_log_errors(false);
  options.set_max_mem(max_pattern_memory);
  auto regex = std::make_shared<const RE2>(translate_pattern(text), options);
  if (!regex->ok()) return tl::unexpected(regex->error());
  return regex;
}

namespace {

long double require_number(const value& part, const std::string& location) {
  if (const auto integer = part.as_integer()) return static_cast<long double>(*integer);
  const auto number = part.as_number();
  if (!number) reject(location, "expected a number");
  return static_cast<long double>(*number);
}
long double require_count(const value& part, const std::string& location) {
  const auto count = require_number(part, location);
  if (count < 0 || std::floor(count) != count) reject(location, "expected a whole number, 0 or above");
  return count;
}
std::vector<std::string> require_strings(const value& part, const std::string& location) {
  const auto* elements = part.as_array();
  if (elements == nullptr) reject(location, "expected an array of strings");
  std::vector<std::string> out;
  for (const auto& element : *elements) out.push_back(require_string(element, location));
  return out;
}

std::uint8_t type_bit(const value& part, const std::string& location) {
  constexpr std::array<std::pair<std::string_view, std::uint8_t>, 7> bits{{{"null", 1u << 0},
                                                                           {"boolean", 1u << 1},
                                                                           {"number", (1u << 2) | (1u << 3)},
                                                                           {"string", 1u << 4},
                                                                           {"array", 1u << 5},
                                                                           {"object", 1u << 6},
                                                                           {"integer", integer_bit}}};
  const auto& name = require_string(part, location);
  const auto match = std::find_if(bits.begin(), bits.end(), [&name](const auto& entry) { return entry.first == name; });
  if (match == bits.end()) reject(location, "unknown type \"" + name + '"');
  return match->second;
}

bound make_count_bound(const std::string& name, const value& part, const std::string& location) {
  const bool is_lower = name.starts_with("min");
  return {require_count(part, location), is_lower, false, is_lower ? "at least" : "at most"};
}

}  // namespace

void reject(const std::string& location, std::string_view reason) {
  throw schema_error{(location.empty() ? "the root" : location) + ": " + std::string(reason)};
}

std::string join_location(const std::string& location, std::string_view step) { return location + '/' + std::string(step); }

const std::string& require_string(const value& source, const std::string& location) {
  const auto* text = source.as_string();
  if (text == nullptr) reject(location, "expected a string");
  return *text;
}

std::shared_ptr<const RE2> require_pattern(const std::string& text, const std::string& location) {
  auto regex = compile_pattern(text);
  if (!regex) reject(location, "this pattern cannot be used: " + regex.error());
  return *regex;
}

bool read_value(node& target, const std::string& name, const value& part, const std::string& location) {
  if (name == "type") {
    std::uint8_t types = 0;
    if (const auto* list = part.as_array()) {
      for (const auto& element : *list) types |= type_bit(element, location);
    } else {
      types = type_bit(part, location);
    }
    target.types = types;
  } else if (name == "enum") {
    if (part.as_array() == nullptr) reject(location, "expected an array");
    target.choices = *part.as_array();
    target.has_choices = true;
  } else if (name == "const") {
    target.constant = part;
  } else if (name == "multipleOf") {
    const auto step = require_number(part, location);
    if (!(step > 0)) reject(location, "expected a number above 0");
    target.multiple_of = static_cast<double>(step);
  } else if (name == "maximum" || name == "exclusiveMaximum") {
    target.number_bounds.push_back(
        {require_number(part, location), false, name != "maximum", name == "maximum" ? "at most" : "below"});
  } else if (name == "minimum" || name == "exclusiveMinimum") {
    target.number_bounds.push_back(
        {require_number(part, location), true, name != "minimum", name == "minimum" ? "at least" : "above"});
  } else if (name == "maxLength" || name == "minLength") {
    target.length_bounds.push_back(make_count_bound(name, part, location));
  } else if (name == "maxItems" || name == "minItems") {
    target.item_bounds.push_back(make_count_bound(name, part, location));
  } else if (name == "maxProperties" || name == "minProperties") {
    target.member_bounds.push_back(make_count_bound(name, part, location));
  } else if (name == "maxContains") {
    target.max_contains = require_count(part, location);
  } else if (name == "minContains") {
    target.min_contains = require_count(part, location);
  } else if (name == "pattern") {
    target.pattern = require_pattern(require_string(part, location), location);
  } else if (name == "uniqueItems") {
    if (!part.as_boolean()) reject(location, "expected a boolean");
    target.unique_items = *part.as_boolean();
  } else if (name == "required") {
    target.required = require_strings(part, location);
  } else if (name == "dependentRequired") {
    if (part.as_object() == nullptr) reject(location, "expected an object");
    for (const auto& [key, dependencies] : *part.as_object())
      target.dependent_required.emplace_back(key, require_strings(dependencies, join_location(location, key)));
  } else {
    return false;
  }
  return true;
}

}  // namespace hondana::schema
