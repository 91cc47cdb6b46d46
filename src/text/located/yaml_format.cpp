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
[[nodiscard]] std::size_t skip_yaml_space(std::string_view text, std::size_t at) noexcept;

/// The position after the tags and anchors at `at`, and after the space before the value.
[[nodiscard]] std::size_t skip_yaml_properties(std::string_view text, std::size_t at) noexcept;

/// The end of the scalar that begins at `at` and has the value `meant`.
[[nodiscard]] std::size_t end_of_yaml_scalar(std::string_view text, std::size_t at, std::string_view meant) noexcept;

/// The end of the alias at `at`.
[[nodiscard]] std::size_t end_of_yaml_alias(std::string_view text, std::size_t at) noexcept;

/// A scalar as UTF-8. For `\N` and `\_` in quotes, yaml-cpp writes one byte each, which is not valid UTF-8.
[[nodiscard]] std::string as_utf8(std::string_view scalar);

/// Checks before parsing, because yaml-cpp buffers a line that may be a key, and one that begins with a bracket may be.
/// The first position with this many more brackets opened than closed, or the first line with this many brackets and commas.
/// The end of the text if there is none.
[[nodiscard]] std::size_t first_nested_by(std::string_view text, std::size_t brackets) noexcept;
[[nodiscard]] std::size_t first_line_with_marks(std::string_view text, std::size_t marks) noexcept;

namespace {

std::size_t end_of_quoted(std::string_view text, std::size_t at) noexcept {
  const char quote = text[at];
  for (++at; at < text.size(); ++at) {
    if (text[at] == '\\' && quote == '"') {
      ++at;
    } else if (text[at] == quote) {
      if (quote == '"' || at + 1 >= text.size() || text[at + 1] != quote) return at + 1;
      ++at;
    }
  }
  return text.size();
}

/// The end of a plain scalar or block. These have no escapes, so the source equals the value except for white space.
std::size_t end_by_letters(std::string_view text, std::size_t at, std::string_view meant) noexcept {
  auto end = at;
  for (const char c : meant) {
    if (ascii::is_json_space(c)) continue;
    while (at < text.size() && ascii::is_json_space(text[at])) ++at;
    if (at >= text.size() || text[at] != c) return end;
    end = ++at;
  }
  return end;
}

}  // namespace

std::size_t skip_yaml_space(std::string_view text, std::size_t at) noexcept {
  for (;;) {
    while (at < text.size() && ascii::is_json_space(text[at])) ++at;
    const bool is_comment = at < text.size() && text[at] == '#' && (at == 0 || ascii::is_json_space(text[at - 1]));
    if (!is_comment) return at;
    at = std::min(text.find('\n', at), text.size());
  }
}

std::size_t skip_yaml_properties(std::string_view text, std::size_t at) noexcept {
  while (at < text.size() && (text[at] == '!' || text[at] == '&')) {
    const bool is_verbatim = text.substr(at).starts_with("!<");
    while (at < text.size() && !ascii::is_json_space(text[at])) {
      if (is_verbatim ? text[at] == '>' : text[at] == ',' || text[at] == ']' || text[at] == '}') break;
      ++at;
    }
    if (is_verbatim && at < text.size() && text[at] == '>') ++at;
    const auto behind = skip_yaml_space(text, at);
    // If nothing follows on the same line, the properties may belong to an empty value, or to the value on the next line.
    if (behind == at) break;
    at = behind;
  }
  return at;
}

std::size_t end_of_yaml_scalar(std::string_view text, std::size_t at, std::string_view meant) noexcept {
  if (at >= text.size()) return text.size();
  if (text[at] == '"' || text[at] == '\'') return end_of_quoted(text, at);
  if (text[at] != '|' && text[at] != '>') return end_by_letters(text, at, meant);
  const auto header = std::min(text.find('\n', at), text.size());
  const auto end = end_by_letters(text, header, meant);
  if (end != header) return end;
  return header > at && text[header - 1] == '\r' ? header - 1 : header;
}

std::size_t end_of_yaml_alias(std::string_view text, std::size_t at) noexcept {
  while (at < text.size() && !ascii::is_json_space(text[at]) && text[at] != ',' && text[at] != ']' && text[at] != '}') ++at;
  return at;
}

