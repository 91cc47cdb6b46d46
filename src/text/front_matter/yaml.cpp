/// The events of libyaml, put together to values with a stack of our own.
#include "text/front_matter/yaml.hpp"

#include <yaml.h>

#include <algorithm>
#include <cstddef>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "base/json/writer.hpp"
#include "text/front_matter/scalar.hpp"

namespace hondana::front_matter {
namespace {

constexpr std::size_t deepest = 32;
constexpr std::size_t most_cost = 2 * longest_yaml;
constexpr std::string_view core_tag = "tag:yaml.org,2002:";

tl::unexpected<failure> wrong(std::size_t line, const std::string& what) {
  return fail(errc::invalid_argument, "line " + std::to_string(line) + ": " + what);
}

std::string text_of(const yaml_char_t* from) { return from == nullptr ? "" : reinterpret_cast<const char*>(from); }

std::string_view text_of(const yaml_char_t* from, std::size_t size) { return {reinterpret_cast<const char*>(from), size}; }

// What it costs to have a value or a key: the bytes it is written with, a control character six, and those it is held in.
// Aliases make many of one.
std::size_t cost_of(const value& scalar) { return scalar.to_text().size() + sizeof(",") - 1 + sizeof(value); }
std::size_t cost_of_key(std::string_view key) { return json::quoted(key).size() + sizeof(":") - 1 + sizeof(std::string); }
constexpr std::size_t cost_of_container = sizeof("[],") - 1 + sizeof(value);

/// A finished value, with the cost of all that is in it.
struct node {
  value what;
  std::size_t cost = 0;
  std::size_t depth = 0;  ///< Mappings and sequences from this one to the innermost.
};

/// A mapping or sequence that is not finished.
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

/// One event of the parser, released when it dies.
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

  /// `price` is what of the cost has not been paid yet: a container's members were paid one by one, an alias's were not.
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
