/// Reads JSON with comments.

#include <json/json.h>

#include <algorithm>
#include <cstddef>
#include <memory>
#include <set>
#include <stdexcept>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/ascii/ascii.hpp"
#include "base/json/utf8.hpp"
#include "text/located/format_reader.hpp"

namespace hondana::located {

/// The position after white space and comments.
[[nodiscard]] std::size_t skip_between(std::string_view text, std::size_t at) noexcept;

/// The position after the value at `at`. For malformed text, never beyond the end of the text.
[[nodiscard]] std::size_t skip_json_value(std::string_view text, std::size_t at) noexcept;

/// Checks limits before parsing, because the library would create all values first. Errors: nested too deeply, or too many
/// values.
[[nodiscard]] result<void> check_json_size(const reading& from);

namespace {

/// The position after the comment at `at`; `at` if there is none.
std::size_t skip_comment(std::string_view text, std::size_t at) noexcept {
  const auto rest = text.substr(at);
  if (rest.starts_with("//")) return std::min(text.find_first_of("\r\n", at), text.size());
  if (!rest.starts_with("/*")) return at;
  const auto end = text.find("*/", at + 2);
  return end == std::string_view::npos ? text.size() : end + 2;
}

std::size_t skip_string(std::string_view text, std::size_t at) noexcept {
  for (++at; at < text.size() && text[at] != '"'; ++at) {
    if (text[at] == '\\') ++at;
  }
  return std::min(at + 1, text.size());
}

}  // namespace

std::size_t skip_between(std::string_view text, std::size_t at) noexcept {
  for (;;) {
    while (at < text.size() && ascii::is_json_space(text[at])) ++at;
    const auto behind = at < text.size() ? skip_comment(text, at) : at;
    if (behind == at) return at;
    at = behind;
  }
}

std::size_t skip_json_value(std::string_view text, std::size_t at) noexcept {
  std::size_t depth = 0;
  while (at < text.size()) {
    const char c = text[at];
    if (c == '"') {
      at = skip_string(text, at);
      if (depth == 0) return at;
    } else if (c == '[' || c == '{') {
      ++depth;
      ++at;
    } else if (c == ']' || c == '}') {
      if (depth == 0) return at;
      ++at;
      if (--depth == 0) return at;
    } else if (depth == 0 && (c == ',' || c == ':' || ascii::is_json_space(c))) {
      return at;
    } else {
      const auto behind = skip_comment(text, at);
      if (behind != at && depth == 0) return at;
      at = behind == at ? at + 1 : behind;
    }
  }
  return at;
}

result<void> check_json_size(const reading& from) {
  const auto text = from.text();
  std::size_t depth = 0;
  std::size_t values = 1;
  for (std::size_t at = 0; at < text.size();) {
    const char c = text[at];
    if (c == '"') {
      at = skip_string(text, at);
      continue;
    }
    if (c == '/') {
      const auto behind = skip_comment(text, at);
      at = behind == at ? at + 1 : behind;
      continue;
    }
    if ((c == '[' || c == '{') && ++depth > from.most().depth) return from.too_deep(at);
    if ((c == ']' || c == '}') && depth > 0) --depth;
    if (c == '[' || c == '{' || c == ',') ++values;
    // Empty containers and trailing commas count one value too many, so at most twice the real number.
    if (values > 2 * from.most().values + 2) {
      return from.too_many(at, "more than " + std::to_string(from.most().values) + " values");
    }
    ++at;
  }
  return {};
}

namespace {

Json::CharReaderBuilder reader_of_depth(std::size_t depth) {
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

/// Parses with jsoncpp. `said`: its error messages: "* Line 3, Column 5", with the reason in the next line.
bool parse_all(std::string_view text, std::size_t depth, Json::Value& into, std::string& said) {
  const std::unique_ptr<Json::CharReader> reader(reader_of_depth(depth).newCharReader());
  return reader->parse(text.data(), text.data() + text.size(), &into, &said);
}

class json_tree {
 public:
  explicit json_tree(reading& from) : from_(from), text_(from.text()) {}

  result<node> all() {
    HONDANA_TRY(check_json_size(from_));
    const auto begin = skip_between(text_, 0);
    if (begin == text_.size()) return from_.wrong(begin, "the value is missing");
    Json::Value root;
    std::string said;
    try {
      if (!parse_all(text_, from_.most().depth, root, said)) return refused(said);
    } catch (const std::exception& what) {
      return fail(errc::invalid_argument, "this is not valid JSON", what.what());
    }
    const auto end = static_cast<std::size_t>(root.getOffsetLimit());
    if (const auto rest = skip_between(text_, end); rest != text_.size()) {
      return from_.wrong(rest, "unexpected text after the value");
    }
    return convert(root);
  }

 private:
  /// The error without quoted parts, because they are from the text.
  [[nodiscard]] tl::unexpected<failure> refused(const std::string& said) const {
    constexpr std::string_view mark = "Line ";
    const auto at = said.find(mark);
    std::size_t line = 0;
    for (auto digit = at + mark.size();
         at != std::string::npos && digit < said.size() && said[digit] >= '0' && said[digit] <= '9'; ++digit) {
      line = line * 10 + static_cast<std::size_t>(said[digit] - '0');
    }
    const auto first_end = std::min(said.find('\n'), said.size());
    auto what = said.substr(std::min(first_end + 1, said.size()));
    what.resize(std::min(what.find('\n'), what.size()));
    what.erase(0, std::min(what.find_first_not_of(' '), what.size()));
    if (what.find("not a number") != std::string::npos) what = "an invalid or too large number";
    if (what.empty() || what.find_first_of("'\"") != std::string::npos) what = "not a valid value";
    // jsoncpp counts CR as a line ending, too.
    return from_.wrong_in_line(std::max<std::size_t>(line, 1), what);
  }

  [[nodiscard]] place place_of(const Json::Value& what) const {
    return from_.at(base_ + static_cast<std::size_t>(what.getOffsetStart()),
                    base_ + static_cast<std::size_t>(what.getOffsetLimit()));
  }

  // The recursion is limited by `check_json_size`.
  result<node> convert(const Json::Value& what) {
    const auto at = place_of(what);
    HONDANA_TRY(from_.count(at.begin));
    switch (what.type()) {
      case Json::nullValue:
        return null_node(at);
      case Json::booleanValue:
        return boolean_node(what.asBool(), at);
      case Json::stringValue:
        return text_node(well_formed(what.asString()), at);
      case Json::arrayValue:
        return convert_array(what, at);
      case Json::objectValue:
        return convert_object(what, at);
      default:
        break;
    }
    if (auto number = json_number(text_.substr(at.begin, at.end - at.begin), at)) return std::move(*number);
    return from_.wrong(at.begin, "not a valid JSON number");
  }

  /// Replaces lone surrogates, which are not valid UTF-8.
  static std::string well_formed(std::string text) {
    if (json::is_utf8(text)) return text;
    std::string repaired;
    json::append_replacing(repaired, text);
    return repaired;
  }

  result<node> convert_array(const Json::Value& what, place at) {
    auto made = empty_node(kind::list, at);
    made.items.reserve(what.size());
    for (const auto& one : what) {
      auto item = convert(one);
      if (!item) return item;
      made.items.push_back(std::move(*item));
    }
    return made;
  }

  struct found_key {
    std::size_t begin = 0;
    std::size_t end = 0;
    std::size_t value = 0;
  };

  /// Reads a value that ends at `end` and whose key occurs again later.
  result<void> keep_replaced(const found_key& key, std::size_t end, node& table) {
    Json::Value what;
    std::string said;
    member made{well_formed(decoded(key)), from_.at(key.begin, key.end), {}};
    if (parse_all(text_.substr(key.value, end - key.value), from_.most().depth, what, said)) {
      const auto outer = std::exchange(base_, key.value);
      auto value = convert(what);
      base_ = outer;
      if (!value) return tl::unexpected(std::move(value.error()));
      made.value = std::move(*value);
    }
    table.replaced.push_back(std::move(made));
    return {};
  }

  struct found_member {
    std::size_t at = 0;
    std::string key;
    const Json::Value* what = nullptr;
  };

  result<node> convert_object(const Json::Value& what, place at) {
    std::vector<found_member> found;
    found.reserve(what.size());
    for (auto one = what.begin(); one != what.end(); ++one) {
      found.push_back({base_ + static_cast<std::size_t>(one->getOffsetStart()), one.name(), &*one});
    }
    std::sort(found.begin(), found.end(), [](const found_member& a, const found_member& b) { return a.at < b.at; });
    auto made = empty_node(kind::table, at);
    made.members.reserve(found.size());
    std::set<std::string> given_before;
    auto here = at.begin + 1;
    for (auto& one : found) {
      // jsoncpp keeps only the last value of a repeated key. Read the others from the text.
      auto key = next_key(here);
      while (key.value < one.at) {
        here = skip_json_value(text_, key.value);
        HONDANA_TRY(keep_replaced(key, here, made));
        given_before.insert(decoded(key));
        key = next_key(here);
      }
      if (given_before.contains(one.key)) from_.remark_duplicate(key.begin, one.key);
      auto member = convert(*one.what);
      if (!member) return member;
      here = member->at.end;
      made.members.push_back({well_formed(std::move(one.key)), from_.at(key.begin, key.end), std::move(*member)});
    }
    return made;
  }

  /// The next key from `at` on, and the beginning of its value.
  [[nodiscard]] found_key next_key(std::size_t at) const {
    at = skip_between(text_, at);
    if (at < text_.size() && text_[at] == ',') at = skip_between(text_, at + 1);
    const auto end = skip_json_value(text_, at);
    const auto colon = skip_between(text_, end);
    return {at, end, skip_between(text_, std::min(colon + 1, text_.size()))};
  }

  [[nodiscard]] std::string decoded(const found_key& key) const {
    Json::Value name;
    std::string said;
    return parse_all(text_.substr(key.begin, key.end - key.begin), 1, name, said) && name.isString() ? name.asString()
                                                                                                     : std::string();
  }

  reading& from_;
  std::string_view text_;
  std::size_t base_ = 0;  // of the text that is converted
};

}  // namespace

result<node> read_json(reading& from) { return json_tree(from).all(); }

}  // namespace hondana::located
