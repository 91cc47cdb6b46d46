/// Reads AsciiDoc.

#include <algorithm>
#include <unordered_map>

#include "base/ascii/ascii.hpp"
#include "text/markup/characters.hpp"
#include "text/markup/inlines.hpp"
#include "text/markup/pieces.hpp"

namespace hondana::markup {
namespace {

constexpr std::size_t max_attributes = 1000;
constexpr std::size_t max_value_bytes = 1000;

class asciidoc_reader {
 public:
  asciidoc_reader(std::string_view text, markup_listener& listener) : collector_(text, listener) {}

  void read() {
    line_reader lines(collector_.text());
    if (auto front_matter = find_front_matter(collector_.text())) {
      lines = line_reader(collector_.text(), front_matter->end, front_matter->last_line + 1);
      collector_.emit(std::move(*front_matter));
    } else if (collector_.text().starts_with("\xEF\xBB\xBF")) {
      lines = line_reader(collector_.text(), 3);
    }
    text_line line;
    while (collector_.accepts_more() && lines.read(line)) read_line(line);
    finish();
  }

 private:
  void read_line(const text_line& line) {
    auto content = collector_.content_of(line);
    while (!content.empty() && ascii::is_space(content.back())) content.remove_suffix(1);
    if (!fence_.empty()) {
      if (content != fence_) return collector_.extend(fence_kind_, line);
      fence_ = {};
      finish();
      return collector_.emit(piece_kind::mark, line);
    }
    if (content.empty()) return finish();
    if (const auto kind = delimited_kind(content); kind != piece_kind::heading) {
      finish();
      const bool is_table = kind == piece_kind::table;
      if (is_table) is_in_table_ = !is_in_table_;
      if (kind != piece_kind::prose && !is_table) {
        fence_ = content;
        fence_kind_ = kind;
      }
      return collector_.emit(piece_kind::mark, line);
    }
    if (is_in_table_) return collector_.extend(piece_kind::table, line);
    if (content.starts_with("//") && !content.starts_with("///")) return emit_mark(line);
    if (content.front() == ':' && read_attribute(content)) return emit_mark(line);
    if (content.front() == '[' && content.back() == ']' && !collector_.is_open(piece_kind::prose)) {
      read_anchor(content);
      return emit_mark(line);
    }
    if (!collector_.is_open(piece_kind::prose) && read_title(line, content)) return;
    collector_.extend(piece_kind::prose, line);
  }

  void emit_mark(const text_line& line) {
    finish();
    collector_.emit(piece_kind::mark, line);
  }

  /// The kind of block that lines like this one delimit. `prose`: any content. `heading`: the line is not a delimiter.
  static piece_kind delimited_kind(std::string_view content) noexcept {
    if (content == "--") return piece_kind::prose;
    if (content.size() < 3) return piece_kind::heading;
    if (content.size() == 4 && content.substr(1) == "===" &&
        std::string_view("|,:!").find(content[0]) != std::string_view::npos)
      return piece_kind::table;
    if (content.starts_with("```") && content.find('`', 3) == std::string_view::npos) return piece_kind::code;
    if (content.size() < 4 || content.find_first_not_of(content.front()) != std::string_view::npos) return piece_kind::heading;
    switch (content.front()) {
      case '-':
      case '.':
        return piece_kind::code;
      case '/':
      case '+':
        return piece_kind::mark;
      case '=':
      case '*':
      case '_':
        return piece_kind::prose;
      default:
        return piece_kind::heading;
    }
  }

  /// `:name: value`
  bool read_attribute(std::string_view content) {
    const auto end = content.find(':', 1);
    if (end == std::string_view::npos || end < 2) return false;
    const auto name = content.substr(1, end - 1);
    const auto is_allowed = [](char c) { return c != ' ' && (c == '-' || c == '_' || c == '!' || !is_punctuation(c)); };
    if (!std::all_of(name.begin(), name.end(), is_allowed)) return false;
    if (end + 1 < content.size() && content[end + 1] != ' ') return false;
    const auto value = trim(content.substr(end + 1));
    if (attributes_.size() < max_attributes && value.size() <= max_value_bytes) attributes_[std::string(name)] = value;
    return true;
  }

  /// `[[id]]`, `[[id,label]]`, `[#id.role]`
  void read_anchor(std::string_view content) {
    auto inner = content.substr(1, content.size() - 2);
    if (inner.starts_with('[') && inner.ends_with(']')) {
      inner = inner.substr(1, inner.size() - 2);
      pending_id_ = inner.substr(0, inner.find(','));
      return;
    }
    const auto sign = inner.find('#');
    if (sign == std::string_view::npos || sign > 64) return;
    inner.remove_prefix(sign + 1);
    pending_id_ = inner.substr(0, inner.find_first_of(".,%#]"));
  }

  bool read_title(const text_line& line, std::string_view content) {
    const char sign = content.front();
    if (sign != '=' && sign != '#') return false;
    const auto level = content.find_first_not_of(sign);
    if (level == std::string_view::npos || level > 6 || content[level] != ' ') return false;
    finish();
    auto raw = trim(content.substr(level));
    if (raw.starts_with("[[")) {
      const auto end = raw.find("]]");
      if (end != std::string_view::npos) {
        pending_id_ = raw.substr(2, end - 2);
        raw = trim(raw.substr(end + 2));
      }
    }
    piece heading{piece_kind::heading,   line.begin, line.end, line.number, line.number, static_cast<int>(level), {},
                  std::move(pending_id_)};
    pending_id_.clear();
    std::vector<link> links;
    heading.heading =
        utf8_prefix(read_inline_markup(raw.substr(0, 4 * max_heading_bytes), line.number, links), max_heading_bytes);
    collector_.emit(std::move(heading));
    emit_links(links);
    return true;
  }

