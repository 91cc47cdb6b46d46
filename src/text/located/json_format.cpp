/// Reads JSON with comments.

#include <json/json.h>

#include <algorithm>
#include <charconv>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <set>
#include <stdexcept>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/ascii/ascii.hpp"
#include "text/located/format_reader.hpp"

namespace hondana::located {

/// The position after white space and comments.
[[nodiscard]] std::size_t skip_space_and_comments(std::string_view text, std::size_t position) noexcept;

/// The position after the value at `position`. For malformed text, never beyond the end of the text.
[[nodiscard]] std::size_t skip_json_value(std::string_view text, std::size_t position) noexcept;

/// Checks limits before parsing, because the library would create all values first, and the strings, which the library checks
/// too little. Errors: nested too deeply, too many values, a control character in a string, or half of a surrogate pair.
/// Source: RFC 8259, sections 7 and 8.2.
[[nodiscard]] result<void> check_json(const parse_context& context);

namespace {

/// The position after the comment at `position`; `position` if there is none.
std::size_t skip_comment(std::string_view text, std::size_t position) noexcept {
  const auto remaining = text.substr(position);
  if (remaining.starts_with("//")) return std::min(text.find_first_of("\r\n", position), text.size());
  if (!remaining.starts_with("/*")) return position;
  const auto end = text.find("*/", position + 2);
  return end == std::string_view::npos ? text.size() : end + 2;
}

/// The character of the escape `\uXXXX` at `position`; no value if it is not such an escape.
std::optional<std::uint32_t> unicode_escape(std::string_view text, std::size_t position) noexcept {
  constexpr std::size_t digits = 4;
  if (!text.substr(std::min(position, text.size())).starts_with("\\u")) return std::nullopt;
  const auto hexadecimal = text.substr(position + 2, digits);
  std::uint32_t code = 0;
  const auto* const end = hexadecimal.data() + hexadecimal.size();
  if (hexadecimal.size() != digits || std::from_chars(hexadecimal.data(), end, code, 16).ptr != end) return std::nullopt;
  return code;
}

/// Checks the string at `position`.
result<void> check_string(const parse_context& context, std::size_t position) {
  const auto text = context.text();
  for (++position; position < text.size() && text[position] != '"'; ++position) {
    if (static_cast<unsigned char>(text[position]) < ' ') {
      return context.error_at(position, "a control character in a string; write it as an escape, or close the string");
    }
    if (text[position] != '\\') continue;
    const auto code = unicode_escape(text, position);
    if (code && *code >= 0xD800 && *code <= 0xDFFF) {
      const auto low = unicode_escape(text, position + 6);
      const bool is_pair = *code <= 0xDBFF && low && *low >= 0xDC00 && *low <= 0xDFFF;
      if (!is_pair) return context.error_at(position, "half of a surrogate pair is not a character");
      position += 6;
    }
    ++position;
  }
  return {};
}

std::size_t skip_string(std::string_view text, std::size_t position) noexcept {
  for (++position; position < text.size() && text[position] != '"'; ++position) {
    if (text[position] == '\\') ++position;
  }
  return std::min(position + 1, text.size());
}

}  // namespace

std::size_t skip_space_and_comments(std::string_view text, std::size_t position) noexcept {
  for (;;) {
    while (position < text.size() && ascii::is_json_space(text[position])) ++position;
    const auto next = position < text.size() ? skip_comment(text, position) : position;
    if (next == position) return position;
    position = next;
  }
}

std::size_t skip_json_value(std::string_view text, std::size_t position) noexcept {
  std::size_t depth = 0;
  while (position < text.size()) {
    const char c = text[position];
    if (c == '"') {
      position = skip_string(text, position);
      if (depth == 0) return position;
    } else if (c == '[' || c == '{') {
      ++depth;
      ++position;
    } else if (c == ']' || c == '}') {
      if (depth == 0) return position;
      ++position;
      if (--depth == 0) return position;
    } else if (depth == 0 && (c == ',' || c == ':' || ascii::is_json_space(c))) {
      return position;
    } else {
      const auto comment_end = skip_comment(text, position);
      if (comment_end != position && depth == 0) return position;
      position = comment_end == position ? position + 1 : comment_end;
    }
  }
  return position;
}

result<void> check_json(const parse_context& context) {
  const auto text = context.text();
  std::size_t depth = 0;
  std::size_t values = 1;
  for (std::size_t position = 0; position < text.size();) {
    const char c = text[position];
    if (c == '"') {
      HONDANA_TRY(check_string(context, position));
      position = skip_string(text, position);
      continue;
    }
    if (c == '/') {
      const auto comment_end = skip_comment(text, position);
      position = comment_end == position ? position + 1 : comment_end;
      continue;
    }
    if ((c == '[' || c == '{') && ++depth > context.limits().max_depth) return context.depth_error(position);
    if ((c == ']' || c == '}') && depth > 0) --depth;
    if (c == '[' || c == '{' || c == ',') ++values;
    // Empty containers and trailing commas count one value too many, so at most twice the real number.
    if (values > 2 * context.limits().max_values + 2) {
      return context.limit_error(position, "more than " + std::to_string(context.limits().max_values) + " values");
    }
    ++position;
  }
  return {};
}

namespace {

Json::CharReaderBuilder make_reader_builder(std::size_t depth) {
  Json::CharReaderBuilder builder;
  builder["collectComments"] = false;
  builder["allowComments"] = true;
  builder["allowTrailingCommas"] = true;
  builder["strictRoot"] = false;
  builder["allowDroppedNullPlaceholders"] = false;
  builder["allowNumericKeys"] = false;
  builder["allowSingleQuotes"] = false;
  builder["allowSpecialFloats"] = false;
  builder["failIfExtra"] = false;
  builder["rejectDupKeys"] = false;
  builder["skipBom"] = false;
  builder["stackLimit"] = static_cast<Json::UInt64>(depth + 2);
  return builder;
}

/// Parses with jsoncpp. `errors`: its error messages: "* Line 3, Column 5", with the reason in the next line.
bool parse_value(std::string_view text, std::size_t depth, Json::Value& out, std::string& errors) {
  const std::unique_ptr<Json::CharReader> reader(make_reader_builder(depth).newCharReader());
  return reader->parse(text.data(), text.data() + text.size(), &out, &errors);
}

class json_reader {
 public:
  explicit json_reader(parse_context& context) : context_(context), text_(context.text()) {}

