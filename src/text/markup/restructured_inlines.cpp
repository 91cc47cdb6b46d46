/// Inline markup of reStructuredText, and the targets and substitutions that it refers to.
#include "text/markup/restructured_inlines.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <cstdint>
#include <iterator>
#include <utility>

#include "base/ascii/ascii.hpp"
#include "text/markup/characters.hpp"

namespace hondana::markup {
namespace {

constexpr std::size_t max_definitions_of_a_kind = 10'000;
constexpr std::size_t max_substitution_bytes = 1000;
constexpr int max_substitution_depth = 3;
constexpr std::array<std::string_view, 4> linking_roles{"doc", "ref", "numref", "download"};

/// The text of `.. |name| unicode:: 0xA9 U+2014 text .. comment`. Empty: it is not valid.
std::string read_code_points(std::string_view content) {
  std::string text;
  content = content.substr(0, content.find(" .. "));
  while (!(content = trim(content)).empty()) {
    const auto token = content.substr(0, content.find_first_of(" \t"));
    content.remove_prefix(token.size());
    constexpr std::array<std::string_view, 7> prefixes{"0x", "U+", "u+", "\\x", "\\u", "&#x", "x"};
    const auto* prefix =
        std::find_if(prefixes.begin(), prefixes.end(), [token](std::string_view known) { return token.starts_with(known); });
    const bool is_hexadecimal = prefix != prefixes.end();
    const auto digits = token.substr(is_hexadecimal ? prefix->size() : 0);
    std::uint32_t point = 0;
    const auto parsed = std::from_chars(digits.data(), digits.data() + digits.size(), point, is_hexadecimal ? 16 : 10);
    const bool is_point = parsed.ec == std::errc() && (parsed.ptr == digits.data() + digits.size() || *parsed.ptr == ';');
    if (is_point && point > 0x10FFFF) return {};
    if (is_point)
      append_utf8(text, point);
    else
      text.append(text.empty() ? "" : " ").append(token);
  }
  return text;
}

/// Collects definitions line by line.
class definition_collector {
 public:
  void add_line(std::string_view content) {
    const bool is_indented = !content.empty() && ascii::is_blank(content.front());
    const auto line = trim(content);
    if (line.empty()) return finish();
    if (is_indented) return continue_definition(line);
    finish();
    if (content.starts_with("__ ")) return add_target("_", line.substr(2));
    if (!content.starts_with(".. ")) return end_internal_targets();
    const auto explicit_markup = trim(content.substr(3));
    std::string_view name;
    std::string_view address;
    if (explicit_markup.starts_with('_') && read_restructured_target(explicit_markup.substr(1), name, address))
      return add_target(name, address);
    if (explicit_markup.starts_with('|')) return add_substitution(explicit_markup.substr(1));
  }

  restructured_definitions extract() && {
    finish();
    end_internal_targets();
    for (auto& [name, address] : definitions_.targets) address = follow(address);
    for (auto& address : definitions_.anonymous_targets) address = follow(address);
    return std::move(definitions_);
  }

 private:
  enum class definition_kind : std::uint8_t { none, target, replacement, image, code_points };

  void add_target(std::string_view name, std::string_view address) {
    kind_ = definition_kind::target;
    name_ = name == "_" ? std::string() : normalize_label(name);
    value_ = trim(address);
  }

  void add_substitution(std::string_view content) {
    const auto bar = content.find('|');
    const auto colons = bar == std::string_view::npos ? bar : content.find("::", bar);
    if (colons == std::string_view::npos) return;
    const auto directive = trim(content.substr(bar + 1, colons - bar - 1));
    kind_ = directive == "replace"   ? definition_kind::replacement
            : directive == "image"   ? definition_kind::image
            : directive == "unicode" ? definition_kind::code_points
                                     : definition_kind::none;
    name_ = normalize_label(content.substr(0, bar));
    value_ = kind_ == definition_kind::image ? std::string_view() : trim(content.substr(colons + 2));
  }

  void continue_definition(std::string_view line) {
    if (kind_ == definition_kind::none || value_.size() > max_target_bytes) return;
    if (kind_ == definition_kind::image) {
      if (line.starts_with(":alt:")) value_ = trim(line.substr(5));
      return;
    }
    if (kind_ != definition_kind::target && !value_.empty()) value_ += ' ';
    value_.append(line);
  }

