/// Reads AsciiDoc.

#include <algorithm>
#include <unordered_map>

#include "base/ascii/ascii.hpp"
#include "text/markup/characters.hpp"
#include "text/markup/inlines.hpp"
#include "text/markup/pieces.hpp"

namespace hondana::markup {
namespace {

constexpr std::size_t most_attributes = 1000;
constexpr std::size_t longest_value = 1000;

class asciidoc_reader {
 public:
  asciidoc_reader(std::string_view text, hearer& to) : gathered_(text, to) {}

  void read() {
    line_reader lines(gathered_.text());
    if (auto front = front_matter_of(gathered_.text())) {
      lines = line_reader(gathered_.text(), front->end, front->last_line + 1);
      gathered_.emit(std::move(*front));
    } else if (gathered_.text().starts_with("\xEF\xBB\xBF")) {
      lines = line_reader(gathered_.text(), 3);
    }
    line one;
    while (gathered_.is_wanted() && lines.read(one)) take(one);
    finish();
  }

 private:
  void take(const line& one) {
    auto content = gathered_.in(one);
    while (!content.empty() && ascii::is_space(content.back())) content.remove_suffix(1);
    if (!fence_.empty()) {
      if (content != fence_) return gathered_.extend(inside_, one);
      fence_ = {};
      finish();
      return gathered_.emit(part::mark, one);
    }
    if (content.empty()) return finish();
    if (const auto inside = block_of(content); inside != part::heading) {
      finish();
      const bool is_table = inside == part::table;
      if (is_table) is_in_table_ = !is_in_table_;
      if (inside != part::prose && !is_table) {
        fence_ = content;
        inside_ = inside;
      }
      return gathered_.emit(part::mark, one);
    }
    if (is_in_table_) return gathered_.extend(part::table, one);
    if (content.starts_with("//") && !content.starts_with("///")) return mark(one);
    if (content.front() == ':' && attribute(content)) return mark(one);
    if (content.front() == '[' && content.back() == ']' && !gathered_.is_open(part::prose)) {
      anchor(content);
      return mark(one);
    }
    if (!gathered_.is_open(part::prose) && title(one, content)) return;
    gathered_.extend(part::prose, one);
  }

  void mark(const line& one) {
    finish();
    gathered_.emit(part::mark, one);
  }

  /// The kind of block that lines like this one delimit. `prose`: any content. `heading`: the line is not a delimiter.
  static part block_of(std::string_view content) noexcept {
    if (content == "--") return part::prose;
    if (content.size() < 3) return part::heading;
    if (content.size() == 4 && content.substr(1) == "===" &&
        std::string_view("|,:!").find(content[0]) != std::string_view::npos)
      return part::table;
    if (content.starts_with("```") && content.find('`', 3) == std::string_view::npos) return part::code;
    if (content.size() < 4 || content.find_first_not_of(content.front()) != std::string_view::npos) return part::heading;
    switch (content.front()) {
      case '-':
      case '.':
        return part::code;
      case '/':
      case '+':
        return part::mark;
      case '=':
      case '*':
      case '_':
        return part::prose;
      default:
        return part::heading;
    }
  }

  /// `:name: value`
  bool attribute(std::string_view content) {
    const auto end = content.find(':', 1);
    if (end == std::string_view::npos || end < 2) return false;
    const auto name = content.substr(1, end - 1);
    const auto is_allowed = [](char c) { return c != ' ' && (c == '-' || c == '_' || c == '!' || !is_punctuation(c)); };
    if (!std::all_of(name.begin(), name.end(), is_allowed)) return false;
    if (end + 1 < content.size() && content[end + 1] != ' ') return false;
    const auto value = trimmed(content.substr(end + 1));
    if (attributes_.size() < most_attributes && value.size() <= longest_value) attributes_[std::string(name)] = value;
    return true;
  }

