/// Inline markup of Markdown: links, pictures, emphasis and code.
#include "text/markup/inlines.hpp"

#include <algorithm>
#include <array>

#include "base/ascii/ascii.hpp"
#include "text/markup/characters.hpp"
#include "text/markup/html.hpp"

namespace hondana::markup {
namespace {

constexpr std::size_t max_label_bytes = 999;
constexpr std::size_t max_parentheses_depth = 32;
constexpr std::size_t max_bracket_depth = 30;
/// Limit in bytes for text in brackets, so that a run of open brackets takes linear time.
constexpr std::size_t max_link_text_bytes = 1000;

std::size_t skip_spaces(std::string_view text, std::size_t position) noexcept {
  while (position < text.size() && ascii::is_space(text[position])) ++position;
  return position;
}

std::string unescape(std::string_view text) {
  std::string out;
  out.reserve(text.size());
  for (std::size_t position = 0; position < text.size(); ++position) {
    if (text[position] == '\\' && position + 1 < text.size() && is_punctuation(text[position + 1])) {
      out += text[++position];
    } else if (text[position] == '&') {
      const auto consumed = decode_entity(text, position, out);
      if (consumed == 0) out += '&';
      position += consumed == 0 ? 0 : consumed - 1;
    } else {
      out += text[position];
    }
  }
  return out;
}

/// Reads the target, with or without `<>`, and moves `position` past it. Returns false if it is not a target.
bool read_target(std::string_view text, std::size_t& position, std::string_view& target) noexcept {
  if (position < text.size() && text[position] == '<') {
    for (auto end = position + 1; end < text.size() && end - position < max_target_bytes; ++end) {
      if (text[end] == '\\') {
        ++end;
      } else if (text[end] == '>') {
        target = text.substr(position + 1, end - position - 1);
        position = end + 1;
        return true;
      } else if (text[end] == '<' || text[end] == '\n') {
        return false;
      }
    }
    return false;
  }
  std::size_t depth = 0;
  auto end = position;
  for (; end < text.size(); ++end) {
    const char c = text[end];
    if (ascii::is_space(c) || static_cast<unsigned char>(c) < 0x20) break;
    if (end - position > max_target_bytes) return false;
    if (c == '\\' && end + 1 < text.size() && is_punctuation(text[end + 1])) {
      ++end;
    } else if (c == '(') {
      if (++depth > max_parentheses_depth) return false;
    } else if (c == ')') {
      if (depth == 0) break;
      --depth;
    }
  }
  if (depth != 0) return false;
  target = text.substr(position, end - position);
  position = end;
  return true;
}

/// Skips a title in quotes and moves `position` past it. Returns false if the title does not end.
bool skip_title(std::string_view text, std::size_t& position) noexcept {
  if (position >= text.size()) return true;
  const char quote = text[position] == '(' ? ')' : text[position];
  if (quote != '"' && quote != '\'' && quote != ')') return true;
  if (text[position] == ')') return true;
  for (auto end = position + 1; end < text.size() && end - position < max_target_bytes; ++end) {
    if (text[end] == '\\') {
      ++end;
    } else if (text[end] == quote) {
      position = end + 1;
      return true;
    }
  }
  return false;
}

}  // namespace

std::string normalize_label(std::string_view text) {
  std::string label;
  text = trim(text);
  if (text.size() > max_label_bytes) return label;
  for (std::size_t position = 0; position < text.size();) {
    if (ascii::is_space(text[position])) {
      position = skip_spaces(text, position);
      label += ' ';
      continue;
    }
    const auto character = character_at(text, position);
    append_utf8(label, to_lower(character.point));
    position += character.bytes;
  }
  return label;
}

bool read_definition(std::string_view line, std::string& label, std::string& target) {
  if (!line.starts_with('[') || line.substr(0, 2) == "[^") return false;
  std::size_t end = 1;
  for (; end < line.size() && end <= max_label_bytes + 1 && line[end] != ']'; ++end) {
    if (line[end] == '[') return false;
    if (line[end] == '\\') ++end;
  }
  if (end + 1 >= line.size() || line[end] != ']' || line[end + 1] != ':') return false;
  label = normalize_label(line.substr(1, end - 1));
  auto position = skip_spaces(line, end + 2);
  const auto begin = position;
  std::string_view raw_target;
  if (label.empty() || position >= line.size() || !read_target(line, position, raw_target) || position == begin) return false;
  const auto target_end = position;
  position = skip_spaces(line, position);
  if (position < line.size() &&
      (position == target_end || !skip_title(line, position) || skip_spaces(line, position) != line.size()))
    return false;
  target = unescape(raw_target);
  return true;
}

std::size_t read_destination(std::string_view text, std::size_t position, std::string& target) {
  position = skip_spaces(text, position + 1);
  std::string_view raw_target;
  if (!read_target(text, position, raw_target)) return 0;
  const auto target_end = position;
  position = skip_spaces(text, position);
  if (position != target_end && !skip_title(text, position)) return 0;
  position = skip_spaces(text, position);
  if (position >= text.size() || text[position] != ')') return 0;
  target = unescape(raw_target);
  return position + 1;
}

std::size_t read_link(std::string_view text, std::size_t position, std::string_view& link_text) {
  const auto window = text.substr(0, std::min(text.size(), position + max_link_text_bytes));
  std::size_t depth = 0;
  auto end = position;
  for (; end < window.size(); ++end) {
    if (window[end] == '\\') {
      ++end;
    } else if (window[end] == '[') {
      if (++depth > max_bracket_depth) return 0;
    } else if (window[end] == ']' && --depth == 0) {
      break;
    }
  }
  if (end >= window.size() || text.substr(end, 2) != "](") return 0;
  std::string target;
  const auto link_end = read_destination(text, end + 1, target);
  if (link_end != 0) link_text = text.substr(position + 1, end - position - 1);
  return link_end;
}

std::size_t end_of_url(std::string_view text, std::size_t position) noexcept {
  const auto prefix = text.substr(position, 8);
  const bool is_web = prefix.starts_with("www.");
  const std::size_t scheme_bytes = prefix.starts_with("https://") ? 8 : prefix.starts_with("http://") ? 7 : is_web ? 4 : 0;
  if (scheme_bytes == 0) return position;
  auto end = position + scheme_bytes;
  std::size_t open = 0;
  std::size_t closed = 0;
  while (end < text.size() && end - position <= max_target_bytes) {
    const auto character = character_at(text, end);
    if (character.point <= ' ' || character.point == '<' || character.point == '`' || character.point == '"') break;
    if (character.point >= 0x80 && (is_punctuation(character.point) || character.point == 0x3000 || character.point == 0xFFFD))
      break;
    if (character.point == '(') ++open;
    if (character.point == ')') ++closed;
    end += character.bytes;
  }
  while (end > position + scheme_bytes) {
    const char last = text[end - 1];
    if (last == ')' && closed > open) {
      --closed;
    } else if (std::string_view("?!.,:;*_~'|]").find(last) == std::string_view::npos) {
      break;
    }
    --end;
  }
  return end == position + scheme_bytes ? position : end;
}

namespace {

/// Placeholder in the output for a byte of markup, until the text is finished. Removed from the input, so it cannot occur
/// there.
constexpr char placeholder = '\x01';
/// Longer runs of ticks do not begin code.
constexpr std::size_t max_ticks = 64;
constexpr std::size_t unclosed = std::string::npos;
/// One more than the limit of an outline, so that the outline can report that it is cut.
constexpr std::size_t max_inline_links = 10'001;
/// Limit in bytes of the output that the text of a link is taken from. Pictures may be nested, each with the placeholders of
/// all inner ones.
constexpr std::size_t max_link_output_bytes = 8 * max_heading_bytes;

class inline_reader {
 public:
  inline_reader(std::string_view text, std::size_t line, const link_definitions& definitions)
      : text_(text), line_(line), definitions_(definitions) {}

