/// Reads YAML.

#include <yaml-cpp/anchor.h>
#include <yaml-cpp/eventhandler.h>
#include <yaml-cpp/exceptions.h>
#include <yaml-cpp/mark.h>
#include <yaml-cpp/parser.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <iterator>
#include <sstream>
#include <string>
#include <string_view>
#include <unordered_map>
#include <unordered_set>
#include <utility>
#include <vector>

#include <hondana/error.hpp>

#include "base/ascii/ascii.hpp"
#include "base/json/utf8.hpp"
#include "text/located/format_reader.hpp"
#include "text/located/node.hpp"

namespace hondana::located {

/// The position after white space, line endings and comments.
[[nodiscard]] std::size_t skip_yaml_space(std::string_view text, std::size_t position) noexcept;

/// The position after the tags and anchors at `position`, and after the space before the value.
[[nodiscard]] std::size_t skip_yaml_properties(std::string_view text, std::size_t position) noexcept;

/// The end of the scalar that begins at `position` and has the value `value`.
[[nodiscard]] std::size_t end_of_yaml_scalar(std::string_view text, std::size_t position, std::string_view value) noexcept;

/// The end of the alias at `position`.
[[nodiscard]] std::size_t end_of_yaml_alias(std::string_view text, std::size_t position) noexcept;

/// A scalar as UTF-8. For `\N` and `\_` in quotes, yaml-cpp writes one byte each, which is not valid UTF-8.
[[nodiscard]] std::string to_utf8(std::string_view scalar);

/// Checks before parsing, because yaml-cpp buffers a line that may be a key, and one that begins with a bracket may be.
/// The first position with this many more brackets opened than closed, or the first line with this many brackets and commas.
/// The end of the text if there is none.
[[nodiscard]] std::size_t find_nesting(std::string_view text, std::size_t brackets) noexcept;
[[nodiscard]] std::size_t find_line_with_marks(std::string_view text, std::size_t marks) noexcept;

namespace {

std::size_t end_of_quoted(std::string_view text, std::size_t position) noexcept {
  const char quote = text[position];
  for (++position; position < text.size(); ++position) {
    if (text[position] == '\\' && quote == '"') {
      ++position;
    } else if (text[position] == quote) {
      if (quote == '"' || position + 1 >= text.size() || text[position + 1] != quote) return position + 1;
      ++position;
    }
  }
  return text.size();
}

/// The end of a plain scalar or block. These have no escapes, so the source equals the value except for white space.
std::size_t end_by_matching(std::string_view text, std::size_t position, std::string_view value) noexcept {
  auto end = position;
  for (const char c : value) {
    if (ascii::is_json_space(c)) continue;
    while (position < text.size() && ascii::is_json_space(text[position])) ++position;
    if (position >= text.size() || text[position] != c) return end;
    end = ++position;
  }
  return end;
}

}  // namespace

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

std::size_t end_of_yaml_scalar(std::string_view text, std::size_t position, std::string_view value) noexcept {
  if (position >= text.size()) return text.size();
  if (text[position] == '"' || text[position] == '\'') return end_of_quoted(text, position);
  if (text[position] != '|' && text[position] != '>') return end_by_matching(text, position, value);
  const auto header = std::min(text.find('\n', position), text.size());
  const auto end = end_by_matching(text, header, value);
  if (end != header) return end;
  return header > position && text[header - 1] == '\r' ? header - 1 : header;
}

std::size_t end_of_yaml_alias(std::string_view text, std::size_t position) noexcept {
  while (position < text.size() && !ascii::is_json_space(text[position]) && text[position] != ',' && text[position] != ']' &&
         text[position] != '}')
    ++position;
  return position;
}

std::string to_utf8(std::string_view scalar) {
  if (json::is_utf8(scalar)) return std::string(scalar);
  std::string widened;
  for (std::size_t position = 0; position < scalar.size();) {
    const auto byte = static_cast<unsigned char>(scalar[position]);
    const std::size_t size = byte < 0xC0 ? 1 : byte < 0xE0 ? 2 : byte < 0xF0 ? 3 : 4;
    if (byte == 0x85 || byte == 0xA0) widened += '\xC2';
    widened += scalar.substr(position, size);
    position += size;
  }
  std::string repaired;
  json::append_replacing(repaired, widened);
  return repaired;
}

std::size_t find_nesting(std::string_view text, std::size_t brackets) noexcept {
  std::size_t open = 0;
  for (std::size_t position = 0; position < text.size(); ++position) {
    const char c = text[position];
    if ((c == '[' || c == '{') && ++open >= brackets) return position;
    if ((c == ']' || c == '}') && open > 0) --open;
  }
  return text.size();
}

std::size_t find_line_with_marks(std::string_view text, std::size_t marks) noexcept {
  std::size_t count = 0;
  for (std::size_t position = 0; position < text.size(); ++position) {
    const char c = text[position];
    if (c == '\n') count = 0;
    if ((c == '[' || c == '{' || c == ',') && ++count >= marks) return position;
  }
  return text.size();
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

/// Thrown through yaml-cpp, which has no other way to stop it.
struct parse_aborted {
  failure error;
};

class yaml_event_recorder final : public YAML::EventHandler {
 public:
  explicit yaml_event_recorder(const parse_context& context) : context_(context), text_(context.text()) {}

  [[nodiscard]] std::vector<yaml_event> release_events() { return std::move(events_); }

  void OnDocumentStart(const YAML::Mark& mark) override {
    anchors_.clear();
    open_.clear();
    const auto offset = std::max(offset_of(mark), cursor_);
    // yaml-cpp begins a new document wherever the previous one ends.
    if (!events_.empty() && !text_.substr(offset).starts_with("---") &&
        text_.substr(cursor_, offset - cursor_).find("\n...") == std::string_view::npos) {
      stop(context_.error_at(offset, "unexpected content; is the indentation wrong, or is a \"---\" missing?"));
    }
    cursor_ = offset;
    auto& event = add(yaml_event::event_kind::document, offset);
    event.range = context_.range_of(offset, offset);
  }
  void OnDocumentEnd() override {}

  void OnNull(const YAML::Mark& mark, YAML::anchor_t anchor) override {
    const auto begin = skip_yaml_properties(text_, offset_of(mark));
    const auto keyword = null_keyword(begin);
    if (keyword.empty()) {
      add_implicit(anchor, {});
      return;
    }
    auto& event = add(yaml_event::event_kind::scalar, begin);
    event.is_plain = true;
    event.text = keyword;
    finish_scalar(event, begin, begin + keyword.size(), anchor);
  }

  void OnScalar(const YAML::Mark& mark, const std::string& tag, YAML::anchor_t anchor, const std::string& value) override {
    const auto begin = skip_yaml_properties(text_, offset_of(mark));
    // An empty scalar with a tag has the position of the next token.
    if (value.empty() && tag != "?" && !begins_empty_scalar(begin)) {
      add_implicit(anchor, tag);
      return;
    }
    auto& event = add(yaml_event::event_kind::scalar, begin);
    event.is_plain = tag == "?";
    event.text = to_utf8(value);
    if (tag != "?") event.tag = tag;
    finish_scalar(event, begin, end_of_yaml_scalar(text_, begin, value), anchor);
  }

  void OnAlias(const YAML::Mark& mark, YAML::anchor_t anchor) override {
    const auto begin = offset_of(mark);
    const auto known = anchors_.find(anchor);
    if (known == anchors_.end()) stop(context_.error_at(begin, "an alias without an anchor before it"));
    const auto target = known->second;
    const bool is_container =
        events_[target].kind == yaml_event::event_kind::list || events_[target].kind == yaml_event::event_kind::table;
    if (is_container && events_[target].related_event == 0)
      stop(context_.error_at(begin, "an alias inside the value that it refers to"));
    auto& event = add(yaml_event::event_kind::alias, begin);
    event.related_event = target;
    event.range = context_.range_of(begin, end_of_yaml_alias(text_, begin));
    cursor_ = event.range.end;
    advance_container();
  }

  void OnSequenceStart(const YAML::Mark& mark, const std::string& tag, YAML::anchor_t anchor,
                       YAML::EmitterStyle::value /*style*/) override {
    begin_container(yaml_event::event_kind::list, mark, tag, anchor);
  }
  void OnSequenceEnd() override { end_container(); }
  void OnMapStart(const YAML::Mark& mark, const std::string& tag, YAML::anchor_t anchor,
                  YAML::EmitterStyle::value /*style*/) override {
    begin_container(yaml_event::event_kind::table, mark, tag, anchor);
  }
  void OnMapEnd() override { end_container(); }

 private:
  struct open_container {
    std::size_t event_index = 0;
    bool is_table = false;
    bool is_flow = false;
    bool is_value_next = false;  ///< In a table: the next event is a value.
  };

  [[nodiscard]] std::size_t offset_of(const YAML::Mark& mark) const noexcept {
    return std::min(static_cast<std::size_t>(std::max(mark.pos, 0)), text_.size());
  }

  [[noreturn]] static void stop(tl::unexpected<failure> error) { throw parse_aborted{std::move(error.value())}; }

  yaml_event& add(yaml_event::event_kind kind, std::size_t offset) {
    // A table has two events for each member, and lists and tables have one more each.
    if (events_.size() > 3 * context_.limits().max_values + 3) {
      stop(context_.limit_error(offset, "more than " + std::to_string(context_.limits().max_values) + " values"));
    }
    auto& event = events_.emplace_back();
    event.kind = kind;
    return event;
  }

  void define_anchor(YAML::anchor_t anchor) {
    if (anchor != YAML::NullAnchor) anchors_[anchor] = events_.size() - 1;
  }

  void advance_container() {
    if (!open_.empty() && open_.back().is_table) open_.back().is_value_next = !open_.back().is_value_next;
  }

  void finish_scalar(yaml_event& event, std::size_t begin, std::size_t end, YAML::anchor_t anchor) {
    event.range = context_.range_of(begin, std::max(begin, end));
    cursor_ = event.range.end;
    define_anchor(anchor);
    advance_container();
  }

  [[nodiscard]] std::string_view null_keyword(std::size_t position) const noexcept {
    for (const std::string_view keyword : {"~", "null", "Null", "NULL"}) {
      if (text_.substr(position).starts_with(keyword)) return keyword;
    }
    return {};
  }

  [[nodiscard]] bool begins_empty_scalar(std::size_t position) const noexcept {
    return position < text_.size() && std::string_view("\"'|>").find(text_[position]) != std::string_view::npos;
  }

  /// Adds an empty scalar that is not in the text. Its position is after the colon or dash.
  void add_implicit(YAML::anchor_t anchor, const std::string& tag) {
    auto offset = cursor_;
    if (!open_.empty() && !open_.back().is_flow) {
      const auto next = skip_yaml_space(text_, cursor_);
      const char indicator = !open_.back().is_table ? '-' : open_.back().is_value_next ? ':' : '?';
      if (next < text_.size() && text_[next] == indicator) offset = next + 1;
    } else if (!open_.empty() && open_.back().is_value_next) {
      const auto next = skip_yaml_space(text_, cursor_);
      if (next < text_.size() && text_[next] == ':') offset = next + 1;
    }
    auto& event = add(yaml_event::event_kind::scalar, offset);
    event.is_implicit = true;
    event.is_plain = tag.empty();
    event.tag = tag;
    finish_scalar(event, offset, offset, anchor);
  }

  void begin_container(yaml_event::event_kind kind, const YAML::Mark& mark, const std::string& tag, YAML::anchor_t anchor) {
    const auto begin = skip_yaml_properties(text_, offset_of(mark));
    if (open_.size() >= context_.limits().max_depth) stop(context_.depth_error(begin));
    auto& event = add(kind, begin);
    if (tag != "?" && tag != "!") event.tag = tag;
    event.range = context_.range_of(begin, begin);
    define_anchor(anchor);
    advance_container();
    const bool is_flow = begin < text_.size() && (text_[begin] == '[' || text_[begin] == '{');
    // A block begins with its first key. If that key is a list in brackets, both have the same beginning.
    open_.push_back({events_.size() - 1, kind == yaml_event::event_kind::table, is_flow, false});
    cursor_ = is_flow ? begin + 1 : begin;
  }

  void end_container() {
    const auto container = open_.back();
    open_.pop_back();
    auto& event = events_[container.event_index];
    event.related_event = events_.size();
    event.range.end = std::max(event.range.begin, end_of(container));
    cursor_ = event.range.end;
    add(yaml_event::event_kind::end, cursor_);
  }

  [[nodiscard]] std::size_t end_of(const open_container& container) const noexcept {
    if (!container.is_flow) return cursor_;
    auto position = skip_yaml_space(text_, cursor_);
    if (position < text_.size() && text_[position] == ',') position = skip_yaml_space(text_, position + 1);
    return position < text_.size() && (text_[position] == ']' || text_[position] == '}') ? position + 1 : cursor_;
  }

  const parse_context& context_;
  std::string_view text_;
  std::vector<yaml_event> events_;
  std::vector<open_container> open_;
  std::unordered_map<YAML::anchor_t, std::size_t> anchors_;
  std::size_t cursor_ = 0;  // the end of the last event
};

/// Rejects texts for which yaml-cpp would need much more memory than their size. Texts may contain brackets, too, but rarely
/// this many.
result<void> check_lines(const parse_context& context) {
  constexpr std::size_t tolerance = 900;
  const auto text = context.text();
  if (const auto bracket_offset = find_nesting(text, context.limits().max_depth + tolerance); bracket_offset != text.size())
    return context.depth_error(bracket_offset);
  const auto max_values = context.limits().max_values;
  if (const auto line_offset = find_line_with_marks(text, 2 * max_values + 2); line_offset != text.size()) {
    return context.limit_error(line_offset, "more than " + std::to_string(max_values) + " values");
  }
  return {};
}

/// The error of yaml-cpp without the part that it quotes from the text.
std::string_view unquoted_message(const YAML::Exception& error) {
  const std::string_view message = error.msg;
  return message.substr(0, message.find(": "));
}

}  // namespace

result<std::vector<yaml_event>> parse_yaml_events(const parse_context& context) {
  HONDANA_TRY(check_lines(context));
  yaml_event_recorder recorder(context);
  try {
    std::istringstream stream{std::string(context.text())};
    YAML::Parser parser(stream);
    while (parser.HandleNextDocument(recorder)) {
    }
  } catch (parse_aborted& aborted) {
    return tl::unexpected(std::move(aborted.error));
  } catch (const YAML::Exception& yaml_error) {
    const auto offset = static_cast<std::size_t>(std::max(yaml_error.mark.pos, 0));
    return context.error_at(offset, unquoted_message(yaml_error));
  } catch (const std::exception& error) {
    return fail(errc::invalid_argument, "this is not valid YAML", error.what());
  }
  return recorder.release_events();
}

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