  /// `[[id]]`, `[[id,label]]`, `[#id.role]`
  void anchor(std::string_view content) {
    auto inside = content.substr(1, content.size() - 2);
    if (inside.starts_with('[') && inside.ends_with(']')) {
      inside = inside.substr(1, inside.size() - 2);
      pending_id_ = inside.substr(0, inside.find(','));
      return;
    }
    const auto sign = inside.find('#');
    if (sign == std::string_view::npos || sign > 64) return;
    inside.remove_prefix(sign + 1);
    pending_id_ = inside.substr(0, inside.find_first_of(".,%#]"));
  }

  bool title(const line& one, std::string_view content) {
    const char sign = content.front();
    if (sign != '=' && sign != '#') return false;
    const auto level = content.find_first_not_of(sign);
    if (level == std::string_view::npos || level > 6 || content[level] != ' ') return false;
    finish();
    auto raw = trimmed(content.substr(level));
    if (raw.starts_with("[[")) {
      const auto end = raw.find("]]");
      if (end != std::string_view::npos) {
        pending_id_ = raw.substr(2, end - 2);
        raw = trimmed(raw.substr(end + 2));
      }
    }
    piece made{part::heading, one.begin, one.end, one.number, one.number, static_cast<int>(level), {}, std::move(pending_id_)};
    pending_id_.clear();
    std::vector<link> links;
    made.heading = front_of(inline_of(raw.substr(0, 4 * longest_heading), one.number, links), longest_heading);
    gathered_.emit(std::move(made));
    refer(links);
    return true;
  }

  void refer(std::vector<link>& links) {
    for (auto& each : links) gathered_.refer(std::move(each));
  }

  void finish() {
    const auto one = gathered_.close();
    if ((one.what != part::prose && one.what != part::table) || !gathered_.wants_links()) return;
    std::vector<link> links;
    (void)inline_of(gathered_.text().substr(one.begin, one.end - one.begin), one.first_line, links);
    refer(links);
  }

  std::string substituted(std::string_view text) const {
    std::string out;
    for (std::size_t at = 0; at < text.size();) {
      const auto open = text.find('{', at);
      const auto shut = open == std::string_view::npos ? open : text.substr(0, open + 66).find('}', open);
      if (shut == std::string_view::npos) return out.append(text.substr(at));
      const auto known = attributes_.find(std::string(text.substr(open + 1, shut - open - 1)));
      out.append(text.substr(at, open - at));
      if (out.size() > longest_target) break;
      if (known == attributes_.end())
        out.append(text.substr(open, shut + 1 - open));
      else
        out.append(known->second);
      at = shut + 1;
    }
    return out;
  }

  /// A link target. References within this document get a leading `#`.
  static std::string reference(std::string target) {
    const bool is_elsewhere = target.find_first_of("#./:") != std::string::npos;
    return is_elsewhere ? target : '#' + target;
  }

  /// The plain text of inline markup; appends its links to `links`.
  std::string inline_of(std::string_view raw, std::size_t number, std::vector<link>& links) const {
    std::string out;
    std::size_t stop = 0;
    for (std::size_t at = 0; at < raw.size();) {
      const char c = raw[at];
      if (c == '\n') ++number;
      const auto before = links.size();
      std::size_t end = at;
      if (c == '<' && raw.substr(at).starts_with("<<"))
        end = cross_reference(raw, at, links);
      else if ((c == 'l' || c == 'x' || c == 'i') &&
               !(at > 0 && (ascii::is_letter(raw[at - 1]) || ascii::is_digit(raw[at - 1]))))
        end = macro(raw, at, stop, links);
      else if (c == 'h')
        end = url(raw, at, links);
      if (end == at) {
        if (c != '`' && c != '*' && c != '_' && c != '#' && c != '+') out += c;
        // A mark inside a word is literal.
        else if (at > 0 && at + 1 < raw.size() && !ascii::is_space(raw[at - 1]) && !ascii::is_space(raw[at + 1]) && c != '`' &&
                 !is_punctuation(raw[at - 1]) && !is_punctuation(raw[at + 1]))
          out += c;
        ++at;
        continue;
      }
      for (auto each = before; each < links.size(); ++each) {
        links[each].line = number;
        if (!links[each].is_picture) out += links[each].text.empty() ? links[each].target : links[each].text;
      }
      at = end;
    }
    return out.find('{') == std::string::npos ? out : substituted(out);
  }

