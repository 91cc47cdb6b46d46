/// Inline markup of Markdown: links, pictures, emphasis and code.
#include "text/markup/inlines.hpp"

#include <algorithm>
#include <array>

#include "base/ascii/ascii.hpp"
#include "text/markup/characters.hpp"
#include "text/markup/html.hpp"

namespace hondana::markup {
namespace {

constexpr std::size_t longest_label = 999;
constexpr std::size_t deepest_parentheses = 32;
constexpr std::size_t deepest_brackets = 30;
/// Limit in bytes for text in brackets, so that a run of open brackets takes linear time.
constexpr std::size_t longest_shown = 1000;

std::size_t skip_spaces(std::string_view text, std::size_t at) noexcept {
  while (at < text.size() && ascii::is_space(text[at])) ++at;
  return at;
}

std::string unescaped(std::string_view text) {
  std::string out;
  out.reserve(text.size());
  for (std::size_t at = 0; at < text.size(); ++at) {
    if (text[at] == '\\' && at + 1 < text.size() && is_punctuation(text[at + 1])) {
      out += text[++at];
    } else if (text[at] == '&') {
      const auto taken = decode_entity(text, at, out);
      if (taken == 0) out += '&';
      at += taken == 0 ? 0 : taken - 1;
    } else {
      out += text[at];
    }
  }
  return out;
}

/// Reads the target, with or without `<>`, and moves `at` past it. Returns false if it is not a target.
bool read_target(std::string_view text, std::size_t& at, std::string_view& into) noexcept {
  if (at < text.size() && text[at] == '<') {
    for (auto end = at + 1; end < text.size() && end - at < longest_target; ++end) {
      if (text[end] == '\\') {
        ++end;
      } else if (text[end] == '>') {
        into = text.substr(at + 1, end - at - 1);
        at = end + 1;
        return true;
      } else if (text[end] == '<' || text[end] == '\n') {
        return false;
      }
    }
    return false;
  }
  std::size_t depth = 0;
  auto end = at;
  for (; end < text.size(); ++end) {
    const char c = text[end];
    if (ascii::is_space(c) || static_cast<unsigned char>(c) < 0x20) break;
    if (end - at > longest_target) return false;
    if (c == '\\' && end + 1 < text.size() && is_punctuation(text[end + 1])) {
      ++end;
    } else if (c == '(') {
      if (++depth > deepest_parentheses) return false;
    } else if (c == ')') {
      if (depth == 0) break;
      --depth;
    }
  }
  if (depth != 0) return false;
  into = text.substr(at, end - at);
  at = end;
  return true;
}

/// Skips a title in quotes and moves `at` past it. Returns false if the title does not end.
bool skip_title(std::string_view text, std::size_t& at) noexcept {
  if (at >= text.size()) return true;
  const char quote = text[at] == '(' ? ')' : text[at];
  if (quote != '"' && quote != '\'' && quote != ')') return true;
  if (text[at] == ')') return true;
  for (auto end = at + 1; end < text.size() && end - at < longest_target; ++end) {
    if (text[end] == '\\') {
      ++end;
    } else if (text[end] == quote) {
      at = end + 1;
      return true;
    }
  }
  return false;
}

}  // namespace

std::string label_of(std::string_view text) {
  std::string label;
  text = trimmed(text);
  if (text.size() > longest_label) return label;
  for (std::size_t at = 0; at < text.size();) {
    if (ascii::is_space(text[at])) {
      at = skip_spaces(text, at);
      label += ' ';
      continue;
    }
    const auto one = character_at(text, at);
    append_character(label, in_lower_case(one.point));
    at += one.bytes;
  }
  return label;
}

bool read_definition(std::string_view line, std::string& label, std::string& target) {
  if (!line.starts_with('[') || line.substr(0, 2) == "[^") return false;
  std::size_t end = 1;
  for (; end < line.size() && end <= longest_label + 1 && line[end] != ']'; ++end) {
    if (line[end] == '[') return false;
    if (line[end] == '\\') ++end;
  }
  if (end + 1 >= line.size() || line[end] != ']' || line[end + 1] != ':') return false;
  label = label_of(line.substr(1, end - 1));
  auto at = skip_spaces(line, end + 2);
  const auto begin = at;
  std::string_view found;
  if (label.empty() || at >= line.size() || !read_target(line, at, found) || at == begin) return false;
  const auto behind = at;
  at = skip_spaces(line, at);
  if (at < line.size() && (at == behind || !skip_title(line, at) || skip_spaces(line, at) != line.size())) return false;
  target = unescaped(found);
  return true;
}

std::size_t read_destination(std::string_view text, std::size_t at, std::string& target) {
  at = skip_spaces(text, at + 1);
  std::string_view found;
  if (!read_target(text, at, found)) return 0;
  const auto behind = at;
  at = skip_spaces(text, at);
  if (at != behind && !skip_title(text, at)) return 0;
  at = skip_spaces(text, at);
  if (at >= text.size() || text[at] != ')') return 0;
  target = unescaped(found);
  return at + 1;
}

std::size_t read_link(std::string_view text, std::size_t at, std::string_view& shown) {
  const auto reach = text.substr(0, std::min(text.size(), at + longest_shown));
  std::size_t depth = 0;
  auto end = at;
  for (; end < reach.size(); ++end) {
    if (reach[end] == '\\') {
      ++end;
    } else if (reach[end] == '[') {
      if (++depth > deepest_brackets) return 0;
    } else if (reach[end] == ']' && --depth == 0) {
      break;
    }
  }
  if (end >= reach.size() || text.substr(end, 2) != "](") return 0;
  std::string target;
  const auto behind = read_destination(text, end + 1, target);
  if (behind != 0) shown = text.substr(at + 1, end - at - 1);
  return behind;
}

std::size_t end_of_url(std::string_view text, std::size_t at) noexcept {
  const auto rest = text.substr(at, 8);
  const bool is_web = rest.starts_with("www.");
  const std::size_t scheme = rest.starts_with("https://") ? 8 : rest.starts_with("http://") ? 7 : is_web ? 4 : 0;
  if (scheme == 0) return at;
  auto end = at + scheme;
  std::size_t open = 0;
  std::size_t closed = 0;
  while (end < text.size() && end - at <= longest_target) {
    const auto one = character_at(text, end);
    if (one.point <= ' ' || one.point == '<' || one.point == '`' || one.point == '"') break;
    if (one.point >= 0x80 && (is_punctuation(one.point) || one.point == 0x3000 || one.point == 0xFFFD)) break;
    if (one.point == '(') ++open;
    if (one.point == ')') ++closed;
    end += one.bytes;
  }
  while (end > at + scheme) {
    const char last = text[end - 1];
    if (last == ')' && closed > open) {
      --closed;
    } else if (std::string_view("?!.,:;*_~'|]").find(last) == std::string_view::npos) {
      break;
    }
    --end;
  }
  return end == at + scheme ? at : end;
}

namespace {

/// Placeholder in the output for a byte of markup, until the text is finished. Removed from the input, so it cannot occur
/// there.
constexpr char gone = '\x01';
/// Longer runs of ticks do not begin code.
constexpr std::size_t most_ticks = 64;
constexpr std::size_t open_text = std::string::npos;
/// One more than the limit of an outline, so that the outline can report that it is cut.
constexpr std::size_t most_links_found = 10'001;
/// Limit in bytes of the output that the text of a link is taken from. Pictures may be nested, each with the placeholders of
/// all inner ones.
constexpr std::size_t longest_link_text = 8 * longest_heading;

class inline_reader {
 public:
  inline_reader(std::string_view text, std::size_t line, const definitions& defined)
      : text_(text), line_(line), defined_(defined) {}

