/// Reads by the docs provider: text, sections, pages, outlines and original files.

#include <algorithm>
#include <cstddef>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

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
[[nodiscard]] result<markup::section> section_called(const prose& of, std::string_view wanted);

/// Some pages of a document, without the form feeds between them. Errors: invalid_argument if the document has no pages, or
/// fewer than requested.
[[nodiscard]] result<std::string> pages_of(const prose& of, std::pair<std::size_t, std::size_t> wanted);

namespace {

constexpr std::size_t most_named = 5;

std::string_view bare(std::string_view text) noexcept {
  while (!text.empty() && (text.front() == '#' || text.front() == ' ')) text.remove_prefix(1);
  while (!text.empty() && text.back() == ' ') text.remove_suffix(1);
  return text;
}

struct near_heading {
  match::rank how{};
  std::size_t place = 0;

  bool operator<(const near_heading& other) const noexcept {
    return how < other.how || (!(other.how < how) && place < other.place);
  }
};

tl::unexpected<failure> no_such_section(const prose& of, std::string_view wanted) {
  const auto& sections = of.outline.sections;
  if (sections.empty()) return fail(errc::part_not_found, "The document has no headings. Read it as a whole.");
  match::matcher fits(wanted);
  match::best<near_heading> best(most_named);
  for (std::size_t i = 0; i < sections.size(); ++i) {
    if (const auto how = fits(language::folded(sections[i].heading))) best.add({{*how, 0.5, match::recency::older}, i});
  }
  std::vector<std::size_t> named;
  for (const auto& one : best.take()) named.push_back(one.place);
  for (std::size_t i = 0; i < sections.size() && named.size() < most_named; ++i) {
    if (std::find(named.begin(), named.end(), i) == named.end()) named.push_back(i);
  }
  std::string text = "Section not found. Some of the headings: ";
  for (const auto place : named) ((text += place == named.front() ? "\"" : ", \"") += sections[place].heading) += '"';
  return fail(errc::part_not_found, text + "; ?format=outline lists all of them.");
}

}  // namespace

result<markup::section> section_called(const prose& of, std::string_view wanted) {
  const auto& sections = of.outline.sections;
  const auto exact = std::find_if(sections.begin(), sections.end(), [wanted](const auto& one) { return one.id == wanted; });
  if (exact != sections.end()) return *exact;
  const auto plain = language::folded(bare(wanted));
  const auto is_it = [&plain](const markup::section& one) {
    return language::folded(bare(one.heading)) == plain || language::folded(one.id) == plain;
  };
  const auto alike = std::find_if(sections.begin(), sections.end(), is_it);
  if (alike != sections.end()) return *alike;
  return no_such_section(of, plain);
}

result<std::string> pages_of(const prose& of, std::pair<std::size_t, std::size_t> wanted) {
  if (of.about->pages == 0) {
    return fail(errc::invalid_argument, "The document has no pages. Read a section: ?format=outline lists the headings.");
  }
  if (wanted.first > of.about->pages) {
    return fail(errc::part_not_found,
                "pages: the document has " + std::to_string(of.about->pages) + (of.about->pages == 1 ? " page." : " pages."));
  }
  std::string found;
  std::string_view rest = *of.text;
  for (std::size_t page = 1; !rest.empty() && page <= wanted.second; ++page) {
    const auto end = rest.find('\f');
    if (page >= wanted.first) found += rest.substr(0, end);
    if (page >= wanted.first && !found.empty() && !found.ends_with('\n')) found += '\n';
    rest.remove_prefix(end == std::string_view::npos ? rest.size() : end + 1);
  }
  if (found.empty() && of.about->is_cut) {
    return fail(errc::response_too_large, "The pages are beyond the rendering limit of a document.");
  }
  return found;
}

/// The documents of the set or of a folder as a tree of links, one per line, the important first.
[[nodiscard]] std::string outline_of_set(const scene& of, std::string_view folder, const caller& who);
/// The same as a JSON object with the member `documents`, ordered by path.
[[nodiscard]] std::string outline_of_set_as_json(const scene& of, std::string_view folder, const caller& who);

/// The headings of a document as a tree of links.
[[nodiscard]] std::string outline_of_document(const document& of, const prose& text);
/// The headings and links of a document with their targets, as JSON.
[[nodiscard]] std::string outline_of_document_as_json(const scene& in, const document& of, const prose& text,
                                                      const caller& who);

