/// Reads YAML.

#include <yaml.h>

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <iterator>
#include <string>
#include <string_view>
#include <unordered_map>
#include <unordered_set>
#include <utility>
#include <vector>

#include <hondana/error.hpp>

#include "base/ascii/ascii.hpp"
#include "text/located/format_reader.hpp"
#include "text/located/node.hpp"

namespace hondana::located {

/// The position after white space, line endings and comments.
[[nodiscard]] std::size_t skip_yaml_space(std::string_view text, std::size_t position) noexcept;

/// The position after the tags and anchors at `position`, and after the space before the value.
[[nodiscard]] std::size_t skip_yaml_properties(std::string_view text, std::size_t position) noexcept;

std::size_t skip_yaml_space(std::string_view text, std::size_t position) noexcept {
  for (;;) {
    while (position < text.size() && ascii::is_json_space(text[position])) ++position;
    const bool is_comment =
        position < text.size() && text[position] == '#' && (position == 0 || ascii::is_json_space(text[position - 1]));
    if (!is_comment) return position;
    position = std::min(text.find('\n', position), text.size());
  }
}

std::size_t skip_yaml_properties(std::string_view text, std::size_t position) noexcept {
  while (position < text.size() && (text[position] == '!' || text[position] == '&')) {
    const bool is_verbatim = text.substr(position).starts_with("!<");
    while (position < text.size() && !ascii::is_json_space(text[position])) {
      if (is_verbatim ? text[position] == '>' : text[position] == ',' || text[position] == ']' || text[position] == '}') break;
      ++position;
    }
    if (is_verbatim && position < text.size() && text[position] == '>') ++position;
    const auto next = skip_yaml_space(text, position);
    // If nothing follows on the same line, the properties may belong to an empty value, or to the value on the next line.
    if (next == position) break;
    position = next;
  }
  return position;
}

struct yaml_event {
  enum class event_kind : std::uint8_t { document, scalar, list, table, end, alias };

  event_kind kind = event_kind::scalar;
  bool is_plain = false;     ///< A scalar without quotes, tag and block indicator.
  bool is_implicit = false;  ///< An empty scalar that is not in the text.
  std::string text{};        ///< Value of a scalar.
  std::string tag{};         ///< The resolved tag; empty: none.
  source_range range{};      ///< For lists and tables, including their end.
  std::size_t related_event =
      0;  ///< For a list or table: index of its end event. For an alias: index of the event it refers to.
};

/// The events of all documents of a text. Memory: limited by the limit of values. Errors: invalid_argument for malformed YAML,
/// too deep nesting, and an alias inside the value that it refers to; response_too_large for too many events.
[[nodiscard]] result<std::vector<yaml_event>> parse_yaml_events(const parse_context& context);

namespace {

/// A text with the changes that make libyaml, a parser of YAML 1.1, read YAML 1.2, and the offsets of its characters in the
/// original text.
/// * Pairs of escaped surrogates, as in JSON, become one escape: `\ud83d\ude00` becomes `\U0001F600`.
/// * The line endings of YAML 1.1 that are ordinary characters in YAML 1.2 become private-use characters.
/// Source: yaml.org/spec/1.2.2, sections 5.4 and 5.7.
class rewritten_yaml {
 public:
  explicit rewritten_yaml(std::string_view text) : original_(text) {
    const bool has_breaks = std::any_of(breaks.begin(), breaks.end(), [text](const former_break& entry) {
      return text.find(entry.original) != std::string_view::npos;
    });
    const bool has_replacements = std::any_of(breaks.begin(), breaks.end(), [text](const former_break& entry) {
      return text.find(entry.replacement) != std::string_view::npos;
    });
    replaces_breaks_ = has_breaks && !has_replacements;
    text_.reserve(text.size());
    std::size_t index = 0;
    for (std::size_t offset = 0; offset < text.size();) {
      if (index >= checkpoints_.back().index + checkpoint_distance) checkpoints_.push_back({index, offset});
      if (is_pair(offset)) {
        pairs_.push_back(offset);
        text_ += joined_escape(offset);
        index += joined_size;
        offset += pair_size;
        continue;
      }
      const auto size = character_size(offset);
      const auto character = text.substr(offset, size);
      const auto* const replaced = replaces_breaks_ ? find_break(character) : nullptr;
      text_ += replaced == nullptr ? character : replaced->replacement;
      offset += size;
      ++index;
    }
  }