std::string as_utf8(std::string_view scalar) {
  if (json::is_utf8(scalar)) return std::string(scalar);
  std::string widened;
  for (std::size_t at = 0; at < scalar.size();) {
    const auto byte = static_cast<unsigned char>(scalar[at]);
    const std::size_t size = byte < 0xC0 ? 1 : byte < 0xE0 ? 2 : byte < 0xF0 ? 3 : 4;
    if (byte == 0x85 || byte == 0xA0) widened += '\xC2';
    widened += scalar.substr(at, size);
    at += size;
  }
  std::string repaired;
  json::append_replacing(repaired, widened);
  return repaired;
}

std::size_t first_nested_by(std::string_view text, std::size_t brackets) noexcept {
  std::size_t open = 0;
  for (std::size_t at = 0; at < text.size(); ++at) {
    const char c = text[at];
    if ((c == '[' || c == '{') && ++open >= brackets) return at;
    if ((c == ']' || c == '}') && open > 0) --open;
  }
  return text.size();
}

std::size_t first_line_with_marks(std::string_view text, std::size_t marks) noexcept {
  std::size_t count = 0;
  for (std::size_t at = 0; at < text.size(); ++at) {
    const char c = text[at];
    if (c == '\n') count = 0;
    if ((c == '[' || c == '{' || c == ',') && ++count >= marks) return at;
  }
  return text.size();
}

struct yaml_event {
  enum class kind : std::uint8_t { document, scalar, list, table, end, alias };

  kind is = kind::scalar;
  bool is_plain = false;   ///< A scalar without quotes, tag and block indicator.
  bool is_absent = false;  ///< An empty scalar that is not in the text.
  std::string text{};      ///< Value of a scalar.
  std::string tag{};       ///< The resolved tag; empty: none.
  place at{};              ///< For lists and tables, including their end.
  std::size_t other = 0;   ///< For a list or table: index of its end event. For an alias: index of the event it refers to.
};

/// The events of all documents of a text. Memory: limited by the limit of values. Errors: invalid_argument for malformed YAML,
/// too deep nesting, and an alias inside the value that it refers to; response_too_large for too many events.
[[nodiscard]] result<std::vector<yaml_event>> yaml_events(const reading& from);

namespace {

/// Thrown through yaml-cpp, which has no other way to stop it.
struct stopped {
  failure why;
};

class event_recorder final : public YAML::EventHandler {
 public:
  explicit event_recorder(const reading& from) : from_(from), text_(from.text()) {}

  [[nodiscard]] std::vector<yaml_event> take() { return std::move(events_); }

  void OnDocumentStart(const YAML::Mark& mark) override {
    anchors_.clear();
    open_.clear();
    const auto at = std::max(offset_of(mark), cursor_);
    // yaml-cpp begins a new document wherever the previous one ends.
    if (!events_.empty() && !text_.substr(at).starts_with("---") &&
        text_.substr(cursor_, at - cursor_).find("\n...") == std::string_view::npos) {
      stop(from_.wrong(at, "unexpected content; is the indentation wrong, or is a \"---\" missing?"));
    }
    cursor_ = at;
    auto& made = add(yaml_event::kind::document, at);
    made.at = from_.at(at, at);
  }
  void OnDocumentEnd() override {}

  void OnNull(const YAML::Mark& mark, YAML::anchor_t anchor) override {
    const auto begin = skip_yaml_properties(text_, offset_of(mark));
    const auto word = null_word(begin);
    if (word.empty()) {
      absent(anchor, {});
      return;
    }
    auto& made = add(yaml_event::kind::scalar, begin);
    made.is_plain = true;
    made.text = word;
    finish_scalar(made, begin, begin + word.size(), anchor);
  }

  void OnScalar(const YAML::Mark& mark, const std::string& tag, YAML::anchor_t anchor, const std::string& value) override {
    const auto begin = skip_yaml_properties(text_, offset_of(mark));
    // An empty scalar with a tag has the position of the next token.
    if (value.empty() && tag != "?" && !begins_empty_scalar(begin)) {
      absent(anchor, tag);
      return;
    }
    auto& made = add(yaml_event::kind::scalar, begin);
    made.is_plain = tag == "?";
    made.text = as_utf8(value);
    if (tag != "?") made.tag = tag;
    finish_scalar(made, begin, end_of_yaml_scalar(text_, begin, value), anchor);
  }

  void OnAlias(const YAML::Mark& mark, YAML::anchor_t anchor) override {
    const auto begin = offset_of(mark);
    const auto known = anchors_.find(anchor);
    if (known == anchors_.end()) stop(from_.wrong(begin, "an alias without an anchor before it"));
    const auto target = known->second;
    const bool is_container = events_[target].is == yaml_event::kind::list || events_[target].is == yaml_event::kind::table;
    if (is_container && events_[target].other == 0) stop(from_.wrong(begin, "an alias inside the value that it refers to"));
    auto& made = add(yaml_event::kind::alias, begin);
    made.other = target;
    made.at = from_.at(begin, end_of_yaml_alias(text_, begin));
    cursor_ = made.at.end;
    took_one();
  }

