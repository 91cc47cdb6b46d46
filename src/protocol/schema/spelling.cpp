/// Words for values.
#include "protocol/schema/spelling.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <utility>
#include <vector>

#include "protocol/schema/program.hpp"

namespace hondana::schema {
namespace {

constexpr std::size_t longest = 200;

std::string number_text(const value& number) {
  if (const auto whole = number.as_integer()) return std::to_string(*whole);
  return value(*number.as_number()).to_text();
}

}  // namespace

std::string spelled(const value& what) {
  auto text = what.to_text();
  if (text.size() <= longest) return text;
  auto end = longest;
  while (end > 0 && (static_cast<unsigned char>(text[end]) & 0xC0) == 0x80) --end;
  return text.substr(0, end) + "...";
}

std::string spelled(long double number) { return number_text(value(static_cast<double>(number))); }

std::string types_text(std::uint8_t types) {
  constexpr std::array<std::pair<std::uint8_t, const char*>, 7> names{{{1u << 0, "null"},
                                                                       {1u << 1, "a boolean"},
                                                                       {integer_bit, "an integer"},
                                                                       {1u << 3, "a number"},
                                                                       {1u << 4, "a string"},
                                                                       {1u << 5, "an array"},
                                                                       {1u << 6, "an object"}}};
  std::string out;
  for (const auto& [bit, name] : names) {
    if ((types & bit) != 0) out += (out.empty() ? "" : " or ") + std::string(name);
  }
  return out.empty() ? "nothing" : out;
}

bool has_type(std::uint8_t types, const value& what) {
  if ((types & (1u << static_cast<unsigned>(what.type()))) != 0) return true;
  if ((types & integer_bit) == 0) return false;
  const auto number = what.as_number();
  return number && std::trunc(*number) == *number;
}

std::string canonical(const value& what) {
  if (what.as_number()) return number_text(what);
  if (const auto* elements = what.as_array()) {
    std::string out = "[";
    for (const auto& one : *elements) out += canonical(one) + ',';
    return out + ']';
  }
  const auto* members = what.as_object();
  if (members == nullptr) return what.to_text();
  std::vector<std::string> parts;
  for (const auto& [name, one] : *members) parts.push_back(value(name).to_text() + ':' + canonical(one));
  std::sort(parts.begin(), parts.end());
  std::string out = "{";
  for (const auto& one : parts) out += one + ',';
  return out + '}';
}

}  // namespace hondana::schema
