/// Writing them.
#include "sources/docs/outline_text.hpp"

#include <algorithm>
#include <map>
#include <memory>
#include <utility>
#include <vector>

#include <hondana/uri.hpp>
#include <hondana/value.hpp>

#include "protocol/model/times.hpp"
#include "sources/docs/describe.hpp"
#include "sources/docs/naming.hpp"
#include "sources/docs/prose_text.hpp"

namespace hondana::docs {
namespace {

/// A folder with what the caller may see of it.
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

/// Calls `each` with every document below a folder that the caller may see.
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

/// An entry without what stands in the content, unless the caller may read that.
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

/// The title of a document in the set, for who may see it.
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
  // What he may not see is as if it led out of the set.
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

}  // namespace hondana::docs
