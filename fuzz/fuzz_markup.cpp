/// Outlines of every format, and HTML as text: sections lie within the text and within each other, and no lines are lost.
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string_view>

#include "text/markup/html.hpp"
#include "text/markup/outline.hpp"

namespace {

using namespace hondana;

void check(const markup::outline& made, std::string_view text) {
  const auto lines = static_cast<std::size_t>(std::count(text.begin(), text.end(), '\n')) + 1;
  std::size_t before = 0;
  for (const auto& one : made.sections) {
    if (one.begin < before || one.end < one.begin || one.end > text.size() || one.id.empty()) std::abort();
    if (one.first_line < 1 || one.last_line < one.first_line || one.last_line > lines) std::abort();
    if (one.level < 1 || one.level > 6) std::abort();
    before = one.begin;
  }
  for (const auto& one : made.links)
    if (one.target.empty() || one.line < 1 || one.line > lines) std::abort();
  if (made.front_matter_end > text.size()) std::abort();
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  for (const auto how : {markup::markup_format::plain, markup::markup_format::markdown, markup::markup_format::asciidoc,
                         markup::markup_format::restructured_text, markup::markup_format::html})
    check(markup::outline_of(how, text), text);
  const auto shown = markup::render_html(text);
  check(shown.outline, shown.text);
  const auto lines = static_cast<std::size_t>(std::count(shown.text.begin(), shown.text.end(), '\n'));
  if (shown.source_lines.size() != lines || !std::is_sorted(shown.source_lines.begin(), shown.source_lines.end())) std::abort();
  if (markup::all_text_of_html(text).size() > 8 * size + 64) std::abort();
  return 0;
}
