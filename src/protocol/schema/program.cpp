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

constexpr std::size_t longest_pattern = 4096;
constexpr int most_memory = 1 << 20;

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

/// Translates the escape after the backslash at `at` for RE2, and moves `at` behind it.
std::string translated_escape(std::string_view text, std::size_t& at) {
  const char c = text[at];
  if ((c == 'p' || c == 'P') && at + 1 < text.size() && text[at + 1] == '{') {
    const auto end = text.find('}', at);
    if (end != std::string_view::npos) {
      const auto name = text.substr(at + 2, end - at - 2);
      for (const auto& [long_name, short_name] : categories) {
        if (name != long_name) continue;
        at = end + 1;
        return std::string("\\") + c + '{' + std::string(short_name) + '}';
      }
    }
  }
  if (c == 'c' && at + 1 < text.size()) {
    constexpr std::string_view digits = "0123456789abcdef";
    const auto control = static_cast<unsigned>(static_cast<unsigned char>(text[at + 1])) & 0x1Fu;
    at += 2;
    return std::string("\\x") + digits[control >> 4] + digits[control & 0xF];
  }
  if (c == 'u' && at + 4 < text.size()) {
    const auto code = text.substr(at + 1, 4);
    if (code.find_first_not_of("0123456789abcdefABCDEF") == std::string_view::npos) {
      at += 5;
      return "\\x{" + std::string(code) + '}';
    }
  }
  ++at;
  return std::string("\\") + c;
}

std::string translated(std::string_view text) {
  std::string out;
  for (std::size_t at = 0; at < text.size();) {
    if (text[at] == '\\' && at + 1 < text.size()) {
      ++at;
      out += translated_escape(text, at);
    } else {
      out.push_back(text[at++]);
    }
  }
  return out;
}

}  // namespace

tl::expected<std::shared_ptr<const RE2>, std::string> compile_pattern(const std::string& text) {
  if (text.size() > longest_pattern) return tl::unexpected(std::string("longer than 4096 bytes"));
  RE2::Options options;
  options.set_log_errors(false);
  options.set_max_mem(most_memory);
  auto made = std::make_shared<const RE2>(translated(text), options);
  if (!made->ok()) return tl::unexpected(made->error());
  return made;
}

namespace {

long double number(const value& part, const std::string& place) {
  if (const auto whole = part.as_integer()) return static_cast<long double>(*whole);
  const auto any = part.as_number();
  if (!any) refuse(place, "expected a number");
  return static_cast<long double>(*any);
}
long double count(const value& part, const std::string& place) {
  const auto many = number(part, place);
  if (many < 0 || std::floor(many) != many) refuse(place, "expected a whole number, 0 or above");
  return many;
}
std::vector<std::string> names(const value& part, const std::string& place) {
  const auto* elements = part.as_array();
  if (elements == nullptr) refuse(place, "expected an array of strings");
  std::vector<std::string> out;
  for (const auto& one : *elements) out.push_back(text_of(one, place));
  return out;
}

std::uint8_t type_bit(const value& part, const std::string& place) {
  constexpr std::array<std::pair<std::string_view, std::uint8_t>, 7> bits{{{"null", 1u << 0},
                                                                           {"boolean", 1u << 1},
                                                                           {"number", (1u << 2) | (1u << 3)},
                                                                           {"string", 1u << 4},
                                                                           {"array", 1u << 5},
                                                                           {"object", 1u << 6},
                                                                           {"integer", integer_bit}}};
  const auto& name = text_of(part, place);
  const auto found = std::find_if(bits.begin(), bits.end(), [&name](const auto& one) { return one.first == name; });
  if (found == bits.end()) refuse(place, "unknown type \"" + name + '"');
  return found->second;
}

bound count_bound(const std::string& name, const value& part, const std::string& place) {
  const bool is_lower = name.starts_with("min");
  return {count(part, place), is_lower, false, is_lower ? "at least" : "at most"};
}

}  // namespace

void refuse(const std::string& place, std::string_view why) {
  throw fault{(place.empty() ? "the root" : place) + ": " + std::string(why)};
}

std::string inside(const std::string& place, std::string_view step) { return place + '/' + std::string(step); }

const std::string& text_of(const value& from, const std::string& place) {
  const auto* text = from.as_string();
  if (text == nullptr) refuse(place, "expected a string");
  return *text;
}

std::shared_ptr<const RE2> pattern_of(const std::string& text, const std::string& place) {
  auto made = compile_pattern(text);
  if (!made) refuse(place, "this pattern cannot be used: " + made.error());
  return *made;
}

bool read_value(node& into, const std::string& name, const value& part, const std::string& place) {
  if (name == "type") {
    std::uint8_t all = 0;
    if (const auto* list = part.as_array()) {
      for (const auto& one : *list) all |= type_bit(one, place);
    } else {
      all = type_bit(part, place);
    }
    into.types = all;
  } else if (name == "enum") {
    if (part.as_array() == nullptr) refuse(place, "expected an array");
    into.choices = *part.as_array();
    into.has_choices = true;
  } else if (name == "const") {
    into.constant = part;
  } else if (name == "multipleOf") {
    const auto step = number(part, place);
    if (!(step > 0)) refuse(place, "expected a number above 0");
    into.multiple_of = static_cast<double>(step);
  } else if (name == "maximum" || name == "exclusiveMaximum") {
    into.of_number.push_back({number(part, place), false, name != "maximum", name == "maximum" ? "at most" : "below"});
  } else if (name == "minimum" || name == "exclusiveMinimum") {
    into.of_number.push_back({number(part, place), true, name != "minimum", name == "minimum" ? "at least" : "above"});
  } else if (name == "maxLength" || name == "minLength") {
    into.of_length.push_back(count_bound(name, part, place));
  } else if (name == "maxItems" || name == "minItems") {
    into.of_items.push_back(count_bound(name, part, place));
  } else if (name == "maxProperties" || name == "minProperties") {
    into.of_members.push_back(count_bound(name, part, place));
  } else if (name == "maxContains") {
    into.max_contains = count(part, place);
  } else if (name == "minContains") {
    into.min_contains = count(part, place);
  } else if (name == "pattern") {
    into.pattern = pattern_of(text_of(part, place), place);
  } else if (name == "uniqueItems") {
    if (!part.as_boolean()) refuse(place, "expected a boolean");
    into.unique_items = *part.as_boolean();
  } else if (name == "required") {
    into.required = names(part, place);
  } else if (name == "dependentRequired") {
    if (part.as_object() == nullptr) refuse(place, "expected an object");
    for (const auto& [key, needed] : *part.as_object())
      into.dependent_required.emplace_back(key, names(needed, inside(place, key)));
  } else {
    return false;
  }
  return true;
}

}  // namespace hondana::schema