  inline_text read() {
    out_.reserve(text_.size());
    while (at_ < text_.size()) step();
    inline_text made;
    made.links.reserve(found_.size());
    for (auto& one : found_) {
      const auto end = one.end == open_text ? one.begin : one.end;
      const auto whole = std::string_view(out_).substr(one.begin, end - one.begin);
      one.what.text = readable(front_of(whole, longest_link_text), longest_heading);
      made.links.push_back(std::move(one.what));
    }
    made.text = readable(out_, out_.size());
    return made;
  }

 private:
  struct bracket {
    std::size_t source;  ///< Position after the bracket in the source.
    std::size_t out;     ///< Position of the bracket in the output.
    std::size_t later;   ///< Number of brackets opened so far.
    bool is_picture;
  };
  struct delimiters {
    std::size_t out;
    std::size_t count;
  };
  struct found {
    link what;
    std::size_t begin;
    std::size_t end;
  };

  /// The text without placeholders, and with single spaces.
  static std::string readable(std::string_view text, std::size_t most) {
    std::string made;
    for (const char c : text) {
      if (c == gone) continue;
      if (ascii::is_space(c)) {
        if (!made.empty() && made.back() != ' ') made += ' ';
      } else {
        made += c;
      }
      if (made.size() >= most + 4) break;
    }
    while (!made.empty() && made.back() == ' ') made.pop_back();
    if (made.size() > most) made.resize(boundary_before(made, most));
    return made;
  }

