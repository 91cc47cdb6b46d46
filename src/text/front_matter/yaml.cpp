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

template <std::size_t count>
bool is_one_of(std::string_view text, const std::array<std::string_view, count>& words) {
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
  const auto whole = drop_digits(text);
  std::size_t fraction = 0;
  if (text.starts_with('.')) {
    text.remove_prefix(1);
    fraction = drop_digits(text);
  }
  if (whole + fraction == 0) return false;
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
    auto written = text.substr(mark + 1);
    if (written.starts_with('+')) written.remove_prefix(1);
    const auto [end, error] = std::from_chars(written.data(), written.data() + written.size(), exponent);
    // The exponent overflows. No text within the size limit has enough digits to compensate for it.
    if (error != std::errc{}) return written.starts_with('-');
  }
  const auto point = static_cast<std::int64_t>(std::min(digits.find('.'), digits.size()));
  const auto first = static_cast<std::int64_t>(std::min(digits.find_first_not_of("0."), digits.size()));
  return (point - first) + exponent < 0;
}

std::optional<value> number_of(std::string_view text, bool is_negative) {
  if (std::all_of(text.begin(), text.end(), ascii::is_digit)) {
    std::int64_t whole = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), whole);
    if (error == std::errc{}) return value(is_negative ? -whole : whole);
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
std::optional<value> based(std::string_view digits, int base) {
  std::uint64_t whole = 0;
  const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), whole, base);
  if (end != digits.data() + digits.size() || digits.empty() || error == std::errc::invalid_argument) return value(nullptr);
  if (error != std::errc{}) return std::nullopt;
  return value(whole);
}

}  // namespace

std::optional<value> resolve_plain(std::string_view text) {
  static constexpr std::array<std::string_view, 5> nulls{"", "~", "null", "Null", "NULL"};
  static constexpr std::array<std::string_view, 3> truths{"true", "True", "TRUE"};
  static constexpr std::array<std::string_view, 3> untruths{"false", "False", "FALSE"};
  static constexpr std::array<std::string_view, 6> unwritable{".inf", ".Inf", ".INF", ".nan", ".NaN", ".NAN"};
  if (is_one_of(text, nulls)) return value(nullptr);
  if (is_one_of(text, truths)) return value(true);
  if (is_one_of(text, untruths)) return value(false);
  if (text.starts_with("0x") || text.starts_with("0o")) {
    auto number = based(text.substr(2), text[1] == 'x' ? 16 : 8);
    if (!number || !number->is_null()) return number;
    return value(text);
  }
  const bool is_signed = text.starts_with('-') || text.starts_with('+');
  const auto unsigned_text = text.substr(is_signed ? 1 : 0);
  if (is_one_of(unsigned_text, unwritable)) return std::nullopt;
  if (is_decimal(unsigned_text)) return number_of(unsigned_text, text.starts_with('-'));
  return value(text);
}

namespace {

constexpr std::size_t deepest = 32;
constexpr std::size_t most_cost = 2 * longest_yaml;
constexpr std::string_view core_tag = "tag:yaml.org,2002:";

tl::unexpected<failure> wrong(std::size_t line, const std::string& what) {
  return fail(errc::invalid_argument, "line " + std::to_string(line) + ": " + what);
}

std::string text_of(const yaml_char_t* from) { return from == nullptr ? "" : reinterpret_cast<const char*>(from); }

std::string_view text_of(const yaml_char_t* from, std::size_t size) { return {reinterpret_cast<const char*>(from), size}; }

// The cost of a value or key: its bytes as JSON, with control characters escaped, and its bytes in memory. Aliases multiply it.
std::size_t cost_of(const value& scalar) { return scalar.to_text().size() + sizeof(",") - 1 + sizeof(value); }
std::size_t cost_of_key(std::string_view key) { return json::quoted(key).size() + sizeof(":") - 1 + sizeof(std::string); }
constexpr std::size_t cost_of_container = sizeof("[],") - 1 + sizeof(value);

/// A finished value, with the cost of everything in it.
struct node {
  value what;
  std::size_t cost = 0;
  std::size_t depth = 0;  ///< Nesting depth of mappings and sequences, from this one to the innermost.
};

/// An unfinished mapping or sequence.
struct open_node {
  bool is_mapping = false;
  std::string anchor;
  value::object members;
  value::array items;
  std::set<std::string> keys;
  std::optional<std::string> key;  // of the member whose value comes next
  std::size_t cost = cost_of_container;
  std::size_t depth = 1;
};

/// One event of libyaml, deleted with this object.
class event {
 public:
  event() = default;
  event(const event&) = delete;
  event& operator=(const event&) = delete;
  ~event() { yaml_event_delete(&event_); }
  [[nodiscard]] bool parse(yaml_parser_t& with) { return yaml_parser_parse(&with, &event_) != 0; }
  [[nodiscard]] const yaml_event_t& operator*() const noexcept { return event_; }