  inline_text read() {
    output_.reserve(text_.size());
    while (position_ < text_.size()) read_next();
    inline_text result;
    result.links.reserve(links_.size());
    for (auto& link : links_) {
      const auto end = link.end == unclosed ? link.begin : link.end;
      const auto output = std::string_view(output_).substr(link.begin, end - link.begin);
      link.value.text = to_readable(utf8_prefix(output, max_link_output_bytes), max_heading_bytes);
      result.links.push_back(std::move(link.value));
    }
    result.text = to_readable(output_, output_.size());
    return result;
  }

 private:
  struct open_bracket {
    std::size_t source_position;  ///< Position after the bracket in the source.
    std::size_t output_position;  ///< Position of the bracket in the output.
    std::size_t open_count;       ///< Number of brackets opened so far.
    bool is_image;
  };
  struct delimiters {
    std::size_t output_position;
    std::size_t count;
  };
  struct found_link {
    link value;
    std::size_t begin;
    std::size_t end;
  };

  /// The text without placeholders, and with single spaces.
  static std::string to_readable(std::string_view text, std::size_t max_bytes) {
    std::string out;
    for (const char c : text) {
      if (c == placeholder) continue;
      if (ascii::is_space(c)) {
        if (!out.empty() && out.back() != ' ') out += ' ';
      } else {
        out += c;
      }
      if (out.size() >= max_bytes + 4) break;
    }
    while (!out.empty() && out.back() == ' ') out.pop_back();
    if (out.size() > max_bytes) out.resize(boundary_before(out, max_bytes));
    return out;
  }

