/// The type of a document by its file name.
#include "sources/docs/document_type.hpp"

#include <algorithm>
#include <array>

#include "base/ascii/ascii.hpp"
#include "sources/docs/document_uri.hpp"

namespace hondana::docs {
namespace {

using rendered = rendering::format;
using marked = markup::format;

constexpr std::string_view markdown_text = "text/markdown";
constexpr std::string_view plain_text = "text/plain";

struct ending {
  std::string_view letters;
  document_type what;
};

constexpr document_type as_markdown{markdown_text, markdown_text, marked::markdown, {}};
constexpr document_type as_asciidoc{"text/asciidoc", "text/asciidoc", marked::asciidoc, {}};
constexpr document_type as_structured{"text/x-rst", "text/x-rst", marked::restructured_text, {}};
constexpr document_type as_html{"text/html", markdown_text, marked::html, {}};
constexpr document_type as_xhtml{"application/xhtml+xml", markdown_text, marked::html, {}};
constexpr document_type as_plain{plain_text, plain_text, marked::plain, {}};

constexpr document_type office(std::string_view type, rendered how) { return {type, markdown_text, marked::markdown, how}; }

constexpr std::array endings{
    ending{".md", as_markdown},
    ending{".markdown", as_markdown},
    ending{".mkd", as_markdown},
    ending{".mdx", as_markdown},
    ending{".adoc", as_asciidoc},
    ending{".asciidoc", as_asciidoc},
    ending{".asc", as_asciidoc},
    ending{".rst", as_structured},
    ending{".rest", as_structured},
    ending{".html", as_html},
    ending{".htm", as_html},
    ending{".xhtml", as_xhtml},
    ending{".txt", as_plain},
    ending{".text", as_plain},
    ending{".pdf", {"application/pdf", plain_text, marked::plain, rendered::pdf}},
    ending{".docx", office("application/vnd.openxmlformats-officedocument.wordprocessingml.document", rendered::docx)},
    ending{".xlsx", office("application/vnd.openxmlformats-officedocument.spreadsheetml.sheet", rendered::xlsx)},
    ending{".pptx", office("application/vnd.openxmlformats-officedocument.presentationml.presentation", rendered::pptx)},
    ending{".odt", office("application/vnd.oasis.opendocument.text", rendered::odt)},
    ending{".ods", office("application/vnd.oasis.opendocument.spreadsheet", rendered::ods)},
    ending{".odp", office("application/vnd.oasis.opendocument.presentation", rendered::odp)},
};

/// Documents without an ending.
constexpr std::array<std::string_view, 14> bare_names{"readme",  "changelog", "changes", "news",        "history",
                                                      "license", "licence",   "copying", "notice",      "authors",
                                                      "install", "todo",      "faq",     "contributing"};

}  // namespace

std::optional<document_type> type_of(std::string_view path) noexcept {
  const auto name = last_name(path);
  const auto known = std::find_if(endings.begin(), endings.end(), [name](const ending& one) {
    return name.size() > one.letters.size() && ascii::ends_with(name, one.letters);
  });
  if (known != endings.end()) return known->what;
  const bool is_bare =
      std::any_of(bare_names.begin(), bare_names.end(), [name](std::string_view one) { return ascii::is_same(name, one); });
  if (is_bare) return as_plain;
  return std::nullopt;
}

document_type plain_type() noexcept { return as_plain; }

}  // namespace hondana::docs