  void step() {
    const char c = text_[at_];
    switch (c) {
      case '\\':
        return escape();
      case '`':
        return code();
      case '[':
        brackets_.push_back({at_ + 1, out_.size(), ++opened_, false});
        return copy(1);
      case '!':
        if (at_ + 1 < text_.size() && text_[at_ + 1] == '[') {
          brackets_.push_back({at_ + 2, out_.size(), ++opened_, true});
          return copy(2);
        }
        return copy(1);
      case ']':
        return close_bracket();
      case '<':
        return angle();
      case '&': {
        const auto taken = decode_entity(text_, at_, out_);
        at_ += taken;
        return taken == 0 ? copy(1) : void();
      }
      case '*':
      case '_':
      case '~':
        return emphasis();
      case 'h':
      case 'w':
        return bare_url();
      case gone:
        ++at_;
        return;
      default:
        plain();
    }
  }

  void copy(std::size_t bytes) {
    out_.append(text_.substr(at_, bytes));
    at_ += bytes;
  }

  void plain() {
    const auto begin = at_;
    do {
      if (text_[at_] == '\n') ++line_;
      ++at_;
    } while (at_ < text_.size() && std::string_view("\\`[]!<&*_~hw\x01").find(text_[at_]) == std::string_view::npos);
    out_.append(text_.substr(begin, at_ - begin));
  }

  void escape() {
    if (at_ + 1 < text_.size() && is_punctuation(text_[at_ + 1])) ++at_;
    copy(1);
  }

  void code() {
    auto end = text_.find_first_not_of('`', at_);
    if (end == std::string_view::npos) end = text_.size();
    const auto ticks = end - at_;
    const auto closing = closing_ticks(end, ticks);
    if (closing == std::string_view::npos) return copy(ticks);
    auto inside = text_.substr(end, closing - end);
    line_ += static_cast<std::size_t>(std::count(inside.begin(), inside.end(), '\n'));
    if (inside.size() > 1 && ascii::is_space(inside.front()) && ascii::is_space(inside.back()) && !is_blank(inside))
      inside = inside.substr(1, inside.size() - 2);
    out_.append(inside);
    at_ = closing + ticks;
  }

  /// The position of the next run of exactly this many ticks.
  std::size_t closing_ticks(std::size_t from, std::size_t ticks) {
    if (ticks > most_ticks) return std::string_view::npos;
    if (!ticks_are_known_) note_ticks();
    auto& runs = next_ticks_[ticks];
    const auto next = std::lower_bound(runs.begin(), runs.end(), from);
    return next == runs.end() ? std::string_view::npos : *next;
  }

  void note_ticks() {
    ticks_are_known_ = true;
    next_ticks_.resize(most_ticks + 1);
    for (auto at = text_.find('`'); at != std::string_view::npos; at = text_.find('`', at)) {
      const auto end = std::min(text_.find_first_not_of('`', at), text_.size());
      if (end - at < next_ticks_.size()) next_ticks_[end - at].push_back(at);
      at = end;
    }
  }