  std::size_t cross_reference(std::string_view raw, std::size_t at, std::vector<link>& links) const {
    const auto end = raw.substr(0, at + longest_target).find(">>", at);
    if (end == std::string_view::npos) return at;
    const auto inside = raw.substr(at + 2, end - at - 2);
    const auto comma = inside.find(',');
    if (inside.empty() || inside.find('\n') != std::string_view::npos) return at;
    const auto text = comma == std::string_view::npos ? std::string_view() : trimmed(inside.substr(comma + 1));
    links.push_back({reference(substituted(trimmed(inside.substr(0, comma)))), std::string(text), 1, false});
    return end + 2;
  }

  /// `link:target[text]`, `xref:…`, `image:…`, `image::…`. `stop`: the next end of a target, cached between calls.
  std::size_t macro(std::string_view raw, std::size_t at, std::size_t& stop, std::vector<link>& links) const {
    const auto rest = raw.substr(at, 7);
    const std::size_t name = rest.starts_with("link:") || rest.starts_with("xref:") ? 5
                             : rest.starts_with("image::")                          ? 7
                             : rest.starts_with("image:")                           ? 6
                                                                                    : 0;
    if (name == 0) return at;
    if (stop < at + name) stop = std::min(raw.find_first_of("[ \t\n", at + name), raw.size());
    const auto open = stop;
    const auto whole = raw.substr(0, at + longest_target);
    if (open >= whole.size() || raw[open] != '[' || open == at + name) return at;
    const auto shut = whole.find(']', open);
    if (shut == std::string_view::npos) return at;
    auto text = raw.substr(open + 1, shut - open - 1);
    auto target = substituted(raw.substr(at + name, open - at - name));
    if (rest.front() == 'i') text = text.substr(0, text.find(','));
    if (rest.front() == 'x') target = reference(std::move(target));
    if (text.ends_with('^')) text.remove_suffix(1);
    links.push_back({std::move(target), std::string(text), 1, rest.front() == 'i'});
    return shut + 1;
  }

  static std::size_t url(std::string_view raw, std::size_t at, std::vector<link>& links) {
    if (!raw.substr(at).starts_with("http")) return at;
    // A bracket ends the URL. Limit the search, so that repeated calls stay linear.
    const auto open = raw.substr(0, at + longest_target).find('[', at);
    auto end = end_of_url(raw.substr(0, open), at);
    if (end == at) return at;
    // Punctuation that could end a sentence belongs to the URL if a bracket follows.
    const auto between = open == std::string_view::npos ? std::string_view("[") : raw.substr(end, open - end);
    if (between.find_first_not_of("?!.,:;*_~'|])") == std::string_view::npos) end = open;
    auto target = raw.substr(at, end - at);
    std::string_view text = target;
    if (end < raw.size() && raw[end] == '[') {
      const auto shut = raw.substr(0, end + longest_target).find(']', end);
      target = raw.substr(at, end - at);
      if (shut != std::string_view::npos) {
        text = raw.substr(end + 1, shut - end - 1);
        if (text.ends_with('^')) text.remove_suffix(1);
        end = shut + 1;
      }
    }
    links.push_back({std::string(target), std::string(text), 1, false});
    return end;
  }

  gatherer gathered_;
  std::string_view fence_{};
  part inside_ = part::code;
  bool is_in_table_ = false;
  std::string pending_id_{};
  std::unordered_map<std::string, std::string> attributes_{};
};

}  // namespace

void read_asciidoc(std::string_view text, hearer& to) { asciidoc_reader(text, to).read(); }

}  // namespace hondana::markup