namespace {

/// A folder, limited to what the caller may see.
struct branch {
  std::map<std::string, branch, std::less<>> folders{};
  std::vector<const document*> documents{};

  [[nodiscard]] double priority() const {
    double most = 0;
    for (const auto* one : documents) most = std::max(most, one->worth.priority);
    for (const auto& [name, below] : folders) most = std::max(most, below.priority());
    return most;
  }
};

/// Calls `each` with every document in a folder that the caller may see.
template <class Each>
void for_each_seen(const scene& of, std::string_view folder, const caller& who, Each&& each) {
  const auto prefix = folder.empty() ? std::string() : std::string(folder) + '/';
  for (auto at = of.documents().lower_bound(prefix); at != of.documents().end() && at->first.starts_with(prefix); ++at) {
    if (is_seen(who, at->second.entry)) each(at->second);
  }
}

const std::string* text_in(const metadata& all, std::string_view key) {
  const auto found = std::find_if(all.begin(), all.end(), [key](const auto& one) { return one.first == key; });
  return found == all.end() ? nullptr : std::get_if<std::string>(&found->second);
}

std::string two_digits(double priority) {
  auto text = std::to_string(priority);
  text.resize(std::min(text.size(), text.find('.') + 3));
  if (text.ends_with('0')) text.pop_back();
  return text;
}

/// An entry without data from the content, unless the caller may read the content.
resource shown_to(const caller& who, const document& one) {
  auto entry = one.entry;
  if (is_readable(who, entry)) return entry;
  entry.title = entry.name;
  entry.description.clear();
  std::erase_if(entry.metadata, [](const auto& fact) { return fact.first == language_key; });
  return entry;
}

void write_line(std::string& to, const document& one, std::size_t depth, const caller& who) {
  const auto entry = shown_to(who, one);
  to.append(2 * depth, ' ');
  to += "- [" + in_brackets(entry.title) + "](" + entry.uri + ") (" + two_digits(one.worth.priority);
  if (const auto* lang = text_in(entry.metadata, language_key)) to += ", " + *lang;
  to += ')';
  if (!entry.description.empty()) to += ": " + one_line(entry.description, 120);
  to += '\n';
}

void write_branch(std::string& to, const std::string& set, const branch& from, const std::string& path, std::size_t depth,
                  const caller& who) {
  auto documents = from.documents;
  std::sort(documents.begin(), documents.end(), [](const auto* a, const auto* b) {
    return a->worth.priority != b->worth.priority ? a->worth.priority > b->worth.priority : a->path < b->path;
  });
  for (const auto* one : documents) write_line(to, *one, depth, who);
  std::vector<std::pair<double, const std::pair<const std::string, branch>*>> folders;
  folders.reserve(from.folders.size());
  for (const auto& one : from.folders) folders.emplace_back(one.second.priority(), &one);
  std::sort(folders.begin(), folders.end(), [](const auto& a, const auto& b) {
    return a.first != b.first ? a.first > b.first : a.second->first < b.second->first;
  });
  for (const auto& [priority, one] : folders) {
    const auto below = path.empty() ? one->first : path + '/' + one->first;
    to.append(2 * depth, ' ');
    to += "- [" + in_brackets(readable(one->first)) + "/](" + uri_of(set, below) + ")\n";
    write_branch(to, set, one->second, below, depth + 1, who);
  }
}

std::string section_uri(const document& of, const markup::section& one) {
  return of.entry.uri + "?section=" + percent_encode(one.id);
}

value as_json(const document& one, const caller& who) {
  const auto entry = shown_to(who, one);
  value::object all{{"uri", entry.uri}, {"title", entry.title}};
  if (!entry.description.empty()) all.emplace_back("description", entry.description);
  all.emplace_back("mimeType", entry.mimeType);
  all.emplace_back("priority", one.worth.priority);
  value::array audience;
  for (const auto whose : entry.annotations.audience) audience.emplace_back(whose == role::user ? "user" : "assistant");
  if (!audience.empty()) all.emplace_back("audience", std::move(audience));
  if (const auto* lang = text_in(entry.metadata, language_key)) all.emplace_back("lang", *lang);
  if (entry.size) all.emplace_back("size", *entry.size);
  if (const auto& when = entry.annotations.lastModified) all.emplace_back("lastModified", model::iso_8601(*when));
  return all;
}

/// The document that a link points to, if the caller may see it.
const document* shown(const scene& in, const destination& to, const caller& who) {
  const auto* found = to.what == destination::kind::document ? in.find(to.path) : nullptr;
  return found != nullptr && is_seen(who, found->entry) ? found : nullptr;
}

value as_json(const scene& in, const document& of, const markup::link& link, const caller& who) {
  value::object all{{"target", link.target}};
  if (!link.text.empty()) all.emplace_back("text", link.text);
  all.emplace_back("line", link.line);
  if (link.is_picture) all.emplace_back("isPicture", true);
  const auto to = in.lead(of, link.target);
  if (to.what == destination::kind::here && !to.section.empty()) {
    all.emplace_back("uri", of.entry.uri + "?section=" + percent_encode(to.section));
  }
  // A document that the caller may not see is treated like a target outside of the set.
  if (const auto* other = shown(in, to, who)) {
    all.emplace_back("uri", other->entry.uri + (to.section.empty() ? "" : "?section=" + percent_encode(to.section)));
    all.emplace_back("title", shown_to(who, *other).title);
  }
  if (to.what == destination::kind::folder && !to.path.empty() && is_seen(who, entry_of_folder(in.set(), to.path))) {
    all.emplace_back("uri", uri_of(in.set(), to.path));
  }
  return all;
}

}  // namespace

