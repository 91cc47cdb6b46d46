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

/// The addresses of `.. _name: address`, keyed by `label_of(name)`.
[[nodiscard]] definitions targets_in(std::string_view text);

/// Reads inline markup. Links are `` `text <url>`_ ``, `` `name`_ `` with a known target, bare URLs, and the roles `:doc:`,
/// `:ref:`, `:numref:` and `:download:` with their target as written.
[[nodiscard]] inline_text read_roles(std::string_view text, std::size_t line, const definitions& defined);

namespace {

constexpr std::size_t most_targets = 10'000;
constexpr std::size_t longest_role = 2 * longest_target;
constexpr std::array<std::string_view, 4> linking_roles{"doc", "ref", "numref", "download"};

/// Splits `text <target>`. Without angle brackets, text and target are the same.
void divide(std::string_view inside, std::string_view& text, std::string_view& target) noexcept {
  text = target = trimmed(inside);
  if (!text.ends_with('>')) return;
  const auto open = text.rfind('<');
  if (open == std::string_view::npos) return;
  target = text.substr(open + 1, text.size() - open - 2);
  text = trimmed(text.substr(0, open));
  if (text.empty()) text = target;
}

/// The end of a `:role:` at `at`; `at` if there is none.
std::size_t role_at(std::string_view text, std::size_t at, std::string_view& name) noexcept {
  auto end = at + 1;
  while (
      end < text.size() && end - at < 40 &&
      (ascii::is_letter(text[end]) || ascii::is_digit(text[end]) || text[end] == '-' || text[end] == ':' || text[end] == '_')) {
    if (text[end] == ':' && end + 1 < text.size() && text[end + 1] == '`') {
      name = text.substr(at + 1, end - at - 1);
      return end + 1;
    }
    ++end;
  }
  return at;
}

}  // namespace

definitions targets_in(std::string_view text) {
  definitions found;
  if (text.find(".. _") == std::string_view::npos) return found;
  line_reader lines(text);
  for (line one; found.size() < most_targets && lines.read(one);) {
    auto content = text.substr(one.begin, one.end - one.begin);
    if (!content.starts_with(".. _")) continue;
    content.remove_prefix(4);
    const bool is_quoted = content.starts_with('`');
    const auto end = is_quoted ? content.find("`: ", 1) : content.find(": ");
    if (end == std::string_view::npos) continue;
    const auto address = trimmed(content.substr(end + 2));
    auto label = label_of(content.substr(is_quoted ? 1 : 0, end - (is_quoted ? 1 : 0)));
    if (!label.empty() && !address.empty() && address.size() <= longest_target) found.emplace(std::move(label), address);
  }
  return found;
}

inline_text read_roles(std::string_view text, std::size_t line, const definitions& defined) {
  inline_text made;
  const auto count = [&](std::size_t from, std::size_t to) {
    line += static_cast<std::size_t>(
        std::count(text.begin() + static_cast<std::ptrdiff_t>(from), text.begin() + static_cast<std::ptrdiff_t>(to), '\n'));
  };
  for (std::size_t at = 0; at < text.size();) {
    const char c = text[at];
    if (c == '\n') {
      ++line;
      made.text += ' ';
      ++at;
      continue;
    }
    std::string_view role;
    const auto open = c == ':' ? role_at(text, at, role) : at;
    if (open < text.size() && text[open] == '`') {
      const bool is_literal = text.substr(open).starts_with("``");
      const auto mark = is_literal ? std::string_view("``") : std::string_view("`");
      const auto close = text.substr(0, open + longest_role).find(mark, open + mark.size());
      if (close != std::string_view::npos) {
        const auto inside = text.substr(open + mark.size(), close - open - mark.size());
        auto end = close + mark.size();
        std::string_view shown = inside;
        std::string_view target;
        if (!is_literal) divide(inside, shown, target);
        const bool is_reference = !is_literal && role.empty() && end < text.size() && text[end] == '_';
        while (is_reference && end < text.size() && text[end] == '_') ++end;
        std::string address(target);
        if (is_reference && target == shown) {
          const auto known = defined.find(label_of(target));
          address = known == defined.end() ? std::string() : known->second;
        }
        const bool is_link = is_reference || std::find(linking_roles.begin(), linking_roles.end(), role) != linking_roles.end();
        if (is_link && !address.empty()) made.links.push_back({std::move(address), std::string(shown), line, false});
        made.text.append(shown);
        count(at, end);
        at = end;
        continue;
      }
    }
    if (c == 'h' && (at == 0 || !ascii::is_letter(text[at - 1]))) {
      const auto end = end_of_url(text, at);
      if (end != at) {
        const std::string url(text.substr(at, end - at));
        made.links.push_back({url, url, line, false});
        made.text.append(url);
        at = end;
        continue;
      }
    }
    if (c == '\\' && at + 1 < text.size() && is_punctuation(text[at + 1])) {
      made.text += text[at + 1];
      at += 2;
      continue;
    }
    if (c != '*') made.text += c;
    ++at;
  }
  return made;
}

namespace {

class restructured_reader {
 public:
  restructured_reader(std::string_view text, hearer& to, definitions targets)
      : targets_(std::move(targets)), gathered_(text, to), lines_(text) {}

  void read() {
    if (auto front = front_matter_of(gathered_.text())) {
      lines_ = line_reader(gathered_.text(), front->end, front->last_line + 1);
      gathered_.emit(std::move(*front));
    } else if (gathered_.text().starts_with("\xEF\xBB\xBF")) {
      lines_ = line_reader(gathered_.text(), 3);
    }
    line one;
    while (gathered_.is_wanted() && lines_.read(one)) take(one);
    finish();
  }

