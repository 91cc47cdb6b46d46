/// The only place that sees toml++.
#include "config/toml.hpp"

#include <utility>

#define TOML_EXCEPTIONS 0
#include <toml++/toml.h>

namespace hondana::config {
namespace {

constexpr int max_nesting = 32;

result<value> convert(const toml::node& node, const std::string& file, int depth);

failure at(const toml::source_region& where, const std::string& file, std::string_view what) {
  return {errc::invalid_argument, file + ':' + std::to_string(where.begin.line) + ": " + std::string(what), {}};
}

result<table> convert_table(const toml::table& from, const std::string& file, int depth) {
  table members;
  for (const auto& [key, node] : from) {
    auto member = convert(node, file, depth + 1);
    if (!member) return tl::unexpected(std::move(member.error()));
    members.emplace(std::string(key.str()), std::move(*member));
  }
  return members;
}

result<list> convert_array(const toml::array& from, const std::string& file, int depth) {
  list items;
  for (const auto& node : from) {
    auto item = convert(node, file, depth + 1);
    if (!item) return tl::unexpected(std::move(item.error()));
    items.push_back(std::move(*item));
  }
  return items;
}

result<value> convert(const toml::node& node, const std::string& file, int depth) {
  value made;
  made.line = node.source().begin.line;
  if (depth > max_nesting) return tl::unexpected(at(node.source(), file, "nested too deeply"));
  if (const auto* members = node.as_table()) {
    auto converted = convert_table(*members, file, depth);
    if (!converted) return tl::unexpected(std::move(converted.error()));
    made.data = std::move(*converted);
  } else if (const auto* items = node.as_array()) {
    auto converted = convert_array(*items, file, depth);
    if (!converted) return tl::unexpected(std::move(converted.error()));
    made.data = std::move(*converted);
  } else if (const auto* text = node.as_string()) {
    made.data = text->get();
  } else if (const auto* whole = node.as_integer()) {
    made.data = whole->get();
  } else if (const auto* real = node.as_floating_point()) {
    made.data = real->get();
  } else if (const auto* flag = node.as_boolean()) {
    made.data = flag->get();
  } else {
    return tl::unexpected(at(node.source(), file, "dates and times are not used here"));
  }
  return made;
}

}  // namespace

result<section> parse_toml(std::string_view text, const std::string& file) {
  auto parsed = toml::parse(text, file);
  if (!parsed) return tl::unexpected(at(parsed.error().source(), file, parsed.error().description()));
  auto members = convert_table(parsed.table(), file, 0);
  if (!members) return tl::unexpected(std::move(members.error()));
  return section(file, {}, 1, std::move(*members));
}

}  // namespace hondana::config
