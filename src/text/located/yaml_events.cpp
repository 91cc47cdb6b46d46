/// The only place that sees yaml-cpp.
#include "text/located/yaml_events.hpp"

#include <yaml-cpp/anchor.h>
#include <yaml-cpp/eventhandler.h>
#include <yaml-cpp/exceptions.h>
#include <yaml-cpp/mark.h>
#include <yaml-cpp/parser.h>

#include <algorithm>
#include <sstream>
#include <string_view>
#include <unordered_map>
#include <utility>

#include "text/located/yaml_text.hpp"

namespace hondana::located {
namespace {

/// Thrown through the library, which has no other way to be stopped.
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
    // The library begins a new document wherever the one before ends.
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
    // What has a tag and nothing else has the place of what comes next.
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
    bool is_value_next = false;  ///< In a table.
  };

  [[nodiscard]] std::size_t offset_of(const YAML::Mark& mark) const noexcept {
    return std::min(static_cast<std::size_t>(std::max(mark.pos, 0)), text_.size());
  }

  [[noreturn]] static void stop(tl::unexpected<failure> why) { throw stopped{std::move(why.value())}; }

  yaml_event& add(yaml_event::kind is, std::size_t offset) {
    // Tables need two events a member, and lists and tables another one each.
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

  /// Nothing is written: it is where it would be, behind the colon or the dash.
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
    // A block begins with its first key, which may be a list in brackets: then it has the same beginning.
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
  std::size_t cursor_ = 0;  // behind what was placed last
};

/// What would make the library hold much more than the text. Brackets may stand in texts, too, but hardly so many.
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

/// The library's words without what it adds of the text.
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

}  // namespace hondana::located
