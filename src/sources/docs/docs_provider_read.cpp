/// Reads by the docs provider: text, sections, pages, outlines and original files.

#include <algorithm>
#include <cstddef>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <hondana/capabilities.hpp>
#include <hondana/error.hpp>
#include <hondana/provider.hpp>
#include <hondana/uri.hpp>
#include <hondana/value.hpp>

#include "base/bytes/prepared_content.hpp"
#include "base/bytes/sha256.hpp"
#include "base/match/fuzzy_match.hpp"
#include "protocol/model/iso_8601.hpp"
#include "sources/docs/docs_provider.hpp"
#include "sources/docs/document_entry.hpp"
#include "sources/docs/document_text.hpp"
#include "sources/docs/document_uri.hpp"
#include "sources/docs/snapshot.hpp"
#include "text/language/language.hpp"
#include "text/secrets/redactor.hpp"

namespace hondana::docs {

/// Finds the section with this id, else the first whose heading or id is equal after folding normal form, width, case and
/// surrounding marks. Errors: invalid_argument, naming the nearest headings.
[[nodiscard]] result<markup::section> find_section(const document_text& text, std::string_view query);

/// Some pages of a document, without the form feeds between them. Errors: invalid_argument if the document has no pages, or
/// fewer than requested.
[[nodiscard]] result<std::string> extract_pages(const document_text& text, std::pair<std::size_t, std::size_t> range);

namespace {

constexpr std::size_t max_suggestions = 5;

std::string_view strip_heading_marks(std::string_view text) noexcept {
  while (!text.empty() && (text.front() == '#' || text.front() == ' ')) text.remove_prefix(1);
  while (!text.empty() && text.back() == ' ') text.remove_suffix(1);
  return text;
}

struct heading_match {
  match::rank rank{};
  std::size_t index = 0;

  bool operator<(const heading_match& other) const noexcept {
    return rank < other.rank || (!(other.rank < rank) && index < other.index);
  }
};

tl::unexpected<failure> section_not_found(const document_text& text, std::string_view query) {
  const auto& sections = text.outline.sections;
  if (sections.empty()) return fail(errc::part_not_found, "The document has no headings. Read it as a whole.");
  match::matcher matcher(query);
  match::top_k<heading_match> best(max_suggestions);
  for (std::size_t i = 0; i < sections.size(); ++i) {
    if (const auto quality = matcher(language::fold(sections[i].heading)))
      best.add({{*quality, 0.5, match::recency::older}, i});
  }
  std::vector<std::size_t> indexes;
  for (const auto& entry : best.extract_sorted()) indexes.push_back(entry.index);
  for (std::size_t i = 0; i < sections.size() && indexes.size() < max_suggestions; ++i) {
    if (std::find(indexes.begin(), indexes.end(), i) == indexes.end()) indexes.push_back(i);
  }
  std::string message = "Section not found. Some of the headings: ";
  for (const auto index : indexes) ((message += index == indexes.front() ? "\"" : ", \"") += sections[index].heading) += '"';
  return fail(errc::part_not_found, message + "; ?format=outline lists all of them.");
}

}  // namespace

result<markup::section> find_section(const document_text& text, std::string_view query) {
  const auto& sections = text.outline.sections;
  const auto exact =
      std::find_if(sections.begin(), sections.end(), [query](const auto& section) { return section.id == query; });
  if (exact != sections.end()) return *exact;
  const auto folded = language::fold(strip_heading_marks(query));
  const auto is_match = [&folded](const markup::section& section) {
    return language::fold(strip_heading_marks(section.heading)) == folded || language::fold(section.id) == folded;
  };
  const auto match = std::find_if(sections.begin(), sections.end(), is_match);
  if (match != sections.end()) return *match;
  return section_not_found(text, folded);
}

result<std::string> extract_pages(const document_text& text, std::pair<std::size_t, std::size_t> range) {
  if (text.properties->page_count == 0) {
    return fail(errc::invalid_argument, "The document has no pages. Read a section: ?format=outline lists the headings.");
  }
  if (range.first > text.properties->page_count) {
    return fail(errc::part_not_found, "pages: the document has " + std::to_string(text.properties->page_count) +
                                          (text.properties->page_count == 1 ? " page." : " pages."));
  }
  std::string pages;
  std::string_view remaining = *text.content;
  for (std::size_t page = 1; !remaining.empty() && page <= range.second; ++page) {
    const auto end = remaining.find('\f');
    if (page >= range.first) pages += remaining.substr(0, end);
    if (page >= range.first && !pages.empty() && !pages.ends_with('\n')) pages += '\n';
    remaining.remove_prefix(end == std::string_view::npos ? remaining.size() : end + 1);
  }
  if (pages.empty() && text.properties->is_truncated) {
    return fail(errc::response_too_large, "The pages are beyond the rendering limit of a document.");
  }
  return pages;
}

/// The documents of the set or of a folder as a tree of links, one per line, the important first.
[[nodiscard]] std::string set_outline(const snapshot& snapshot, std::string_view folder, const caller_info& caller);
/// The same as a JSON object with the member `documents`, ordered by path.
[[nodiscard]] std::string set_outline_json(const snapshot& snapshot, std::string_view folder, const caller_info& caller);

/// The headings of a document as a tree of links.
[[nodiscard]] std::string document_outline(const document& document, const document_text& text);
/// The headings and links of a document with their targets, as JSON.
[[nodiscard]] std::string document_outline_json(const snapshot& snapshot, const document& document, const document_text& text,
                                                const caller_info& caller);

namespace {

/// A folder, limited to what the caller may see.
struct branch {
  std::map<std::string, branch, std::less<>> folders{};
  std::vector<const document*> documents{};

