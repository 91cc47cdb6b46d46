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

constexpr double default_priority = 0.5;
constexpr double max_heuristic_priority = 0.95;
constexpr auto recent_age = 30 * 24h;
constexpr auto outdated_age = 2 * 365 * 24h;

enum class name_scope {
  whole_name,  ///< The whole name equals this.
  word,        ///< One of its words equals this; in a Japanese name, it occurs anywhere.
};

struct name_rule {
  std::string_view name;  ///< Folded.
  name_scope scope;
};

struct name_category {
  double priority;
  bool is_fixed;  ///< Links and age do not raise its priority.
  std::string_view reason;
};

constexpr name_category archive{0.1, true, "named like an archive or an outdated document"};
constexpr name_category changes{0.2, true, "named like a list of changes"};
constexpr name_category formal{0.3, true, "named like a license, a list of names or a draft"};
constexpr name_category introduction{0.9, false, "named like an index or introduction"};
constexpr name_category guide{0.8, false, "named like a guide"};

constexpr std::array archive_names{name_rule{"archive", name_scope::word},  name_rule{"archives", name_scope::word},
                                   name_rule{"archived", name_scope::word}, name_rule{"old", name_scope::word},
                                   name_rule{"obsolete", name_scope::word}, name_rule{"deprecated", name_scope::word},
                                   name_rule{"legacy", name_scope::word},   name_rule{"アーカイブ", name_scope::word},
                                   name_rule{"廃止", name_scope::word},     name_rule{"旧版", name_scope::word},
                                   name_rule{"旧", name_scope::whole_name}};
/// For folders only: a document of this name may explain backups.
constexpr std::array copy_names{name_rule{"backup", name_scope::word}, name_rule{"backups", name_scope::word},
                                name_rule{"バックアップ", name_scope::word}};
constexpr std::array change_names{name_rule{"changelog", name_scope::word},     name_rule{"changes", name_scope::whole_name},
                                  name_rule{"history", name_scope::whole_name}, name_rule{"news", name_scope::whole_name},
                                  name_rule{"release-notes", name_scope::word}, name_rule{"releasenotes", name_scope::word},
                                  name_rule{"release_notes", name_scope::word}, name_rule{"変更履歴", name_scope::word},
                                  name_rule{"更新履歴", name_scope::word},      name_rule{"改訂履歴", name_scope::word},
                                  name_rule{"変更点", name_scope::word},        name_rule{"リリースノート", name_scope::word}};
constexpr std::array formal_names{name_rule{"license", name_scope::word},       name_rule{"licence", name_scope::word},
                                  name_rule{"copying", name_scope::whole_name}, name_rule{"notice", name_scope::whole_name},
                                  name_rule{"authors", name_scope::whole_name}, name_rule{"draft", name_scope::word},
                                  name_rule{"drafts", name_scope::word},        name_rule{"下書き", name_scope::word},
                                  name_rule{"草稿", name_scope::word},          name_rule{"ライセンス", name_scope::word}};
constexpr std::array introduction_names{
    name_rule{"index", name_scope::whole_name},    name_rule{"readme", name_scope::word},
    name_rule{"home", name_scope::whole_name},     name_rule{"toc", name_scope::whole_name},
    name_rule{"contents", name_scope::whole_name}, name_rule{"introduction", name_scope::word},
    name_rule{"はじめに", name_scope::word},       name_rule{"目次", name_scope::word},
    name_rule{"お読みください", name_scope::word}, name_rule{"最初に", name_scope::word},
    name_rule{"索引", name_scope::whole_name}};
