/// The only place that sees toml++.
#include "config/toml.hpp"

#include <cstddef>
#include <optional>
#include <utility>

#define TOML_EXCEPTIONS 0
// Its assertions fire on malformed input, which it then reports properly.
#define TOML_ASSERT(expression) static_cast<void>(0)
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

/// What kind of text a position of a document is in.
enum class place { plain, comment, basic, literal, basic_lines, literal_lines };

/// How a string opens at the front of `text`.
place opened_at(std::string_view text) {
  if (text.starts_with("\"\"\"")) return place::basic_lines;
  if (text.starts_with("'''")) return place::literal_lines;
  return text.front() == '"' ? place::basic : place::literal;
}

/// The line of the first byte outside ASCII that stands in neither a string nor a comment, where TOML has none and toml++ 3.3
/// does not check its own tables; nothing when there is none.
std::optional<std::size_t> stray_line(std::string_view text) {
  if (text.starts_with("\xEF\xBB\xBF")) text.remove_prefix(3);
  std::size_t line = 1;
  place now = place::plain;
  for (std::size_t at = 0; at < text.size(); ++at) {
    const char c = text[at];
    const auto rest = text.substr(at);
    if (c == '\n') {
      ++line;
      if (now != place::basic_lines && now != place::literal_lines) now = place::plain;
    } else if (now == place::plain) {
      if (static_cast<unsigned char>(c) >= 0x80) return line;
      if (c == '#') now = place::comment;
      if (c == '"' || c == '\'') {
        now = opened_at(rest);
        if (now == place::basic_lines || now == place::literal_lines) at += 2;
      }
    } else if (c == '\\' && (now == place::basic || now == place::basic_lines)) {
      if (++at < text.size() && text[at] == '\n') ++line;
    } else if ((now == place::basic && c == '"') || (now == place::literal && c == '\'')) {
      now = place::plain;
    } else if ((now == place::basic_lines && rest.starts_with("\"\"\"")) ||
               (now == place::literal_lines && rest.starts_with("'''"))) {
      now = place::plain;
      at += 2;
      // Up to two quotes may stand directly before the closing three.
      while (at + 1 < text.size() && text[at + 1] == c) ++at;
    }
  }
  return {};
}

}  // namespace

result<section> parse_toml(std::string_view text, const std::string& file) {
  if (const auto line = stray_line(text)) {
    return fail(errc::invalid_argument,
                file + ':' + std::to_string(*line) + ": characters outside ASCII stand in quotes or comments only");
  }
  auto parsed = toml::parse(text, file);
  if (!parsed) return tl::unexpected(at(parsed.error().source(), file, parsed.error().description()));
  auto members = convert_table(parsed.table(), file, 0);
  if (!members) return tl::unexpected(std::move(members.error()));
  return section(file, {}, 1, std::move(*members));
}

}  // namespace hondana::config
