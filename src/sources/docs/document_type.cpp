/// The type of a document by its file name.
#include "sources/docs/document_type.hpp"

#include <algorithm>
#include <array>

#include "base/ascii/ascii.hpp"
#include "sources/docs/document_uri.hpp"

namespace hondana::docs {
namespace {

using render_format = rendering::format;
using markup_format = markup::markup_format;

constexpr std::string_view markdown_mime_type = "text/markdown";
constexpr std::string_view plain_mime_type = "text/plain";

struct file_extension {
  std::string_view suffix;
  document_type type;
};

constexpr document_type markdown_type{markdown_mime_type, markdown_mime_type, markup_format::markdown, {}};
constexpr document_type asciidoc_type{"text/asciidoc", "text/asciidoc", markup_format::asciidoc, {}};
constexpr document_type rst_type{"text/x-rst", "text/x-rst", markup_format::restructured_text, {}};
constexpr document_type html_type{"text/html", markdown_mime_type, markup_format::html, {}};
constexpr document_type xhtml_type{"application/xhtml+xml", markdown_mime_type, markup_format::html, {}};
constexpr document_type plain_text_type{plain_mime_type, plain_mime_type, markup_format::plain, {}};

constexpr document_type office_type(std::string_view type, render_format format) {
  return {type, markdown_mime_type, markup_format::markdown, format};
}

constexpr std::array extensions{
    file_extension{".md", markdown_type},
    file_extension{".markdown", markdown_type},
    file_extension{".mkd", markdown_type},
    file_extension{".mdx", markdown_type},
    file_extension{".adoc", asciidoc_type},
    file_extension{".asciidoc", asciidoc_type},
    file_extension{".asc", asciidoc_type},
    file_extension{".rst", rst_type},
    file_extension{".rest", rst_type},
    file_extension{".html", html_type},
    file_extension{".htm", html_type},
    file_extension{".xhtml", xhtml_type},
    file_extension{".txt", plain_text_type},
    file_extension{".text", plain_text_type},
    file_extension{".pdf", {"application/pdf", plain_mime_type, markup_format::plain, render_format::pdf}},
    file_extension{".docx",
                   office_type("application/vnd.openxmlformats-officedocument.wordprocessingml.document", render_format::docx)},
    file_extension{".xlsx",
                   office_type("application/vnd.openxmlformats-officedocument.spreadsheetml.sheet", render_format::xlsx)},
    file_extension{
        ".pptx", office_type("application/vnd.openxmlformats-officedocument.presentationml.presentation", render_format::pptx)},
    file_extension{".odt", office_type("application/vnd.oasis.opendocument.text", render_format::odt)},
    file_extension{".ods", office_type("application/vnd.oasis.opendocument.spreadsheet", render_format::ods)},
    file_extension{".odp", office_type("application/vnd.oasis.opendocument.presentation", render_format::odp)},
};

/// Documents without an ending.
constexpr std::array<std::string_view, 14> extensionless_names{"readme",  "changelog", "changes", "news",        "history",
                                                               "license", "licence",   "copying", "notice",      "authors",
                                                               "install", "todo",      "faq",     "contributing"};

}  // namespace

std::optional<document_type> type_of(std::string_view path) noexcept {
  const auto name = last_name(path);
  const auto match = std::find_if(extensions.begin(), extensions.end(), [name](const file_extension& extension) {
    return name.size() > extension.suffix.size() && ascii::ends_with_ignore_case(name, extension.suffix);
  });
  if (match != extensions.end()) return match->type;
  const bool has_known_name =
      std::any_of(extensionless_names.begin(), extensionless_names.end(),
                  [name](std::string_view known_name) { return ascii::equals_ignore_case(name, known_name); });
  if (has_known_name) return plain_text_type;
  return std::nullopt;
}

document_type fallback_type() noexcept { return plain_text_type; }

}  // namespace hondana::docs
