/// Lines of a name, a colon and a text.
#include "text/rendering/pdf_facts.hpp"

#include <algorithm>
#include <charconv>
#include <string>

#include "base/json/utf8.hpp"
#include "text/rendering/office/text_output.hpp"

namespace hondana::rendering {
namespace {

constexpr std::size_t longest_pdf_fact = 1000;

/// Printable, on one line, and no longer than anybody reads.
std::string shown_fact(std::string_view text) {
  std::string repaired;
  json::append_replacing(repaired, text.substr(0, longest_pdf_fact));
  std::erase_if(repaired, [](char c) { return static_cast<unsigned char>(c) < 0x20 && c != '\t'; });
  return on_one_line(repaired);
}

}  // namespace

document pdf_facts_in(std::string_view text) {
  document made;
  while (!text.empty()) {
    const auto line = text.substr(0, text.find('\n'));
    text.remove_prefix(std::min(line.size() + 1, text.size()));
    const auto colon = line.find(':');
    if (colon == std::string_view::npos) continue;
    const auto name = line.substr(0, colon);
    const auto said = trimmed(line.substr(colon + 1));
    const bool is_text = name == "Title" || name == "Author" || name == "Subject" || name == "Keywords";
    if (is_text) (made.beside += said) += '\n';
    if (name == "Title" && made.title.empty()) made.title = shown_fact(said);
    if (name == "Author" && made.author.empty()) made.author = shown_fact(said);
    if (name != "Pages") continue;
    // The last is its own: what the file says of itself stands before.
    std::uint32_t pages = 0;
    const auto read = std::from_chars(said.data(), said.data() + said.size(), pages);
    if (read.ec == std::errc() && read.ptr == said.data() + said.size()) made.pages = pages;
  }
  return made;
}

}  // namespace hondana::rendering