  [[nodiscard]] double priority() const {
    double max_priority = 0;
    for (const auto* document : documents) max_priority = std::max(max_priority, document->rating.priority);
    for (const auto& [name, child] : folders) max_priority = std::max(max_priority, child.priority());
    return max_priority;
  }
};

/// Calls `visitor` with every document in a folder that the caller may see.
template <class Visitor>
void for_each_visible(const snapshot& snapshot, std::string_view folder, const caller_info& caller, Visitor&& visitor) {
  const auto prefix = folder.empty() ? std::string() : std::string(folder) + '/';
  for (auto it = snapshot.documents().lower_bound(prefix); it != snapshot.documents().end() && it->first.starts_with(prefix);
       ++it) {
    if (is_visible(caller, it->second.entry)) visitor(it->second);
  }
}

const std::string* find_text(const metadata& entries, std::string_view key) {
  const auto entry = std::find_if(entries.begin(), entries.end(), [key](const auto& item) { return item.first == key; });
  return entry == entries.end() ? nullptr : std::get_if<std::string>(&entry->second);
}

std::string format_priority(double priority) {
  auto text = std::to_string(priority);
  text.resize(std::min(text.size(), text.find('.') + 3));
  if (text.ends_with('0')) text.pop_back();
  return text;
}

/// An entry without data from the content, unless the caller may read the content.
resource make_visible_entry(const caller_info& caller, const document& document) {
  auto entry = document.entry;
  if (is_readable(caller, entry)) return entry;
  entry.title = entry.name;
  entry.description.clear();
  std::erase_if(entry.metadata, [](const auto& item) { return item.first == language_key; });
  return entry;
}

void write_line(std::string& output, const document& document, std::size_t depth, const caller_info& caller) {
  const auto entry = make_visible_entry(caller, document);
  output.append(2 * depth, ' ');
  output += "- [" + escape_link_text(entry.title) + "](" + entry.uri + ") (" + format_priority(document.rating.priority);
  if (const auto* lang = find_text(entry.metadata, language_key)) output += ", " + *lang;
  output += ')';
  if (!entry.description.empty()) output += ": " + one_line(entry.description, 120);
  output += '\n';
}

void write_branch(std::string& output, const std::string& set, const branch& node, const std::string& path, std::size_t depth,
                  const caller_info& caller) {
  auto documents = node.documents;
  std::sort(documents.begin(), documents.end(), [](const auto* a, const auto* b) {
    return a->rating.priority != b->rating.priority ? a->rating.priority > b->rating.priority : a->path < b->path;
  });
  for (const auto* document : documents) write_line(output, *document, depth, caller);
  std::vector<std::pair<double, const std::pair<const std::string, branch>*>> folders;
  folders.reserve(node.folders.size());
  for (const auto& child : node.folders) folders.emplace_back(child.second.priority(), &child);
  std::sort(folders.begin(), folders.end(), [](const auto& a, const auto& b) {
    return a.first != b.first ? a.first > b.first : a.second->first < b.second->first;
  });
  for (const auto& [priority, folder] : folders) {
    const auto child_path = path.empty() ? folder->first : path + '/' + folder->first;
    output.append(2 * depth, ' ');
    output += "- [" + escape_link_text(display_path(folder->first)) + "/](" + uri_of(set, child_path) + ")\n";
    write_branch(output, set, folder->second, child_path, depth + 1, caller);
  }
}

std::string section_uri(const document& document, const markup::section& section) {
  return document.entry.uri + "?section=" + percent_encode(section.id);
}

value document_json(const document& document, const caller_info& caller) {
  const auto entry = make_visible_entry(caller, document);
  value::object members{{"uri", entry.uri}, {"title", entry.title}};
  if (!entry.description.empty()) members.emplace_back("description", entry.description);
  members.emplace_back("mimeType", entry.mime_type);
  members.emplace_back("priority", document.rating.priority);
  value::array audience;
  for (const auto recipient : entry.annotations.audience)
    audience.emplace_back(recipient == chat_role::user ? "user" : "assistant");
  if (!audience.empty()) members.emplace_back("audience", std::move(audience));
  if (const auto* lang = find_text(entry.metadata, language_key)) members.emplace_back("lang", *lang);
  if (entry.size) members.emplace_back("size", *entry.size);
  if (const auto& modified = entry.annotations.last_modified)
    members.emplace_back("lastModified", model::format_iso_8601(*modified));
  return members;
}

/// The document that a link points to, if the caller may see it.
const document* find_visible(const snapshot& snapshot, const link_target& target, const caller_info& caller) {
  const auto* document = target.kind == link_target::target_kind::document ? snapshot.find(target.path) : nullptr;
  return document != nullptr && is_visible(caller, document->entry) ? document : nullptr;
}

value link_json(const snapshot& snapshot, const document& document, const markup::link& link, const caller_info& caller) {
  value::object members{{"target", link.target}};
  if (!link.text.empty()) members.emplace_back("text", link.text);
  members.emplace_back("line", link.line);
  if (link.is_image) members.emplace_back("isPicture", true);
  const auto target = snapshot.resolve_link(document, link.target);
  if (target.kind == link_target::target_kind::same_document && !target.section.empty()) {
    members.emplace_back("uri", document.entry.uri + "?section=" + percent_encode(target.section));
  }
  // A document that the caller may not see is treated like a target outside of the set.
  if (const auto* other = find_visible(snapshot, target, caller)) {
    members.emplace_back("uri",
                         other->entry.uri + (target.section.empty() ? "" : "?section=" + percent_encode(target.section)));
    members.emplace_back("title", make_visible_entry(caller, *other).title);
  }
  if (target.kind == link_target::target_kind::folder && !target.path.empty() &&
      is_visible(caller, make_folder_entry(snapshot.set_name(), target.path))) {
    members.emplace_back("uri", uri_of(snapshot.set_name(), target.path));
  }
  return members;
}

}  // namespace

std::string set_outline(const snapshot& snapshot, std::string_view folder, const caller_info& caller) {
  branch top;
  for_each_visible(snapshot, folder, caller, [&](const document& document) {
    auto* node = &top;
    auto relative_path = std::string_view(document.path).substr(folder.empty() ? 0 : folder.size() + 1);
    for (auto slash = relative_path.find('/'); slash != std::string_view::npos; slash = relative_path.find('/')) {
      node = &node->folders.try_emplace(std::string(relative_path.substr(0, slash))).first->second;
      relative_path.remove_prefix(slash + 1);
    }
    node->documents.push_back(&document);
  });
  std::string text =
      "# Documents of " + snapshot.set_name() + (folder.empty() ? "" : ": " + escape_link_text(display_path(folder))) + "\n\n";
  write_branch(text, snapshot.set_name(), top, std::string(folder), 0, caller);
  return text;
}

std::string set_outline_json(const snapshot& snapshot, std::string_view folder, const caller_info& caller) {
  value::array documents;
  for_each_visible(snapshot, folder, caller,
                   [&](const document& document) { documents.push_back(document_json(document, caller)); });
  return value(value::object{{"set", snapshot.set_name()}, {"documents", std::move(documents)}}).to_text();
}

std::string document_outline(const document& document, const document_text& text) {
  std::string output = "# " + escape_link_text(document.entry.title) + "\n\n";
  if (text.outline.sections.empty()) output += "[This document](" + document.entry.uri + ") has no headings.\n";
  for (const auto& section : text.outline.sections) {
    output.append(2 * static_cast<std::size_t>(std::clamp(section.level, 1, 6) - 1), ' ');
    output += "- [" + escape_link_text(section.heading) + "](" + section_uri(document, section) + ") (line " +
              std::to_string(section.first_line) + ")\n";
  }
  if (text.outline.is_truncated) output += "\nThe document has more headings than this list.\n";
  return output;
}

std::string document_outline_json(const snapshot& snapshot, const document& document, const document_text& text,
                                  const caller_info& caller) {
  value::object members{{"uri", document.entry.uri}, {"title", document.entry.title}};
  for (const auto& [key, entry_value] : make_metadata(document, *text.properties)) {
    const auto name = key.substr(key.find('/') + 1);
    std::visit([&](const auto& item) { members.emplace_back(name, value(item)); }, entry_value);
  }
  value::array headings;
  headings.reserve(text.outline.sections.size());
  for (const auto& section : text.outline.sections) {
    headings.emplace_back(value::object{{"level", section.level},
                                        {"heading", section.heading},
                                        {"id", section.id},
                                        {"firstLine", section.first_line},
                                        {"lastLine", section.last_line},
                                        {"uri", section_uri(document, section)}});
  }
  members.emplace_back("headings", std::move(headings));
  value::array links;
  links.reserve(text.outline.links.size());
  for (const auto& link : text.outline.links) links.push_back(link_json(snapshot, document, link, caller));
  members.emplace_back("links", std::move(links));
  if (text.outline.is_truncated) members.emplace_back("isCut", true);
  return value(std::move(members)).to_text();
}

namespace {

std::string digest_of(std::string_view text) {
  bytes::sha256 digest;
  digest.update(text);
  return digest.finish();
}

tl::unexpected<failure> too_large_error(const read_request& request, std::uint64_t size, std::string_view advice) {
  auto error = bytes::too_large_error(request.requested_uri, size, request.max_bytes, false);
  if (!advice.empty()) (error.public_text += ' ') += advice;
  return tl::unexpected(std::move(error));
}

resource_content make_text_content(std::string text, std::string_view type) {
  resource_content item;
  item.mime_type = type;
  item.kind = content_kind::text;
  item.data = std::make_shared<const std::string>(std::move(text));
  return item;
}

/// The media type of a file. A text type includes the encoding, without which a client cannot decode it. `properties`: those of
/// exactly these bytes; null: unknown.
std::string original_type(const document& document, const document_properties* properties) {
  std::string type(document.type.original_type);
  if (properties != nullptr && !properties->charset.empty() && type.starts_with("text/"))
    type += "; charset=" + properties->charset;
  return type;
}

/// A text whose version is its digest.
std::pair<resource_content, std::string> make_versioned_text(std::string text, std::string_view type) {
  auto version = digest_of(text);
  return {make_text_content(std::move(text), type), std::move(version)};
}

}  // namespace

result<const document*> docs_provider::find(const snapshot& snapshot, const address& address, const caller_info& caller) const {
  const auto* exact = snapshot.find(address.path);
  if (exact != nullptr && address.is_listed_form) return exact;
  const auto* match = exact != nullptr                         ? exact
                      : address.path.empty() || address.is_set ? nullptr
                                                               : snapshot.find_folded(address.path);
  if (match == nullptr || !is_readable(caller, match->entry)) {
    return fail(errc::resource_not_found,
                "Document not found in this set. Its documents are listed in " + outline_uri(set_->set_name()) + '.');
  }
  // Access rules name the listed URI and would not match this spelling. So only callers without rules get the document.
  if (is_unrestricted(caller)) return match;
  // Other callers do not see the text of resource_not_found.
  return fail(errc::part_not_found, "This URI is another spelling of a document in the set. Read " + match->entry.uri + '.');
}

bool docs_provider::is_folder(const snapshot& snapshot, const address& address, const caller_info& caller) {
  return snapshot.is_folder(address.path) && (address.is_listed_form || is_unrestricted(caller));
}

result<docs_provider::read_outcome> docs_provider::read_resource(const snapshot& snapshot, const address& address,
                                                                 const read_request& request) {
  if (address.section || address.pages || address.format == output_format::original ||
      (!address.is_set && !is_folder(snapshot, address, request.caller))) {
    HONDANA_TRY(const auto document, find(snapshot, address, request.caller));
    return address.format == output_format::original ? read_original(*document, request)
                                                     : read_document(snapshot, *document, address, request);
  }
  if (!address.is_set && address.format == output_format::default_format) return read_folder(snapshot, address, request);
  const bool is_json = address.format == output_format::json;
  auto text =
      is_json ? set_outline_json(snapshot, address.path, request.caller) : set_outline(snapshot, address.path, request.caller);
  if (text.size() > request.max_bytes) {
    return too_large_error(request, text.size(), "Read the outlines of its folders: docs://SET/FOLDER?format=outline.");
  }
  read_outcome outcome;
  outcome.kind = "outline";
  auto [item, version] = make_versioned_text(std::move(text), is_json ? "application/json" : "text/markdown");
  item.name = address.path.empty() ? set_->set_name() : display_path(last_name(address.path));
  item.title = "Documents of " + (address.path.empty() ? set_->set_name() : display_path(address.path));
  outcome.contents.push_back(std::move(item));
  outcome.version = std::move(version);
  return outcome;
}

result<docs_provider::read_outcome> docs_provider::read_folder(const snapshot& snapshot, const address& address,
                                                               const read_request& request) const {
  children_request next;
  static_cast<request_context&>(next) = static_cast<const request_context&>(request);
  next.uri = address.is_listed_form ? request.uri.substr(0, request.uri.find('?')) : uri_of(set_->set_name(), address.path);
  std::string text;
  for (;;) {
    auto page = snapshot.entries().children(next);
    for (const auto& entry : page.entries) {
      if (is_visible(request.caller, entry)) (text += entry.uri) += '\n';
    }
    if (text.size() > request.max_bytes) return too_large_error(request, text.size(), {});
    if (!page.next_key) break;
    next.after_key = std::move(*page.next_key);
  }
  read_outcome outcome;
  outcome.kind = "folder";
  auto [item, version] = make_versioned_text(std::move(text), folder_type);
  outcome.contents.push_back(std::move(item));
  outcome.version = std::move(version);
  return outcome;
}

result<docs_provider::read_outcome> docs_provider::read_document(const snapshot& snapshot, const document& document,
                                                                 const address& address, const read_request& request) {
  const auto text = set_->text_of(document, request);
  if (!text) return tl::unexpected(text.error());
  const auto& properties = *(*text)->properties;
  // The title in the list may be older than the text.
  const auto title = title_of(document, properties);
  read_outcome outcome;
  outcome.is_racy = properties.is_racy;
  outcome.version = properties.is_racy ? (*text)->digest : version_of(properties.stamp, properties.charset_rule);
  outcome.kind = address.section || address.pages                  ? "section"
                 : address.format == output_format::default_format ? "document"
                                                                   : "outline";
  resource_content item;
  if (address.format != output_format::default_format) {
    // The outline depends on the targets of links, too, so it has its own version.
    auto outline = address.format == output_format::json ? document_outline_json(snapshot, document, **text, request.caller)
                                                         : document_outline(document, **text);
    std::tie(item, outcome.version) =
        make_versioned_text(std::move(outline), address.format == output_format::json ? "application/json" : "text/markdown");
    item.title = title;
  } else if (address.section) {
    HONDANA_TRY(const auto section, find_section(**text, *address.section));
    const auto end = std::min(section.end, (*text)->content->size());
    const auto begin = std::min(section.begin, end);
    item = make_text_content((*text)->content->substr(begin, end - begin), document.type.text_type);
    item.title = section.heading;
  } else if (address.pages) {
    HONDANA_TRY(auto pages, extract_pages(**text, *address.pages));
    item = make_text_content(std::move(pages), document.type.text_type);
    item.title = title;
  } else {
    item.mime_type = document.type.text_type;
    item.kind = content_kind::text;
    item.data = (*text)->content;
    item.title = title;
  }
  item.name = document.entry.name;
  const auto size = std::get<shared_bytes>(item.data)->size();
  if (size > request.max_bytes) {
    const bool has_pages = properties.page_count > 0;
    return too_large_error(
        request, size,
        has_pages ? "Read some of its pages: ?pages=1-10." : "Read one of its sections: ?format=outline lists them.");
  }
  auto metadata = make_metadata(document, properties);
  if (properties.masked_count > 0) {
    for (auto& entry : secrets::redaction_metadata(properties.masked_count)) metadata.push_back(std::move(entry));
  }
  item.metadata = std::move(metadata);
  outcome.contents.push_back(std::move(item));
  if (outcome.kind == "document") add_original(outcome, document, *text, request);
  return outcome;
}

void docs_provider::add_original(read_outcome& outcome, const document& document,
                                 const std::shared_ptr<const document_text>& text, const read_request& request) {
  if (text->properties->equals_original || !set_->options().originals) return;
  auto uri = document.entry.uri + "?format=original";
  // A caller that may read the text only must not get the file with it.
  if (const auto& filter = request.caller.access_filter; filter && !filter->may_read(uri)) return;
  auto& metadata = outcome.contents.front().metadata;
  const auto space_left = request.max_bytes - text->content->size();
  const bool fits = text->properties->stamp.size <= space_left;
  auto original = fits ? set_->original_of(document, request, text) : result<docs::original_file>();
  if (!original && original.error().code == errc::unsupported) {
    metadata.emplace_back(withheld_key, original.error().public_text);
    return;
  }
  metadata.emplace_back(original_key, uri);
  if (!original || !fits) return;  // reading its own URI reports why
  resource_content item;
  item.uri = std::move(uri);
  item.name = document.entry.name;
  item.title = document.entry.title;
  item.mime_type = original_type(document, text->properties.get());
  item.kind = content_kind::blob;
  item.data = std::move(original->bytes);
  if (original->masked_count > 0) item.metadata = secrets::redaction_metadata(original->masked_count);
  outcome.contents.push_back(std::move(item));
}

result<docs_provider::read_outcome> docs_provider::read_original(const document& document, const read_request& request) {
  HONDANA_TRY(const auto stamp, set_->current_stamp(document));
  if (stamp.size > request.max_bytes) return too_large_error(request, stamp.size, {});
  HONDANA_TRY(auto original, set_->original_of(document, request));
  read_outcome outcome;
  outcome.kind = "document";
  outcome.is_racy = is_racy(stamp, disk::wall_clock());
  outcome.version = outcome.is_racy ? digest_of(*original.bytes) : version_of(stamp, {});
  resource_content item;
  item.name = document.entry.name;
  item.title = document.entry.title;
  item.mime_type =
      original_type(document, document.properties && document.properties->stamp == stamp ? document.properties.get() : nullptr);
  item.kind = content_kind::blob;
  item.data = std::move(original.bytes);
  if (original.masked_count > 0) item.metadata = secrets::redaction_metadata(original.masked_count);
  outcome.contents.push_back(std::move(item));
  return outcome;
}

}  // namespace hondana::docs