  void emit_links(std::vector<link>& links) {
    for (auto& link : links) collector_.emit_link(std::move(link));
  }

  void finish() {
    const auto piece = collector_.close();
    if ((piece.kind != piece_kind::prose && piece.kind != piece_kind::table) || !collector_.wants_links()) return;
    std::vector<link> links;
    (void)read_inline_markup(collector_.text().substr(piece.begin, piece.end - piece.begin), piece.first_line, links);
    emit_links(links);
  }

  std::string substitute_attributes(std::string_view text) const {
    std::string out;
    for (std::size_t position = 0; position < text.size();) {
      const auto open = text.find('{', position);
      const auto close = open == std::string_view::npos ? open : text.substr(0, open + 66).find('}', open);
      if (close == std::string_view::npos) return out.append(text.substr(position));
      const auto attribute = attributes_.find(std::string(text.substr(open + 1, close - open - 1)));
      out.append(text.substr(position, open - position));
      if (out.size() > max_target_bytes) break;
      if (attribute == attributes_.end())
        out.append(text.substr(open, close + 1 - open));
      else
        out.append(attribute->second);
      position = close + 1;
    }
    return out;
  }

  /// A link target. References within this document get a leading `#`.
  static std::string to_reference(std::string target) {
    const bool is_external = target.find_first_of("#./:") != std::string::npos;
    return is_external ? target : '#' + target;
  }

  /// The plain text of inline markup; appends its links to `links`.
  std::string read_inline_markup(std::string_view raw, std::size_t line_number, std::vector<link>& links) const {
    std::string out;
    std::size_t target_end = 0;
    for (std::size_t position = 0; position < raw.size();) {
      const char c = raw[position];
      if (c == '\n') ++line_number;
      const auto old_count = links.size();
      std::size_t end = position;
      if (c == '<' && raw.substr(position).starts_with("<<"))
        end = read_cross_reference(raw, position, links);
      else if ((c == 'l' || c == 'x' || c == 'i') &&
               !(position > 0 && (ascii::is_letter(raw[position - 1]) || ascii::is_digit(raw[position - 1]))))
        end = read_macro(raw, position, target_end, links);
      else if (c == 'h')
        end = read_url(raw, position, links);
      if (end == position) {
        if (c != '`' && c != '*' && c != '_' && c != '#' && c != '+') out += c;
        // A mark inside a word is literal.
        else if (position > 0 && position + 1 < raw.size() && !ascii::is_space(raw[position - 1]) &&
                 !ascii::is_space(raw[position + 1]) && c != '`' && !is_punctuation(raw[position - 1]) &&
                 !is_punctuation(raw[position + 1]))
          out += c;
        ++position;
        continue;
      }
      for (auto i = old_count; i < links.size(); ++i) {
        links[i].line = line_number;
        if (!links[i].is_image) out += links[i].text.empty() ? links[i].target : links[i].text;
      }
      position = end;
    }
    return out.find('{') == std::string::npos ? out : substitute_attributes(out);
  }

  std::size_t read_cross_reference(std::string_view raw, std::size_t position, std::vector<link>& links) const {
    const auto end = raw.substr(0, position + max_target_bytes).find(">>", position);
    if (end == std::string_view::npos) return position;
    const auto content = raw.substr(position + 2, end - position - 2);
    const auto comma = content.find(',');
    if (content.empty() || content.find('\n') != std::string_view::npos) return position;
    const auto text = comma == std::string_view::npos ? std::string_view() : trim(content.substr(comma + 1));
    links.push_back({to_reference(substitute_attributes(trim(content.substr(0, comma)))), std::string(text), 1, false});
    return end + 2;
  }

  /// `link:target[text]`, `xref:…`, `image:…`, `image::…`. `target_end`: the next end of a target, cached between calls.
  std::size_t read_macro(std::string_view raw, std::size_t position, std::size_t& target_end, std::vector<link>& links) const {
    const auto prefix = raw.substr(position, 7);
    const std::size_t name_bytes = prefix.starts_with("link:") || prefix.starts_with("xref:") ? 5
                                   : prefix.starts_with("image::")                            ? 7
                                   : prefix.starts_with("image:")                             ? 6
                                                                                              : 0;
    if (name_bytes == 0) return position;
    if (target_end < position + name_bytes)
      target_end = std::min(raw.find_first_of("[ \t\n", position + name_bytes), raw.size());
    const auto open = target_end;
    const auto window = raw.substr(0, position + max_target_bytes);
    if (open >= window.size() || raw[open] != '[' || open == position + name_bytes) return position;
    const auto close = window.find(']', open);
    if (close == std::string_view::npos) return position;
    auto text = raw.substr(open + 1, close - open - 1);
    auto target = substitute_attributes(raw.substr(position + name_bytes, open - position - name_bytes));
    if (prefix.front() == 'i') text = text.substr(0, text.find(','));
    if (prefix.front() == 'x') target = to_reference(std::move(target));
    if (text.ends_with('^')) text.remove_suffix(1);
    links.push_back({std::move(target), std::string(text), 1, prefix.front() == 'i'});
    return close + 1;
  }

  static std::size_t read_url(std::string_view raw, std::size_t position, std::vector<link>& links) {
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

  piece_collector collector_;
  std::string_view fence_{};
  piece_kind fence_kind_ = piece_kind::code;
  bool is_in_table_ = false;
  std::string pending_id_{};
  std::unordered_map<std::string, std::string> attributes_{};
};

}  // namespace

void read_asciidoc(std::string_view text, markup_listener& listener) { asciidoc_reader(text, listener).read(); }

}  // namespace hondana::markup