  void finish() {
    const auto kind = std::exchange(kind_, definition_kind::none);
    if (kind == definition_kind::none) return;
    auto& targets = definitions_.targets;
    if (kind != definition_kind::target) {
      auto text = kind == definition_kind::code_points ? read_code_points(value_) : value_;
      text.resize(boundary_before(text, max_substitution_bytes));
      // An empty replacement is an error, but a picture may be without text.
      if (text.empty() && kind != definition_kind::image) return;
      if (definitions_.substitutions.size() < max_definitions_of_a_kind && !name_.empty())
        definitions_.substitutions.emplace(std::move(name_), std::move(text));
      return;
    }
    if (value_.size() > max_target_bytes || targets.size() >= max_definitions_of_a_kind) return;
    if (name_.empty()) {
      if (definitions_.anonymous_targets.size() < max_definitions_of_a_kind) definitions_.anonymous_targets.push_back(value_);
    } else if (value_.empty()) {
      if (internal_targets_.size() < max_definitions_of_a_kind) internal_targets_.push_back(name_);
    } else {
      for (auto& name : std::exchange(internal_targets_, {})) targets.emplace(std::move(name), value_);
      targets.emplace(std::move(name_), value_);
    }
  }

  /// Targets without an address refer to the next target, or to the text that follows.
  void end_internal_targets() {
    for (auto& name : std::exchange(internal_targets_, {})) {
      auto address = '#' + name;
      definitions_.targets.emplace(std::move(name), std::move(address));
    }
  }

  /// The address of `name_`, which refers to another target.
  [[nodiscard]] std::string follow(std::string address) const {
    constexpr int max_steps = 8;
    for (int step = 0; step < max_steps && address.size() > 1 && address.ends_with('_') && !address.ends_with("\\_"); ++step) {
      auto name = std::string_view(address).substr(0, address.size() - 1);
      if (name.size() > 2 && name.starts_with('`') && name.ends_with('`')) name = name.substr(1, name.size() - 2);
      const auto target = definitions_.targets.find(normalize_label(name));
      if (target == definitions_.targets.end()) break;
      address = target->second;
    }
    return address;
  }

  restructured_definitions definitions_{};
  definition_kind kind_ = definition_kind::none;
  std::string name_{};
  std::string value_{};
  std::vector<std::string> internal_targets_{};
};

/// Splits `text <target>`. Without angle brackets, text and target are the same.
void split_reference(std::string_view content, std::string_view& text, std::string_view& target) noexcept {
  text = target = trim(content);
  if (!text.ends_with('>')) return;
  const auto open = text.rfind('<');
  if (open == std::string_view::npos) return;
  target = text.substr(open + 1, text.size() - open - 2);
  text = trim(text.substr(0, open));
  if (text.empty()) text = target;
}

/// The end of a `:role:` at `position`; `position` if there is none.
std::size_t end_of_role(std::string_view text, std::size_t position, std::string_view& name) noexcept {
  auto end = position + 1;
  while (end < text.size() && end - position < 40 &&
         (ascii::is_alphanumeric(text[end]) || text[end] == '-' || text[end] == ':' || text[end] == '_')) {
    if (text[end] == ':' && end + 1 < text.size() && text[end + 1] == '`') {
      name = text.substr(position + 1, end - position - 1);
      return end + 1;
    }
    ++end;
  }
  return position;
}

/// The text that Sphinx and docutils show for a role.
std::string text_of_role(std::string_view role, std::string_view text) {
  if (role == "pep") return "PEP " + std::string(text);
  if (role == "rfc") return "RFC " + std::string(text);
  if (role.empty() || text.size() < 2) return std::string(text);
  if (text.front() == '!') return std::string(text.substr(1));
  if (text.front() == '~') return std::string(text.substr(std::max<std::size_t>(text.rfind('.') + 1, 1)));
  return std::string(text);
}

class restructured_inline_reader {
 public:
  restructured_inline_reader(std::string_view text, std::size_t line, const restructured_definitions& definitions,
                             std::size_t& next_anonymous, int substitution_depth)
      : text_(text), line_(line), definitions_(definitions), next_anonymous_(next_anonymous), depth_(substitution_depth) {}

  inline_text read() {
    while (position_ < text_.size()) read_next();
    return std::move(result_);
  }