std::string outline_of_set(const scene& of, std::string_view folder, const caller& who) {
  branch top;
  for_each_seen(of, folder, who, [&](const document& one) {
    auto* at = &top;
    auto rest = std::string_view(one.path).substr(folder.empty() ? 0 : folder.size() + 1);
    for (auto slash = rest.find('/'); slash != std::string_view::npos; slash = rest.find('/')) {
      at = &at->folders.try_emplace(std::string(rest.substr(0, slash))).first->second;
      rest.remove_prefix(slash + 1);
    }
    at->documents.push_back(&one);
  });
  std::string text = "# Documents of " + of.set() + (folder.empty() ? "" : ": " + in_brackets(readable(folder))) + "\n\n";
  write_branch(text, of.set(), top, std::string(folder), 0, who);
  return text;
}

std::string outline_of_set_as_json(const scene& of, std::string_view folder, const caller& who) {
  value::array all;
  for_each_seen(of, folder, who, [&](const document& one) { all.push_back(as_json(one, who)); });
  return value(value::object{{"set", of.set()}, {"documents", std::move(all)}}).to_text();
}

std::string outline_of_document(const document& of, const prose& text) {
  std::string made = "# " + in_brackets(of.entry.title) + "\n\n";
  if (text.outline.sections.empty()) made += "[This document](" + of.entry.uri + ") has no headings.\n";
  for (const auto& one : text.outline.sections) {
    made.append(2 * static_cast<std::size_t>(std::clamp(one.level, 1, 6) - 1), ' ');
    made +=
        "- [" + in_brackets(one.heading) + "](" + section_uri(of, one) + ") (line " + std::to_string(one.first_line) + ")\n";
  }
  if (text.outline.is_cut) made += "\nThe document has more headings than this list.\n";
  return made;
}

std::string outline_of_document_as_json(const scene& in, const document& of, const prose& text, const caller& who) {
  value::object all{{"uri", of.entry.uri}, {"title", of.entry.title}};
  for (const auto& [key, what] : facts_about(of, *text.about)) {
    const auto name = key.substr(key.find('/') + 1);
    std::visit([&](const auto& said) { all.emplace_back(name, value(said)); }, what);
  }
  value::array headings;
  headings.reserve(text.outline.sections.size());
  for (const auto& one : text.outline.sections) {
    headings.emplace_back(value::object{{"level", one.level},
                                        {"heading", one.heading},
                                        {"id", one.id},
                                        {"firstLine", one.first_line},
                                        {"lastLine", one.last_line},
                                        {"uri", section_uri(of, one)}});
  }
  all.emplace_back("headings", std::move(headings));
  value::array links;
  links.reserve(text.outline.links.size());
  for (const auto& one : text.outline.links) links.push_back(as_json(in, of, one, who));
  all.emplace_back("links", std::move(links));
  if (text.outline.is_cut) all.emplace_back("isCut", true);
  return value(std::move(all)).to_text();
}