  [[nodiscard]] std::string_view text() const noexcept { return text_; }

  /// The offset in the original text of the character `index` of this text.
  [[nodiscard]] std::size_t offset_of(std::size_t index) const noexcept {
    const auto next = std::upper_bound(checkpoints_.begin(), checkpoints_.end(), index,
                                       [](std::size_t value, const checkpoint& entry) { return value < entry.index; });
    auto [current, offset] = *std::prev(next);
    while (current < index && offset < original_.size()) {
      const bool is_joined = std::binary_search(pairs_.begin(), pairs_.end(), offset);
      if (is_joined && current + joined_size > index) break;
      current += is_joined ? joined_size : 1;
      offset += is_joined ? pair_size : character_size(offset);
    }
    return std::min(offset, original_.size());
  }

  /// Takes back the changes in the value of a scalar whose source is a range of the original text. Time: linear.
  void restore(std::string& value, std::size_t begin, std::size_t end, bool is_double_quoted) const {
    if (replaces_breaks_) restore_breaks(value);
    auto pair = std::lower_bound(pairs_.begin(), pairs_.end(), begin);
    if (is_double_quoted || pair == pairs_.end() || *pair >= end) return;
    std::string restored;
    std::size_t copied = 0;
    for (; pair != pairs_.end() && *pair < end; ++pair) {
      const auto position = value.find(joined_escape(*pair), copied);
      if (position == std::string::npos) break;
      restored.append(value, copied, position - copied).append(original_.substr(*pair, pair_size));
      copied = position + joined_size;
    }
    value = restored.append(value, copied);
  }

 private:
  struct checkpoint {
    std::size_t index;   // of a character of this text
    std::size_t offset;  // its offset in the original text
  };
  struct former_break {
    std::string_view original;
    std::string_view replacement;
  };
  static constexpr std::array<former_break, 3> breaks{
      {{"\xC2\x85", "\xF4\x8F\x9E\x85"}, {"\xE2\x80\xA8", "\xF4\x8F\x9E\xA8"}, {"\xE2\x80\xA9", "\xF4\x8F\x9E\xA9"}}};
  static constexpr std::size_t checkpoint_distance = 64;
  static constexpr std::size_t pair_size = 12;    // of `\ud83d\ude00`
  static constexpr std::size_t joined_size = 10;  // of `\U0001F600`

  static const former_break* find_break(std::string_view character) noexcept {
    const auto* const match = std::find_if(breaks.begin(), breaks.end(),
                                           [character](const former_break& entry) { return entry.original == character; });
    return match == breaks.end() ? nullptr : match;
  }

  static void restore_breaks(std::string& value) {
    constexpr std::size_t replacement_size = 4;
    std::string restored;
    std::size_t copied = 0;
    for (auto position = value.find(breaks[0].replacement.substr(0, 3)); position != std::string::npos;
         position = value.find(breaks[0].replacement.substr(0, 3), copied)) {
      restored.append(value, copied, position - copied);
      const auto character = std::string_view(value).substr(position, replacement_size);
      const auto* const match = std::find_if(breaks.begin(), breaks.end(),
                                             [character](const former_break& entry) { return entry.replacement == character; });
      restored += match == breaks.end() ? character : match->original;
      copied = position + character.size();
    }
    value = restored.append(value, copied);
  }

  [[nodiscard]] std::size_t character_size(std::size_t offset) const noexcept {
    const auto byte = static_cast<unsigned char>(original_[offset]);
    const std::size_t size = byte < 0xC0 ? 1 : byte < 0xE0 ? 2 : byte < 0xF0 ? 3 : 4;
    return std::min(size, original_.size() - offset);
  }