 private:
  enum mark : std::uint8_t { strong, emphasis, literal, interpreted, substitution, mark_count };
  static constexpr std::array<std::string_view, mark_count> marks{"**", "*", "``", "`", "|"};

  void read_next() {
    const char c = text_[position_];
    switch (c) {
      case '\n':
        result_.text += ' ';
        return advance(1);
      case '\\':
        return read_escape();
      case '*':
        return read_span(text_.substr(position_).starts_with("**") ? strong : emphasis);
      case '`':
        return read_quoted(position_, {});
      case ':': {
        std::string_view role;
        const auto quoted = begins_markup(position_) ? end_of_role(text_, position_, role) : position_;
        return quoted == position_ ? copy(1) : read_quoted(quoted, role);
      }
      case '|':
        return depth_ > 0 ? read_substitution() : copy(1);
      case '_':
        return is_inline_target() ? advance(1) : copy(1);
      case '[':
        return read_footnote();
      default:
        return is_word_character(character_at(text_, position_).point) ? read_word() : copy(1);
    }
  }

  void copy(std::size_t bytes) {
    result_.text.append(text_.substr(position_, bytes));
    advance(bytes);
  }
  void advance(std::size_t bytes) {
    const auto skipped = text_.substr(position_, bytes);
    line_ += static_cast<std::size_t>(std::count(skipped.begin(), skipped.end(), '\n'));
    position_ += skipped.size();
  }

  void read_escape() {
    const bool is_space = position_ + 1 < text_.size() && ascii::is_space(text_[position_ + 1]);
    advance(1);
    if (is_space) return advance(1);
    if (position_ < text_.size()) copy(1);
  }

  /// Whether markup may begin at `position`, by the character before it.
  [[nodiscard]] bool begins_markup(std::size_t position) const noexcept {
    if (position == 0) return true;
    const auto previous = character_at(text_, boundary_before(text_, position - 1)).point;
    if (previous < 0x80)
      return ascii::is_space(text_[position - 1]) ||
             std::string_view("'\"([{<-/:").find(text_[position - 1]) != std::string_view::npos;
    return is_punctuation(previous) || previous == 0x3000 || previous == 0xA0;
  }
  /// Whether markup may end at `position`, by the character after it.
  [[nodiscard]] bool ends_markup(std::size_t position) const noexcept {
    if (position >= text_.size()) return true;
    const auto next = character_at(text_, position).point;
    if (next < 0x80)
      return ascii::is_space(text_[position]) ||
             std::string_view("'\")]}>-/\\:.,;!?").find(text_[position]) != std::string_view::npos;
    return is_punctuation(next) || next == 0x3000 || next == 0xA0;
  }

  /// Whether an opening mark at the current position is in quotes, as in `"*"`.
  [[nodiscard]] bool is_quoted_mark(std::size_t end) const noexcept {
    if (position_ == 0 || end >= text_.size()) return false;
    constexpr std::string_view open = "'\"([{<";
    constexpr std::string_view close = "'\")]}>";
    const auto pair = open.find(text_[position_ - 1]);
    return pair != std::string_view::npos && text_[end] == close[pair];
  }

  /// The position of the mark that closes one which ends at `begin`; `npos` if there is none. Time: linear in all, because a
  /// mark that is missing once is not searched again.
  std::size_t find_closing(mark kind, std::size_t begin) {
    const auto sign = marks[kind];
    if (begin < unclosed_from_[kind] && begin < text_.size() && !ascii::is_space(text_[begin])) {
      for (auto close = text_.find(sign, begin + 1); close != std::string_view::npos; close = text_.find(sign, close + 1)) {
        if (ascii::is_space(text_[close - 1])) continue;
        if (kind != literal && text_[close - 1] == '\\') continue;
        auto end = close + sign.size();
        if (kind == interpreted || kind == substitution) end = std::min(text_.find_first_not_of('_', end), text_.size());
        if (kind == interpreted && end < text_.size() && text_[end] == ':') return close;
        if (ends_markup(end)) return close;
      }
      unclosed_from_[kind] = begin;
    }
    return std::string_view::npos;
  }

