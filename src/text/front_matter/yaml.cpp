/// Parses short YAML texts to JSON values.
#include "text/front_matter/yaml.hpp"

#include <yaml.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <system_error>
#include <utility>
#include <vector>

#include <hondana/value.hpp>

#include "base/ascii/ascii.hpp"
#include "base/json/writer.hpp"

namespace hondana::front_matter {

/// The value of a plain scalar by the core schema. No value for an infinity, NaN, or a number that JSON readers cannot
/// represent.
/// Source: yaml.org/spec/1.2.2, section 10.3.2.
[[nodiscard]] std::optional<value> resolve_plain(std::string_view text);

namespace {

template <std::size_t Size>
bool is_one_of(std::string_view text, const std::array<std::string_view, Size>& words) {
  return std::find(words.begin(), words.end(), text) != words.end();
}

/// Removes the digits from the front of `text` and returns their number.
std::size_t drop_digits(std::string_view& text) noexcept {
  const auto end = std::find_if_not(text.begin(), text.end(), ascii::is_digit);
  const auto count = static_cast<std::size_t>(end - text.begin());
  text.remove_prefix(count);
  return count;
}

/// Whether the text is a decimal number without a sign: `1`, `1.`, `.5`, `1.5e3`.
bool is_decimal(std::string_view text) noexcept {
  const auto integer_digits = drop_digits(text);
  std::size_t fraction_digits = 0;
  if (text.starts_with('.')) {
    text.remove_prefix(1);
    fraction_digits = drop_digits(text);
  }
  if (integer_digits + fraction_digits == 0) return false;
  if (text.empty()) return true;
  if (text.front() != 'e' && text.front() != 'E') return false;
  text.remove_prefix(1);
  if (text.starts_with('-') || text.starts_with('+')) text.remove_prefix(1);
  return drop_digits(text) != 0 && text.empty();
}

/// Whether a non-zero decimal outside the range of double is too small rather than too large.
bool is_tiny(std::string_view text) noexcept {
  const auto mark = text.find_first_of("eE");
  const auto digits = text.substr(0, mark);
  std::int64_t exponent = 0;
  if (mark != std::string_view::npos) {
    auto exponent_text = text.substr(mark + 1);
    if (exponent_text.starts_with('+')) exponent_text.remove_prefix(1);
    const auto [end, error] = std::from_chars(exponent_text.data(), exponent_text.data() + exponent_text.size(), exponent);
    // The exponent overflows. No text within the size limit has enough digits to compensate for it.
    if (error != std::errc{}) return exponent_text.starts_with('-');
  }
  const auto point = static_cast<std::int64_t>(std::min(digits.find('.'), digits.size()));
  const auto first_digit = static_cast<std::int64_t>(std::min(digits.find_first_not_of("0."), digits.size()));
  return (point - first_digit) + exponent < 0;
}

std::optional<value> parse_number(std::string_view text, bool is_negative) {
  if (std::all_of(text.begin(), text.end(), ascii::is_digit)) {
    std::int64_t integer = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), integer);
    if (error == std::errc{}) return value(is_negative ? -integer : integer);
  }
  double number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  // from_chars reports underflow and overflow alike. An underflow becomes zero, an overflow is an error.
  if (error == std::errc::result_out_of_range && is_tiny(text))
    number = 0;
  else if (error != std::errc{} || !std::isfinite(number))
    return std::nullopt;
  return value(is_negative ? -number : number);
}

/// Parses the digits after `0x` or `0o`; null if they are not digits.
std::optional<value> parse_based_integer(std::string_view digits, int base) {
  std::uint64_t integer = 0;
  const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), integer, base);
  if (end != digits.data() + digits.size() || digits.empty() || error == std::errc::invalid_argument) return value(nullptr);
  if (error != std::errc{}) return std::nullopt;
  return value(integer);
}

}  // namespace

std::optional<value> resolve_plain(std::string_view text) {
  static constexpr std::array<std::string_view, 5> null_words{"", "~", "null", "Null", "NULL"};
  static constexpr std::array<std::string_view, 3> true_words{"true", "True", "TRUE"};
  static constexpr std::array<std::string_view, 3> false_words{"false", "False", "FALSE"};
  static constexpr std::array<std::string_view, 6> unrepresentable{".inf", ".Inf", ".INF", ".nan", ".NaN", ".NAN"};
  if (is_one_of(text, null_words)) return value(nullptr);
  if (is_one_of(text, true_words)) return value(true);
  if (is_one_of(text, false_words)) return value(false);
  if (text.starts_with("0x") || text.starts_with("0o")) {
    auto number = parse_based_integer(text.substr(2), text[1] == 'x' ? 16 : 8);
    if (!number || !number->is_null()) return number;
    return value(text);
  }
  const bool is_signed = text.starts_with('-') || text.starts_with('+');
  const auto unsigned_text = text.substr(is_signed ? 1 : 0);
  if (is_one_of(unsigned_text, unrepresentable)) return std::nullopt;
  if (is_decimal(unsigned_text)) return parse_number(unsigned_text, text.starts_with('-'));
  return value(text);
}