  /// The four hexadecimal digits after `\u`; 0: there are none.
  [[nodiscard]] std::uint32_t code_unit(std::size_t offset) const noexcept {
    if (original_.substr(offset, 2) != "\\u") return 0;
    std::uint32_t unit = 0;
    for (std::size_t i = offset + 2; i < offset + pair_size / 2; ++i) {
      const char c = ascii::to_lower(original_[i]);
      if (!ascii::is_digit(c) && (c < 'a' || c > 'f')) return 0;
      unit = unit * 16 + static_cast<std::uint32_t>(ascii::is_digit(c) ? c - '0' : c - 'a' + 10);
    }
    return unit;
  }

  /// Whether a pair of escaped surrogates begins here, after an even number of backslashes.
  [[nodiscard]] bool is_pair(std::size_t offset) const noexcept {
    if (original_[offset] != '\\' || original_.size() - offset < pair_size) return false;
    const auto high = code_unit(offset);
    const auto low = code_unit(offset + pair_size / 2);
    if (high < 0xD800 || high > 0xDBFF || low < 0xDC00 || low > 0xDFFF) return false;
    std::size_t backslashes = 0;
    while (backslashes < offset && original_[offset - backslashes - 1] == '\\') ++backslashes;
    return backslashes % 2 == 0;
  }

  [[nodiscard]] std::string joined_escape(std::size_t offset) const {
    const auto high = code_unit(offset);
    auto code = 0x10000 + ((high - 0xD800) << 10) + (code_unit(offset + pair_size / 2) - 0xDC00);
    std::string escape = "\\U00000000";
    for (auto digit = escape.rbegin(); code != 0; ++digit, code /= 16) *digit = "0123456789ABCDEF"[code % 16];
    return escape;
  }

  std::string_view original_;
  std::string text_;
  bool replaces_breaks_ = false;
  std::vector<std::size_t> pairs_;  // offsets in the original text
  std::vector<checkpoint> checkpoints_{{0, 0}};
};

/// One event of libyaml, deleted with this object.
class libyaml_event {
 public:
  libyaml_event() = default;
  libyaml_event(const libyaml_event&) = delete;
  libyaml_event& operator=(const libyaml_event&) = delete;
  ~libyaml_event() { yaml_event_delete(&event_); }
  [[nodiscard]] bool parse(yaml_parser_t& parser) { return yaml_parser_parse(&parser, &event_) != 0; }
  [[nodiscard]] const yaml_event_t& operator*() const noexcept { return event_; }

 private:
  yaml_event_t event_{};
};

std::string_view view_of(const yaml_char_t* chars) {
  return chars == nullptr ? std::string_view() : std::string_view(reinterpret_cast<const char*>(chars));
}

class yaml_event_recorder {
 public:
  explicit yaml_event_recorder(const parse_context& context)
      : context_(context), text_(context.text()), rewritten_(context.text()) {
    is_initialized_ = yaml_parser_initialize(&parser_) != 0;
    if (!is_initialized_) return;
    const auto input = rewritten_.text();
    yaml_parser_set_encoding(&parser_, YAML_UTF8_ENCODING);
    yaml_parser_set_input_string(&parser_, reinterpret_cast<const unsigned char*>(input.data()), input.size());
  }
  yaml_event_recorder(const yaml_event_recorder&) = delete;
  yaml_event_recorder& operator=(const yaml_event_recorder&) = delete;
  ~yaml_event_recorder() {
    if (is_initialized_) yaml_parser_delete(&parser_);
  }

  result<std::vector<yaml_event>> read() {
    if (!is_initialized_) return fail(errc::internal, "Out of memory for the YAML parser.");
    for (;;) {
      libyaml_event next;
      if (!next.parse(parser_)) return parser_error();
      if ((*next).type == YAML_STREAM_END_EVENT) return std::move(events_);
      HONDANA_TRY(handle_event(*next));
    }
  }

 private:
  struct open_container {
    std::size_t event_index = 0;
    bool is_table = false;
    bool is_flow = false;
    bool is_value_next = false;  ///< In a table: the next event is a value.
  };