  void read_span(mark kind) {
    const auto begin = position_ + marks[kind].size();
    const auto close = begins_markup(position_) && !is_quoted_mark(begin) ? find_closing(kind, begin) : std::string_view::npos;
    if (close == std::string_view::npos) return copy(marks[kind].size());
    // Inline markup cannot be nested.
    advance(begin - position_);
    while (position_ < close) text_[position_] == '\\' ? read_escape() : text_[position_] == '\n' ? read_next() : copy(1);
    advance(marks[kind].size());
  }

  /// Reads ``literal``, `text`_ and :role:`text`, whose quote is at `quote`.
  void read_quoted(std::size_t quote, std::string_view role) {
    const auto kind = role.empty() && text_.substr(quote).starts_with("``") ? literal : interpreted;
    const auto begin = quote + marks[kind].size();
    const bool may_begin = begins_markup(position_) || (position_ > 0 && text_[position_ - 1] == '_');
    const auto close = may_begin && !is_quoted_mark(begin) ? find_closing(kind, begin) : std::string_view::npos;
    if (close == std::string_view::npos) return copy(begin - position_);
    const auto content = text_.substr(begin, close - begin);
    auto end = close + marks[kind].size();
    std::string_view text = content;
    std::string_view target;
    if (kind == interpreted) split_reference(content, text, target);
    const auto underscores = kind == interpreted ? std::min(text_.find_first_not_of('_', end), text_.size()) - end : 0;
    if (underscores > 0 && role.empty()) {
      add_reference(text, target, underscores > 1);
      end += std::min<std::size_t>(underscores, 2);
    } else if (kind == interpreted && role.empty() && text_.substr(end).starts_with(':')) {
      // `text`:role:
      const auto role_end = text_.substr(0, end + 40).find(':', end + 1);
      if (role_end != std::string_view::npos && ends_markup(role_end + 1)) {
        role = text_.substr(end + 1, role_end - end - 1);
        end = role_end + 1;
      }
    }
    if (!role.empty() && std::find(linking_roles.begin(), linking_roles.end(), role) != linking_roles.end())
      add_role_link(role, text, target);
    auto shown = text_of_role(role, text);
    std::replace(shown.begin(), shown.end(), '\n', ' ');
    if (kind == interpreted) std::erase(shown, '\\');
    result_.text.append(shown);
    advance(end - position_);
  }

  void add_role_link(std::string_view role, std::string_view text, std::string_view target) {
    if (target.empty()) return;
    std::string address(target);
    if (role != "doc" && role != "download") {
      const auto known = definitions_.targets.find(normalize_label(target));
      if (known != definitions_.targets.end()) address = known->second;
    }
    result_.links.push_back({std::move(address), std::string(text), line_, false});
  }

  /// Adds the link of a reference. `target` differs from `text` if the reference contains its address.
  void add_reference(std::string_view text, std::string_view target, bool is_anonymous) {
    std::string address;
    if (target != text) {
      address = target;
      // `text <name_>`_
      if (target.size() > 1 && target.ends_with('_')) {
        const auto known = definitions_.targets.find(normalize_label(target.substr(0, target.size() - 1)));
        if (known != definitions_.targets.end()) address = known->second;
      }
    } else if (is_anonymous) {
      const auto number = next_anonymous_++;
      if (number < definitions_.anonymous_targets.size()) address = definitions_.anonymous_targets[number];
    } else if (const auto known = definitions_.targets.find(normalize_label(text)); known != definitions_.targets.end()) {
      address = known->second;
    }
    if (!address.empty()) result_.links.push_back({std::move(address), std::string(text), line_, false});
  }

  /// Whether an inline target begins at the current position: _`text`
  [[nodiscard]] bool is_inline_target() {
    return text_.substr(position_).starts_with("_`") && begins_markup(position_) &&
           find_closing(interpreted, position_ + 2) != std::string_view::npos;
  }

  void read_substitution() {
    const auto begin = position_ + 1;
    const auto close =
        begins_markup(position_) && !is_quoted_mark(begin) ? find_closing(substitution, begin) : std::string_view::npos;
    if (close == std::string_view::npos) return copy(1);
    const auto known = definitions_.substitutions.find(normalize_label(text_.substr(begin, close - begin)));
    if (known == definitions_.substitutions.end() || result_.text.size() > 4 * max_heading_bytes)
      return copy(close + 1 - position_);
    auto content = restructured_inline_reader(known->second, line_, definitions_, next_anonymous_, depth_ - 1).read();
    result_.text.append(content.text);
    std::move(content.links.begin(), content.links.end(), std::back_inserter(result_.links));
    advance(close + 1 - position_);
    while (position_ < text_.size() && text_[position_] == '_') advance(1);
  }

