/// What a read gives: text, parts of it, outlines and originals.
#include <algorithm>
#include <utility>

#include "base/bytes/prepare.hpp"
#include "base/bytes/sha256.hpp"
#include "sources/docs/describe.hpp"
#include "sources/docs/docs_provider.hpp"
#include "sources/docs/naming.hpp"
#include "sources/docs/outline_text.hpp"
#include "sources/docs/parts.hpp"
#include "text/secrets/redactor.hpp"

namespace hondana::docs {
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

/// Of a text with its encoding, without which nobody could read the bytes.
/// `about`: of these bytes; null: what is known is of others.
std::string type_of_original(const document& of, const facts* about) {
  std::string type(of.type.original);
  if (about != nullptr && !about->charset.empty() && type.starts_with("text/")) type += "; charset=" + about->charset;
  return type;
}

/// Of a text whose version is its own.
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
  // Rules for callers name URIs as they are listed, and would not know this spelling: only who needs none is given it.
  if (needs_no_rules(who)) return alike;
  // Peers are told no words of what is not found.
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
  // What is listed may be older than the text.
  const auto title = title_of(of, about);
  given made;
  made.is_racy = about.is_racy;
  made.version = about.is_racy ? (*text)->digest : version_of(about.state, about.charset_rule);
  made.kind = what.section || what.pages ? "section" : what.how == form::usual ? "document" : "outline";
  content item;
  if (what.how != form::usual) {
    // It says where links lead, and so is not of the document alone.
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
  // Who may read the text alone is not given the file beside it.
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
  if (!original || !has_room) return;  // who asks for it by its URI is told why not
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
