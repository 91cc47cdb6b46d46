/// The outline of a document in any format: headings, links and title.
#include "text/markup/outline.hpp"

#include <algorithm>
#include <array>

#include "base/ascii/ascii.hpp"
#include "text/markup/characters.hpp"
#include "text/markup/html.hpp"
#include "text/markup/pieces.hpp"

namespace hondana::markup {
namespace {

struct known_name {
  std::string_view name;
  format how;
};
constexpr std::array<known_name, 11> types{{{"text/markdown", format::markdown},
                                            {"text/x-markdown", format::markdown},
                                            {"text/x-gfm", format::markdown},
                                            {"text/asciidoc", format::asciidoc},
                                            {"text/x-asciidoc", format::asciidoc},
                                            {"text/x-adoc", format::asciidoc},
                                            {"text/x-rst", format::restructured_text},
                                            {"text/prs.fallenstein.rst", format::restructured_text},
                                            {"text/restructured", format::restructured_text},
                                            {"text/html", format::html},
                                            {"application/xhtml+xml", format::html}}};
constexpr std::array<known_name, 15> endings{{{".md", format::markdown},
                                              {".markdown", format::markdown},
                                              {".mdown", format::markdown},
                                              {".mkd", format::markdown},
                                              {".mdx", format::markdown},
                                              {".adoc", format::asciidoc},
                                              {".asciidoc", format::asciidoc},
                                              {".asc", format::asciidoc},
                                              {".rst", format::restructured_text},
                                              {".rest", format::restructured_text},
                                              {".html", format::html},
                                              {".htm", format::html},
                                              {".xhtml", format::html},
                                              {".txt", format::plain},
                                              {".text", format::plain}}};
constexpr std::array<std::string_view, 10> bare_names{"readme",  "license",   "licence", "copying", "authors",
                                                      "changes", "changelog", "news",    "install", "contributing"};

}  // namespace

std::optional<format> format_of(std::string_view mime_type, std::string_view name) noexcept {
  auto type = trimmed(mime_type.substr(0, mime_type.find(';')));
  for (const auto& one : types)
    if (ascii::is_same(type, one.name)) return one.how;
  if (const auto slash = name.find_last_of('/'); slash != std::string_view::npos) name.remove_prefix(slash + 1);
  const bool says_little =
      type.empty() || ascii::is_same(type, "text/plain") || ascii::is_same(type, "application/octet-stream");
  if (!says_little) return std::nullopt;
  for (const auto& one : endings)
    if (ascii::ends_with(name, one.name)) return one.how;
  const bool is_bare = name.find('.') == std::string_view::npos;
  if (is_bare && std::any_of(bare_names.begin(), bare_names.end(), [name](auto one) { return ascii::is_same(name, one); }))
    return format::plain;
  // text/plain with a name without an extension is prose. Other extensions are those of code and data.
  if (ascii::is_same(type, "text/plain") && is_bare) return format::plain;
  return std::nullopt;
}

void read(format how, std::string_view text, hearer& to) {
  switch (how) {
    case format::markdown:
      return read_markdown(text, to);
    case format::asciidoc:
      return read_asciidoc(text, to);
    case format::restructured_text:
      return read_restructured_text(text, to);
    case format::plain:
    case format::html:
      return read_plain(text, to);
  }
}

outline outline_of(format how, std::string_view text) {
  if (how == format::html) return outline_of_html(text);
  outline_builder builder;
  read(how, text, builder);
  return builder.finish(text.size(), lines_in(text));
}

}  // namespace hondana::markup