  void read_next() {
    const char c = text_[position_];
    switch (c) {
      case '\\':
        return read_escape();
      case '`':
        return read_code();
      case '[':
        brackets_.push_back({position_ + 1, output_.size(), ++opened_count_, false});
        return copy(1);
      case '!':
        if (position_ + 1 < text_.size() && text_[position_ + 1] == '[') {
          brackets_.push_back({position_ + 2, output_.size(), ++opened_count_, true});
          return copy(2);
        }
        return copy(1);
      case ']':
        return close_bracket();
      case '<':
        return read_angle_bracket();
      case '&': {
        const auto consumed = decode_entity(text_, position_, output_);
        position_ += consumed;
        return consumed == 0 ? copy(1) : void();
      }
      case '*':
      case '_':
      case '~':
        return read_emphasis();
      case 'h':
      case 'w':
        return read_bare_url();
      case placeholder:
        ++position_;
        return;
      default:
        copy_plain_text();
    }
  }

  void copy(std::size_t bytes) {
    output_.append(text_.substr(position_, bytes));
    position_ += bytes;
  }

  void copy_plain_text() {
    const auto begin = position_;
    do {
      if (text_[position_] == '\n') ++line_;
      ++position_;
    } while (position_ < text_.size() &&
             std::string_view("\\`[]!<&*_~hw\x01").find(text_[position_]) == std::string_view::npos);
    output_.append(text_.substr(begin, position_ - begin));
  }

  void read_escape() {
    if (position_ + 1 < text_.size() && is_punctuation(text_[position_ + 1])) ++position_;
    copy(1);
  }

  void read_code() {
    auto end = text_.find_first_not_of('`', position_);
    if (end == std::string_view::npos) end = text_.size();
    const auto ticks = end - position_;
    const auto closing = find_closing_ticks(end, ticks);
    if (closing == std::string_view::npos) return copy(ticks);
    auto content = text_.substr(end, closing - end);
    line_ += static_cast<std::size_t>(std::count(content.begin(), content.end(), '\n'));
    if (content.size() > 1 && ascii::is_space(content.front()) && ascii::is_space(content.back()) && !is_blank(content))
      content = content.substr(1, content.size() - 2);
    output_.append(content);
    position_ = closing + ticks;
  }

  /// The position of the next run of exactly this many ticks.
  std::size_t find_closing_ticks(std::size_t begin, std::size_t ticks) {
    if (ticks > max_ticks) return std::string_view::npos;
    if (!has_tick_index_) index_ticks();
    auto& runs = tick_runs_[ticks];
    const auto next = std::lower_bound(runs.begin(), runs.end(), begin);
    return next == runs.end() ? std::string_view::npos : *next;
  }

  void index_ticks() {
    has_tick_index_ = true;
    tick_runs_.resize(max_ticks + 1);
    for (auto position = text_.find('`'); position != std::string_view::npos; position = text_.find('`', position)) {
      const auto end = std::min(text_.find_first_not_of('`', position), text_.size());
      if (end - position < tick_runs_.size()) tick_runs_[end - position].push_back(position);
      position = end;
    }
  }

  void close_bracket() {
    if (brackets_.empty()) return copy(1);
    const auto opening = brackets_.back();
    brackets_.pop_back();
    const bool is_allowed = opening.is_image || brackets_.size() >= no_links_below_;
    no_links_below_ = std::min(no_links_below_, brackets_.size());
    std::string target;
    const auto link_end = is_allowed ? resolve_target(opening, target) : 0;
    if (link_end == 0) return copy(1);
    if (links_.size() >= max_inline_links) {
      position_ = link_end;
      return;
    }
    std::fill_n(output_.begin() + static_cast<std::ptrdiff_t>(opening.output_position), opening.is_image ? 2 : 1, placeholder);
    // Links and the texts of pictures cannot contain links. URLs inside are part of the text.
    while (!links_.empty() && links_.back().begin >= opening.output_position && !links_.back().value.is_image)
      links_.pop_back();
    if (!opening.is_image) no_links_below_ = brackets_.size();
    links_.push_back({{std::move(target), {}, line_, opening.is_image}, opening.output_position, output_.size()});
    const auto skipped = text_.substr(position_, link_end - position_);
    line_ += static_cast<std::size_t>(std::count(skipped.begin(), skipped.end(), '\n'));
    position_ = link_end;
  }

