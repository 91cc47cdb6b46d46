/// An immutable snapshot of the Drive files that are served, with the path of each.
#include "sources/gdrive/snapshot.hpp"

#include <algorithm>
#include <deque>
#include <set>
#include <tuple>
#include <unordered_map>
#include <unordered_set>

#include <hondana/uri.hpp>

#include "base/bytes/digest.hpp"
#include "sources/gdrive/address.hpp"
#include "sources/gdrive/catalog_entries.hpp"
#include "sources/gdrive/item.hpp"

namespace hondana::gdrive {
namespace {

/// Of a URI by path, in bytes. A file whose path is longer gets a URI by id.
constexpr std::size_t max_path_uri_bytes = 4096;

/// Orders the oldest first: of files with the same name, it gets the name without an id.
bool is_older(const shared_item& a, const shared_item& b) {
  const auto age = [](const item& item) { return item.created.value_or(drive::time::max()); };
  return std::forward_as_tuple(age(*a), a->id) < std::forward_as_tuple(age(*b), b->id);
}

}  // namespace

/// Builds one snapshot. Threads: one.
class snapshot_builder {
 public:
  explicit snapshot_builder(snapshot_input input) : input_(std::move(input)), slugs_(make_slugs(input_.drives)) {}

  std::shared_ptr<const snapshot> build() {
    snapshot_->scheme_ = input_.scheme;
    for (const auto& item : input_.items) {
      by_id_.emplace(item->id, item);
      if (!item->resource_key.empty()) snapshot_->resource_keys_.emplace(item->id, item->resource_key);
      if (item->is_shortcut() && !item->target.empty()) ++links_[item->target];
      if (item->is_shortcut() && !item->target_key.empty()) snapshot_->resource_keys_.emplace(item->target, item->target_key);
    }
    collect_children();
    assign_uris();
    build_entries();
    retain_last_entries();
    return snapshot_;
  }

 private:
  struct folder_node {
    std::string id;   // a Drive id, or a slug after a slash
    std::string uri;  // empty: its contents have URIs by id
  };

  [[nodiscard]] bool is_selected(std::string_view slug) const {
    const auto& selected = input_.drive_slugs;
    return selected.empty() || std::find(selected.begin(), selected.end(), slug) != selected.end();
  }

  /// The node that a file is listed in: a known folder, or the top of a drive. Empty if the folder was left out or is not known
  /// yet: showing the file at the top would bypass access rules for that folder.
  std::string parent_node(const item& item) const {
    if (!item.home.empty()) {
      const auto slug = slugs_.find(item.home);
      if (slug == slugs_.end()) return {};
      if (item.parent == item.home) return '/' + slug->second;
      if (by_id_.contains(item.parent)) return item.parent;
      return may_be_nested(item) ? std::string() : '/' + slug->second;
    }
    if (!item.parent.empty() && item.parent == input_.root) return '/' + std::string(my_drive);
    if (by_id_.contains(item.parent)) return item.parent;
    return may_be_nested(item) ? std::string() : '/' + std::string(shared_with_me);
  }

  /// Whether the unknown folder of a file may exist and still be listed.
  bool may_be_nested(const item& item) const {
    if (item.parent.empty()) return input_.is_truncated && !item.home.empty();
    if (input_.is_truncated) return true;
    if (!input_.may_miss_folders || !input_.may_miss_folders(item.home)) return false;
    // A file that was at the top in a complete snapshot stays there.
    const auto* old = input_.previous ? input_.previous->find(item.id) : nullptr;
    return old == nullptr || old->item->home != item.home || old->item->parent != item.parent ||
           input_.previous->find(item.parent) != nullptr;
  }