  [[nodiscard]] tl::unexpected<failure> parser_error() const {
    if (parser_.error == YAML_MEMORY_ERROR) return fail(errc::internal, "Out of memory for the YAML parser.");
    if (parser_.error == YAML_READER_ERROR) {
      const auto input = rewritten_.text();
      const auto end = input.begin() + static_cast<std::ptrdiff_t>(std::min(parser_.problem_offset, input.size()));
      return context_.error_in_line(static_cast<std::size_t>(std::count(input.begin(), end, '\n')) + 1,
                                    "a character that YAML does not allow");
    }
    std::string_view problem = parser_.problem == nullptr ? "not valid YAML" : parser_.problem;
    if (problem == "did not find expected <document start>")
      problem = "unexpected content; is the indentation wrong, or is a \"---\" missing?";
    if (constexpr std::string_view prefix = "found "; problem.starts_with(prefix)) problem.remove_prefix(prefix.size());
    // A key without its colon is noticed in a later line.
    const bool is_key = problem == "could not find expected ':'" && parser_.context != nullptr;
    return context_.error_at(offset_of(is_key ? parser_.context_mark : parser_.problem_mark), problem);
  }

  result<void> handle_event(const yaml_event_t& event) {
    switch (event.type) {
      case YAML_DOCUMENT_START_EVENT:
        return begin_document(event);
      case YAML_SCALAR_EVENT:
        return handle_scalar(event);
      case YAML_ALIAS_EVENT:
        return handle_alias(event);
      case YAML_SEQUENCE_START_EVENT:
        return begin_container(yaml_event::event_kind::list, event, view_of(event.data.sequence_start.tag),
                               view_of(event.data.sequence_start.anchor));
      case YAML_MAPPING_START_EVENT:
        return begin_container(yaml_event::event_kind::table, event, view_of(event.data.mapping_start.tag),
                               view_of(event.data.mapping_start.anchor));
      case YAML_SEQUENCE_END_EVENT:
      case YAML_MAPPING_END_EVENT:
        return end_container(event);
      default:
        return {};
    }
  }

  [[nodiscard]] std::size_t offset_of(const yaml_mark_t& mark) const noexcept { return rewritten_.offset_of(mark.index); }

  result<yaml_event*> add(yaml_event::event_kind kind, std::size_t offset) {
    // A table has two events for each member, and lists and tables have one more each.
    if (events_.size() > 3 * context_.limits().max_values + 3) {
      return context_.limit_error(offset, "more than " + std::to_string(context_.limits().max_values) + " values");
    }
    auto& event = events_.emplace_back();
    event.kind = kind;
    return &event;
  }

  result<void> begin_document(const yaml_event_t& event) {
    anchors_.clear();
    open_.clear();
    const auto offset = std::max(offset_of(event.start_mark), cursor_);
    cursor_ = std::max(offset_of(event.end_mark), offset);
    HONDANA_TRY(auto* const document, add(yaml_event::event_kind::document, offset));
    document->range = context_.range_of(offset, offset);
    return {};
  }

  void define_anchor(std::string_view anchor) {
    if (!anchor.empty()) anchors_[std::string(anchor)] = events_.size() - 1;
  }

  void advance_container() {
    if (!open_.empty() && open_.back().is_table) open_.back().is_value_next = !open_.back().is_value_next;
  }

  void finish_scalar(yaml_event& event, std::size_t begin, std::size_t end, std::string_view anchor) {
    event.range = context_.range_of(begin, std::max(begin, end));
    cursor_ = event.range.end;
    define_anchor(anchor);
    advance_container();
  }

  result<void> handle_scalar(const yaml_event_t& event) {
    const auto& scalar = event.data.scalar;
    const auto properties_begin = offset_of(event.start_mark);
    const auto end = offset_of(event.end_mark);
    const bool is_plain = scalar.style == YAML_PLAIN_SCALAR_STYLE;
    if (is_plain && scalar.length == 0) return add_implicit(view_of(scalar.anchor), view_of(scalar.tag));
    const auto begin = std::min(skip_yaml_properties(text_, properties_begin), end);
    HONDANA_TRY(auto* const recorded, add(yaml_event::event_kind::scalar, begin));
    recorded->text.assign(reinterpret_cast<const char*>(scalar.value), scalar.length);
    rewritten_.restore(recorded->text, begin, end, scalar.style == YAML_DOUBLE_QUOTED_SCALAR_STYLE);
    recorded->tag = view_of(scalar.tag);
    if (recorded->tag.empty() && has_nonspecific_tag(properties_begin, begin)) recorded->tag = "!";
    recorded->is_plain = is_plain && recorded->tag.empty();
    const bool is_block = scalar.style == YAML_LITERAL_SCALAR_STYLE || scalar.style == YAML_FOLDED_SCALAR_STYLE;
    finish_scalar(*recorded, begin, is_block ? end_of_block(begin, end) : end, view_of(scalar.anchor));
    return {};
  }

