/// Putting together what was found, what rules say and what is known.
#include "sources/docs/scene.hpp"

#include <algorithm>
#include <utility>

#include <hondana/uri.hpp>

#include "base/ascii/characters.hpp"
#include "protocol/model/entry_access.hpp"
#include "sources/docs/describe.hpp"
#include "sources/docs/naming.hpp"
#include "text/language/language.hpp"

namespace hondana::docs {
namespace {

/// `..` and `.` resolved; nothing when it leads out of the set.
std::optional<std::string> joined(std::string_view folder, std::string_view target) {
  std::vector<std::string_view> names;
  const auto add = [&names](std::string_view path) {
    while (!path.empty()) {
      const auto slash = path.find('/');
      const auto name = path.substr(0, slash);
      path.remove_prefix(slash == std::string_view::npos ? path.size() : slash + 1);
      if (name.empty() || name == ".") continue;
      if (name != "..") {
        names.push_back(name);
      } else if (names.empty()) {
        return false;
      } else {
        names.pop_back();
      }
    }
    return true;
  };
  if (!target.starts_with('/') && !add(folder)) return std::nullopt;
  if (!add(target)) return std::nullopt;
  std::string path;
  for (const auto name : names) (path += path.empty() ? "" : "/") += name;
  return path;
}

std::string decoded_or_same(std::string_view text) {
  auto decoded = percent_decode(text);
  return decoded ? std::move(*decoded) : std::string(text);
}

}  // namespace

std::shared_ptr<const scene> scene::make(std::string set, const walked& found, const rules& said, const known_facts& known,
                                         std::chrono::system_clock::time_point now) {
  std::shared_ptr<scene> made(new scene(std::move(set)));
  made->take_documents(found, said, known);
  made->follow_links();
  made->weigh(now);
  made->list();
  return made;
}

void scene::take_documents(const walked& found, const rules& said, const known_facts& known) {
  left_out_ = found.left_out;
  for (const auto& one : found.left_out) others_.insert(language::composed(one.path));
  for (const auto& one : found.others) {
    others_.insert(language::composed(one.path));
    left_out_.push_back({one.path, "not a document by its name"});
  }
  std::set<std::string_view> on_disk;
  for (const auto& file : found.documents) on_disk.insert(file.path);
  for (const auto& file : found.documents) {
    document one;
    one.on_disk = file.path;
    one.path = language::composed(file.path);
    // Another file has that very name, or came first.
    if (one.path != file.path && (on_disk.contains(one.path) || documents_.contains(one.path))) one.path = file.path;
    one.rule = said.of(readable(one.path));
    if (one.rule.is_excluded) {
      others_.insert(one.path);
      left_out_.push_back({file.path, "excluded by the rule in line " + std::to_string(one.rule.excluded_line) + " of " +
                                          std::string(rules_file_name)});
      continue;
    }
    one.type = type_of(file.path).value_or(plain_type());
    one.state = file.state;
    const auto facts = known.find(file.path);
    if (facts != known.end()) one.known = facts->second;
    for (auto above = parent_of(one.path); !above.empty(); above = parent_of(above)) {
      if (!folders_.emplace(above).second) break;
    }
    const auto [alike, is_new] = alike_.emplace(language::folded(one.path), one.path);
    if (!is_new) alike->second.clear();
    auto path = one.path;
    documents_.emplace(std::move(path), std::move(one));
  }
}

const document* scene::find(std::string_view path) const {
  const auto known = documents_.find(path);
  return known == documents_.end() ? nullptr : &known->second;
}

const document* scene::find_alike(std::string_view path) const {
  const auto known = alike_.find(language::folded(path));
  return known == alike_.end() || known->second.empty() ? nullptr : find(known->second);
}

destination scene::lead(const document& from, std::string_view target) const {
  destination to;
  const auto hash = target.find('#');
  if (hash != std::string_view::npos) to.section = decoded_or_same(target.substr(hash + 1));
  target = target.substr(0, hash);
  target = target.substr(0, target.find('?'));
  if (target.empty()) {
    to.what = destination::kind::here;
    return to;
  }
  const auto stop = target.find_first_of(":/");
  if (target.starts_with("//") || (stop != std::string_view::npos && target[stop] == ':')) return to;
  auto path = joined(parent_of(from.path), decoded_or_same(target));
  if (!path) return to;
  to.path = language::composed(*path);
  // Generators of sites write links without endings, or with those of what they make.
  const auto without = ascii::ends_with(to.path, ".html") ? to.path.substr(0, to.path.size() - 5) : to.path;
  for (const auto& tried : {to.path, without + ".md", without + ".adoc", without + ".rst"}) {
    if (!documents_.contains(tried)) continue;
    to.what = destination::kind::document;
    to.path = tried;
    return to;
  }
  to.what = is_folder(to.path)          ? destination::kind::folder
            : others_.contains(to.path) ? destination::kind::file
                                        : destination::kind::nowhere;
  return to;
}

void scene::follow_links() {
  std::map<std::string, std::size_t, std::less<>> counts;
  for (auto& [path, one] : documents_) {
    if (!one.known) continue;
    std::set<std::string> reached;
    for (const auto& target : one.known->targets) {
      auto to = lead(one, target);
      if (to.what == destination::kind::nowhere) one.broken.push_back(target);
      if (to.what == destination::kind::document && to.path != path) reached.insert(std::move(to.path));
    }
    for (const auto& other : reached) ++counts[other];
  }
  for (const auto& [path, count] : counts) documents_.find(path)->second.linked_from = count;
}

void scene::weigh(std::chrono::system_clock::time_point now) {
  for (auto& [path, one] : documents_) {
    if (one.known && one.known->says.priority) {
      one.worth = {*one.known->says.priority, "set in its front matter"};
    } else if (one.rule.priority) {
      one.worth = {*one.rule.priority,
                   "set by the rule in line " + std::to_string(one.rule.priority_line) + " of " + std::string(rules_file_name)};
    } else {
      one.worth = usual_weight(readable(path), modified_of(one.state), one.linked_from, now);
    }
  }
}

void scene::list() {
  std::vector<resource> all;
  all.reserve(documents_.size() + folders_.size() + 1);
  all.push_back(entry_of_outline(set_));
  for (const auto& path : folders_) all.push_back(entry_of_folder(set_, path));
  for (auto& [path, one] : documents_) {
    one.entry = entry_of(set_, one);
    all.push_back(one.entry);
  }
  entries_ = std::make_unique<const entry_snapshot>(std::move(all));
}

void scene::tell_changes_since(const scene& before, change_listener& to) const {
  bool is_other_list = false;
  std::set<std::string> changed;
  const auto came_or_went = [&](const std::string& path, const document& one) {
    is_other_list = true;
    to.content_changed(uri_of(set_, path), one.entry.title);
    // A folder's content is the list of its children.
    for (auto above = parent_of(path); !above.empty(); above = parent_of(above)) changed.insert(uri_of(set_, above));
    changed.insert(claim_of(set_));
  };
  for (const auto& [path, one] : documents_) {
    const auto* then = before.find(path);
    if (then == nullptr) {
      came_or_went(path, one);
      continue;
    }
    if (then->state != one.state || then->rule.charset != one.rule.charset) {
      to.content_changed(one.entry.uri, one.entry.title);
    }
    auto was = then->entry;
    // These change with the content, of which is told.
    was.version = one.entry.version;
    was.size = one.entry.size;
    was.annotations.lastModified = one.entry.annotations.lastModified;
    is_other_list = is_other_list || was != one.entry;
  }
  for (const auto& [path, one] : before.documents_) {
    if (!documents_.contains(path)) came_or_went(path, one);
  }
  if (!is_other_list) return;
  changed.insert(uri_of_outline(set_));
  for (const auto& uri : changed) to.content_changed(uri, {});
  to.list_changed();
}

bool is_seen(const caller& who, const resource& entry) { return model::may_see(who.view.get(), entry); }

bool is_readable(const caller& who, const resource& entry) {
  return is_seen(who, entry) && model::may_read(who.view.get(), entry);
}

}  // namespace hondana::docs
