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

struct name_rule {
  std::string_view name;
  markup_format format;
};
constexpr std::array<name_rule, 11> types{{{"text/markdown", markup_format::markdown},
                                           {"text/x-markdown", markup_format::markdown},
                                           {"text/x-gfm", markup_format::markdown},
                                           {"text/asciidoc", markup_format::asciidoc},
                                           {"text/x-asciidoc", markup_format::asciidoc},
                                           {"text/x-adoc", markup_format::asciidoc},
                                           {"text/x-rst", markup_format::restructured_text},
                                           {"text/prs.fallenstein.rst", markup_format::restructured_text},
                                           {"text/restructured", markup_format::restructured_text},
                                           {"text/html", markup_format::html},
                                           {"application/xhtml+xml", markup_format::html}}};
constexpr std::array<name_rule, 15> endings{{{".md", markup_format::markdown},
                                             {".markdown", markup_format::markdown},
                                             {".mdown", markup_format::markdown},
                                             {".mkd", markup_format::markdown},
                                             {".mdx", markup_format::markdown},
                                             {".adoc", markup_format::asciidoc},
                                             {".asciidoc", markup_format::asciidoc},
                                             {".asc", markup_format::asciidoc},
                                             {".rst", markup_format::restructured_text},
                                             {".rest", markup_format::restructured_text},
                                             {".html", markup_format::html},
                                             {".htm", markup_format::html},
                                             {".xhtml", markup_format::html},
                                             {".txt", markup_format::plain},
                                             {".text", markup_format::plain}}};
constexpr std::array<std::string_view, 10> bare_names{"readme",  "license",   "licence", "copying", "authors",
                                                      "changes", "changelog", "news",    "install", "contributing"};

}  // namespace

std::optional<markup_format> detect_format(std::string_view mime_type, std::string_view name) noexcept {
  auto type = trim(mime_type.substr(0, mime_type.find(';')));
  for (const auto& media_type : types)
    if (ascii::equals_ignore_case(type, media_type.name)) return media_type.format;
  if (const auto slash = name.find_last_of('/'); slash != std::string_view::npos) name.remove_prefix(slash + 1);
  const bool is_generic_type = type.empty() || ascii::equals_ignore_case(type, "text/plain") ||
                               ascii::equals_ignore_case(type, "application/octet-stream");
  if (!is_generic_type) return std::nullopt;
  for (const auto& ending : endings)
    if (ascii::ends_with_ignore_case(name, ending.name)) return ending.format;
  const bool is_bare = name.find('.') == std::string_view::npos;
  if (is_bare && std::any_of(bare_names.begin(), bare_names.end(),
                             [name](auto bare_name) { return ascii::equals_ignore_case(name, bare_name); }))
    return markup_format::plain;
  // text/plain with a name without an extension is prose. Other extensions are those of code and data.
  if (ascii::equals_ignore_case(type, "text/plain") && is_bare) return markup_format::plain;
  return std::nullopt;
}

void read(markup_format format, std::string_view text, markup_listener& listener) {
  switch (format) {
    case markup_format::markdown:
      return read_markdown(text, listener);
    case markup_format::asciidoc:
      return read_asciidoc(text, listener);
    case markup_format::restructured_text:
      return read_restructured_text(text, listener);
    case markup_format::plain:
    case markup_format::html:
      return read_plain(text, listener);
  }
}

outline outline_of(markup_format format, std::string_view text) {
  if (format == markup_format::html) return outline_of_html(text);
  outline_builder builder;
  read(format, text, builder);
  return builder.finish(text.size(), count_lines(text));
}

}  // namespace hondana::markup