  /// `[label]_`
  void read_footnote() {
    constexpr std::size_t max_footnote_bytes = 80;
    const auto close = begins_markup(position_) ? text_.substr(0, position_ + max_footnote_bytes).find(']', position_)
                                                : std::string_view::npos;
    if (close == std::string_view::npos || !text_.substr(close + 1).starts_with('_') || !ends_markup(close + 2)) return copy(1);
    copy(close + 1 - position_);
    advance(1);
  }

  /// Reads a word, which may be a bare URL or a reference such as `name_`.
  void read_word() {
    const bool is_begin = begins_markup(position_);
    if (text_[position_] == 'h' && (position_ == 0 || !ascii::is_letter(text_[position_ - 1]))) {
      const auto url = text_.substr(position_, end_of_url(text_, position_) - position_);
      if (!url.empty()) {
        result_.links.push_back({std::string(url), std::string(url), line_, false});
        return copy(url.size());
      }
    }
    auto end = position_;
    while (end < text_.size()) {
      const auto next = character_at(text_, end);
      if (next.point != '_' && is_word_character(next.point)) {
        end += next.bytes;
      } else if (end > position_ && end + 1 < text_.size() &&
                 std::string_view("-._+:").find(text_[end]) != std::string_view::npos && text_[end + 1] != '_' &&
                 is_word_character(character_at(text_, end + 1).point)) {
        ++end;
      } else {
        break;
      }
    }
    const auto name = text_.substr(position_, end - position_);
    const std::size_t underscores = text_.substr(end).starts_with("__") ? 2 : text_.substr(end).starts_with('_') ? 1 : 0;
    const bool is_reference = is_begin && !name.empty() && underscores > 0 && ends_markup(end + underscores);
    const bool is_known = is_reference && (underscores == 2 ? next_anonymous_ < definitions_.anonymous_targets.size()
                                                            : definitions_.targets.contains(normalize_label(name)));
    if (is_known) add_reference(name, name, underscores == 2);
    copy(std::max<std::size_t>(name.size(), 1));
    if (is_known) advance(underscores);
  }

  std::string_view text_;
  std::size_t line_;
  const restructured_definitions& definitions_;
  std::size_t& next_anonymous_;
  int depth_;
  std::size_t position_ = 0;
  inline_text result_{};
  std::array<std::size_t, mark_count> unclosed_from_{std::string_view::npos, std::string_view::npos, std::string_view::npos,
                                                     std::string_view::npos, std::string_view::npos};
};

}  // namespace

bool read_restructured_target(std::string_view content, std::string_view& name, std::string_view& address) noexcept {
  const bool is_quoted = content.starts_with('`');
  auto end = is_quoted ? content.find('`', 1) : 0;
  if (end == std::string_view::npos) return false;
  if (is_quoted) name = content.substr(1, end - 1);
  for (end = content.find(':', end); end != std::string_view::npos; end = content.find(':', end + 1)) {
    const bool is_end = end + 1 == content.size() || ascii::is_blank(content[end + 1]);
    if (is_end && end > 0 && content[end - 1] != '\\') break;
  }
  if (end == std::string_view::npos) return false;
  if (!is_quoted) name = content.substr(0, end);
  address = trim(content.substr(end + 1));
  return !name.empty();
}

restructured_definitions collect_restructured_definitions(std::string_view text) {
  if (text.find(".. ") == std::string_view::npos && text.find("__ ") == std::string_view::npos) return {};
  definition_collector collector;
  line_reader lines(text);
  for (text_line line; lines.read(line);) collector.add_line(text.substr(line.begin, line.end - line.begin));
  return std::move(collector).extract();
}

inline_text read_restructured_inline(std::string_view text, std::size_t line, const restructured_definitions& definitions,
                                     std::size_t& next_anonymous, bool expands_substitutions) {
  const int depth = expands_substitutions ? max_substitution_depth : 0;
  return restructured_inline_reader(text, line, definitions, next_anonymous, depth).read();
}

}  // namespace hondana::markup