constexpr std::array guide_names{name_rule{"guide", name_scope::word},
                                 name_rule{"getting-started", name_scope::word},
                                 name_rule{"getting_started", name_scope::word},
                                 name_rule{"gettingstarted", name_scope::word},
                                 name_rule{"quickstart", name_scope::word},
                                 name_rule{"quick-start", name_scope::word},
                                 name_rule{"tutorial", name_scope::word},
                                 name_rule{"overview", name_scope::word},
                                 name_rule{"manual", name_scope::word},
                                 name_rule{"howto", name_scope::word},
                                 name_rule{"入門", name_scope::word},
                                 name_rule{"手引き", name_scope::word},
                                 name_rule{"手引", name_scope::word},
                                 name_rule{"ガイド", name_scope::word},
                                 name_rule{"使い方", name_scope::word},
                                 name_rule{"概要", name_scope::word},
                                 name_rule{"導入", name_scope::word},
                                 name_rule{"マニュアル", name_scope::word},
                                 name_rule{"チュートリアル", name_scope::word},
                                 name_rule{"案内", name_scope::word}};

bool matches_name(std::string_view name, const name_rule& rule) noexcept {
  if (rule.scope == name_scope::whole_name) return name == rule.name;
  for (auto position = name.find(rule.name); position != std::string_view::npos;
       position = name.find(rule.name, position + 1)) {
    const auto end = position + rule.name.size();
    const bool begins =
        position == 0 || !ascii::is_lower_or_digit(name[position - 1]) || !ascii::is_lower_or_digit(rule.name.front());
    const bool ends = end == name.size() || !ascii::is_lower_or_digit(name[end]) || !ascii::is_lower_or_digit(rule.name.back());
    if (begins && ends) return true;
  }
  return false;
}

template <std::size_t Size>
bool matches_any_name(std::string_view name, const std::array<name_rule, Size>& rules) noexcept {
  return std::any_of(rules.begin(), rules.end(), [name](const name_rule& rule) { return matches_name(name, rule); });
}

bool is_in_archive(std::string_view path) noexcept {
  for (auto slash = path.find('/'); slash != std::string_view::npos; slash = path.find('/')) {
    const auto folder = path.substr(0, slash);
    if (matches_any_name(folder, archive_names) || matches_any_name(folder, copy_names)) return true;
    path.remove_prefix(slash + 1);
  }
  return false;
}

const name_category* find_category(std::string_view path) noexcept {
  const auto name = stem_of(last_name(path));
  if (is_in_archive(path) || matches_any_name(name, archive_names)) return &archive;
  if (matches_any_name(name, change_names)) return &changes;
  if (matches_any_name(name, formal_names)) return &formal;
  if (matches_any_name(name, introduction_names)) return &introduction;
  if (matches_any_name(name, guide_names)) return &guide;
  return nullptr;
}

double link_bonus(std::size_t link_count) noexcept {
  return link_count >= 10 ? 0.15 : link_count >= 5 ? 0.1 : link_count >= 2 ? 0.05 : 0.0;
}

}  // namespace

priority_rating rate_document(std::string_view path, std::optional<std::chrono::sys_time<std::chrono::milliseconds>> modified,
                              std::size_t link_count, std::chrono::system_clock::time_point now) {
  const auto folded = language::fold(path);
  const auto* category = find_category(folded);
  priority_rating rating{category == nullptr ? default_priority : category->priority,
                         std::string(category == nullptr ? "default" : category->reason)};
  const auto add = [&rating](double amount, const std::string& reason) {
    rating.priority += amount;
    rating.reason += ", " + reason;
  };
  const auto depth = static_cast<double>(std::count(folded.begin(), folded.end(), '/'));
  if (category == &introduction && depth > 0) add(-0.15, "in a folder");
  if (category == nullptr || !category->is_fixed) {
    if (const auto bonus = link_bonus(link_count); bonus > 0) add(bonus, std::to_string(link_count) + " documents link to it");
    if (modified && now - *modified <= recent_age) add(0.05, "changed recently");
    if (modified && now - *modified > outdated_age) add(-0.1, "not changed for two years");
  }
  // Rounds, so that lists do not show 0.6499999.
  rating.priority = std::round(std::clamp(rating.priority, 0.0, max_heuristic_priority) * 100) / 100;
  return rating;
}