  void OnSequenceStart(const YAML::Mark& mark, const std::string& tag, YAML::anchor_t anchor,
                       YAML::EmitterStyle::value /*style*/) override {
    open(yaml_event::kind::list, mark, tag, anchor);
  }
  void OnSequenceEnd() override { close(); }
  void OnMapStart(const YAML::Mark& mark, const std::string& tag, YAML::anchor_t anchor,
                  YAML::EmitterStyle::value /*style*/) override {
    open(yaml_event::kind::table, mark, tag, anchor);
  }
  void OnMapEnd() override { close(); }

 private:
  struct container {
    std::size_t event = 0;
    bool is_table = false;
    bool is_flow = false;
    bool is_value_next = false;  ///< In a table: the next event is a value.
  };

  [[nodiscard]] std::size_t offset_of(const YAML::Mark& mark) const noexcept {
    return std::min(static_cast<std::size_t>(std::max(mark.pos, 0)), text_.size());
  }

  [[noreturn]] static void stop(tl::unexpected<failure> why) { throw stopped{std::move(why.value())}; }

  yaml_event& add(yaml_event::kind is, std::size_t offset) {
    // A table has two events for each member, and lists and tables have one more each.
    if (events_.size() > 3 * from_.most().values + 3) {
      stop(from_.too_many(offset, "more than " + std::to_string(from_.most().values) + " values"));
    }
    auto& made = events_.emplace_back();
    made.is = is;
    return made;
  }

  void know(YAML::anchor_t anchor) {
    if (anchor != YAML::NullAnchor) anchors_[anchor] = events_.size() - 1;
  }

  void took_one() {
    if (!open_.empty() && open_.back().is_table) open_.back().is_value_next = !open_.back().is_value_next;
  }

  void finish_scalar(yaml_event& made, std::size_t begin, std::size_t end, YAML::anchor_t anchor) {
    made.at = from_.at(begin, std::max(begin, end));
    cursor_ = made.at.end;
    know(anchor);
    took_one();
  }

  [[nodiscard]] std::string_view null_word(std::size_t at) const noexcept {
    for (const std::string_view word : {"~", "null", "Null", "NULL"}) {
      if (text_.substr(at).starts_with(word)) return word;
    }
    return {};
  }

  [[nodiscard]] bool begins_empty_scalar(std::size_t at) const noexcept {
    return at < text_.size() && std::string_view("\"'|>").find(text_[at]) != std::string_view::npos;
  }

  /// Adds an empty scalar that is not in the text. Its position is after the colon or dash.
  void absent(YAML::anchor_t anchor, const std::string& tag) {
    auto at = cursor_;
    if (!open_.empty() && !open_.back().is_flow) {
      const auto next = skip_yaml_space(text_, cursor_);
      const char indicator = !open_.back().is_table ? '-' : open_.back().is_value_next ? ':' : '?';
      if (next < text_.size() && text_[next] == indicator) at = next + 1;
    } else if (!open_.empty() && open_.back().is_value_next) {
      const auto next = skip_yaml_space(text_, cursor_);
      if (next < text_.size() && text_[next] == ':') at = next + 1;
    }
    auto& made = add(yaml_event::kind::scalar, at);
    made.is_absent = true;
    made.is_plain = tag.empty();
    made.tag = tag;
    finish_scalar(made, at, at, anchor);
  }

  void open(yaml_event::kind is, const YAML::Mark& mark, const std::string& tag, YAML::anchor_t anchor) {
    const auto begin = skip_yaml_properties(text_, offset_of(mark));
    if (open_.size() >= from_.most().depth) stop(from_.too_deep(begin));
    auto& made = add(is, begin);
    if (tag != "?" && tag != "!") made.tag = tag;
    made.at = from_.at(begin, begin);
    know(anchor);
    took_one();
    const bool is_flow = begin < text_.size() && (text_[begin] == '[' || text_[begin] == '{');
    // A block begins with its first key. If that key is a list in brackets, both have the same beginning.
    open_.push_back({events_.size() - 1, is == yaml_event::kind::table, is_flow, false});
    cursor_ = is_flow ? begin + 1 : begin;
  }

  void close() {
    const auto done = open_.back();
    open_.pop_back();
    auto& begun = events_[done.event];
    begun.other = events_.size();
    begun.at.end = std::max(begun.at.begin, end_of(done));
    cursor_ = begun.at.end;
    add(yaml_event::kind::end, cursor_);
  }