namespace {

std::string digest_of(std::string_view text) {
  bytes::sha256 digest;
  digest.feed(text);
  return digest.finish();
}

tl::unexpected<failure> too_large(const read_request& request, std::uint64_t size, std::string_view way_round) {
  auto why = bytes::too_large(request.asked_uri, size, request.max_bytes, false);
  if (!way_round.empty()) (why.public_text += ' ') += way_round;
  return tl::unexpected(std::move(why));
}

content text_content(std::string text, std::string_view type) {
  content item;
  item.mimeType = type;
  item.form = content_form::text;
  item.data = std::make_shared<const std::string>(std::move(text));
  return item;
}

/// The media type of a file. A text type includes the encoding, without which a client cannot decode it. `about`: the facts of
/// exactly these bytes; null: unknown.
std::string type_of_original(const document& of, const facts* about) {
  std::string type(of.type.original);
  if (about != nullptr && !about->charset.empty() && type.starts_with("text/")) type += "; charset=" + about->charset;
  return type;
}

/// A text whose version is its digest.
std::pair<content, std::string> versioned(std::string text, std::string_view type) {
  auto version = digest_of(text);
  return {text_content(std::move(text), type), std::move(version)};
}

}  // namespace

result<const document*> docs_provider::find(const scene& in, const address& what, const caller& who) const {
  const auto* known = in.find(what.path);
  if (known != nullptr && what.is_as_listed) return known;
  const auto* alike = known != nullptr ? known : what.path.empty() || what.is_set ? nullptr : in.find_alike(what.path);
  if (alike == nullptr || !is_readable(who, alike->entry)) {
    return fail(errc::resource_not_found,
                "Document not found in this set. Its documents are listed in " + uri_of_outline(library_->set()) + '.');
  }
  // Access rules name the listed URI and would not match this spelling. So only callers without rules get the document.
  if (needs_no_rules(who)) return alike;
  // Other callers do not see the text of resource_not_found.
  return fail(errc::part_not_found, "This URI is another spelling of a document in the set. Read " + alike->entry.uri + '.');
}

bool docs_provider::is_folder(const scene& in, const address& what, const caller& who) {
  return in.is_folder(what.path) && (what.is_as_listed || needs_no_rules(who));
}

result<docs_provider::given> docs_provider::give(const scene& in, const address& what, const read_request& request) {
  if (what.section || what.pages || what.how == form::original || (!what.is_set && !is_folder(in, what, request.who))) {
    HONDANA_TRY(const auto found, find(in, what, request.who));
    return what.how == form::original ? give_original(*found, request) : give_document(in, *found, what, request);
  }
  if (!what.is_set && what.how == form::usual) return give_folder(in, what, request);
  const bool is_json = what.how == form::json;
  auto text = is_json ? outline_of_set_as_json(in, what.path, request.who) : outline_of_set(in, what.path, request.who);
  if (text.size() > request.max_bytes) {
    return too_large(request, text.size(), "Read the outlines of its folders: docs://SET/FOLDER?format=outline.");
  }
  given made;
  made.kind = "outline";
  auto [item, version] = versioned(std::move(text), is_json ? "application/json" : "text/markdown");
  item.name = what.path.empty() ? library_->set() : readable(last_name(what.path));
  item.title = "Documents of " + (what.path.empty() ? library_->set() : readable(what.path));
  made.contents.push_back(std::move(item));
  made.version = std::move(version);
  return made;
}

result<docs_provider::given> docs_provider::give_folder(const scene& in, const address& what,
                                                        const read_request& request) const {
  children_request next;
  static_cast<call&>(next) = static_cast<const call&>(request);
  next.uri = what.is_as_listed ? request.uri : uri_of(library_->set(), what.path);
  std::string text;
  for (;;) {
    auto page = in.entries().children(next);
    for (const auto& one : page.entries) {
      if (is_seen(request.who, one)) (text += one.uri) += '\n';
    }
    if (text.size() > request.max_bytes) return too_large(request, text.size(), {});
    if (!page.resume) break;
    next.after = std::move(*page.resume);
  }
  given made;
  made.kind = "folder";
  auto [item, version] = versioned(std::move(text), folder_type);
  made.contents.push_back(std::move(item));
  made.version = std::move(version);
  return made;
}

