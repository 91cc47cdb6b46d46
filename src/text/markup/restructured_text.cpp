/// Reads reStructuredText.

#include <algorithm>
#include <array>
#include <cstddef>
#include <string_view>
#include <vector>

#include "base/ascii/ascii.hpp"
#include "text/markup/characters.hpp"
#include "text/markup/inlines.hpp"
#include "text/markup/pieces.hpp"

namespace hondana::markup {

/// The addresses of `.. _name: address`, keyed by `normalize_label(name)`.
[[nodiscard]] link_definitions collect_targets(std::string_view text);

/// Reads inline markup. Links are `` `text <url>`_ ``, `` `name`_ `` with a known target, bare URLs, and the roles `:doc:`,
/// `:ref:`, `:numref:` and `:download:` with their target as written.
[[nodiscard]] inline_text read_roles(std::string_view text, std::size_t line, const link_definitions& definitions);

namespace {

constexpr std::size_t max_targets = 10'000;
constexpr std::size_t max_role_bytes = 2 * max_target_bytes;
constexpr std::array<std::string_view, 4> linking_roles{"doc", "ref", "numref", "download"};

/// Splits `text <target>`. Without angle brackets, text and target are the same.
void split_link(std::string_view content, std::string_view& text, std::string_view& target) noexcept {
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
  while (
      end < text.size() && end - position < 40 &&
      (ascii::is_letter(text[end]) || ascii::is_digit(text[end]) || text[end] == '-' || text[end] == ':' || text[end] == '_')) {
    if (text[end] == ':' && end + 1 < text.size() && text[end + 1] == '`') {
      name = text.substr(position + 1, end - position - 1);
      return end + 1;
    }
    ++end;
  }
  return position;
}

}  // namespace

link_definitions collect_targets(std::string_view text) {
  link_definitions targets;
  if (text.find(".. _") == std::string_view::npos) return targets;
  line_reader lines(text);
  for (text_line line; targets.size() < max_targets && lines.read(line);) {
    auto content = text.substr(line.begin, line.end - line.begin);
    if (!content.starts_with(".. _")) continue;
    content.remove_prefix(4);
    const bool is_quoted = content.starts_with('`');
    const auto end = is_quoted ? content.find("`: ", 1) : content.find(": ");
    if (end == std::string_view::npos) continue;
    const auto address = trim(content.substr(end + 2));
    auto label = normalize_label(content.substr(is_quoted ? 1 : 0, end - (is_quoted ? 1 : 0)));
    if (!label.empty() && !address.empty() && address.size() <= max_target_bytes) targets.emplace(std::move(label), address);
  }
  return targets;
}

inline_text read_roles(std::string_view text, std::size_t line, const link_definitions& definitions) {
  inline_text result;
  const auto add_lines = [&](std::size_t begin, std::size_t end) {
    line += static_cast<std::size_t>(
        std::count(text.begin() + static_cast<std::ptrdiff_t>(begin), text.begin() + static_cast<std::ptrdiff_t>(end), '\n'));
  };
  for (std::size_t position = 0; position < text.size();) {
    const char c = text[position];
    if (c == '\n') {
      ++line;
      result.text += ' ';
      ++position;
      continue;
    }
    std::string_view role;
    const auto open = c == ':' ? end_of_role(text, position, role) : position;
    if (open < text.size() && text[open] == '`') {
      const bool is_literal = text.substr(open).starts_with("``");
      const auto mark = is_literal ? std::string_view("``") : std::string_view("`");
      const auto close = text.substr(0, open + max_role_bytes).find(mark, open + mark.size());
      if (close != std::string_view::npos) {
        const auto content = text.substr(open + mark.size(), close - open - mark.size());
        auto end = close + mark.size();
        std::string_view link_text = content;
        std::string_view target;
        if (!is_literal) split_link(content, link_text, target);
        const bool is_reference = !is_literal && role.empty() && end < text.size() && text[end] == '_';
        while (is_reference && end < text.size() && text[end] == '_') ++end;
        std::string address(target);
        if (is_reference && target == link_text) {
          const auto definition = definitions.find(normalize_label(target));
          address = definition == definitions.end() ? std::string() : definition->second;
        }
        const bool is_link = is_reference || std::find(linking_roles.begin(), linking_roles.end(), role) != linking_roles.end();
        if (is_link && !address.empty()) result.links.push_back({std::move(address), std::string(link_text), line, false});
        result.text.append(link_text);
        add_lines(position, end);
        position = end;
        continue;
      }
    }
    if (c == 'h' && (position == 0 || !ascii::is_letter(text[position - 1]))) {
      const auto end = end_of_url(text, position);
      if (end != position) {
        const std::string url(text.substr(position, end - position));
        result.links.push_back({url, url, line, false});
        result.text.append(url);
        position = end;
        continue;
      }
    }
    if (c == '\\' && position + 1 < text.size() && is_punctuation(text[position + 1])) {
      result.text += text[position + 1];
      position += 2;
      continue;
    }
    if (c != '*') result.text += c;
    ++position;
  }
  return result;
}

namespace {

class restructured_reader {
 public:
  restructured_reader(std::string_view text, markup_listener& listener, link_definitions targets)
      : targets_(std::move(targets)), collector_(text, listener), lines_(text) {}