  [[nodiscard]] std::size_t end_of(const container& done) const noexcept {
    if (!done.is_flow) return cursor_;
    auto at = skip_yaml_space(text_, cursor_);
    if (at < text_.size() && text_[at] == ',') at = skip_yaml_space(text_, at + 1);
    return at < text_.size() && (text_[at] == ']' || text_[at] == '}') ? at + 1 : cursor_;
  }

  const reading& from_;
  std::string_view text_;
  std::vector<yaml_event> events_;
  std::vector<container> open_;
  std::unordered_map<YAML::anchor_t, std::size_t> anchors_;
  std::size_t cursor_ = 0;  // the end of the last event
};

/// Rejects texts for which yaml-cpp would need much more memory than their size. Texts may contain brackets, too, but rarely
/// this many.
result<void> check_lines(const reading& from) {
  constexpr std::size_t spare = 900;
  const auto text = from.text();
  if (const auto at = first_nested_by(text, from.most().depth + spare); at != text.size()) return from.too_deep(at);
  const auto most = from.most().values;
  if (const auto at = first_line_with_marks(text, 2 * most + 2); at != text.size()) {
    return from.too_many(at, "more than " + std::to_string(most) + " values");
  }
  return {};
}

/// The error of yaml-cpp without the part that it quotes from the text.
std::string_view said_by(const YAML::Exception& what) {
  const std::string_view said = what.msg;
  return said.substr(0, said.find(": "));
}

}  // namespace

result<std::vector<yaml_event>> yaml_events(const reading& from) {
  HONDANA_TRY(check_lines(from));
  event_recorder recorder(from);
  try {
    std::istringstream in{std::string(from.text())};
    YAML::Parser parser(in);
    while (parser.HandleNextDocument(recorder)) {
    }
  } catch (stopped& why) {
    return tl::unexpected(std::move(why.why));
  } catch (const YAML::Exception& what) {
    const auto offset = static_cast<std::size_t>(std::max(what.mark.pos, 0));
    return from.wrong(offset, said_by(what));
  } catch (const std::exception& what) {
    return fail(errc::invalid_argument, "this is not valid YAML", what.what());
  }
  return recorder.take();
}

namespace {

using event_kind = yaml_event::kind;

constexpr std::string_view core_tag = "tag:yaml.org,2002:";

class yaml_tree {
 public:
  yaml_tree(reading& from, const std::vector<yaml_event>& events) : from_(from), events_(events) {}

  result<node> all() {
    std::vector<node> documents;
    for (std::size_t at = 0; at < events_.size();) {
      const auto first = at + 1;
      if (first == events_.size()) break;
      // Skip empty documents, which separators create.
      const bool is_empty = events_[first].is == event_kind::scalar && events_[first].is_absent;
      at = first;
      auto made = build(at, 0);
      if (!made) return made;
      if (!is_empty) documents.push_back(std::move(*made));
    }
    if (documents.empty()) return null_node(from_.at(0, 0));
    if (documents.size() == 1) return std::move(documents.front());
    HONDANA_TRY(from_.count(0));
    auto list = empty_node(kind::list, documents.front().at);
    list.at.end = documents.back().at.end;
    list.items = std::move(documents);
    return list;
  }

 private:
  /// Builds the value that begins with the event `at`, and moves `at` past it.
  result<node> build(std::size_t& at, std::size_t depth) {
    const auto& what = events_[at];
    if (what.is == event_kind::alias) {
      ++at;
      ++aliases_;
      auto target = what.other;
      auto made = build(target, depth);
      --aliases_;
      return made;
    }
    if (depth > from_.most().depth) return from_.too_deep(what.at.begin);
    HONDANA_TRY(from_.count(what.at.begin));
    if (aliases_ != 0) {
      if (auto counted = from_.count_repeated(what.at.begin, what.text.size()); !counted) {
        return tl::unexpected(std::move(counted.error()));
      }
    }
    ++at;
    switch (what.is) {
      case event_kind::list:
        return build_list(what, at, depth);
      case event_kind::table:
        return build_table(what, at, depth);
      default:
        return scalar(what);
    }
  }

  result<node> build_list(const yaml_event& what, std::size_t& at, std::size_t depth) {
    remark_tag(what, {"seq", "omap", "pairs"});
    auto made = empty_node(kind::list, what.at);
    while (events_[at].is != event_kind::end) {
      auto item = build(at, depth + 1);
      if (!item) return item;
      made.items.push_back(std::move(*item));
    }
    ++at;
    return made;
  }

