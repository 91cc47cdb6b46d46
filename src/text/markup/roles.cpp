/// Interpreted text, references and literals of reStructuredText.
#include "text/markup/roles.hpp"

#include <algorithm>
#include <array>

#include "base/ascii/characters.hpp"
#include "text/markup/lines.hpp"

namespace hondana::markup {
namespace {

constexpr std::size_t most_targets = 10'000;
constexpr std::size_t longest_role = 2 * longest_target;
constexpr std::array<std::string_view, 4> linking_roles{"doc", "ref", "numref", "download"};

/// `text <target>`; without angles both are the same.
void divide(std::string_view inside, std::string_view& text, std::string_view& target) noexcept {
  text = target = trimmed(inside);
  if (!text.ends_with('>')) return;
  const auto open = text.rfind('<');
  if (open == std::string_view::npos) return;
  target = text.substr(open + 1, text.size() - open - 2);
  text = trimmed(text.substr(0, open));
  if (text.empty()) text = target;
}

/// `:role:` at `at`; its end, or `at`.
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

}  // namespace hondana::markup