  void read() {
    if (auto front_matter = find_front_matter(collector_.text())) {
      lines_ = line_reader(collector_.text(), front_matter->end, front_matter->last_line + 1);
      collector_.emit(std::move(*front_matter));
    } else if (collector_.text().starts_with("\xEF\xBB\xBF")) {
      lines_ = line_reader(collector_.text(), 3);
    }
    text_line line;
    while (collector_.accepts_more() && lines_.read(line)) read_line(line);
    finish();
  }

 private:
  static std::size_t indent_of(std::string_view raw) noexcept { return std::min(raw.find_first_not_of(" \t"), raw.size()); }

  /// The character that an adornment line repeats; 0: not an adornment.
  static char adornment_of(std::string_view raw) noexcept {
    while (!raw.empty() && ascii::is_space(raw.back())) raw.remove_suffix(1);
    if (raw.size() < 2 || !is_punctuation(raw.front()) || raw.find_first_not_of(raw.front()) != std::string_view::npos)
      return 0;
    return raw.front();
  }

  void read_line(const text_line& line) {
    const auto raw = collector_.content_of(line);
    const auto content = trim(raw);
    if (content.empty()) {
      if (!collector_.is_open(piece_kind::code)) finish();
      return;
    }
    const auto indent = indent_of(raw);
    if (is_literal_) {
      if (indent > literal_indent_) return collector_.extend(literal_kind_, line);
      is_literal_ = false;
      finish();
    }
    if (raw.starts_with(".. ") || content == "..") return read_explicit_markup(line, trim(raw.substr(2)));
    if (!collector_.is_open(piece_kind::prose) && read_heading(line, raw)) return;
    collector_.extend(piece_kind::prose, line);
    if (content.ends_with("::")) {
      next_literal_indent_ = indent;
      literal_follows_ = true;
    }
  }

  bool read_heading(const text_line& line, std::string_view raw) {
    text_line next_line;
    text_line third_line;
    if (!lines_.peek(next_line)) return false;
    const auto next_content = collector_.content_of(next_line);
    const char overline = adornment_of(raw);
    if (overline != 0) {
      auto ahead = lines_;
      const bool is_title = !is_blank(next_content) && ahead.read(next_line) && ahead.read(third_line) &&
                            adornment_of(collector_.content_of(third_line)) == overline &&
                            display_width(trim(next_content)) <= trim(raw).size();
      if (is_title) {
        lines_ = ahead;
        emit_heading(line, third_line, trim(next_content), overline, true);
        return true;
      }
      if (!is_blank(next_content) || raw.size() < 4) return false;
      collector_.emit(piece_kind::mark, line);
      return true;
    }
    const char underline = adornment_of(next_content);
    if (underline == 0 || ascii::is_space(raw.front())) return false;
    const auto length = trim(next_content).size();
    if (length < 4 && length < display_width(trim(raw))) return false;
    (void)lines_.read(next_line);
    emit_heading(line, next_line, trim(raw), underline, false);
    return true;
  }