  result<node> build_table(const yaml_event& what, std::size_t& at, std::size_t depth) {
    remark_tag(what, {"map", "set"});
    growing_table made(what.at);
    std::unordered_set<std::string> merged;
    while (events_[at].is != event_kind::end) {
      const auto* key = &events_[at];
      const auto key_at = key->at;
      if (key->is == event_kind::alias) key = &events_[key->other];
      if (key->is != event_kind::scalar) {
        return from_.wrong(key_at.begin, "a key is a list or a table, which JSON does not support");
      }
      if (auto counted = from_.count_repeated(key_at.begin, aliases_ == 0 ? 0 : key->text.size()); !counted) {
        return tl::unexpected(std::move(counted.error()));
      }
      ++at;
      auto member = build(at, depth + 1);
      if (!member) return member;
      const bool is_merge = key->text == "<<" && (key->is_plain || key->tag == std::string(core_tag) + "merge");
      if (is_merge && merge(*member, made, merged)) continue;
      if (is_merge) from_.remark(key_at.begin, "the value to merge is not a table; it is stored under the key \"<<\"");
      if (!made.put(key->text, key_at, std::move(*member)) && merged.erase(key->text) == 0) {
        from_.remark_duplicate(key_at.begin, key->text);
      }
    }
    ++at;
    return made.take();
  }

  /// Merges a table, or each table of a list, into `into`. Existing members win; the others go to `replaced`. Returns whether
  /// `from` is a table or a list of tables.
  static bool merge(node& from, growing_table& into, std::unordered_set<std::string>& merged) {
    if (from.is == kind::list) {
      for (const auto& item : from.items) {
        if (item.is != kind::table) return false;
      }
      for (auto& item : from.items) merge(item, into, merged);
      return true;
    }
    if (from.is != kind::table) return false;
    for (auto& [key, at, value] : from.members) {
      if (into.find(key) != nullptr) {
        into.table().replaced.push_back({key, at, std::move(value)});
        continue;
      }
      merged.insert(key);
      into.put(key, at, std::move(value));
    }
    std::move(from.replaced.begin(), from.replaced.end(), std::back_inserter(into.table().replaced));
    return true;
  }

  void remark_tag(const yaml_event& what, std::initializer_list<std::string_view> usual) {
    if (what.tag.empty()) return;
    for (const auto name : usual) {
      if (what.tag == std::string(core_tag).append(name)) return;
    }
    from_.remark(what.at.begin, "the tag " + shown(what.tag) + " is ignored");
  }

  [[nodiscard]] node scalar(const yaml_event& what) {
    const auto text = [&what] { return text_node(what.text, what.at); };
    if (what.tag.empty()) return what.is_plain ? plain(what) : text();
    if (!what.tag.starts_with(core_tag)) {
      if (what.tag != "!") from_.remark(what.at.begin, "the tag " + shown(what.tag) + " is ignored; its value is read as text");
      return text();
    }
    const auto name = std::string_view(what.tag).substr(core_tag.size());
    if (name == "str" || name == "binary" || name == "timestamp" || name == "merge") return text();
    auto meant = resolve_plain(what.text, what.at).what;
    using is = kind;
    if (name == "float" && meant.is == is::integer) {
      if (auto real = json_number(meant.text + "e0", what.at)) return std::move(*real);
    }
    const bool fits = (name == "null" && meant.is == is::null) || (name == "bool" && meant.is == is::boolean) ||
                      (name == "int" && meant.is == is::integer) || (name == "float" && meant.is == is::real);
    if (fits) return meant;
    from_.remark(what.at.begin, "the tag " + shown(what.tag) + " does not fit its value, which is read as text");
    return text();
  }

  [[nodiscard]] node plain(const yaml_event& what) {
    auto [meant, doubt] = resolve_plain(what.text, what.at);
    if (doubt == scalar_doubt::unwritable) {
      from_.remark(what.at.begin, "infinities and NaN are not JSON numbers; the value is read as text");
    } else if (doubt == scalar_doubt::too_large) {
      from_.remark(what.at.begin, "a number that is too large is read as text");
    }
    return std::move(meant);
  }

  reading& from_;
  const std::vector<yaml_event>& events_;
  std::size_t aliases_ = 0;  // number of aliases around the value being built
};

}  // namespace

result<node> read_yaml(reading& from) {
  HONDANA_TRY(const auto events, yaml_events(from));
  return yaml_tree(from, events).all();
}

}  // namespace hondana::located