  void close_bracket() {
    if (brackets_.empty()) return copy(1);
    const auto open = brackets_.back();
    brackets_.pop_back();
    const bool is_allowed = open.is_picture || brackets_.size() >= no_links_below_;
    no_links_below_ = std::min(no_links_below_, brackets_.size());
    std::string target;
    const auto behind = is_allowed ? target_behind(open, target) : 0;
    if (behind == 0) return copy(1);
    if (found_.size() >= most_links_found) {
      at_ = behind;
      return;
    }
    std::fill_n(out_.begin() + static_cast<std::ptrdiff_t>(open.out), open.is_picture ? 2 : 1, gone);
    if (!open.is_picture) {
      // Links cannot contain links. URLs inside this link are part of its text.
      while (!found_.empty() && found_.back().begin >= open.out && !found_.back().what.is_picture) found_.pop_back();
      no_links_below_ = brackets_.size();
    }
    found_.push_back({{std::move(target), {}, line_, open.is_picture}, open.out, out_.size()});
    const auto skipped = text_.substr(at_, behind - at_);
    line_ += static_cast<std::size_t>(std::count(skipped.begin(), skipped.end(), '\n'));
    at_ = behind;
  }

  /// The position after the link whose `]` is at the current position; 0: not a link.
  std::size_t target_behind(const bracket& open, std::string& target) {
    const auto next = at_ + 1;
    if (next < text_.size() && text_[next] == '(') {
      const auto end = read_destination(text_, next, target);
      if (end != 0) return end;
    }
    if (defined_.empty()) return 0;
    auto label = text_.substr(open.source, at_ - open.source);
    auto behind = next;
    if (next < text_.size() && text_[next] == '[') {
      const auto end = text_.substr(next, 1001).find(']', 1);
      if (end != std::string_view::npos) {
        behind = next + end + 1;
        if (end > 1) label = text_.substr(next + 1, end - 1);
      }
    }
    if (label.size() > 999) return 0;
    // A label contains no brackets. Checking each of many nested labels would take quadratic time.
    if (behind == next && open.later < opened_) return 0;
    const auto known = defined_.find(label_of(label));
    if (known == defined_.end()) return 0;
    target = known->second;
    return behind;
  }

  void angle() {
    if (text_.substr(at_).starts_with("<!--")) {
      const auto end = has_no_comment_end_ ? std::string_view::npos : text_.find("-->", at_ + 4);
      if (end == std::string_view::npos) {
        has_no_comment_end_ = true;
        return copy(1);
      }
      const auto skipped = text_.substr(at_, end - at_);
      line_ += static_cast<std::size_t>(std::count(skipped.begin(), skipped.end(), '\n'));
      at_ = end + 3;
      return;
    }
    if (autolink()) return;
    tag one;
    // After this many failures the text is not HTML. Each attempt may scan the rest of the text.
    if (failed_tags_ > 64 || !read_tag(text_, at_, one)) {
      ++failed_tags_;
      return copy(1);
    }
    html(one);
    const auto skipped = text_.substr(at_, one.end - at_);
    line_ += static_cast<std::size_t>(std::count(skipped.begin(), skipped.end(), '\n'));
    at_ = one.end;
  }

  bool autolink() {
    const auto rest = text_.substr(at_ + 1, longest_target);
    const auto end = rest.find_first_of("> \n\t<");
    if (end == std::string_view::npos || rest[end] != '>') return false;
    const auto inside = rest.substr(0, end);
    const auto colon = inside.find(':');
    const auto is_scheme = [](char c) { return ascii::is_letter(c) || ascii::is_digit(c) || c == '+' || c == '-' || c == '.'; };
    const bool is_uri = colon != std::string_view::npos && colon >= 2 && colon <= 32 && ascii::is_letter(inside.front()) &&
                        std::all_of(inside.begin(), inside.begin() + static_cast<std::ptrdiff_t>(colon), is_scheme);
    const auto sign = inside.find('@');
    const bool is_mail = !is_uri && sign != std::string_view::npos && sign > 0 && sign + 1 < inside.size() &&
                         inside.find_first_of("\\\"=/:") == std::string_view::npos;
    if (!is_uri && !is_mail) return false;
    const auto begin = out_.size();
    out_.append(inside);
    found_.push_back({{(is_mail ? "mailto:" : "") + std::string(inside), {}, line_, false}, begin, out_.size()});
    at_ += end + 2;
    return true;
  }