namespace {

constexpr std::size_t max_depth = 32;
constexpr std::size_t max_cost = 2 * max_yaml_bytes;
constexpr std::string_view core_tag = "tag:yaml.org,2002:";

tl::unexpected<failure> invalid(std::size_t line, const std::string& message) {
  return fail(errc::invalid_argument, "line " + std::to_string(line) + ": " + message);
}

std::string text_of(const yaml_char_t* chars) { return chars == nullptr ? "" : reinterpret_cast<const char*>(chars); }

std::string_view text_of(const yaml_char_t* chars, std::size_t size) { return {reinterpret_cast<const char*>(chars), size}; }

// The cost of a value or key: its bytes as JSON, with control characters escaped, and its bytes in memory. Aliases multiply it.
std::size_t cost_of(const value& scalar) { return scalar.to_text().size() + sizeof(",") - 1 + sizeof(value); }
std::size_t cost_of_key(std::string_view key) { return json::quoted(key).size() + sizeof(":") - 1 + sizeof(std::string); }
constexpr std::size_t container_cost = sizeof("[],") - 1 + sizeof(value);

/// A finished value, with the cost of everything in it.
struct node {
  value content;
  std::size_t cost = 0;
  std::size_t depth = 0;  ///< Nesting depth of mappings and sequences, from this one to the innermost.
};

/// An unfinished mapping or sequence.
struct open_container {
  bool is_mapping = false;
  std::string anchor;
  value::object members;
  value::array items;
  std::set<std::string> keys;
  std::optional<std::string> key;  // of the member whose value comes next
  std::size_t cost = container_cost;
  std::size_t depth = 1;
};

/// One event of libyaml, deleted with this object.
class event {
 public:
  event() = default;
  event(const event&) = delete;
  event& operator=(const event&) = delete;
  ~event() { yaml_event_delete(&event_); }
  [[nodiscard]] bool parse(yaml_parser_t& parser) { return yaml_parser_parse(&parser, &event_) != 0; }
  [[nodiscard]] const yaml_event_t& operator*() const noexcept { return event_; }

 private:
  yaml_event_t event_{};
};

class parser {
 public:
  parser(std::string_view text, std::size_t first_line) : first_line_(first_line) {
    is_initialized_ = yaml_parser_initialize(&parser_) != 0;
    if (!is_initialized_) return;
    yaml_parser_set_encoding(&parser_, YAML_UTF8_ENCODING);
    yaml_parser_set_input_string(&parser_, reinterpret_cast<const unsigned char*>(text.data()), text.size());
  }
  parser(const parser&) = delete;
  parser& operator=(const parser&) = delete;
  ~parser() {
    if (is_initialized_) yaml_parser_delete(&parser_);
  }

  result<value> parse_document() {
    if (!is_initialized_) return fail(errc::internal, "Out of memory for the YAML parser.");
    for (;;) {
      event next;
      if (!next.parse(parser_)) return parser_error();
      if ((*next).type == YAML_STREAM_END_EVENT) break;
      HONDANA_TRY(handle_event(*next));
    }
    return root_ ? std::move(*root_) : value();
  }

 private:
  tl::unexpected<failure> parser_error() const {
    const std::string problem = parser_.problem == nullptr ? "not YAML" : parser_.problem;
    return invalid(parser_.problem_mark.line + first_line_, problem);
  }

  result<void> handle_event(const yaml_event_t& event) {
    const auto line = event.start_mark.line + first_line_;
    switch (event.type) {
      case YAML_DOCUMENT_START_EVENT:
        if (root_) return invalid(line, "a second document begins; only one is allowed");
        return {};
      case YAML_MAPPING_START_EVENT:
        return begin_container(true, text_of(event.data.mapping_start.anchor), text_of(event.data.mapping_start.tag), line);
      case YAML_SEQUENCE_START_EVENT:
        return begin_container(false, text_of(event.data.sequence_start.anchor), text_of(event.data.sequence_start.tag), line);
      case YAML_MAPPING_END_EVENT:
      case YAML_SEQUENCE_END_EVENT:
        return end_container(line);
      case YAML_SCALAR_EVENT:
        return handle_scalar(event, line);
      case YAML_ALIAS_EVENT:
        return handle_alias(text_of(event.data.alias.anchor), line);
      default:
        return {};
    }
  }

  static tl::unexpected<failure> depth_error(std::size_t line) {
    return invalid(line, "nested deeper than " + std::to_string(max_depth) + " levels");
  }

  [[nodiscard]] bool expects_key() const {
    return !open_containers_.empty() && open_containers_.back().is_mapping && !open_containers_.back().key;
  }