  void emit_heading(const text_line& first, const text_line& last, std::string_view raw, char mark, bool has_overline) {
    const std::pair<char, bool> style(mark, has_overline);
    auto match = std::find(styles_.begin(), styles_.end(), style);
    if (match == styles_.end()) match = styles_.insert(styles_.end(), style);
    const int level = static_cast<int>(match - styles_.begin()) + 1;
    auto content = read_roles(raw.substr(0, 4 * max_heading_bytes), first.number, targets_);
    collector_.emit({piece_kind::heading, first.begin, last.end, first.number, last.number, level,
                     std::string(utf8_prefix(content.text, max_heading_bytes)), std::move(pending_id_)});
    pending_id_.clear();
    for (auto& link : content.links) collector_.emit_link(std::move(link));
  }

  /// Reads the content after `..`: a target, a directive or a comment.
  void read_explicit_markup(const text_line& line, std::string_view content) {
    finish();
    collector_.emit(piece_kind::mark, line);
    if (content.starts_with('_')) return read_hyperlink_target(content.substr(1));
    const auto colons = content.find("::");
    auto name = colons == std::string_view::npos ? std::string_view() : content.substr(0, colons);
    // A substitution: `.. |name| image:: x`.
    if (name.starts_with('|') && name.find('|', 1) != std::string_view::npos) name = trim(name.substr(name.find('|', 1) + 1));
    const bool is_directive = !name.empty() && name.find_first_of(" \t") == std::string_view::npos;
    const auto argument = is_directive ? trim(content.substr(colons + 2)) : std::string_view();
    if (name == "image" || name == "figure") collector_.emit_link({std::string(argument), {}, line.number, true});
    const bool is_code = name == "code" || name == "code-block" || name == "sourcecode" || name == "parsed-literal";
    const bool is_hidden = !is_directive || name == "raw" || name == "toctree" || name == "image";
    if (is_directive && !is_code && !is_hidden) return;
    is_literal_ = true;
    literal_indent_ = 0;
    literal_kind_ = is_code ? piece_kind::code : piece_kind::mark;
  }

  void read_hyperlink_target(std::string_view content) {
    if (content.starts_with('_')) content.remove_prefix(1);
    const bool is_quoted = content.starts_with('`');
    const auto end = is_quoted ? content.find("`:", 1) : content.find(':');
    if (end == std::string_view::npos) return;
    const auto name = content.substr(is_quoted ? 1 : 0, end - (is_quoted ? 1 : 0));
    const auto address = trim(content.substr(end + (is_quoted ? 2 : 1)));
    if (address.empty()) pending_id_ = utf8_prefix(name, max_heading_bytes);
  }

  void finish() {
    const auto piece = collector_.close();
    if (literal_follows_) {
      literal_follows_ = false;
      is_literal_ = true;
      literal_indent_ = next_literal_indent_;
      literal_kind_ = piece_kind::code;
    }
    if (piece.kind != piece_kind::prose || !collector_.wants_links()) return;
    auto content = read_roles(collector_.text().substr(piece.begin, piece.end - piece.begin), piece.first_line, targets_);
    for (auto& link : content.links) collector_.emit_link(std::move(link));
  }

  link_definitions targets_;
  piece_collector collector_;
  line_reader lines_;
  std::vector<std::pair<char, bool>> styles_{};
  bool is_literal_ = false;
  bool literal_follows_ = false;
  std::size_t literal_indent_ = 0;
  std::size_t next_literal_indent_ = 0;
  piece_kind literal_kind_ = piece_kind::code;
  std::string pending_id_{};
};

}  // namespace

void read_restructured_text(std::string_view text, markup_listener& listener) {
  restructured_reader(text, listener, collect_targets(text)).read();
}

}  // namespace hondana::markup
