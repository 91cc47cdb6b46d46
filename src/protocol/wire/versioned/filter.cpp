/// Filters, member by member.
#include "protocol/wire/versioned/filter.hpp"

#include <algorithm>
#include <array>
#include <string>
#include <utility>

#include "base/ascii/characters.hpp"
#include "base/ignore/glob.hpp"

namespace hondana::wire::versioned {
namespace {

constexpr std::size_t longest_prefix = 16 * 1024;  // as long as any URI in a list
constexpr std::size_t longest_text = 256;          // so that no entry costs more than milliseconds to compare
constexpr std::size_t most_words = 16;

using checked = json::decoded<void>;

tl::unexpected<json::bad_member> bad(const std::string& path, std::string what) {
  return tl::unexpected(json::bad_member{path, std::move(what)});
}

checked read_text(const json::value& from, const std::string& path, std::size_t longest, std::string& into) {
  HONDANA_TRY(const auto text, from.as_string(path));
  if (text.empty()) return bad(path, "expected at least one character; omit it to filter by something else");
  if (text.size() > longest) return bad(path, "expected at most " + std::to_string(longest) + " bytes");
  into = text;
  return {};
}

checked read_pattern(const json::value& from, const std::string& path, bool is_path, std::string& into) {
  HONDANA_TRY(read_text(from, path, longest_text, into));
  const auto compiled = is_path ? ignore::glob::for_path(into) : ignore::glob::for_text(into);
  if (!compiled.fault().empty()) return bad(path, "a pattern that matches nothing: " + std::string(compiled.fault()));
  return {};
}

checked read_prefix(const json::value& from, const std::string& path, model::resource_filter& into) {
  HONDANA_TRY(read_text(from, path, longest_prefix, into.uri_prefix));
  const auto& prefix = into.uri_prefix;
  if (std::all_of(prefix.begin(), prefix.end(), [](char c) { return c > ' ' && c <= '~'; })) return {};
  return bad(path, "expected the start of a URI as lists return it: visible ASCII, other characters percent-encoded");
}

checked read_uri_pattern(const json::value& from, const std::string& path, model::resource_filter& into) {
  return read_pattern(from, path, true, into.uri_pattern);
}

checked read_name_pattern(const json::value& from, const std::string& path, model::resource_filter& into) {
  return read_pattern(from, path, false, into.name_pattern);
}

checked read_mime_type(const json::value& from, const std::string& path, model::resource_filter& into) {
  auto& type = into.mime_type;
  HONDANA_TRY(read_text(from, path, longest_text, type));
  type = ascii::in_lower_case(type);
  const auto slash = type.find('/');
  const bool is_plain =
      std::all_of(type.begin(), type.end(), [](char c) { return c > ' ' && c <= '~' && c != ';' && c != ','; });
  const bool has_parts = slash != std::string::npos && slash != 0 && slash + 1 < type.size();
  if (!is_plain || !has_parts || type.find('/', slash + 1) != std::string::npos) {
    return bad(path, "expected type/subtype without parameters, or type/* for all its subtypes");
  }
  if (type.substr(slash) == "/*") type.pop_back();
  if (type.find('*') != std::string::npos) return bad(path, "* must replace the whole subtype, as in text/*");
  return {};
}

checked read_kind(const json::value& from, const std::string& path, model::resource_filter& into) {
  return read_text(from, path, longest_text, into.kind);
}

checked read_audience(const json::value& from, const std::string& path, model::resource_filter& into) {
  HONDANA_TRY(const auto who, from.as_string(path));
  if (who != "user" && who != "assistant") return bad(path, "expected \"user\" or \"assistant\"");
  into.audience = who == "user" ? role::user : role::assistant;
  return {};
}

checked read_priority(const json::value& from, const std::string& path, model::resource_filter& into) {
  HONDANA_TRY(const auto least, from.as_number(path));
  if (!(least >= 0 && least <= 1)) return bad(path, "expected a number from 0 to 1");
  into.min_priority = least;
  return {};
}

checked read_modified(const json::value& from, const std::string& path, model::resource_filter& into) {
  HONDANA_TRY(const auto text, from.as_string(path));
  into.modified_since = parse_time(text);
  if (into.modified_since) return {};
  return bad(path, "expected a date or time such as 2025-01-12 or 2025-01-12T15:00:58Z");
}

checked read_words(const json::value& from, const std::string& path, model::resource_filter& into) {
  HONDANA_TRY(read_text(from, path, longest_text, into.text));
  std::size_t words = 0;
  bool is_inside = false;
  for (const char c : into.text) {
    const bool is_space = c == ' ' || c == '\t' || c == '\r' || c == '\n';
    if (!is_space && !is_inside) ++words;
    is_inside = !is_space;
  }
  if (words == 0) return bad(path, "expected a word");
  if (words > most_words) return bad(path, "expected at most " + std::to_string(most_words) + " words");
  return {};
}

struct member {
  std::string_view name;
  checked (*read)(const json::value& from, const std::string& path, model::resource_filter& into);
};
constexpr std::array members{
    member{"uriPrefix", read_prefix},
    member{"uriPattern", read_uri_pattern},
    member{"namePattern", read_name_pattern},
    member{"mimeType", read_mime_type},
    member{"kind", read_kind},
    member{"audience", read_audience},
    member{"minPriority", read_priority},
    member{"modifiedSince", read_modified},
    member{"text", read_words},
};

std::string known_names() {
  std::string names;
  for (const auto& one : members) names += (names.empty() ? "" : ", ") + std::string(one.name);
  return names;
}

}  // namespace

json::decoded<model::resource_filter> filter_of(const json::object& from) {
  model::resource_filter filter;
  for (const auto& [name, ignored] : from.members()) {
    const auto known = std::find_if(members.begin(), members.end(), [&](const member& one) { return one.name == name; });
    const auto path = from.path_of(known == members.end() ? name.substr(0, 100) : name);
    if (known == members.end()) return bad(path, "unknown filter; filters: " + known_names());
    const auto value = from.find(name);  // which notices a second one of the same name
    if (!value) return tl::unexpected(value.error());
    if (auto read = known->read(**value, path, filter); !read) return tl::unexpected(std::move(read.error()));
  }
  return filter;
}

}  // namespace hondana::wire::versioned
