/// Inline markup of AsciiDoc.
#include "text/markup/asciidoc_inlines.hpp"

#include <algorithm>
#include <array>
#include <span>
#include <utility>
#include <vector>

#include "base/ascii/ascii.hpp"
#include "text/markup/characters.hpp"

namespace hondana::markup {
namespace {

/// A link target. References within this document get a leading `#`.
std::string to_reference(std::string target) {
  const bool is_external = target.find_first_of("#./:") != std::string::npos;
  return is_external ? target : '#' + target;
}

std::size_t read_cross_reference(std::string_view raw, std::size_t position, const asciidoc_attributes& attributes,
                                 std::vector<link>& links) {
  const auto end = raw.substr(0, position + max_target_bytes).find(">>", position);
  if (end == std::string_view::npos) return position;
  const auto content = raw.substr(position + 2, end - position - 2);
  const auto comma = content.find(',');
  if (content.empty() || content.find('\n') != std::string_view::npos) return position;
  const auto text = comma == std::string_view::npos ? std::string_view() : trim(content.substr(comma + 1));
  links.push_back({to_reference(attributes.substitute(trim(content.substr(0, comma)))), std::string(text), 1, false});
  return end + 2;
}

/// `link:target[text]`, `xref:…`, `image:…`, `image::…`. `target_end`: the next end of a target, cached between calls.
std::size_t read_link_macro(std::string_view raw, std::size_t position, std::size_t& target_end,
                            const asciidoc_attributes& attributes, std::vector<link>& links) {
  const auto prefix = raw.substr(position, 7);
  const std::size_t name_bytes = prefix.starts_with("link:") || prefix.starts_with("xref:") ? 5
                                 : prefix.starts_with("image::")                            ? 7
                                 : prefix.starts_with("image:")                             ? 6
                                                                                            : 0;
  if (name_bytes == 0) return position;
  if (target_end < position + name_bytes) target_end = std::min(raw.find_first_of("[ \t\n", position + name_bytes), raw.size());
  const auto open = target_end;
  const auto window = raw.substr(0, position + max_target_bytes);
  if (open >= window.size() || raw[open] != '[' || open == position + name_bytes) return position;
  const auto close = window.find(']', open);
  if (close == std::string_view::npos) return position;
  auto text = raw.substr(open + 1, close - open - 1);
  auto target = attributes.substitute(raw.substr(position + name_bytes, open - position - name_bytes));
  if (prefix.front() == 'i') text = text.substr(0, text.find(','));
  if (prefix.front() == 'x') target = to_reference(std::move(target));
  if (text.ends_with('^')) text.remove_suffix(1);
  links.push_back({std::move(target), std::string(text), 1, prefix.front() == 'i'});
  return close + 1;
}

std::size_t read_url_macro(std::string_view raw, std::size_t position, std::vector<link>& links) {
  if (!raw.substr(position).starts_with("http")) return position;
  // A bracket ends the URL. Limit the search, so that repeated calls stay linear.
  const auto open = raw.substr(0, position + max_target_bytes).find('[', position);
  auto end = end_of_url(raw.substr(0, open), position);
  if (end == position) return position;
  // Punctuation that could end a sentence belongs to the URL if a bracket follows.
  const auto between = open == std::string_view::npos ? std::string_view("[") : raw.substr(end, open - end);
  if (between.find_first_not_of("?!.,:;*_~'|])") == std::string_view::npos) end = open;
  auto target = raw.substr(position, end - position);
  std::string_view text = target;
  if (end < raw.size() && raw[end] == '[') {
    const auto close = raw.substr(0, end + max_target_bytes).find(']', end);
    target = raw.substr(position, end - position);
    if (close != std::string_view::npos) {
      text = raw.substr(end + 1, close - end - 1);
      if (text.ends_with('^')) text.remove_suffix(1);
      end = close + 1;
    }
  }
  links.push_back({std::string(target), std::string(text), 1, false});
  return end;
}

/// Macros of titles other than links.
struct title_macro {
  std::string_view begin;
  std::string_view end;
  bool keeps_text;
};
constexpr std::array<title_macro, 12> title_macros{{{"[[", "]]", false},
                                                    {"(((", ")))", false},
                                                    {"((", "))", true},
                                                    {"anchor:", "]", false},
                                                    {"btn:[", "]", true},
                                                    {"footnote:", "]", false},
                                                    {"icon:", "]", false},
                                                    {"indexterm:[", "]", false},
                                                    {"indexterm2:[", "]", true},
                                                    {"kbd:[", "]", true},
                                                    {"mailto:", "]", true},
                                                    {"stem:[", "]", true}}};

/// The end of a macro at `position`; `position` if there is none. Appends its text to `out`.
std::size_t read_title_macro(std::string_view raw, std::size_t position, std::string& out) {
  const auto* macro = std::find_if(title_macros.begin(), title_macros.end(),
                                   [rest = raw.substr(position)](const auto& known) { return rest.starts_with(known.begin); });
  if (macro == title_macros.end()) return position;
  const auto begin = position + macro->begin.size();
  const auto end = raw.substr(0, position + max_target_bytes).find(macro->end, begin);
  if (end == std::string_view::npos) return position;
  auto text = raw.substr(begin, end - begin);
  if (macro->begin.ends_with(':')) {
    const auto open = text.find('[');
    if (open == std::string_view::npos || text.substr(0, open).find(' ') != std::string_view::npos) return position;
    text.remove_prefix(open + 1);
  }
  if (macro->keeps_text) out.append(text);
  return end + macro->end.size();
}

inline_text read_macros(std::string_view raw, std::size_t line, const asciidoc_attributes& attributes, bool is_title) {
  inline_text result;
  std::size_t target_end = 0;
  for (std::size_t position = 0; position < raw.size();) {
    const char c = raw[position];
    if (c == '\n') ++line;
    const auto old_count = result.links.size();
    std::size_t end = position;
    const bool is_word_begin = position == 0 || !ascii::is_alphanumeric(raw[position - 1]);
    if (c == '<' && raw.substr(position).starts_with("<<"))
      end = read_cross_reference(raw, position, attributes, result.links);
    else if ((c == 'l' || c == 'x' || c == 'i') && is_word_begin)
      end = read_link_macro(raw, position, target_end, attributes, result.links);
    else if (c == 'h')
      end = read_url_macro(raw, position, result.links);
    if (is_title && end == position && (is_word_begin || c == '[' || c == '('))
      end = read_title_macro(raw, position, result.text);
    if (end == position) {
      result.text += c;
      ++position;
      continue;
    }
    for (auto i = old_count; i < result.links.size(); ++i) {
      auto& link = result.links[i];
      link.line = line;
      if (!link.is_image) result.text += link.text.empty() ? link.target : link.text;
    }
    position = end;
  }
  return result;
}

bool is_word_before(std::string_view text, std::size_t position) noexcept {
  return position > 0 && is_word_character(character_at(text, boundary_before(text, position - 1)).point);
}
bool is_word_at(std::string_view text, std::size_t position) noexcept {
  return position < text.size() && is_word_character(character_at(text, position).point);
}

/// Marks around text. Constrained marks are next to no letter or digit outside, and to no space inside.
struct quote_marks {
  std::string_view open;
  std::string_view close;
  bool is_constrained;
  std::string_view not_before{};    ///< Characters that cannot be before the opening mark.
  std::string_view not_after{};     ///< Characters that cannot be after the closing mark.
  std::string_view literal_mark{};  ///< The quotation mark that stays on both sides.
};
constexpr std::array<quote_marks, 12> modern_marks{{{"**", "**", false},
                                                    {"*", "*", true, ";:}"},
                                                    {"\"`", "`\"", true, ";:}", {}, "\""},
                                                    {"'`", "`'", true, ";:`}", {}, "'"},
                                                    {"``", "``", false},
                                                    {"`", "`", true, ";:\"'`}", "\"'`"},
                                                    {"__", "__", false},
                                                    {"_", "_", true, ";:}"},
                                                    {"##", "##", false},
                                                    {"#", "#", true, "&;:}"},
                                                    {"^", "^", false},
                                                    {"~", "~", false}}};
constexpr std::array<quote_marks, 14> compatible_marks{{{"`", "`", true, "`", "`"},
                                                        {"**", "**", false},
                                                        {"*", "*", true, ";:}"},
                                                        {"``", "''", true, ";:}", {}, "\""},
                                                        {"'", "'", true, ";:}"},
                                                        {"`", "'", true, ";:}", {}, "'"},
                                                        {"++", "++", false},
                                                        {"+", "+", true, ";:}"},
                                                        {"__", "__", false},
                                                        {"_", "_", true, ";:}"},
                                                        {"##", "##", false},
                                                        {"#", "#", true, "&;:}"},
                                                        {"^", "^", false},
                                                        {"~", "~", false}}};

/// The position of the closing mark from `begin` on; `npos` if there is none.
std::size_t find_closing(std::string_view text, std::size_t begin, const quote_marks& marks) noexcept {
  for (auto close = text.find(marks.close, begin + 1); close != std::string_view::npos;
       close = text.find(marks.close, close + 1)) {
    const auto after = close + marks.close.size();
    const bool is_allowed =
        !marks.is_constrained || (!ascii::is_space(text[close - 1]) && !is_word_at(text, after) &&
                                  (after >= text.size() || marks.not_after.find(text[after]) == std::string_view::npos));
    if (is_allowed) return close;
  }
  return std::string_view::npos;
}

/// Removes marks of one kind, and attribute lists such as `[.role]` before them. Time: linear, because a closing mark that one
/// opening mark lacks is missing for all later ones, too.
std::string strip_marks_of(std::string_view text, const quote_marks& marks) {
  std::string out;
  std::size_t position = 0;
  for (auto open = text.find(marks.open); open != std::string_view::npos;
       open = text.find(marks.open, std::max(position, open + 1))) {
    const auto begin = open + marks.open.size();
    auto before = open;
    if (open > position && text[open - 1] == ']') {
      const auto bracket = text.substr(position, open - position).rfind('[');
      if (bracket != std::string_view::npos) before = position + bracket;
    }
    const bool is_blocked =
        marks.is_constrained && ((before > 0 && marks.not_before.find(text[before - 1]) != std::string_view::npos) ||
                                 is_word_before(text, before) || begin >= text.size() || ascii::is_space(text[begin]));
    if (is_blocked) continue;
    const auto close = find_closing(text, begin, marks);
    if (close == std::string_view::npos) break;
    const auto end = close + marks.close.size();
    if (before > position && text[before - 1] == '\\') {
      out.append(text.substr(position, before - 1 - position)).append(text.substr(before, end - before));
    } else {
      out.append(text.substr(position, before - position)).append(marks.literal_mark);
      out.append(text.substr(begin, close - begin)).append(marks.literal_mark);
    }
    position = end;
  }
  return out.append(text.substr(position));
}

/// Stands for literal text while other markup is read. Removed from the input, so it cannot occur there.
constexpr char literal_placeholder = '\x01';
constexpr std::array<std::pair<std::string_view, std::string_view>, 4> literal_marks{
    {{"+++", "+++"}, {"++", "++"}, {"$$", "$$"}, {"pass:", "]"}}};

/// Replaces literal text such as `++text++` and `pass:[text]` by placeholders, and appends it to `literals`.
std::string extract_literals(std::string_view raw, std::vector<std::string_view>& literals, bool is_compatible) {
  std::string out;
  constexpr quote_marks plus{"+", "+", true, ";:}"};
  bool may_close_plus = !is_compatible;
  for (std::size_t position = 0; position < raw.size();) {
    const auto rest = raw.substr(position);
    const auto* marks = std::find_if(literal_marks.begin(), literal_marks.end(),
                                     [rest](const auto& known) { return rest.starts_with(known.first); });
    auto begin = std::string_view::npos;
    auto end = begin;
    auto next = begin;
    if (marks != literal_marks.end() && (!is_compatible || marks->second != "++")) {
      begin = position + marks->first.size();
      if (marks->second == "]") begin = raw.substr(0, begin + 16).find('[', begin);
      if (begin != std::string_view::npos && marks->second == "]") ++begin;
      if (begin != std::string_view::npos) end = raw.find(marks->second, begin);
      next = end + marks->second.size();
    } else if (may_close_plus && rest.size() > 2 && rest.front() == '+' && !ascii::is_space(rest[1]) &&
               !is_word_before(raw, position) &&
               (position == 0 || plus.not_before.find(raw[position - 1]) == std::string_view::npos)) {
      begin = position + 1;
      end = find_closing(raw, begin, plus);
      may_close_plus = end != std::string_view::npos;
      next = end + 1;
    }
    if (end != std::string_view::npos) {
      literals.push_back(raw.substr(begin, end - begin));
      out += literal_placeholder;
      position = next;
      continue;
    }
    if (raw[position] != literal_placeholder) out += raw[position];
    ++position;
  }
  return out;
}

}  // namespace

inline_text read_asciidoc_links(std::string_view text, std::size_t line, const asciidoc_attributes& attributes) {
  return read_macros(text, line, attributes, false);
}

inline_text read_asciidoc_title(std::string_view raw, std::size_t line, const asciidoc_attributes& attributes,
                                bool is_compatible) {
  raw = utf8_prefix(raw, 4 * max_heading_bytes);
  std::vector<std::string_view> literals;
  auto text = extract_literals(raw, literals, is_compatible);
  const auto marks =
      is_compatible ? std::span<const quote_marks>(compatible_marks) : std::span<const quote_marks>(modern_marks);
  for (const auto& kind : marks) text = strip_marks_of(text, kind);
  text = read_macros(attributes.substitute(text), line, attributes, true).text;
  auto result = read_macros(raw, line, attributes, false);
  result.text.clear();
  std::size_t next_literal = 0;
  for (const char c : text) {
    if (c != literal_placeholder)
      result.text += c;
    else if (next_literal < literals.size())
      result.text.append(literals[next_literal++]);
  }
  result.text = std::string(trim(utf8_prefix(result.text, max_heading_bytes)));
  return result;
}

}  // namespace hondana::markup
