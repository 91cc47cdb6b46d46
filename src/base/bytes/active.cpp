/// The tables of types and of first words.
#include "base/bytes/active.hpp"

#include <algorithm>
#include <array>
#include <cstddef>

#include "base/ascii/characters.hpp"
#include "base/bytes/media_type.hpp"

namespace hondana::bytes {
namespace {

using namespace std::string_view_literals;

// Sorted. XML by `+xml` is told apart by the ending.
struct named {
  std::string_view type;
  active what;
};
constexpr std::array active_types{
    named{"application/ecmascript", active::script},
    named{"application/javascript", active::script},
    named{"application/pdf", active::pdf},
    named{"application/x-ecmascript", active::script},
    named{"application/x-javascript", active::script},
    named{"application/xml", active::xml},
    named{"message/rfc822", active::archive},
    named{"multipart/related", active::archive},
    named{"multipart/x-mixed-replace", active::archive},
    named{"text/ecmascript", active::script},
    named{"text/html", active::html},
    named{"text/javascript", active::script},
    named{"text/javascript1.0", active::script},
    named{"text/javascript1.1", active::script},
    named{"text/javascript1.2", active::script},
    named{"text/javascript1.3", active::script},
    named{"text/javascript1.4", active::script},
    named{"text/javascript1.5", active::script},
    named{"text/jscript", active::script},
    named{"text/livescript", active::script},
    named{"text/x-ecmascript", active::script},
    named{"text/x-javascript", active::script},
    named{"text/xml", active::xml},
    named{"text/xsl", active::xml},
};
static_assert(std::is_sorted(active_types.begin(), active_types.end(),
                             [](const named& a, const named& b) { return a.type < b.type; }));

/// What begins a page, in lower case.
struct word {
  std::string_view text;
  active what;
  bool is_tag = true;  ///< Something has to end its name.
};
constexpr std::array first_words{
    word{"!doctype html", active::html},
    word{"html", active::html},
    word{"head", active::html},
    word{"script", active::html},
    word{"iframe", active::html},
    word{"h1", active::html},
    word{"div", active::html},
    word{"font", active::html},
    word{"table", active::html},
    word{"a", active::html},
    word{"style", active::html},
    word{"title", active::html},
    word{"b", active::html},
    word{"body", active::html},
    word{"br", active::html},
    word{"p", active::html},
    word{"!--", active::html, false},
    word{"!doctype svg", active::svg},
    word{"svg", active::svg},
    word{"?xml", active::xml, false},
};

constexpr std::string_view white_space = "\t\n\f\r ";

/// Whether these are the headers of a page saved as one message, which some browsers open for what they are.
/// Source: RFC 2557.
bool is_saved_page(std::string_view text) noexcept {
  constexpr std::string_view names[] = {"from:", "mime-version:", "content-type:", "subject:", "date:"};
  if (std::none_of(std::begin(names), std::end(names), [text](auto one) { return ascii::begins_with(text, one); }))
    return false;
  constexpr std::string_view field = "content-type:";
  constexpr std::string_view type = "multipart/related";
  while (!text.empty() && text.front() != '\r' && text.front() != '\n') {
    const auto line = text.substr(0, text.find('\n'));
    if (ascii::begins_with(line, field)) {
      const auto value = line.substr(field.size());
      return ascii::begins_with(value.substr(std::min(value.size(), value.find_first_not_of(" \t"))), type);
    }
    text.remove_prefix(std::min(text.size(), line.size() + 1));
  }
  return false;
}

active by_first_word(std::string_view text) noexcept {
  const auto begin = text.find_first_not_of(white_space);
  if (begin == std::string_view::npos) return active::no;
  text.remove_prefix(begin);
  if (text.starts_with("%PDF-")) return active::pdf;
  if (is_saved_page(text)) return active::archive;
  if (!text.starts_with('<')) return active::no;
  text.remove_prefix(1);
  for (const auto& one : first_words) {
    if (!ascii::begins_with(text, one.text)) continue;
    const auto next = text.substr(one.text.size());
    if (!one.is_tag ||
        (!next.empty() && (white_space.find(next[0]) != std::string_view::npos || next[0] == '>' || next[0] == '/')))
      return one.what;
  }
  return active::no;
}

/// UTF-16 with what is not ASCII replaced.
active by_first_word_of_utf_16(std::string_view front, std::size_t low_byte) noexcept {
  std::array<char, front_bytes / 2> text{};
  const auto count = std::min(front.size() / 2, text.size());
  for (std::size_t i = 0; i < count; ++i) {
    const char low = front[2 * i + low_byte];
    text[i] = front[2 * i + 1 - low_byte] == '\0' && static_cast<unsigned char>(low) < 0x80 ? low : '?';
  }
  return by_first_word({text.data(), count});
}

}  // namespace

std::string_view type_of(active what) noexcept {
  switch (what) {
    case active::no:
      break;
    case active::html:
      return "text/html";
    case active::xhtml:
      return "application/xhtml+xml";
    case active::svg:
      return "image/svg+xml";
    case active::xml:
      return "text/xml";
    case active::script:
      return "text/javascript";
    case active::pdf:
      return "application/pdf";
    case active::archive:
      return "multipart/related";
  }
  return {};
}

active active_by_type(std::string_view type) noexcept {
  const essence folded(type);
  const auto plain = folded.text();
  if (plain.ends_with("+xml")) {
    if (plain == "image/svg+xml") return active::svg;
    return plain == "application/xhtml+xml" ? active::xhtml : active::xml;
  }
  const auto found = std::lower_bound(active_types.begin(), active_types.end(), plain,
                                      [](const named& one, std::string_view wanted) { return one.type < wanted; });
  return found != active_types.end() && found->type == plain ? found->what : active::no;
}

active active_by_front(std::string_view front) noexcept {
  front = front.substr(0, front_bytes);
  if (front.starts_with("\xEF\xBB\xBF")) return by_first_word(front.substr(3));
  if (front.starts_with("\xFF\xFE")) return by_first_word_of_utf_16(front.substr(2), 0);
  if (front.starts_with("\xFE\xFF")) return by_first_word_of_utf_16(front.substr(2), 1);
  // Without a mark, as processors of XML take it. Source: XML 1.0 appendix F.1.
  if (front.starts_with("<\0"sv)) return by_first_word_of_utf_16(front, 0);
  if (front.starts_with("\0<"sv)) return by_first_word_of_utf_16(front, 1);
  return by_first_word(front);
}

active active_as(std::string_view type, std::string_view front) noexcept {
  const auto by_type = active_by_type(type);
  return by_type == active::no ? active_by_front(front) : by_type;
}

}  // namespace hondana::bytes