  result<void> begin_container(bool is_mapping, std::string anchor, const std::string& tag, std::size_t line) {
    if (expects_key()) return invalid(line, "a key is a list or a mapping, which JSON does not support");
    if (open_containers_.size() == max_depth) return depth_error(line);
    const auto default_tag = std::string(core_tag) + (is_mapping ? "map" : "seq");
    if (!tag.empty() && tag != "!" && tag != default_tag) return invalid(line, "the tag " + tag + " has no equivalent in JSON");
    open_container container;
    container.is_mapping = is_mapping;
    container.anchor = std::move(anchor);
    open_containers_.push_back(std::move(container));
    return {};
  }

  result<void> end_container(std::size_t line) {
    auto container = std::move(open_containers_.back());
    open_containers_.pop_back();
    auto content = container.is_mapping ? value(std::move(container.members)) : value(std::move(container.items));
    return add_value({std::move(content), container.cost, container.depth}, container.anchor, container_cost, line);
  }

  result<void> handle_scalar(const yaml_event_t& event, std::size_t line) {
    const auto& scalar = event.data.scalar;
    const auto text = text_of(scalar.value, scalar.length);
    HONDANA_TRY(auto content, resolve_scalar(scalar, text, line));
    const auto cost = cost_of(content);
    if (expects_key()) {
      if (scalar.anchor != nullptr) anchors_[text_of(scalar.anchor)] = {content, cost};
      return add_key(std::string(text), line);
    }
    return add_value({std::move(content), cost}, text_of(scalar.anchor), cost, line);
  }

  template <class Scalar>
  static result<value> resolve_scalar(const Scalar& scalar, std::string_view text, std::size_t line) {
    auto tag = text_of(scalar.tag);
    if (tag == "!" || (tag.empty() && scalar.style != YAML_PLAIN_SCALAR_STYLE)) return value(text);
    if (tag == std::string(core_tag) + "str") return value(text);
    auto resolved = resolve_plain(text);
    if (!resolved) return invalid(line, std::string(text.substr(0, 40)) + " is a number that JSON cannot represent");
    if (tag.empty()) return std::move(*resolved);
    using kind = value::kind;
    const auto is_tag = [&](std::string_view name, bool matches) {
      return tag == std::string(core_tag).append(name) && matches;
    };
    const auto type = resolved->type();
    if (is_tag("int", type == kind::integer) || is_tag("bool", type == kind::boolean) || is_tag("null", type == kind::null) ||
        is_tag("float", type == kind::number || type == kind::integer)) {
      return std::move(*resolved);
    }
    return invalid(line, "the tag " + tag + " does not fit the value or has no equivalent in JSON");
  }

  result<void> handle_alias(const std::string& anchor, std::size_t line) {
    const auto target = anchors_.find(anchor);
    if (target == anchors_.end()) return invalid(line, "*" + anchor + " does not refer to a value that ends before it");
    if (!expects_key()) {
      if (open_containers_.size() + target->second.depth > max_depth) return depth_error(line);
      return add_value(target->second, {}, target->second.cost, line);
    }
    const auto* text = target->second.content.as_string();
    if (text == nullptr) return invalid(line, "a key is not text");
    return add_key(*text, line);
  }

  result<void> add_key(std::string key, std::size_t line) {
    auto& mapping = open_containers_.back();
    if (!mapping.keys.insert(key).second) return invalid(line, "the key \"" + key.substr(0, 80) + "\" occurs twice");
    const auto cost = cost_of_key(key);
    mapping.cost += cost;
    mapping.key = std::move(key);
    return charge(cost, line);
  }

  /// Adds a finished value to its container. `uncounted_cost`: the part of its cost that has not been counted yet. The members
  /// of a container have been counted one by one, those of an alias have not.
  result<void> add_value(node entry, const std::string& anchor, std::size_t uncounted_cost, std::size_t line) {
    HONDANA_TRY(charge(uncounted_cost, line));
    if (!anchor.empty()) anchors_[anchor] = entry;
    if (open_containers_.empty()) {
      root_ = std::move(entry.content);
      return {};
    }
    auto& container = open_containers_.back();
    container.cost += entry.cost;
    container.depth = std::max(container.depth, entry.depth + 1);
    if (container.is_mapping) {
      container.members.emplace_back(std::move(*container.key), std::move(entry.content));
      container.key.reset();
    } else {
      container.items.push_back(std::move(entry.content));
    }
    return {};
  }

  result<void> charge(std::size_t cost, std::size_t line) {
    total_cost_ += cost;
    if (total_cost_ <= max_cost) return {};
    return invalid(line, "more than " + std::to_string(max_cost / 1024) + " KiB as JSON in memory, with aliases resolved");
  }

  const std::size_t first_line_;
  yaml_parser_t parser_{};
  bool is_initialized_ = false;
  std::vector<open_container> open_containers_;
  std::map<std::string, node> anchors_;
  std::optional<value> root_;
  std::size_t total_cost_ = 0;
};

}  // namespace

result<value> parse_yaml(std::string_view text, std::size_t first_line) {
  if (text.size() > max_yaml_bytes) return invalid(first_line, "longer than " + std::to_string(max_yaml_bytes / 1024) + " KiB");
  return parser(text, first_line).parse_document();
}

}  // namespace hondana::front_matter