  /// The end of a block scalar without the blanks and empty lines after it.
  [[nodiscard]] std::size_t end_of_block(std::size_t begin, std::size_t end) const noexcept {
    while (end > begin && ascii::is_json_space(text_[end - 1])) --end;
    return end;
  }

  /// Whether the tags and anchors in a range include the tag `!`, which libyaml does not report.
  [[nodiscard]] bool has_nonspecific_tag(std::size_t begin, std::size_t end) const noexcept {
    while (begin < end) {
      if (text_[begin] == '!' && begin + 1 < end && ascii::is_json_space(text_[begin + 1])) return true;
      while (begin < end && !ascii::is_json_space(text_[begin])) ++begin;
      begin = skip_yaml_space(text_, begin);
    }
    return false;
  }

  result<void> handle_alias(const yaml_event_t& event) {
    const auto begin = offset_of(event.start_mark);
    const auto known = anchors_.find(std::string(view_of(event.data.alias.anchor)));
    if (known == anchors_.end()) return context_.error_at(begin, "the referenced anchor is not defined");
    const auto target = known->second;
    const bool is_container =
        events_[target].kind == yaml_event::event_kind::list || events_[target].kind == yaml_event::event_kind::table;
    if (is_container && events_[target].related_event == 0)
      return context_.error_at(begin, "an alias inside the value that it refers to");
    HONDANA_TRY(auto* const recorded, add(yaml_event::event_kind::alias, begin));
    recorded->related_event = target;
    recorded->range = context_.range_of(begin, offset_of(event.end_mark));
    cursor_ = recorded->range.end;
    advance_container();
    return {};
  }

  /// Adds an empty scalar that is not in the text. Its position is after the colon or dash.
  result<void> add_implicit(std::string_view anchor, std::string_view tag) {
    auto offset = cursor_;
    if (!open_.empty() && !open_.back().is_flow) {
      const auto next = skip_yaml_space(text_, cursor_);
      const char indicator = !open_.back().is_table ? '-' : open_.back().is_value_next ? ':' : '?';
      if (next < text_.size() && text_[next] == indicator) offset = next + 1;
    } else if (!open_.empty() && open_.back().is_value_next) {
      const auto next = skip_yaml_space(text_, cursor_);
      if (next < text_.size() && text_[next] == ':') offset = next + 1;
    }
    HONDANA_TRY(auto* const event, add(yaml_event::event_kind::scalar, offset));
    event->is_implicit = true;
    event->is_plain = tag.empty();
    event->tag = tag;
    finish_scalar(*event, offset, offset, anchor);
    return {};
  }

  result<void> begin_container(yaml_event::event_kind kind, const yaml_event_t& source, std::string_view tag,
                               std::string_view anchor) {
    const auto begin = skip_yaml_properties(text_, offset_of(source.start_mark));
    if (open_.size() >= context_.limits().max_depth) return context_.depth_error(begin);
    HONDANA_TRY(auto* const event, add(kind, begin));
    if (tag != "!") event->tag = tag;
    event->range = context_.range_of(begin, begin);
    define_anchor(anchor);
    advance_container();
    const bool is_flow = begin < text_.size() && (text_[begin] == '[' || text_[begin] == '{');
    // A block begins with its first key. If that key is a list in brackets, both have the same beginning.
    open_.push_back({events_.size() - 1, kind == yaml_event::event_kind::table, is_flow, false});
    cursor_ = is_flow ? begin + 1 : begin;
    return {};
  }