namespace {

/// Resolves `..` and `.`; empty if the target is outside of the set.
std::optional<std::string> resolve_path(std::string_view folder, std::string_view target) {
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

std::string decode_or_keep(std::string_view text) {
  auto decoded = percent_decode(text);
  return decoded ? std::move(*decoded) : std::string(text);
}

}  // namespace

std::shared_ptr<const snapshot> snapshot::make(std::string set, const walk_result& walked, const rules& rules,
                                               const properties_by_path& properties,
                                               std::chrono::system_clock::time_point now) {
  std::shared_ptr<snapshot> created(new snapshot(std::move(set)));
  created->add_documents(walked, rules, properties);
  created->resolve_links();
  created->rate_documents(now);
  created->build_entries();
  return created;
}

void snapshot::add_documents(const walk_result& walked, const rules& rules, const properties_by_path& properties) {
  omitted_ = walked.omitted;
  for (const auto& entry : walked.omitted) other_files_.insert(language::to_nfc(entry.path));
  for (const auto& other : walked.other_files) {
    other_files_.insert(language::to_nfc(other.path));
    omitted_.push_back({other.path, "not a document by its name"});
  }
  std::set<std::string_view> disk_paths;
  for (const auto& file : walked.documents) disk_paths.insert(file.path);
  for (const auto& file : walked.documents) {
    document added;
    added.disk_path = file.path;
    added.path = language::to_nfc(file.path);
    // Another file has that exact name, or came first.
    if (added.path != file.path && (disk_paths.contains(added.path) || documents_.contains(added.path))) added.path = file.path;
    added.rule = rules.evaluate(display_path(added.path));
    if (added.rule.is_excluded) {
      other_files_.insert(added.path);
      omitted_.push_back({file.path, "excluded by the rule in line " + std::to_string(added.rule.excluded_line) + " of " +
                                         std::string(rules_file_name)});
      continue;
    }
    added.type = type_of(file.path).value_or(fallback_type());
    added.stamp = file.stamp;
    const auto position = properties.find(file.path);
    if (position != properties.end()) added.properties = position->second;
    for (auto parent = parent_of(added.path); !parent.empty(); parent = parent_of(parent)) {
      if (!folders_.emplace(parent).second) break;
    }
    const auto [folded, is_new] = folded_paths_.emplace(language::fold(added.path), added.path);
    if (!is_new) folded->second.clear();
    auto path = added.path;
    documents_.emplace(std::move(path), std::move(added));
  }
}

const document* snapshot::find(std::string_view path) const {
  const auto position = documents_.find(path);
  return position == documents_.end() ? nullptr : &position->second;
}

const document* snapshot::find_folded(std::string_view path) const {
  const auto position = folded_paths_.find(language::fold(path));
  return position == folded_paths_.end() || position->second.empty() ? nullptr : find(position->second);
}

link_target snapshot::resolve_link(const document& source, std::string_view target) const {
  link_target resolved;
  const auto hash = target.find('#');
  if (hash != std::string_view::npos) resolved.section = decode_or_keep(target.substr(hash + 1));
  target = target.substr(0, hash);
  target = target.substr(0, target.find('?'));
  if (target.empty()) {
    resolved.kind = link_target::target_kind::same_document;
    return resolved;
  }
  const auto stop = target.find_first_of(":/");
  if (target.starts_with("//") || (stop != std::string_view::npos && target[stop] == ':')) return resolved;
  auto path = resolve_path(parent_of(source.path), decode_or_keep(target));
  if (!path) return resolved;
  resolved.path = language::to_nfc(*path);
  // Links for site generators have no ending, or that of the generated file.
  const auto base_path =
      ascii::ends_with_ignore_case(resolved.path, ".html") ? resolved.path.substr(0, resolved.path.size() - 5) : resolved.path;
  for (const auto& candidate : {resolved.path, base_path + ".md", base_path + ".adoc", base_path + ".rst"}) {
    if (!documents_.contains(candidate)) continue;
    resolved.kind = link_target::target_kind::document;
    resolved.path = candidate;
    return resolved;
  }
  resolved.kind = is_folder(resolved.path)               ? link_target::target_kind::folder
                  : other_files_.contains(resolved.path) ? link_target::target_kind::file
                                                         : link_target::target_kind::missing;
  return resolved;
}

void snapshot::resolve_links() {
  std::map<std::string, std::size_t, std::less<>> counts;
  for (auto& [path, document] : documents_) {
    if (!document.properties) continue;
    std::set<std::string> linked_paths;
    for (const auto& target : document.properties->link_targets) {
      auto resolved = resolve_link(document, target);
      if (resolved.kind == link_target::target_kind::missing) document.broken_links.push_back(target);
      if (resolved.kind == link_target::target_kind::document && resolved.path != path)
        linked_paths.insert(std::move(resolved.path));
    }
    for (const auto& other : linked_paths) ++counts[other];
  }
  for (const auto& [path, count] : counts) documents_.find(path)->second.backlink_count = count;
}

void snapshot::rate_documents(std::chrono::system_clock::time_point now) {
  for (auto& [path, document] : documents_) {
    if (document.properties && document.properties->front_matter.priority) {
      document.rating = {*document.properties->front_matter.priority, "set in its front matter"};
    } else if (document.rule.priority) {
      document.rating = {*document.rule.priority, "set by the rule in line " + std::to_string(document.rule.priority_line) +
                                                      " of " + std::string(rules_file_name)};
    } else {
      document.rating = rate_document(display_path(path), modification_time(document.stamp), document.backlink_count, now);
    }
  }
}

void snapshot::build_entries() {
  std::vector<resource> entries;
  entries.reserve(documents_.size() + folders_.size() + 1);
  entries.push_back(make_outline_entry(set_name_));
  for (const auto& path : folders_) entries.push_back(make_folder_entry(set_name_, path));
  for (auto& [path, document] : documents_) {
    document.entry = make_entry(set_name_, document);
    entries.push_back(document.entry);
  }
  entries_ = std::make_unique<const entry_snapshot>(std::move(entries));
}

void snapshot::notify_changes_since(const snapshot& previous, change_listener& listener) const {
  bool is_list_changed = false;
  std::set<std::string> changed;
  const auto notify_added_or_removed = [&](const std::string& path, const document& document) {
    is_list_changed = true;
    listener.content_changed(uri_of(set_name_, path), document.entry.title);
    // The content of a folder is the list of its children.
    for (auto parent = parent_of(path); !parent.empty(); parent = parent_of(parent)) changed.insert(uri_of(set_name_, parent));
    changed.insert(uri_prefix(set_name_));
  };
  for (const auto& [path, document] : documents_) {
    const auto* old_document = previous.find(path);
    if (old_document == nullptr) {
      notify_added_or_removed(path, document);
      continue;
    }
    if (old_document->stamp != document.stamp || old_document->rule.charset != document.rule.charset) {
      listener.content_changed(document.entry.uri, document.entry.title);
    }
    auto old_entry = old_document->entry;
    // These change with the content, which is notified separately.
    old_entry.version = document.entry.version;
    old_entry.size = document.entry.size;
    old_entry.annotations.last_modified = document.entry.annotations.last_modified;
    is_list_changed = is_list_changed || old_entry != document.entry;
  }
  for (const auto& [path, removed] : previous.documents_) {
    if (!documents_.contains(path)) notify_added_or_removed(path, removed);
  }
  if (!is_list_changed) return;
  changed.insert(outline_uri(set_name_));
  for (const auto& uri : changed) listener.content_changed(uri, {});
  listener.list_changed();
}

bool is_visible(const caller_info& caller, const resource& entry) { return model::may_see(caller.access_filter.get(), entry); }

bool is_readable(const caller_info& caller, const resource& entry) {
  return is_visible(caller, entry) && model::may_read(caller.access_filter.get(), entry);
}

}  // namespace hondana::docs