 private:
  yaml_event_t event_{};
};

class parser {
 public:
  parser(std::string_view text, std::size_t first_line) : first_line_(first_line) {
    is_ready_ = yaml_parser_initialize(&parser_) != 0;
    if (!is_ready_) return;
    yaml_parser_set_encoding(&parser_, YAML_UTF8_ENCODING);
    yaml_parser_set_input_string(&parser_, reinterpret_cast<const unsigned char*>(text.data()), text.size());
  }
  parser(const parser&) = delete;
  parser& operator=(const parser&) = delete;
  ~parser() {
    if (is_ready_) yaml_parser_delete(&parser_);
  }

  result<value> document() {
    if (!is_ready_) return fail(errc::internal, "Out of memory for the YAML parser.");
    for (;;) {
      event next;
      if (!next.parse(parser_)) return refused();
      if ((*next).type == YAML_STREAM_END_EVENT) break;
      HONDANA_TRY(take(*next));
    }
    return root_ ? std::move(*root_) : value();
  }

 private:
  tl::unexpected<failure> refused() const {
    const std::string what = parser_.problem == nullptr ? "not YAML" : parser_.problem;
    return wrong(parser_.problem_mark.line + first_line_, what);
  }

  result<void> take(const yaml_event_t& what) {
    const auto line = what.start_mark.line + first_line_;
    switch (what.type) {
      case YAML_DOCUMENT_START_EVENT:
        if (root_) return wrong(line, "a second document begins; only one is allowed");
        return {};
      case YAML_MAPPING_START_EVENT:
        return begin(true, text_of(what.data.mapping_start.anchor), text_of(what.data.mapping_start.tag), line);
      case YAML_SEQUENCE_START_EVENT:
        return begin(false, text_of(what.data.sequence_start.anchor), text_of(what.data.sequence_start.tag), line);
      case YAML_MAPPING_END_EVENT:
      case YAML_SEQUENCE_END_EVENT:
        return end(line);
      case YAML_SCALAR_EVENT:
        return scalar(what, line);
      case YAML_ALIAS_EVENT:
        return alias(text_of(what.data.alias.anchor), line);
      default:
        return {};
    }
  }

  static tl::unexpected<failure> too_deep(std::size_t line) {
    return wrong(line, "nested deeper than " + std::to_string(deepest) + " levels");
  }

  [[nodiscard]] bool expects_key() const { return !open_.empty() && open_.back().is_mapping && !open_.back().key; }

  result<void> begin(bool is_mapping, std::string anchor, const std::string& tag, std::size_t line) {
    if (expects_key()) return wrong(line, "a key is a list or a mapping, which JSON does not support");
    if (open_.size() == deepest) return too_deep(line);
    const auto usual = std::string(core_tag) + (is_mapping ? "map" : "seq");
    if (!tag.empty() && tag != "!" && tag != usual) return wrong(line, "the tag " + tag + " has no equivalent in JSON");
    open_node one;
    one.is_mapping = is_mapping;
    one.anchor = std::move(anchor);
    open_.push_back(std::move(one));
    return {};
  }

  result<void> end(std::size_t line) {
    auto done = std::move(open_.back());
    open_.pop_back();
    auto what = done.is_mapping ? value(std::move(done.members)) : value(std::move(done.items));
    return place({std::move(what), done.cost, done.depth}, done.anchor, cost_of_container, line);
  }