  result<void> end_container(const yaml_event_t& source) {
    const auto container = open_.back();
    open_.pop_back();
    const auto end = offset_of(source.end_mark);
    const bool has_bracket = container.is_flow && end > 0 && (text_[end - 1] == ']' || text_[end - 1] == '}');
    auto& event = events_[container.event_index];
    event.related_event = events_.size();
    event.range.end = std::max(event.range.begin, has_bracket ? end : cursor_);
    cursor_ = event.range.end;
    HONDANA_TRY(add(yaml_event::event_kind::end, cursor_));
    return {};
  }

  const parse_context& context_;
  std::string_view text_;
  rewritten_yaml rewritten_;
  yaml_parser_t parser_{};
  bool is_initialized_ = false;
  std::vector<yaml_event> events_;
  std::vector<open_container> open_;
  std::unordered_map<std::string, std::size_t> anchors_;
  std::size_t cursor_ = 0;  // the end of the last event
};

}  // namespace

result<std::vector<yaml_event>> parse_yaml_events(const parse_context& context) { return yaml_event_recorder(context).read(); }

namespace {

using event_kind = yaml_event::event_kind;

constexpr std::string_view core_tag = "tag:yaml.org,2002:";

class yaml_tree_builder {
 public:
  yaml_tree_builder(parse_context& context, const std::vector<yaml_event>& events) : context_(context), events_(events) {}

  result<node> read() {
    std::vector<node> documents;
    for (std::size_t index = 0; index < events_.size();) {
      const auto first = index + 1;
      if (first == events_.size()) break;
      // Skip empty documents, which separators create.
      const bool is_empty = events_[first].kind == event_kind::scalar && events_[first].is_implicit;
      index = first;
      auto document = build_node(index, 0);
      if (!document) return document;
      if (!is_empty) documents.push_back(std::move(*document));
    }
    if (documents.empty()) return null_node(context_.range_of(0, 0));
    if (documents.size() == 1) return std::move(documents.front());
    HONDANA_TRY(context_.count_values(0));
    auto list = empty_node(node_kind::list, documents.front().range);
    list.range.end = documents.back().range.end;
    list.items = std::move(documents);
    return list;
  }

 private:
  /// Builds the value that begins with the event `index`, and moves `index` past it.
  result<node> build_node(std::size_t& index, std::size_t depth) {
    const auto& event = events_[index];
    if (event.kind == event_kind::alias) {
      ++index;
      ++aliases_;
      auto target = event.related_event;
      auto value = build_node(target, depth);
      --aliases_;
      return value;
    }
    if (depth > context_.limits().max_depth) return context_.depth_error(event.range.begin);
    HONDANA_TRY(context_.count_values(event.range.begin));
    if (aliases_ != 0) {
      if (auto counted = context_.count_repeated(event.range.begin, event.text.size()); !counted) {
        return tl::unexpected(std::move(counted.error()));
      }
    }
    ++index;
    switch (event.kind) {
      case event_kind::list:
        return build_list(event, index, depth);
      case event_kind::table:
        return build_table(event, index, depth);
      default:
        return build_scalar(event);
    }
  }

  result<node> build_list(const yaml_event& event, std::size_t& index, std::size_t depth) {
    warn_unexpected_tag(event, {"seq", "omap", "pairs"});
    auto list = empty_node(node_kind::list, event.range);
    while (events_[index].kind != event_kind::end) {
      auto item = build_node(index, depth + 1);
      if (!item) return item;
      list.items.push_back(std::move(*item));
    }
    ++index;
    return list;
  }

