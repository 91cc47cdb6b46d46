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

constexpr std::size_t most_told_links = 5;

bool is_converted(const document& of, const facts& about) {
  return of.type.rendered || of.type.marked == markup::format::html || !about.equals_original;
}

resource_template template_at(std::string uri, std::string name, std::string title, std::string description,
                              std::string_view type) {
  resource_template one;
  one.uriTemplate = std::move(uri);
  one.name = std::move(name);
  one.title = std::move(title);
  one.description = std::move(description);
  one.mimeType = type;
  return one;
}

}  // namespace

std::optional<std::chrono::sys_time<std::chrono::milliseconds>> modified_of(const disk::stamp& state) {
  if (state.modified == disk::time_beyond_count || state.modified == -disk::time_beyond_count) return std::nullopt;
  return std::chrono::sys_time<std::chrono::milliseconds>(
      std::chrono::floor<std::chrono::milliseconds>(std::chrono::nanoseconds(state.modified)));
}

std::string version_of(const disk::stamp& state, const std::string& charset_rule) {
  auto version = disk::version_of(state);
  if (!charset_rule.empty()) version += '-' + bytes::to_hex(bytes::digest_of(ascii::in_lower_case(charset_rule))).substr(0, 8);
  return version;
}

metadata facts_about(const document& of, const facts& about) {
  metadata all;
  const auto& lang = !about.says.lang.empty() ? about.says.lang : !of.rule.lang.empty() ? of.rule.lang : about.lang;
  if (!lang.empty()) all.emplace_back(language_key, lang);
  if (!about.charset.empty()) all.emplace_back(charset_key, about.charset);
  if (about.replaced > 0) all.emplace_back(replaced_key, static_cast<std::int64_t>(about.replaced));
  if (about.pages > 0) all.emplace_back(pages_key, static_cast<std::int64_t>(about.pages));
  if (about.is_cut) all.emplace_back(cut_key, true);
  if (is_converted(of, about)) all.emplace_back(original_type_key, std::string(of.type.original));
  if (about.problem) all.emplace_back(problem_key, about.problem->public_text);
  return all;
}

std::string title_of(const document& of, const facts& about) {
  if (!about.says.title.empty()) return about.says.title;
  if (!of.rule.title.empty()) return of.rule.title;
  if (!about.heading.empty()) return about.heading;
  return std::string(stem_of(readable(last_name(of.path))));
}

resource entry_of(const std::string& set, const document& of) {
  resource entry;
  entry.uri = uri_of(set, of.path);
  entry.name = readable(last_name(of.path));
  entry.kind = "document";
  entry.mimeType = of.type.text;
  entry.title = title_of(of, of.known ? *of.known : facts());
  entry.annotations.priority = of.worth.priority;
  entry.annotations.audience = of.rule.audience;
  entry.annotations.lastModified = modified_of(of.state);
  if (!of.known) {
    if (!of.rule.lang.empty()) entry.metadata.emplace_back(language_key, of.rule.lang);
    entry.metadata.emplace_back(original_type_key, std::string(of.type.original));
    entry.metadata.emplace_back(provisional_key, true);
    entry.version = version_of(of.state, of.rule.charset);
    return entry;
  }
  const auto& about = *of.known;
  entry.description = about.says.description.empty() ? about.description : about.says.description;
  entry.size = about.text_size;
  if (!about.says.audience.empty()) entry.annotations.audience = about.says.audience;
  if (!about.is_racy) entry.version = version_of(of.state, of.rule.charset);
  entry.metadata = facts_about(of, about);
  return entry;
}

resource entry_of_outline(const std::string& set) {
  resource entry;
  entry.uri = uri_of_outline(set);
  entry.name = set;
  entry.title = "Documents of " + set;
  entry.description = "All documents with titles, languages and priorities.";
  entry.mimeType = "text/markdown";
  entry.kind = "outline";
  entry.annotations.priority = 0.9;
  return entry;
}

resource entry_of_folder(const std::string& set, const std::string& path) {
  resource entry;
  entry.uri = uri_of(set, path);
  entry.name = readable(last_name(path));
  entry.mimeType = folder_type;
  entry.kind = "folder";
  return entry;
}

std::string remark_on(const document& of) {
  auto priority = std::to_string(of.worth.priority);
  priority.erase(priority.find_last_not_of('0') + 1);
  if (priority.ends_with('.')) priority.pop_back();
  std::string said = "priority " + priority + ": " + of.worth.reason;
  const auto add = [&said](const std::string& what) { (said += "; ") += what; };
  if (!of.known) {
    add("not rendered yet");
    return said;
  }
  const auto& about = *of.known;
  if (about.problem) add(about.problem->public_text);
  if (about.replaced > 0) {
    add(std::to_string(about.replaced) + (about.replaced == 1 ? " place is" : " places are") + " not valid " + about.charset +
        " and replaced");
  } else if (!about.charset.empty() && about.charset != "UTF-8") {
    add("converted from " + about.charset);
  }
  for (const auto& one : about.says.warnings) add(one);
  if (!of.broken.empty()) {
    std::string links =
        std::to_string(of.broken.size()) + (of.broken.size() == 1 ? " link leads" : " links lead") + " nowhere: ";
    for (std::size_t i = 0; i < std::min(of.broken.size(), most_told_links); ++i) (links += i == 0 ? "" : ", ") += of.broken[i];
    if (of.broken.size() > most_told_links) links += ", …";
    add(links);
  }
  return said;
}

std::vector<resource_template> templates_of(const std::string& set) {
  const auto claim = claim_of(set);
  const auto name = "docs-" + set;
  return {
      template_at(claim + "/{+path}{?section}", name + "-section", "Section of a document of " + set,
                  "One section with its subsections, by its heading or by its id from ?format=json. Without section, the whole "
                  "document as text.",
                  ""),
      template_at(claim + "/{+path}{?pages}", name + "-pages", "Pages of a PDF of " + set,
                  "Pages or slides of a PDF or a presentation as text: pages=3, pages=2-4.", "text/plain"),
      template_at(claim + "/{+path}{?format}", name + "-document", "Document of " + set,
                  "A document in another form. format=outline: its headings; format=json: headings and links with their URIs; "
                  "format=original: the original file.",
                  ""),
      template_at(claim + "/{?format}", name + "-outline", "List of the documents of " + set,
                  "All documents as a tree with titles, languages and priorities; format=json: the same as JSON.", ""),
  };
}

scheme_documentation describe() {
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