  void html(const tag& one) {
    if (one.name == "br") {
      out_ += ' ';
    } else if (one.name == "a" && one.is_end) {
      if (anchor_ < found_.size() && found_[anchor_].end == open_text) found_[anchor_].end = out_.size();
    } else if (one.name == "a") {
      const auto* target = one.find("href");
      if (target == nullptr) return;
      anchor_ = found_.size();
      found_.push_back({{*target, {}, line_, false}, out_.size(), open_text});
    } else if (one.name == "img" && !one.is_end) {
      const auto begin = out_.size();
      if (const auto* alternative = one.find("alt")) out_.append(*alternative);
      if (const auto* target = one.find("src")) found_.push_back({{*target, {}, line_, true}, begin, out_.size()});
    }
  }

  void bare_url() {
    const char before = at_ == 0 ? ' ' : text_[at_ - 1];
    const auto end = ascii::is_letter(before) || ascii::is_digit(before) ? at_ : end_of_url(text_, at_);
    if (end == at_) return copy(1);
    const auto url = text_.substr(at_, end - at_);
    const auto begin = out_.size();
    out_.append(url);
    found_.push_back({{(url.front() == 'w' ? "http://" : "") + std::string(url), {}, line_, false}, begin, out_.size()});
    at_ = end;
  }

  char32_t point_before(std::size_t at) const noexcept {
    if (at == 0) return U' ';
    return character_at(text_, boundary_before(text_, at - 1)).point;
  }

  static bool is_white(char32_t point) noexcept { return point <= ' ' || point == 0xA0 || point == 0x3000; }

  /// Handles `**one****two**`, which some programs write.
  [[nodiscard]] bool joins_bold_words(char32_t before, char32_t after, std::size_t count) const noexcept {
    const auto is_of_word = [](char32_t point) { return !is_white(point) && !is_punctuation(point); };
    return !open_[0].empty() && 2 * open_[0].back().count == count && is_of_word(before) && is_of_word(after);
  }

  void emphasis() {
    const char mark = text_[at_];
    const auto end = std::min(text_.find_first_not_of(mark, at_), text_.size());
    const auto before = point_before(at_);
    const auto after = end < text_.size() ? character_at(text_, end).point : U' ';
    auto count = end - at_;
    const auto out = out_.size();
    const bool opens_left = !is_white(after) && (!is_punctuation(after) || is_white(before) || is_punctuation(before));
    const bool closes_right = !is_white(before) && (!is_punctuation(before) || is_white(after) || is_punctuation(after));
    const bool can_open = opens_left && (mark != '_' || !closes_right || is_punctuation(before));
    const bool can_close = closes_right && (mark != '_' || !opens_left || is_punctuation(after));
    copy(count);
    if (mark == '~' && count > 2) return;
    if (mark == '*' && ascii::is_mask(count) && !joins_bold_words(before, after, count)) return;
    auto& open = open_[mark == '*' ? 0 : mark == '_' ? 1 : 2];
    auto next = out;
    while (can_close && count > 0 && !open.empty()) {
      auto& last = open.back();
      if (mark == '~' && last.count != count) break;
      const auto matched = std::min(last.count, count);
      std::fill_n(out_.begin() + static_cast<std::ptrdiff_t>(last.out + last.count - matched), matched, gone);
      std::fill_n(out_.begin() + static_cast<std::ptrdiff_t>(next), matched, gone);
      last.count -= matched;
      if (last.count == 0) open.pop_back();
      next += matched;
      count -= matched;
    }
    if (can_open && count > 0) open.push_back({next, count});
  }

  std::string_view text_;
  std::size_t line_;
  const definitions& defined_;
  std::size_t at_ = 0;
  std::string out_{};
  std::vector<found> found_{};
  std::vector<bracket> brackets_{};
  std::size_t opened_ = 0;
  std::size_t no_links_below_ = 0;
  std::array<std::vector<delimiters>, 3> open_{};
  std::vector<std::vector<std::size_t>> next_ticks_{};
  bool ticks_are_known_ = false;
  bool has_no_comment_end_ = false;
  std::size_t failed_tags_ = 0;
  std::size_t anchor_ = open_text;
};

}  // namespace

inline_text read_inline(std::string_view text, std::size_t line, const definitions& defined) {
  return inline_reader(text, line, defined).read();
}

}  // namespace hondana::markup