  result<node> build_table(const yaml_event& event, std::size_t& index, std::size_t depth) {
    warn_unexpected_tag(event, {"map", "set"});
    table_builder table(event.range);
    std::unordered_set<std::string> merged_keys;
    while (events_[index].kind != event_kind::end) {
      const auto* key = &events_[index];
      const auto key_range = key->range;
      if (key->kind == event_kind::alias) key = &events_[key->related_event];
      if (key->kind != event_kind::scalar) {
        return context_.error_at(key_range.begin, "a key is a list or a table, which JSON does not support");
      }
      if (auto counted = context_.count_repeated(key_range.begin, aliases_ == 0 ? 0 : key->text.size()); !counted) {
        return tl::unexpected(std::move(counted.error()));
      }
      ++index;
      auto member = build_node(index, depth + 1);
      if (!member) return member;
      const bool is_merge = key->text == "<<" && (key->is_plain || key->tag == std::string(core_tag) + "merge");
      if (is_merge && merge(*member, table, merged_keys)) continue;
      if (is_merge) context_.warn(key_range.begin, "the value to merge is not a table; it is stored under the key \"<<\"");
      if (!table.put(key->text, key_range, std::move(*member)) && merged_keys.erase(key->text) == 0) {
        context_.warn_duplicate(key_range.begin, key->text);
      }
    }
    ++index;
    return table.release();
  }

  /// Merges a table, or each table of a list, into `target`. Existing members win; the others go to `replaced`. Returns whether
  /// `source` is a table or a list of tables.
  static bool merge(node& source, table_builder& target, std::unordered_set<std::string>& merged_keys) {
    if (source.kind == node_kind::list) {
      for (const auto& item : source.items) {
        if (item.kind != node_kind::table) return false;
      }
      for (auto& item : source.items) merge(item, target, merged_keys);
      return true;
    }
    if (source.kind != node_kind::table) return false;
    for (auto& [key, range, value] : source.members) {
      if (target.find(key) != nullptr) {
        target.table().replaced.push_back({key, range, std::move(value)});
        continue;
      }
      merged_keys.insert(key);
      target.put(key, range, std::move(value));
    }
    std::move(source.replaced.begin(), source.replaced.end(), std::back_inserter(target.table().replaced));
    return true;
  }

  void warn_unexpected_tag(const yaml_event& event, std::initializer_list<std::string_view> expected) {
    if (event.tag.empty()) return;
    for (const auto name : expected) {
      if (event.tag == std::string(core_tag).append(name)) return;
    }
    context_.warn(event.range.begin, "the tag " + display_key(event.tag) + " is ignored");
  }

  [[nodiscard]] node build_scalar(const yaml_event& event) {
    const auto text = [&event] { return text_node(event.text, event.range); };
    if (event.tag.empty()) return event.is_plain ? build_plain(event) : text();
    if (!event.tag.starts_with(core_tag)) {
      if (event.tag != "!")
        context_.warn(event.range.begin, "the tag " + display_key(event.tag) + " is ignored; its value is read as text");
      return text();
    }
    const auto name = std::string_view(event.tag).substr(core_tag.size());
    if (name == "str" || name == "binary" || name == "timestamp" || name == "merge") return text();
    auto resolved = resolve_plain(event.text, event.range).value;
    using kind = node_kind;
    if (name == "float" && resolved.kind == kind::integer) {
      if (auto real = parse_json_number(resolved.text + "e0", event.range)) return std::move(*real);
    }
    const bool fits = (name == "null" && resolved.kind == kind::null) || (name == "bool" && resolved.kind == kind::boolean) ||
                      (name == "int" && resolved.kind == kind::integer) || (name == "float" && resolved.kind == kind::real);
    if (fits) return resolved;
    context_.warn(event.range.begin, "the tag " + display_key(event.tag) + " does not fit its value, which is read as text");
    return text();
  }

  [[nodiscard]] node build_plain(const yaml_event& event) {
    auto [resolved, issue] = resolve_plain(event.text, event.range);
    if (issue == scalar_issue::unrepresentable) {
      context_.warn(event.range.begin, "infinities and NaN are not JSON numbers; the value is read as text");
    } else if (issue == scalar_issue::too_large) {
      context_.warn(event.range.begin, "a number that is too large is read as text");
    }
    return std::move(resolved);
  }

  parse_context& context_;
  const std::vector<yaml_event>& events_;
  std::size_t aliases_ = 0;  // number of aliases around the value being built
};

}  // namespace

result<node> read_yaml(parse_context& context) {
  HONDANA_TRY(const auto events, parse_yaml_events(context));
  return yaml_tree_builder(context, events).read();
}

}  // namespace hondana::located