  /// The position after the link whose `]` is at the current position; 0: not a link.
  std::size_t resolve_target(const open_bracket& opening, std::string& target) {
    const auto next = position_ + 1;
    if (next < text_.size() && text_[next] == '(') {
      const auto end = read_destination(text_, next, target);
      if (end != 0) return end;
    }
    if (definitions_.empty()) return 0;
    auto label = text_.substr(opening.source_position, position_ - opening.source_position);
    auto link_end = next;
    if (next < text_.size() && text_[next] == '[') {
      const auto end = text_.substr(next, 1001).find(']', 1);
      if (end != std::string_view::npos) {
        link_end = next + end + 1;
        if (end > 1) label = text_.substr(next + 1, end - 1);
      }
    }
    if (label.size() > 999) return 0;
    // A label contains no brackets. Checking each of many nested labels would take quadratic time.
    if (link_end == next && opening.open_count < opened_count_) return 0;
    const auto definition = definitions_.find(normalize_label(label));
    if (definition == definitions_.end()) return 0;
    target = definition->second;
    return link_end;
  }

  void read_angle_bracket() {
    if (text_.substr(position_).starts_with("<!--")) {
      const auto end = has_no_comment_end_ ? std::string_view::npos : text_.find("-->", position_ + 2);  // `<!-->` is a comment
      if (end == std::string_view::npos) {
        has_no_comment_end_ = true;
        return copy(1);
      }
      const auto skipped = text_.substr(position_, end - position_);
      line_ += static_cast<std::size_t>(std::count(skipped.begin(), skipped.end(), '\n'));
      position_ = end + 3;
      return;
    }
    if (read_autolink()) return;
    html_tag tag;
    // After this many failures the text is not HTML. Each attempt may scan the rest of the text.
    if (failed_tags_ > 64 || !read_tag(text_, position_, tag)) {
      ++failed_tags_;
      return copy(1);
    }
    apply_tag(tag);
    const auto skipped = text_.substr(position_, tag.end - position_);
    line_ += static_cast<std::size_t>(std::count(skipped.begin(), skipped.end(), '\n'));
    position_ = tag.end;
  }

  bool read_autolink() {
    const auto remaining = text_.substr(position_ + 1, max_target_bytes);
    const auto end = remaining.find_first_of("> \n\t<");
    if (end == std::string_view::npos || remaining[end] != '>') return false;
    const auto content = remaining.substr(0, end);
    const auto colon = content.find(':');
    const auto is_scheme = [](char c) { return ascii::is_letter(c) || ascii::is_digit(c) || c == '+' || c == '-' || c == '.'; };
    const bool is_uri = colon != std::string_view::npos && colon >= 2 && colon <= 32 && ascii::is_letter(content.front()) &&
                        std::all_of(content.begin(), content.begin() + static_cast<std::ptrdiff_t>(colon), is_scheme);
    const auto at_sign = content.find('@');
    const bool is_mail = !is_uri && at_sign != std::string_view::npos && at_sign > 0 && at_sign + 1 < content.size() &&
                         content.find_first_of("\\\"=/:") == std::string_view::npos;
    if (!is_uri && !is_mail) return false;
    const auto begin = output_.size();
    output_.append(content);
    links_.push_back({{(is_mail ? "mailto:" : "") + std::string(content), {}, line_, false}, begin, output_.size()});
    position_ += end + 2;
    return true;
  }

  void apply_tag(const html_tag& tag) {
    if (tag.name == "br") {
      output_ += ' ';
    } else if (tag.name == "a" && tag.is_end) {
      if (anchor_ < links_.size() && links_[anchor_].end == unclosed) links_[anchor_].end = output_.size();
    } else if (tag.name == "a") {
      const auto* target = tag.find("href");
      if (target == nullptr) return;
      anchor_ = links_.size();
      links_.push_back({{*target, {}, line_, false}, output_.size(), unclosed});
    } else if (tag.name == "img" && !tag.is_end) {
      const auto begin = output_.size();
      if (const auto* alternative = tag.find("alt")) output_.append(*alternative);
      if (const auto* target = tag.find("src")) links_.push_back({{*target, {}, line_, true}, begin, output_.size()});
    }
  }

