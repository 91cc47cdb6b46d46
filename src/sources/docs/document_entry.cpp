/// Catalog entries, metadata and resource templates of documents.
#include "sources/docs/document_entry.hpp"

#include <algorithm>
#include <cstdint>
#include <utility>

#include "base/ascii/ascii.hpp"
#include "base/bytes/digest.hpp"
#include "sources/docs/document_uri.hpp"

namespace hondana::docs {
namespace {

constexpr std::size_t max_listed_links = 5;

bool is_converted(const document& document, const document_properties& properties) {
  return document.type.render_format || document.type.markup_format == markup::markup_format::html ||
         !properties.equals_original;
}

resource_template make_template(std::string uri, std::string name, std::string title, std::string description,
                                std::string_view type) {
  resource_template entry;
  entry.uri_template = std::move(uri);
  entry.name = std::move(name);
  entry.title = std::move(title);
  entry.description = std::move(description);
  entry.mime_type = type;
  return entry;
}

}  // namespace

std::optional<std::chrono::sys_time<std::chrono::milliseconds>> modification_time(const disk::stamp& stamp) {
  if (stamp.modified == disk::time_out_of_range || stamp.modified == -disk::time_out_of_range) return std::nullopt;
  return std::chrono::sys_time<std::chrono::milliseconds>(
      std::chrono::floor<std::chrono::milliseconds>(std::chrono::nanoseconds(stamp.modified)));
}

std::string version_of(const disk::stamp& stamp, const std::string& charset_rule) {
  auto version = disk::version_of(stamp);
  if (!charset_rule.empty()) version += '-' + bytes::to_hex(bytes::digest_of(ascii::to_lower(charset_rule))).substr(0, 8);
  return version;
}

metadata make_metadata(const document& document, const document_properties& properties) {
  metadata entries;
  const auto& lang = !properties.front_matter.lang.empty() ? properties.front_matter.lang
                     : !document.rule.lang.empty()         ? document.rule.lang
                                                           : properties.lang;
  if (!lang.empty()) entries.emplace_back(language_key, lang);
  if (!properties.charset.empty()) entries.emplace_back(charset_key, properties.charset);
  if (properties.replaced_count > 0) entries.emplace_back(replaced_key, static_cast<std::int64_t>(properties.replaced_count));
  if (properties.page_count > 0) entries.emplace_back(pages_key, static_cast<std::int64_t>(properties.page_count));
  if (properties.is_truncated) entries.emplace_back(truncated_key, true);
  if (is_converted(document, properties)) entries.emplace_back(original_type_key, std::string(document.type.original_type));
  if (properties.problem) entries.emplace_back(problem_key, properties.problem->public_text);
  return entries;
}

std::string title_of(const document& document, const document_properties& properties) {
  if (!properties.front_matter.title.empty()) return properties.front_matter.title;
  if (!document.rule.title.empty()) return document.rule.title;
  if (!properties.heading.empty()) return properties.heading;
  return std::string(stem_of(display_path(last_name(document.path))));
}

resource make_entry(const std::string& set, const document& document) {
  resource entry;
  entry.uri = uri_of(set, document.path);
  entry.name = display_path(last_name(document.path));
  entry.kind = "document";
  entry.mime_type = document.type.text_type;
  entry.title = title_of(document, document.properties ? *document.properties : document_properties());
  entry.annotations.priority = document.rating.priority;
  entry.annotations.audience = document.rule.audience;
  entry.annotations.last_modified = modification_time(document.stamp);
  if (!document.properties) {
    if (!document.rule.lang.empty()) entry.metadata.emplace_back(language_key, document.rule.lang);
    entry.metadata.emplace_back(original_type_key, std::string(document.type.original_type));
    entry.metadata.emplace_back(provisional_key, true);
    entry.version = version_of(document.stamp, document.rule.charset);
    return entry;
  }
  const auto& properties = *document.properties;
  entry.description =
      properties.front_matter.description.empty() ? properties.description : properties.front_matter.description;
  entry.size = properties.text_size;
  if (!properties.front_matter.audience.empty()) entry.annotations.audience = properties.front_matter.audience;
  if (!properties.is_racy) entry.version = version_of(document.stamp, document.rule.charset);
  entry.metadata = make_metadata(document, properties);
  return entry;
}

resource make_outline_entry(const std::string& set) {
  resource entry;
  entry.uri = outline_uri(set);
  entry.name = set;
  entry.title = "Documents of " + set;
  entry.description = "All documents with titles, languages and priorities.";
  entry.mime_type = "text/markdown";
  entry.kind = "outline";
  entry.annotations.priority = 0.9;
  return entry;
}

resource make_folder_entry(const std::string& set, const std::string& path) {
  resource entry;
  entry.uri = uri_of(set, path);
  entry.name = display_path(last_name(path));
  entry.mime_type = folder_type;
  entry.kind = "folder";
  return entry;
}

std::string inventory_note(const document& document) {
  auto priority = std::to_string(document.rating.priority);
  priority.erase(priority.find_last_not_of('0') + 1);
  if (priority.ends_with('.')) priority.pop_back();
  std::string note = "priority " + priority + ": " + document.rating.reason;
  const auto add = [&note](const std::string& text) { (note += "; ") += text; };
  if (!document.properties) {
    add("not rendered yet");
    return note;
  }
  const auto& properties = *document.properties;
  if (properties.problem) add(properties.problem->public_text);
  if (properties.replaced_count > 0) {
    add(std::to_string(properties.replaced_count) + (properties.replaced_count == 1 ? " place is" : " places are") +
        " not valid " + properties.charset + " and replaced");
  } else if (!properties.charset.empty() && properties.charset != "UTF-8") {
    add("converted from " + properties.charset);
  }
  for (const auto& warning : properties.front_matter.warnings) add(warning);
  if (!document.broken_links.empty()) {
    std::string links = std::to_string(document.broken_links.size()) +
                        (document.broken_links.size() == 1 ? " link leads" : " links lead") + " nowhere: ";
    for (std::size_t i = 0; i < std::min(document.broken_links.size(), max_listed_links); ++i)
      (links += i == 0 ? "" : ", ") += document.broken_links[i];
    if (document.broken_links.size() > max_listed_links) links += ", …";
    add(links);
  }
  return note;
}

std::vector<resource_template> make_templates(const std::string& set) {
  const auto claim = uri_prefix(set);
  const auto name = "docs-" + set;
  return {
      make_template(
          claim + "/{+path}{?section}", name + "-section", "Section of a document of " + set,
          "One section with its subsections, by its heading or by its id from ?format=json. Without section, the whole "
          "document as text.",
          ""),
      make_template(claim + "/{+path}{?pages}", name + "-pages", "Pages of a PDF of " + set,
                    "Pages or slides of a PDF or a presentation as text: pages=3, pages=2-4.", "text/plain"),
      make_template(
          claim + "/{+path}{?format}", name + "-document", "Document of " + set,
          "A document in another form. format=outline: its headings; format=json: headings and links with their URIs; "
          "format=original: the original file.",
          ""),
      make_template(claim + "/{?format}", name + "-outline", "List of the documents of " + set,
                    "All documents as a tree with titles, languages and priorities; format=json: the same as JSON.", ""),
  };
}

scheme_documentation describe_scheme() {
  return {
      "docs",
      "Documents in sets: Markdown, AsciiDoc, reStructuredText, HTML, plain text, PDF and Office files as text.",
      {{"document",
        "A document. Its text is always UTF-8. If the file is not UTF-8 text, reads also return the original file as a blob."},
       {"section", "A section of a document with its subsections, or some of its pages."},
       {"folder", "A folder of documents. Its content is the URIs of its children, one per line."},
       {"outline", "The documents of a set or a folder as a tree, or the headings of a document."}},
      {{"docs://SET/", "All documents of a set as a tree in Markdown; as JSON with ?format=json."},
       {"docs://SET/PATH", "A document as text, with the original file if that is different; or a folder."},
       {"docs://SET/PATH?section=HEADING", "One section, by its heading or its id."},
       {"docs://SET/PATH?pages=2-4", "Pages of a PDF, slides of a presentation."},
       {"docs://SET/PATH?format=outline", "The headings of a document, or the documents of a folder, in Markdown."},
       {"docs://SET/PATH?format=json", "The same as JSON, with links and their URIs."},
       {"docs://SET/PATH?format=original", "The original file."}}};
}

}  // namespace hondana::docs
