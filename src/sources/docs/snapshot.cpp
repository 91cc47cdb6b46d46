/// An immutable snapshot of all documents of a set, with their priorities and links.
#include "sources/docs/snapshot.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <utility>

#include <hondana/uri.hpp>

#include "base/ascii/ascii.hpp"
#include "protocol/model/caller_checks.hpp"
#include "sources/docs/document_entry.hpp"
#include "sources/docs/document_uri.hpp"
#include "text/language/language.hpp"

namespace hondana::docs {
namespace {

using namespace std::chrono_literals;

constexpr double usual = 0.5;
constexpr double highest_of_heuristics = 0.95;
constexpr auto new_for = 30 * 24h;
constexpr auto old_after = 2 * 365 * 24h;

enum class reach {
  whole,  ///< The whole name equals this.
  word,   ///< One of its words equals this; in a Japanese name, it occurs anywhere.
};

struct name_rule {
  std::string_view name;  ///< Folded.
  reach how;
};

struct family {
  double priority;
  bool is_low;  ///< Links and age do not raise its priority.
  std::string_view reason;
};

constexpr family archive{0.1, true, "named like an archive or an outdated document"};
constexpr family changes{0.2, true, "named like a list of changes"};
constexpr family formal{0.3, true, "named like a license, a list of names or a draft"};
constexpr family entrance{0.9, false, "named like an index or introduction"};
constexpr family guide{0.8, false, "named like a guide"};

constexpr std::array archive_names{
    name_rule{"archive", reach::word}, name_rule{"archives", reach::word},   name_rule{"archived", reach::word},
    name_rule{"old", reach::word},     name_rule{"obsolete", reach::word},   name_rule{"deprecated", reach::word},
    name_rule{"legacy", reach::word},  name_rule{"アーカイブ", reach::word}, name_rule{"廃止", reach::word},
    name_rule{"旧版", reach::word},    name_rule{"旧", reach::whole}};
/// For folders only: a document of this name may explain backups.
constexpr std::array copy_names{name_rule{"backup", reach::word}, name_rule{"backups", reach::word},
                                name_rule{"バックアップ", reach::word}};
constexpr std::array change_names{
    name_rule{"changelog", reach::word},     name_rule{"changes", reach::whole},      name_rule{"history", reach::whole},
    name_rule{"news", reach::whole},         name_rule{"release-notes", reach::word}, name_rule{"releasenotes", reach::word},
    name_rule{"release_notes", reach::word}, name_rule{"変更履歴", reach::word},      name_rule{"更新履歴", reach::word},
    name_rule{"改訂履歴", reach::word},      name_rule{"変更点", reach::word},        name_rule{"リリースノート", reach::word}};
constexpr std::array formal_names{name_rule{"license", reach::word},  name_rule{"licence", reach::word},
                                  name_rule{"copying", reach::whole}, name_rule{"notice", reach::whole},
                                  name_rule{"authors", reach::whole}, name_rule{"draft", reach::word},
                                  name_rule{"drafts", reach::word},   name_rule{"下書き", reach::word},
                                  name_rule{"草稿", reach::word},     name_rule{"ライセンス", reach::word}};
constexpr std::array entrance_names{
    name_rule{"index", reach::whole},   name_rule{"readme", reach::word},    name_rule{"home", reach::whole},
    name_rule{"toc", reach::whole},     name_rule{"contents", reach::whole}, name_rule{"introduction", reach::word},
    name_rule{"はじめに", reach::word}, name_rule{"目次", reach::word},      name_rule{"お読みください", reach::word},
    name_rule{"最初に", reach::word},   name_rule{"索引", reach::whole}};
constexpr std::array guide_names{name_rule{"guide", reach::word},
                                 name_rule{"getting-started", reach::word},
                                 name_rule{"getting_started", reach::word},
                                 name_rule{"gettingstarted", reach::word},
                                 name_rule{"quickstart", reach::word},
                                 name_rule{"quick-start", reach::word},
                                 name_rule{"tutorial", reach::word},
                                 name_rule{"overview", reach::word},
                                 name_rule{"manual", reach::word},
                                 name_rule{"howto", reach::word},
                                 name_rule{"入門", reach::word},
                                 name_rule{"手引き", reach::word},
                                 name_rule{"手引", reach::word},
                                 name_rule{"ガイド", reach::word},
                                 name_rule{"使い方", reach::word},
                                 name_rule{"概要", reach::word},
                                 name_rule{"導入", reach::word},
                                 name_rule{"マニュアル", reach::word},
                                 name_rule{"チュートリアル", reach::word},
                                 name_rule{"案内", reach::word}};

bool says(std::string_view name, const name_rule& rule) noexcept {
  if (rule.how == reach::whole) return name == rule.name;
  for (auto at = name.find(rule.name); at != std::string_view::npos; at = name.find(rule.name, at + 1)) {
    const auto end = at + rule.name.size();
    const bool begins = at == 0 || !ascii::is_lower_or_digit(name[at - 1]) || !ascii::is_lower_or_digit(rule.name.front());
    const bool ends = end == name.size() || !ascii::is_lower_or_digit(name[end]) || !ascii::is_lower_or_digit(rule.name.back());
    if (begins && ends) return true;
  }
  return false;
}

template <std::size_t size>
bool says_any(std::string_view name, const std::array<name_rule, size>& all) noexcept {
  return std::any_of(all.begin(), all.end(), [name](const name_rule& one) { return says(name, one); });
}

bool lies_in_archive(std::string_view path) noexcept {
  for (auto slash = path.find('/'); slash != std::string_view::npos; slash = path.find('/')) {
    const auto folder = path.substr(0, slash);
    if (says_any(folder, archive_names) || says_any(folder, copy_names)) return true;
    path.remove_prefix(slash + 1);
  }
  return false;
}

const family* family_of(std::string_view path) noexcept {
  const auto name = stem_of(last_name(path));
  if (lies_in_archive(path) || says_any(name, archive_names)) return &archive;
  if (says_any(name, change_names)) return &changes;
  if (says_any(name, formal_names)) return &formal;
  if (says_any(name, entrance_names)) return &entrance;
  if (says_any(name, guide_names)) return &guide;
  return nullptr;
}

double of_links(std::size_t links) noexcept { return links >= 10 ? 0.15 : links >= 5 ? 0.1 : links >= 2 ? 0.05 : 0.0; }

}  // namespace

weight usual_weight(std::string_view path, std::optional<std::chrono::sys_time<std::chrono::milliseconds>> modified,
                    std::size_t links, std::chrono::system_clock::time_point now) {
  const auto plain = language::folded(path);
  const auto* named = family_of(plain);
  weight made{named == nullptr ? usual : named->priority, std::string(named == nullptr ? "default" : named->reason)};
  const auto add = [&made](double by, const std::string& why) {
    made.priority += by;
    made.reason += ", " + why;
  };
  const auto depth = static_cast<double>(std::count(plain.begin(), plain.end(), '/'));
  if (named == &entrance && depth > 0) add(-0.15, "in a folder");
  if (named == nullptr || !named->is_low) {
    if (const auto more = of_links(links); more > 0) add(more, std::to_string(links) + " documents link to it");
    if (modified && now - *modified <= new_for) add(0.05, "changed recently");
    if (modified && now - *modified > old_after) add(-0.1, "not changed for two years");
  }
  // Rounds, so that lists do not show 0.6499999.
  made.priority = std::round(std::clamp(made.priority, 0.0, highest_of_heuristics) * 100) / 100;
  return made;
}

namespace {

/// Resolves `..` and `.`; empty if the target is outside of the set.
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
    // Another file has that exact name, or came first.
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
  // Links for site generators have no ending, or that of the generated file.
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
    // The content of a folder is the list of its children.
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
    // These change with the content, which is notified separately.
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