  void collect_children() {
    for (const auto& item : input_.items) {
      if (item->is_trashed || item->id == input_.root || (input_.is_complete && !input_.is_complete(item->home))) continue;
      const auto parent = parent_node(*item);
      if (!parent.empty()) children_[parent].push_back(item);
    }
    const auto add = [this](std::string_view slug, std::string name) {
      if (is_selected(slug)) snapshot_->drives_.emplace_back(std::string(slug), std::move(name));
    };
    add(my_drive, "My Drive");
    if (!input_.root.empty()) snapshot_->drive_uris_.emplace(input_.root, input_.scheme + "://" + std::string(my_drive));
    for (const auto& drive : input_.drives) {
      const auto slug = slugs_.find(drive.id);
      if (slug == slugs_.end()) continue;
      add(slug->second, display_text(drive.name));
      if (!is_selected(slug->second)) snapshot_->excluded_drives_.insert(drive.id);
      snapshot_->drive_uris_.emplace(drive.id, input_.scheme + "://" + slug->second);
    }
    add(shared_with_me, "Shared with me");
  }

  void assign_uris() {
    std::deque<folder_node> queue;
    for (const auto& [slug, name] : snapshot_->drives_) queue.push_back({'/' + slug, input_.scheme + "://" + slug});
    // Each file has one parent, so none is visited twice. Files in a cycle are not visited at all.
    for (; !queue.empty(); queue.pop_front()) {
      const auto folder = std::move(queue.front());
      const auto position = children_.find(folder.id);
      if (position == children_.end()) continue;
      auto children = std::move(position->second);
      children_.erase(position);
      std::sort(children.begin(), children.end(), is_older);
      std::set<std::string, std::less<>> used_segments;
      for (const auto& item : children) {
        auto uri = assign_uri(folder, *item, used_segments);
        if (item->is_folder()) queue.push_back({item->id, uri.starts_with(input_.scheme + ":///") ? std::string() : uri});
        add_file(item, std::move(uri));
      }
    }
    for (const auto& [parent, unserved] : children_) snapshot_->unserved_count_ += unserved.size();
  }

  std::string assign_uri(const folder_node& folder, const item& item, std::set<std::string, std::less<>>& used_segments) const {
    auto by_id = input_.scheme + ":///" + percent_encode(item.id);
    if (folder.uri.empty()) return by_id;
    auto segment = path_segment(item.name);
    if (segment.empty() || used_segments.contains(segment)) segment = path_segment(item.name, item.id);
    // Another file's own name may already end with this id.
    while (used_segments.contains(segment)) segment += id_separator + percent_encode(item.id);
    if (folder.uri.size() + 1 + segment.size() > max_path_uri_bytes) return by_id;
    used_segments.insert(segment);
    return folder.uri + '/' + segment;
  }

  void add_file(const shared_item& item, std::string uri) {
    served_file file;
    file.item = item;
    file.uri = std::move(uri);
    if (const auto links = links_.find(item->id); links != links_.end()) file.shortcut_count = links->second;
    snapshot_->files_.emplace(item->id, std::move(file));
  }

  void build_entries() {
    std::vector<resource> entries;
    entries.reserve(snapshot_->files_.size() + snapshot_->drives_.size());
    std::map<std::string, std::vector<std::string>, std::less<>> child_uris;  // URIs by the URI of their folder
    for (auto& [id, file] : snapshot_->files_) {
      auto entry = make_entry(*file.item, file.uri, rate_item(*file.item, file.shortcut_count, input_.now));
      file.version = entry.version;
      child_uris[std::string(file.uri.substr(0, file.uri.rfind('/')))].push_back(file.uri);
      if (file.item->is_folder()) {
        folders_.emplace_back(id, entries.size());
      } else if (const auto sheets = input_.sheets.find(id); sheets != input_.sheets.end()) {
        file.sheets = sheets->second;
        // The spreadsheet's own contents begin with the first sheet, so it needs no entry.
        for (std::size_t i = 1; i < sheets->second.size(); ++i) entries.push_back(make_sheet_entry(entry, sheets->second[i]));
      }
      entries.push_back(std::move(entry));
      if (file.item->is_folder()) folders_.back().second = entries.size() - 1;
    }
    const auto version_of_folder = [&child_uris](const std::string& uri) {
      auto& uris = child_uris[uri];
      std::sort(uris.begin(), uris.end());
      std::string joined;
      for (const auto& child : uris) (joined += child) += '\n';
      return bytes::to_hex(bytes::digest_of(joined));
    };
    for (const auto& [id, index] : folders_) {
      auto& folder = snapshot_->files_.at(id);
      folder.version = entries[index].version = version_of_folder(folder.uri);
    }
    for (const auto& [slug, name] : snapshot_->drives_) {
      auto entry = make_drive_entry(input_.scheme + "://" + slug, name);
      entry.version = version_of_folder(entry.uri);
      entries.push_back(std::move(entry));
    }
    snapshot_->entries_ = std::make_unique<const entry_snapshot>(std::move(entries));
  }