  result<node> read() {
    HONDANA_TRY(check_json(context_));
    const auto begin = skip_space_and_comments(text_, 0);
    if (begin == text_.size()) return context_.error_at(begin, "the value is missing");
    Json::Value root;
    std::string errors;
    try {
      if (!parse_value(text_, context_.limits().max_depth, root, errors)) return parse_error(errors);
    } catch (const std::exception& error) {
      return fail(errc::invalid_argument, "this is not valid JSON", error.what());
    }
    const auto end = static_cast<std::size_t>(root.getOffsetLimit());
    if (const auto trailing = skip_space_and_comments(text_, end); trailing != text_.size()) {
      return context_.error_at(trailing, "unexpected text after the value");
    }
    return convert(root);
  }

 private:
  /// The error without quoted parts, because they are from the text.
  [[nodiscard]] tl::unexpected<failure> parse_error(const std::string& report) const {
    constexpr std::string_view mark = "Line ";
    const auto position = report.find(mark);
    std::size_t line = 0;
    for (auto digit = position + mark.size();
         position != std::string::npos && digit < report.size() && report[digit] >= '0' && report[digit] <= '9'; ++digit) {
      line = line * 10 + static_cast<std::size_t>(report[digit] - '0');
    }
    const auto first_end = std::min(report.find('\n'), report.size());
    auto message = report.substr(std::min(first_end + 1, report.size()));
    message.resize(std::min(message.find('\n'), message.size()));
    message.erase(0, std::min(message.find_first_not_of(' '), message.size()));
    if (message.find("not a number") != std::string::npos) message = "an invalid or too large number";
    if (message.empty() || message.find_first_of("'\"") != std::string::npos) message = "not a valid value";
    // jsoncpp counts CR as a line ending, too.
    return context_.error_in_line(std::max<std::size_t>(line, 1), message);
  }

  [[nodiscard]] source_range range_of(const Json::Value& value) const {
    return context_.range_of(base_offset_ + static_cast<std::size_t>(value.getOffsetStart()),
                             base_offset_ + static_cast<std::size_t>(value.getOffsetLimit()));
  }