 private:
  static std::size_t indent_of(std::string_view raw) noexcept { return std::min(raw.find_first_not_of(" \t"), raw.size()); }

  /// The character that an adornment line repeats; 0: not an adornment.
  static char adornment(std::string_view raw) noexcept {
    while (!raw.empty() && ascii::is_space(raw.back())) raw.remove_suffix(1);
    if (raw.size() < 2 || !is_punctuation(raw.front()) || raw.find_first_not_of(raw.front()) != std::string_view::npos)
      return 0;
    return raw.front();
  }

  void take(const line& one) {
    const auto raw = gathered_.in(one);
    const auto content = trimmed(raw);
    if (content.empty()) {
      if (!gathered_.is_open(part::code)) finish();
      return;
    }
    const auto indent = indent_of(raw);
    if (is_literal_) {
      if (indent > literal_indent_) return gathered_.extend(inside_, one);
      is_literal_ = false;
      finish();
    }
    if (raw.starts_with(".. ") || content == "..") return explicit_markup(one, trimmed(raw.substr(2)));
    if (!gathered_.is_open(part::prose) && heading(one, raw)) return;
    gathered_.extend(part::prose, one);
    if (content.ends_with("::")) {
      literal_follows_at_ = indent;
      literal_follows_ = true;
    }
  }

  bool heading(const line& one, std::string_view raw) {
    line next;
    line third;
    if (!lines_.look(next)) return false;
    const auto below = gathered_.in(next);
    const char over = adornment(raw);
    if (over != 0) {
      auto ahead = lines_;
      const bool is_title = !is_blank(below) && ahead.read(next) && ahead.read(third) &&
                            adornment(gathered_.in(third)) == over && columns_of(trimmed(below)) <= trimmed(raw).size();
      if (is_title) {
        lines_ = ahead;
        give(one, third, trimmed(below), over, true);
        return true;
      }
      if (!is_blank(below) || raw.size() < 4) return false;
      gathered_.emit(part::mark, one);
      return true;
    }
    const char under = adornment(below);
    if (under == 0 || ascii::is_space(raw.front())) return false;
    const auto length = trimmed(below).size();
    if (length < 4 && length < columns_of(trimmed(raw))) return false;
    (void)lines_.read(next);
    give(one, next, trimmed(raw), under, false);
    return true;
  }

  void give(const line& first, const line& last, std::string_view raw, char mark, bool is_over) {
    const std::pair<char, bool> style(mark, is_over);
    auto known = std::find(styles_.begin(), styles_.end(), style);
    if (known == styles_.end()) known = styles_.insert(styles_.end(), style);
    const int level = static_cast<int>(known - styles_.begin()) + 1;
    auto made = read_roles(raw.substr(0, 4 * longest_heading), first.number, targets_);
    gathered_.emit({part::heading, first.begin, last.end, first.number, last.number, level,
                    std::string(front_of(made.text, longest_heading)), std::move(pending_id_)});
    pending_id_.clear();
    for (auto& each : made.links) gathered_.refer(std::move(each));
  }

  /// Reads the content after `..`: a target, a directive or a comment.
  void explicit_markup(const line& one, std::string_view content) {
    finish();
    gathered_.emit(part::mark, one);
    if (content.starts_with('_')) return target(content.substr(1));
    const auto colons = content.find("::");
    auto name = colons == std::string_view::npos ? std::string_view() : content.substr(0, colons);
    // A substitution: `.. |name| image:: x`.
    if (name.starts_with('|') && name.find('|', 1) != std::string_view::npos)
      name = trimmed(name.substr(name.find('|', 1) + 1));
    const bool is_directive = !name.empty() && name.find_first_of(" \t") == std::string_view::npos;
    const auto argument = is_directive ? trimmed(content.substr(colons + 2)) : std::string_view();
    if (name == "image" || name == "figure") gathered_.refer({std::string(argument), {}, one.number, true});
    const bool is_code = name == "code" || name == "code-block" || name == "sourcecode" || name == "parsed-literal";
    const bool is_hidden = !is_directive || name == "raw" || name == "toctree" || name == "image";
    if (is_directive && !is_code && !is_hidden) return;
    is_literal_ = true;
    literal_indent_ = 0;
    inside_ = is_code ? part::code : part::mark;
  }

  void target(std::string_view content) {
    if (content.starts_with('_')) content.remove_prefix(1);
    const bool is_quoted = content.starts_with('`');
    const auto end = is_quoted ? content.find("`:", 1) : content.find(':');
    if (end == std::string_view::npos) return;
    const auto name = content.substr(is_quoted ? 1 : 0, end - (is_quoted ? 1 : 0));
    const auto address = trimmed(content.substr(end + (is_quoted ? 2 : 1)));
    if (address.empty()) pending_id_ = front_of(name, longest_heading);
  }

  void finish() {
    const auto one = gathered_.close();
    if (literal_follows_) {
      literal_follows_ = false;
      is_literal_ = true;
      literal_indent_ = literal_follows_at_;
      inside_ = part::code;
    }
    if (one.what != part::prose || !gathered_.wants_links()) return;
    auto made = read_roles(gathered_.text().substr(one.begin, one.end - one.begin), one.first_line, targets_);
    for (auto& each : made.links) gathered_.refer(std::move(each));
  }

  definitions targets_;
  gatherer gathered_;
  line_reader lines_;
  std::vector<std::pair<char, bool>> styles_{};
  bool is_literal_ = false;
  bool literal_follows_ = false;
  std::size_t literal_indent_ = 0;
  std::size_t literal_follows_at_ = 0;
  part inside_ = part::code;
  std::string pending_id_{};
};

}  // namespace

void read_restructured_text(std::string_view text, hearer& to) { restructured_reader(text, to, targets_in(text)).read(); }

}  // namespace hondana::markup