  /// Keeps the last entries of targets that are no longer served, since access rules apply to notifications about them.
  void retain_last_entries() {
    if (!input_.previous) return;
    for (const auto& item : input_.items) {
      if (!item->is_shortcut() || snapshot_->files_.contains(item->target)) continue;
      if (const auto* old = input_.previous->find(item->target)) {
        if (auto entry = input_.previous->entries().find(old->uri))
          snapshot_->last_entries_.emplace(item->target, std::move(*entry));
      } else if (const auto* last = input_.previous->last_entry(item->target)) {
        snapshot_->last_entries_.emplace(item->target, *last);
      }
    }
  }

  const snapshot_input input_;
  const std::map<std::string, std::string, std::less<>> slugs_;
  const std::shared_ptr<snapshot> snapshot_{new snapshot()};
  std::unordered_map<std::string, shared_item> by_id_;
  std::unordered_map<std::string, std::size_t> links_;
  std::unordered_map<std::string, std::vector<shared_item>> children_;
  std::vector<std::pair<std::string, std::size_t>> folders_;  // ids, and the indexes of their entries
};

std::shared_ptr<const snapshot> snapshot::make(snapshot_input input) { return snapshot_builder(std::move(input)).build(); }

const served_file* snapshot::find(std::string_view id) const {
  const auto position = files_.find(std::string(id));
  return position == files_.end() ? nullptr : &position->second;
}

const served_file* snapshot::find_by_uri(std::string_view uri) const {
  const auto entry = entries_->find(uri);
  if (!entry) return nullptr;
  for (const auto& [key, value] : entry->metadata) {
    if (key != id_key) continue;
    const auto* id = std::get_if<std::string>(&value);
    return id == nullptr ? nullptr : find(*id);
  }
  return nullptr;
}

const resource* snapshot::last_entry(const std::string& id) const {
  const auto position = last_entries_.find(id);
  return position == last_entries_.end() ? nullptr : &position->second;
}

std::string snapshot::expected_uri(const item& item) const {
  std::string folder;
  if (item.parent.empty() && !drive_uris_.contains(item.home)) {
    folder = scheme_ + "://" + std::string(shared_with_me);
  } else if (const auto root = drive_uris_.find(item.parent); root != drive_uris_.end()) {
    folder = root->second;
  } else if (const auto* parent = find(item.parent); parent != nullptr && parent->item->is_folder()) {
    folder = parent->uri;
  } else {
    return {};
  }
  if (folder.starts_with(scheme_ + ":///")) return scheme_ + ":///" + percent_encode(item.id);
  const auto segment = path_segment(item.name);
  const auto uri = folder + '/' + segment;
  const auto* const current = find(item.id);
  const bool is_taken = entries_->find(uri) && (current == nullptr || current->uri != uri);
  return segment.empty() || is_taken ? folder + '/' + path_segment(item.name, item.id) : uri;
}

bool snapshot::has_listed_target(const item& shortcut) const {
  const auto* target = find(shortcut.target);
  return target != nullptr && !target->item->is_shortcut();
}

std::vector<const served_file*> snapshot::find_latest(std::size_t max_files,
                                                      const std::function<bool(const item&)>& predicate) const {
  std::vector<const served_file*> files;
  for (const auto& [id, file] : files_) {
    if (predicate(*file.item)) files.push_back(&file);
  }
  const auto is_later = [](const served_file* a, const served_file* b) {
    const auto modified = [](const served_file* candidate) { return candidate->item->modified.value_or(drive::time::min()); };
    return modified(a) != modified(b) ? modified(a) > modified(b) : a->uri < b->uri;
  };
  const auto end = files.begin() + static_cast<std::ptrdiff_t>(std::min(max_files, files.size()));
  std::partial_sort(files.begin(), end, files.end(), is_later);
  files.erase(end, files.end());
  return files;
}

std::vector<drive::resource_key> snapshot::resource_keys_of(const item& item) const {
  constexpr int max_levels = 100;
  std::vector<drive::resource_key> keys;
  const auto* current = &item;
  for (int level = 0; level < max_levels; ++level) {
    const auto key = resource_keys_.find(current->id);
    if (!current->resource_key.empty()) {
      keys.push_back({current->id, current->resource_key});
    } else if (key != resource_keys_.end()) {
      keys.push_back({current->id, key->second});
    }
    const auto* parent = find(current->parent);
    if (parent == nullptr) break;
    current = parent->item.get();
  }
  return keys;
}

void snapshot::notify_changes_since(const snapshot& previous, change_listener& listener) const {
  bool is_list_changed = previous.drives_ != drives_ || previous.entries_->size() != entries_->size();
  std::unordered_set<std::string> notified;
  std::vector<std::string> changed_ids;  // ids of changed files, whose shortcuts have changed, too
  bool are_starred_changed = false;
  bool are_recent_changed = false;
  // `is_own`: the file itself has changed, and not only its target.
  const auto notify = [&](const served_file& file, bool is_own) {
    const auto title = display_text(file.item->name);
    if (is_own) {
      listener.content_changed(file.uri, title);
    } else {
      listener.alias_changed(file.uri, title);
    }
    // A caller with access by id need not know the file's path, so this notification has no title.
    if (!notified.insert(file.item->id).second) return;
    changed_ids.push_back(file.item->id);
    if (const auto by_id = scheme_ + ":///" + file.item->id; by_id != file.uri) listener.alias_changed(by_id, {});
  };
  const auto note_lists = [&](const served_file& file) {
    if (file.item->is_folder() || file.item->is_shortcut()) return;
    are_recent_changed = true;
    are_starred_changed = are_starred_changed || file.item->is_starred;
  };
  for (const auto& [id, old] : previous.files_) {
    if (const auto* current = find(id); current == nullptr || current->uri != old.uri) {
      is_list_changed = true;
      notify(old, true);
      note_lists(old);
    }
  }
  for (const auto& [id, current] : files_) {
    const auto* old = previous.find(id);
    const bool is_same_place = old != nullptr && old->uri == current.uri;
    if (is_same_place && old->version == current.version && (old->item == current.item || *old->item == *current.item))
      continue;
    if (!is_same_place || old->version != current.version) notify(current, true);
    is_list_changed = true;
    note_lists(current);
    if (old != nullptr) note_lists(*old);
  }
  // A shortcut returns its target's content but has its own version, so its change must be notified, too.
  if (!changed_ids.empty()) {
    std::unordered_multimap<std::string, const served_file*> shortcuts;
    for (const auto& [id, file] : files_) {
      if (file.item->is_shortcut()) shortcuts.emplace(file.item->target, &file);
    }
    while (!changed_ids.empty() && !shortcuts.empty()) {
      const auto id = std::move(changed_ids.back());
      changed_ids.pop_back();
      const auto [begin, end] = shortcuts.equal_range(id);
      for (auto it = begin; it != end; ++it) {
        if (!notified.contains(it->second->item->id)) notify(*it->second, false);
      }
    }
  }
  for (const auto& [slug, name] : drives_) {
    const auto uri = scheme_ + "://" + slug;
    const auto entry = entries_->find(uri);
    const auto old = previous.entries_->find(uri);
    if (entry && (!old || old->version != entry->version)) listener.content_changed(uri, name);
  }
  for (const auto& [slug, name] : previous.drives_) {
    const auto uri = scheme_ + "://" + slug;
    if (!entries_->find(uri)) listener.content_changed(uri, name);
  }
  if (previous.drives_ != drives_) listener.content_changed(scheme_ + ":///", {});
  if (are_starred_changed) listener.content_changed(scheme_ + ":///starred", {});
  if (are_recent_changed) listener.content_changed(scheme_ + ":///recent", {});
  if (is_list_changed) listener.list_changed();
}

}  // namespace hondana::gdrive