result<docs_provider::given> docs_provider::give_document(const scene& in, const document& of, const address& what,
                                                          const read_request& request) {
  const auto text = library_->text_of(of, request);
  if (!text) return tl::unexpected(text.error());
  const auto& about = *(*text)->about;
  // The title in the list may be older than the text.
  const auto title = title_of(of, about);
  given made;
  made.is_racy = about.is_racy;
  made.version = about.is_racy ? (*text)->digest : version_of(about.state, about.charset_rule);
  made.kind = what.section || what.pages ? "section" : what.how == form::usual ? "document" : "outline";
  content item;
  if (what.how != form::usual) {
    // The outline depends on the targets of links, too, so it has its own version.
    auto outline =
        what.how == form::json ? outline_of_document_as_json(in, of, **text, request.who) : outline_of_document(of, **text);
    std::tie(item, made.version) = versioned(std::move(outline), what.how == form::json ? "application/json" : "text/markdown");
    item.title = title;
  } else if (what.section) {
    HONDANA_TRY(const auto section, section_called(**text, *what.section));
    const auto end = std::min(section.end, (*text)->text->size());
    const auto begin = std::min(section.begin, end);
    item = text_content((*text)->text->substr(begin, end - begin), of.type.text);
    item.title = section.heading;
  } else if (what.pages) {
    HONDANA_TRY(auto pages, pages_of(**text, *what.pages));
    item = text_content(std::move(pages), of.type.text);
    item.title = title;
  } else {
    item.mimeType = of.type.text;
    item.form = content_form::text;
    item.data = (*text)->text;
    item.title = title;
  }
  item.name = of.entry.name;
  const auto size = std::get<shared_bytes>(item.data)->size();
  if (size > request.max_bytes) {
    const bool has_pages = about.pages > 0;
    return too_large(
        request, size,
        has_pages ? "Read some of its pages: ?pages=1-10." : "Read one of its sections: ?format=outline lists them.");
  }
  auto facts = facts_about(of, about);
  if (about.masked > 0) {
    for (auto& one : secrets::facts_of(about.masked)) facts.push_back(std::move(one));
  }
  item.metadata = std::move(facts);
  made.contents.push_back(std::move(item));
  if (made.kind == "document") add_original(made, of, *text, request);
  return made;
}

void docs_provider::add_original(given& to, const document& of, const std::shared_ptr<const prose>& text,
                                 const read_request& request) {
  if (text->about->equals_original || !library_->how().originals) return;
  auto uri = of.entry.uri + "?format=original";
  // A caller that may read the text only must not get the file with it.
  if (const auto& view = request.who.view; view && !view->may_read(uri)) return;
  auto& facts = to.contents.front().metadata;
  const auto room = request.max_bytes - text->text->size();
  const bool has_room = text->about->state.size <= room;
  auto original = has_room ? library_->original_of(of, request, text) : result<docs::original>();
  if (!original && original.error().code == errc::unsupported) {
    facts.emplace_back(withheld_key, original.error().public_text);
    return;
  }
  facts.emplace_back(original_key, uri);
  if (!original || !has_room) return;  // reading its own URI reports why
  content item;
  item.uri = std::move(uri);
  item.name = of.entry.name;
  item.title = of.entry.title;
  item.mimeType = type_of_original(of, text->about.get());
  item.form = content_form::blob;
  item.data = std::move(original->bytes);
  if (original->masked > 0) item.metadata = secrets::facts_of(original->masked);
  to.contents.push_back(std::move(item));
}

result<docs_provider::given> docs_provider::give_original(const document& of, const read_request& request) {
  HONDANA_TRY(const auto state, library_->state_of(of));
  if (state.size > request.max_bytes) return too_large(request, state.size, {});
  HONDANA_TRY(auto original, library_->original_of(of, request));
  given made;
  made.kind = "document";
  made.is_racy = is_racy(state, disk::wall_clock());
  made.version = made.is_racy ? digest_of(*original.bytes) : version_of(state, {});
  content item;
  item.name = of.entry.name;
  item.title = of.entry.title;
  item.mimeType = type_of_original(of, of.known && of.known->state == state ? of.known.get() : nullptr);
  item.form = content_form::blob;
  item.data = std::move(original.bytes);
  if (original.masked > 0) item.metadata = secrets::facts_of(original.masked);
  made.contents.push_back(std::move(item));
  return made;
}

}  // namespace hondana::docs
