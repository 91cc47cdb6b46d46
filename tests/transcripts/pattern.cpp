/// Matching of JSON values.
#include "transcripts/pattern.hpp"

#include <boost/json/parse.hpp>
#include <boost/json/serialize.hpp>

#include <algorithm>
#include <cstddef>

namespace transcripts {
namespace {

namespace json = boost::json;

std::string shown(const json::value& value) {
  auto text = json::serialize(value);
  constexpr std::size_t longest = 2000;
  if (text.size() > longest) text = text.substr(0, longest) + "... (" + std::to_string(text.size()) + " bytes)";
  return text;
}

bool is_name(const json::value& value) {
  if (!value.is_string()) return false;
  const auto& text = value.get_string();
  return text.size() > 1 && text.front() == '$' && std::all_of(text.begin() + 1, text.end(), [](char c) {
           return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '_';
         });
}

bool equal_numbers(const json::value& a, const json::value& b) {
  if (a.is_double() || b.is_double()) return a.to_number<double>() == b.to_number<double>();
  return a == b;
}

std::optional<std::string> differ(const std::string& path, const json::value& expected, const json::value& got) {
  return (path.empty() ? std::string("the message") : path) + ": expected " + shown(expected) + ", got " + shown(got);
}

std::optional<std::string> compare(const std::string& path, const json::value& expected, const json::value& got,
                                   bindings& known);

std::optional<std::string> compare_objects(const std::string& path, const json::object& expected, const json::object& got,
                                           bindings& known) {
  const auto path_of = [&path](std::string_view name) {
    return path.empty() ? std::string(name) : path + '.' + std::string(name);
  };
  for (const auto& [name, value] : expected) {
    const auto* member = got.if_contains(name);
    if (member == nullptr) return path_of(name) + ": missing in " + shown(got);
    if (auto found = compare(path_of(name), value, *member, known)) return found;
  }
  for (const auto& [name, value] : got) {
    if (!expected.contains(name)) return path_of(name) + ": not expected, but is " + shown(value);
  }
  return std::nullopt;
}

std::optional<std::string> compare(const std::string& path, const json::value& expected, const json::value& got,
                                   bindings& known) {
  if (expected.is_string() && expected.get_string() == "*") return std::nullopt;
  if (is_name(expected)) {
    const auto [place, is_new] = known.try_emplace(std::string(expected.get_string()), got);
    return place->second == got ? std::nullopt : differ(path, place->second, got);
  }
  if (expected.is_object() && got.is_object()) {
    return compare_objects(path, expected.get_object(), got.get_object(), known);
  }
  if (expected.is_array() && got.is_array()) {
    const auto& wanted = expected.get_array();
    const auto& there = got.get_array();
    if (wanted.size() != there.size()) return differ(path, expected, got);
    for (std::size_t i = 0; i < wanted.size(); ++i) {
      if (auto found = compare(path + '[' + std::to_string(i) + ']', wanted[i], there[i], known)) return found;
    }
    return std::nullopt;
  }
  const bool is_equal = expected.is_number() && got.is_number() ? equal_numbers(expected, got) : expected == got;
  return is_equal ? std::nullopt : differ(path, expected, got);
}

}  // namespace

tl::expected<json::value, std::string> read_json(std::string_view text) {
  json::parse_options options;
  options.max_depth = 512;
  boost::system::error_code error;
  auto value = json::parse(text, error, {}, options);
  if (error) return tl::unexpected("not JSON (" + error.message() + "): " + std::string(text.substr(0, 500)));
  return value;
}

std::optional<std::string> difference(const json::value& expected, const json::value& got, bindings& known) {
  auto names = known;
  auto found = compare({}, expected, got, names);
  if (!found) known = std::move(names);
  return found;
}

json::value substitute(const json::value& in, const bindings& known) {
  if (is_name(in)) {
    const auto place = known.find(std::string(in.get_string()));
    return place == known.end() ? in : place->second;
  }
  if (const auto* object = in.if_object()) {
    json::object out;
    for (const auto& [name, value] : *object) out.emplace(name, substitute(value, known));
    return out;
  }
  if (const auto* array = in.if_array()) {
    json::array out;
    for (const auto& value : *array) out.push_back(substitute(value, known));
    return out;
  }
  return in;
}

}  // namespace transcripts