  void read_bare_url() {
    const char previous = position_ == 0 ? ' ' : text_[position_ - 1];
    auto end = ascii::is_letter(previous) || ascii::is_digit(previous) ? position_ : end_of_url(text_, position_);
    // In the text of a link, a bracket ends the URL: [https://e.x](https://e.x)
    const auto bracket = brackets_.empty() ? std::string_view::npos : text_.substr(position_, end - position_).find(']');
    if (bracket != std::string_view::npos) end = end_of_url(text_.substr(0, position_ + bracket), position_);
    if (end == position_) return copy(1);
    const auto url = text_.substr(position_, end - position_);
    const auto begin = output_.size();
    output_.append(url);
    links_.push_back({{(url.front() == 'w' ? "http://" : "") + std::string(url), {}, line_, false}, begin, output_.size()});
    position_ = end;
  }

  char32_t point_before(std::size_t position) const noexcept {
    if (position == 0) return U' ';
    return character_at(text_, boundary_before(text_, position - 1)).point;
  }

  static bool is_white(char32_t point) noexcept { return point <= ' ' || point == 0xA0 || point == 0x3000; }

  /// Handles `**one****two**`, which some programs write.
  [[nodiscard]] bool joins_bold_words(char32_t previous, char32_t following, std::size_t count) const noexcept {
    const auto is_word_point = [](char32_t point) { return !is_white(point) && !is_punctuation(point); };
    return !open_delimiters_[0].empty() && 2 * open_delimiters_[0].back().count == count && is_word_point(previous) &&
           is_word_point(following);
  }

  void read_emphasis() {
    const char mark = text_[position_];
    const auto end = std::min(text_.find_first_not_of(mark, position_), text_.size());
    const auto previous = point_before(position_);
    const auto following = end < text_.size() ? character_at(text_, end).point : U' ';
    auto count = end - position_;
    const auto output_position = output_.size();
    const bool opens_left =
        !is_white(following) && (!is_punctuation(following) || is_white(previous) || is_punctuation(previous));
    const bool closes_right =
        !is_white(previous) && (!is_punctuation(previous) || is_white(following) || is_punctuation(following));
    const bool can_open = opens_left && (mark != '_' || !closes_right || is_punctuation(previous));
    const bool can_close = closes_right && (mark != '_' || !opens_left || is_punctuation(following));
    copy(count);
    if (mark == '~' && count > 2) return;
    if (mark == '*' && ascii::is_mask(count) && !joins_bold_words(previous, following, count)) return;
    auto& openers = open_delimiters_[mark == '*' ? 0 : mark == '_' ? 1 : 2];
    auto next = output_position;
    while (can_close && count > 0 && !openers.empty()) {
      auto& last = openers.back();
      if (mark == '~' && last.count != count) break;
      const auto matched = std::min(last.count, count);
      std::fill_n(output_.begin() + static_cast<std::ptrdiff_t>(last.output_position + last.count - matched), matched,
                  placeholder);
      std::fill_n(output_.begin() + static_cast<std::ptrdiff_t>(next), matched, placeholder);
      last.count -= matched;
      if (last.count == 0) openers.pop_back();
      next += matched;
      count -= matched;
    }
    if (can_open && count > 0) openers.push_back({next, count});
  }

  std::string_view text_;
  std::size_t line_;
  const link_definitions& definitions_;
  std::size_t position_ = 0;
  std::string output_{};
  std::vector<found_link> links_{};
  std::vector<open_bracket> brackets_{};
  std::size_t opened_count_ = 0;
  std::size_t no_links_below_ = 0;
  std::array<std::vector<delimiters>, 3> open_delimiters_{};
  std::vector<std::vector<std::size_t>> tick_runs_{};
  bool has_tick_index_ = false;
  bool has_no_comment_end_ = false;
  std::size_t failed_tags_ = 0;
  std::size_t anchor_ = unclosed;
};

}  // namespace

inline_text read_inline(std::string_view text, std::size_t line, const link_definitions& definitions) {
  return inline_reader(text, line, definitions).read();
}

}  // namespace hondana::markup