  // The recursion is limited by `check_json`.
  result<node> convert(const Json::Value& value) {
    const auto range = range_of(value);
    HONDANA_TRY(context_.count_values(range.begin));
    switch (value.type()) {
      case Json::nullValue:
        return null_node(range);
      case Json::booleanValue:
        return boolean_node(value.asBool(), range);
      case Json::stringValue:
        return text_node(value.asString(), range);
      case Json::arrayValue:
        return convert_array(value, range);
      case Json::objectValue:
        return convert_object(value, range);
      default:
        break;
    }
    if (auto number = parse_json_number(text_.substr(range.begin, range.end - range.begin), range)) return std::move(*number);
    return context_.error_at(range.begin, "not a valid JSON number");
  }

  result<node> convert_array(const Json::Value& array, source_range range) {
    auto list = empty_node(node_kind::list, range);
    list.items.reserve(array.size());
    for (const auto& element : array) {
      auto item = convert(element);
      if (!item) return item;
      list.items.push_back(std::move(*item));
    }
    return list;
  }

  struct key_position {
    std::size_t begin = 0;
    std::size_t end = 0;
    std::size_t value_begin = 0;
  };

  /// Reads a value that ends at `end` and whose key occurs again later.
  result<void> add_replaced(const key_position& key, std::size_t end, node& table) {
    Json::Value parsed;
    std::string errors;
    member replaced{decode_key(key), context_.range_of(key.begin, key.end), {}};
    if (parse_value(text_.substr(key.value_begin, end - key.value_begin), context_.limits().max_depth, parsed, errors)) {
      const auto outer_offset = std::exchange(base_offset_, key.value_begin);
      auto value = convert(parsed);
      base_offset_ = outer_offset;
      if (!value) return tl::unexpected(std::move(value.error()));
      replaced.value = std::move(*value);
    }
    table.replaced.push_back(std::move(replaced));
    return {};
  }

  struct parsed_member {
    std::size_t position = 0;
    std::string key;
    const Json::Value* value = nullptr;
  };

  result<node> convert_object(const Json::Value& object, source_range range) {
    std::vector<parsed_member> entries;
    entries.reserve(object.size());
    for (auto child = object.begin(); child != object.end(); ++child) {
      entries.push_back({base_offset_ + static_cast<std::size_t>(child->getOffsetStart()), child.name(), &*child});
    }
    std::sort(entries.begin(), entries.end(),
              [](const parsed_member& a, const parsed_member& b) { return a.position < b.position; });
    auto table = empty_node(node_kind::table, range);
    table.members.reserve(entries.size());
    std::set<std::string> seen_keys;
    auto position = range.begin + 1;
    for (auto& entry : entries) {
      // jsoncpp keeps only the last value of a repeated key. Read the others from the text.
      auto key = next_key(position);
      while (key.value_begin < entry.position) {
        position = skip_json_value(text_, key.value_begin);
        HONDANA_TRY(add_replaced(key, position, table));
        seen_keys.insert(decode_key(key));
        key = next_key(position);
      }
      if (seen_keys.contains(entry.key)) context_.warn_duplicate(key.begin, entry.key);
      auto member = convert(*entry.value);
      if (!member) return member;
      position = member->range.end;
      table.members.push_back({std::move(entry.key), context_.range_of(key.begin, key.end), std::move(*member)});
    }
    return table;
  }

  /// The next key from `position` on, and the beginning of its value.
  [[nodiscard]] key_position next_key(std::size_t position) const {
    position = skip_space_and_comments(text_, position);
    if (position < text_.size() && text_[position] == ',') position = skip_space_and_comments(text_, position + 1);
    const auto end = skip_json_value(text_, position);
    const auto colon = skip_space_and_comments(text_, end);
    return {position, end, skip_space_and_comments(text_, std::min(colon + 1, text_.size()))};
  }

  [[nodiscard]] std::string decode_key(const key_position& key) const {
    Json::Value name;
    std::string errors;
    return parse_value(text_.substr(key.begin, key.end - key.begin), 1, name, errors) && name.isString() ? name.asString()
                                                                                                         : std::string();
  }

  parse_context& context_;
  std::string_view text_;
  std::size_t base_offset_ = 0;  // of the text that is converted
};

}  // namespace

result<node> read_json(parse_context& context) { return json_reader(context).read(); }

}  // namespace hondana::located
