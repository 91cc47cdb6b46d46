/// Passing over tags and invisible characters.
#include "sources/docs/joined_text.hpp"

#include <algorithm>
#include <array>
#include <utility>

#include "base/ascii/characters.hpp"
#include "base/ascii/utf8.hpp"
#include "text/markup/entities.hpp"

namespace hondana::docs {
namespace {

/// First and last of what neither prints nor takes room.
constexpr std::array<std::pair<char32_t, char32_t>, 10> unseen{{{0xad, 0xad},
                                                                {0x34f, 0x34f},
                                                                {0x61c, 0x61c},
                                                                {0x180b, 0x180f},
                                                                {0x200b, 0x200f},
                                                                {0x202a, 0x202e},
                                                                {0x2060, 0x206f},
                                                                {0xfe00, 0xfe0f},
                                                                {0xfeff, 0xfeff},
                                                                {0xe0000, 0xe0fff}}};

bool is_unseen(char32_t code) {
  return std::any_of(unseen.begin(), unseen.end(), [code](const auto& one) { return code >= one.first && code <= one.second; });
}

bool begins_tag_at(std::string_view text, std::size_t at) {
  if (text[at] != '<' || at + 1 >= text.size()) return false;
  const char next = text[at + 1];
  return ascii::is_letter(next) || next == '/' || next == '!' || next == '?';
}

/// Names of elements that stand within a word without an end of it.
constexpr std::array<std::string_view, 32> within_words{"a",      "abbr", "acronym", "b",  "bdi",  "bdo",   "big",  "cite",
                                                        "code",   "del",  "dfn",     "em", "font", "i",     "ins",  "kbd",
                                                        "mark",   "nobr", "q",       "s",  "samp", "small", "span", "strike",
                                                        "strong", "sub",  "sup",     "tt", "u",    "var",   "wbr",  "ruby"};

/// What a tag, from its `<` to before its `>`, is in the text.
std::string_view shown_as(std::string_view tag) {
  tag.remove_prefix(tag.starts_with("</") ? 2 : 1);
  const auto name = ascii::in_lower_case(tag.substr(0, std::min(tag.find_first_of(" \t\r\n\f/"), std::size_t{16})));
  const bool is_within = std::find(within_words.begin(), within_words.end(), name) != within_words.end();
  return is_within ? "" : "\n";
}

std::string without_tags_of(std::string_view page) {
  std::string out;
  out.reserve(page.size());
  for (std::size_t at = 0; at < page.size();) {
    constexpr std::string_view comment = "<!--";
    if (page.substr(at).starts_with(comment)) {
      out += '\n';
      at += comment.size();  // its text is looked at, too
      continue;
    }
    const auto end = begins_tag_at(page, at) ? page.find('>', at) : std::string_view::npos;
    if (end != std::string_view::npos) {
      out += shown_as(page.substr(at, end - at));
      at = end + 1;
    } else if (begins_tag_at(page, at)) {
      return out.append(page.substr(at));  // no tag ends any more
    } else {
      out += page[at++];
    }
  }
  return out;
}

}  // namespace

std::string joined_text_of_html(std::string_view page) {
  const auto decoded = markup::decoded(without_tags_of(page));
  std::string out;
  out.reserve(decoded.size());
  for (std::string_view rest = decoded; !rest.empty();) {
    const auto one = ascii::first_character(rest);
    if (!is_unseen(one.code)) out += rest.substr(0, one.bytes);
    rest.remove_prefix(one.bytes);
  }
  return out;
}

}  // namespace hondana::docs