  result<void> scalar(const yaml_event_t& from, std::size_t line) {
    const auto& given = from.data.scalar;
    const auto text = text_of(given.value, given.length);
    HONDANA_TRY(auto what, meaning(given, text, line));
    const auto cost = cost_of(what);
    if (expects_key()) {
      if (given.anchor != nullptr) anchors_[text_of(given.anchor)] = {what, cost};
      return take_key(std::string(text), line);
    }
    return place({std::move(what), cost}, text_of(given.anchor), cost, line);
  }

  template <class Scalar>
  static result<value> meaning(const Scalar& given, std::string_view text, std::size_t line) {
    auto tag = text_of(given.tag);
    if (tag == "!" || (tag.empty() && given.style != YAML_PLAIN_SCALAR_STYLE)) return value(text);
    if (tag == std::string(core_tag) + "str") return value(text);
    auto plain = resolve_plain(text);
    if (!plain) return wrong(line, std::string(text.substr(0, 40)) + " is a number that JSON cannot represent");
    if (tag.empty()) return std::move(*plain);
    using kind = value::kind;
    const auto is_kind = [&](std::string_view name, bool fits) { return tag == std::string(core_tag).append(name) && fits; };
    const auto type = plain->type();
    if (is_kind("int", type == kind::integer) || is_kind("bool", type == kind::boolean) ||
        is_kind("null", type == kind::null) || is_kind("float", type == kind::number || type == kind::integer)) {
      return std::move(*plain);
    }
    return wrong(line, "the tag " + tag + " does not fit the value or has no equivalent in JSON");
  }

  result<void> alias(const std::string& anchor, std::size_t line) {
    const auto known = anchors_.find(anchor);
    if (known == anchors_.end()) return wrong(line, "*" + anchor + " does not refer to a value that ends before it");
    if (!expects_key()) {
      if (open_.size() + known->second.depth > deepest) return too_deep(line);
      return place(known->second, {}, known->second.cost, line);
    }
    const auto* text = known->second.what.as_string();
    if (text == nullptr) return wrong(line, "a key is not text");
    return take_key(*text, line);
  }

  result<void> take_key(std::string key, std::size_t line) {
    auto& mapping = open_.back();
    if (!mapping.keys.insert(key).second) return wrong(line, "the key \"" + key.substr(0, 80) + "\" occurs twice");
    const auto cost = cost_of_key(key);
    mapping.cost += cost;
    mapping.key = std::move(key);
    return spend(cost, line);
  }

  /// Adds a finished value to its container. `price`: the part of its cost that has not been counted yet. The members of a
  /// container have been counted one by one, those of an alias have not.
  result<void> place(node what, const std::string& anchor, std::size_t price, std::size_t line) {
    HONDANA_TRY(spend(price, line));
    if (!anchor.empty()) anchors_[anchor] = what;
    if (open_.empty()) {
      root_ = std::move(what.what);
      return {};
    }
    auto& into = open_.back();
    into.cost += what.cost;
    into.depth = std::max(into.depth, what.depth + 1);
    if (into.is_mapping) {
      into.members.emplace_back(std::move(*into.key), std::move(what.what));
      into.key.reset();
    } else {
      into.items.push_back(std::move(what.what));
    }
    return {};
  }

  result<void> spend(std::size_t cost, std::size_t line) {
    spent_ += cost;
    if (spent_ <= most_cost) return {};
    return wrong(line, "more than " + std::to_string(most_cost / 1024) + " KiB as JSON in memory, with aliases resolved");
  }

  const std::size_t first_line_;
  yaml_parser_t parser_{};
  bool is_ready_ = false;
  std::vector<open_node> open_;
  std::map<std::string, node> anchors_;
  std::optional<value> root_;
  std::size_t spent_ = 0;
};

}  // namespace

result<value> parse_yaml(std::string_view text, std::size_t first_line) {
  if (text.size() > longest_yaml) return wrong(first_line, "longer than " + std::to_string(longest_yaml / 1024) + " KiB");
  return parser(text, first_line).document();
}

}  // namespace hondana::front_matter
