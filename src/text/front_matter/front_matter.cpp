/// The front matter of a SKILL.md, and the Agent Skills rules about it.
#include "text/front_matter/front_matter.hpp"

#include <algorithm>
#include <string>
#include <utility>

#include "base/json/utf8.hpp"
#include "text/front_matter/yaml.hpp"

namespace hondana::front_matter {
namespace {

constexpr std::string_view byte_order_mark = "\xEF\xBB\xBF";
constexpr std::size_t max_name_length = 64;
constexpr std::size_t max_description_length = 1024;

tl::unexpected<failure> invalid(std::string message) { return fail(errc::invalid_argument, std::move(message)); }

/// Removes the next line from the front of `text` and returns it without its line ending.
std::string_view pop_line(std::string_view& text) noexcept {
  const auto end = text.find('\n');
  auto line = text.substr(0, end);
  text.remove_prefix(end == std::string_view::npos ? text.size() : end + 1);
  if (line.ends_with('\r')) line.remove_suffix(1);
  return line;
}

bool is_closing_line(std::string_view line) noexcept {
  return line.starts_with("---") && line.find_first_not_of(" \t", 3) == std::string_view::npos;
}

/// The lines between the two `---` marks.
result<std::string_view> extract_yaml(std::string_view front) {
  auto remaining = front;
  if (remaining.starts_with(byte_order_mark)) remaining.remove_prefix(byte_order_mark.size());
  if (pop_line(remaining) != "---") return invalid("the file does not begin with a line \"---\", so it has no front matter");
  const auto begin = remaining;
  while (!remaining.empty()) {
    const auto end = begin.size() - remaining.size();
    if (end > max_yaml_bytes) break;
    if (is_closing_line(pop_line(remaining))) return begin.substr(0, end);
  }
  return invalid("the front matter has no closing line \"---\" within " + std::to_string(max_yaml_bytes / 1024) + " KiB");
}

std::size_t count_characters(std::string_view text) noexcept {
  return static_cast<std::size_t>(
      std::count_if(text.begin(), text.end(), [](char c) { return (static_cast<unsigned char>(c) & 0xC0) != 0x80; }));
}

}  // namespace

result<value> parse_frontmatter(std::string_view front) {
  HONDANA_TRY(const auto text, extract_yaml(front));
  if (!json::is_utf8(text)) return invalid("the front matter is not UTF-8");
  // Line 2 of the file: line 1 is "---".
  auto parsed = parse_yaml(text, 2);
  if (!parsed) return invalid("the front matter is not valid YAML: " + parsed.error().public_text);
  if (parsed->as_object() == nullptr) return invalid("the front matter is not a mapping of keys to values");
  return parsed;
}

bool is_skill_name(std::string_view name) noexcept {
  const auto is_allowed = [](char c) { return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '-'; };
  return !name.empty() && name.size() <= max_name_length && std::all_of(name.begin(), name.end(), is_allowed) &&
         !name.starts_with('-') && !name.ends_with('-') && name.find("--") == std::string_view::npos;
}

result<void> check_frontmatter(const value& frontmatter, std::string_view folder_name) {
  const auto* field = frontmatter.find("name");
  const auto* name = field == nullptr ? nullptr : field->as_string();
  if (name == nullptr) return invalid("the front matter has no \"name\" that is text");
  if (!is_skill_name(*name)) {
    return invalid("the name \"" + name->substr(0, 80) +
                   "\" is not a skill name: 1 to 64 of a-z, 0-9 and -, no - at an end or twice in a row");
  }
  if (*name != folder_name) {
    return invalid("the name \"" + *name + "\" differs from the folder name, \"" + std::string(folder_name) + '"');
  }
  field = frontmatter.find("description");
  const auto* description = field == nullptr ? nullptr : field->as_string();
  if (description == nullptr) return invalid("the front matter has no \"description\" that is text");
  const auto length = count_characters(*description);
  if (length == 0 || length > max_description_length) {
    return invalid("the description has " + std::to_string(length) + " characters; 1 to 1024 are allowed");
  }
  return {};
}

}  // namespace hondana::front_matter
