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
constexpr std::size_t longest_uri = 4096;

/// Orders the oldest first: of files with the same name, it gets the name without an id.
bool is_older(const shared_item& a, const shared_item& b) {
  const auto age = [](const item& of) { return of.created.value_or(drive::time::max()); };
  return std::forward_as_tuple(age(*a), a->id) < std::forward_as_tuple(age(*b), b->id);
}

}  // namespace

/// Builds one snapshot. Threads: one.
class scene_maker {
 public:
  explicit scene_maker(material from) : from_(std::move(from)), slugs_(slugs_of(from_.drives)) {}

  std::shared_ptr<const scene> make() {
    made_->scheme_ = from_.scheme;
    for (const auto& one : from_.items) {
      by_id_.emplace(one->id, one);
      if (!one->resource_key.empty()) made_->keys_.emplace(one->id, one->resource_key);
      if (one->is_shortcut() && !one->target.empty()) ++links_[one->target];
      if (one->is_shortcut() && !one->target_key.empty()) made_->keys_.emplace(one->target, one->target_key);
    }
    gather();
    place_all();
    list();
    keep_ended();
    return made_;
  }

 private:
  struct folder {
    std::string id;   // a Drive id, or a slug after a slash
    std::string uri;  // empty: its contents have URIs by id
  };

  [[nodiscard]] bool is_wanted(std::string_view slug) const {
    const auto& all = from_.wanted;
    return all.empty() || std::find(all.begin(), all.end(), slug) != all.end();
  }

  /// The node that a file is listed in: a known folder, or the top of a drive. Empty if the folder was left out or is not known
  /// yet: showing the file at the top would bypass access rules for that folder.
  std::string parent_of(const item& of) const {
    if (!of.home.empty()) {
      const auto slug = slugs_.find(of.home);
      if (slug == slugs_.end()) return {};
      if (of.parent == of.home) return '/' + slug->second;
      if (by_id_.contains(of.parent)) return of.parent;
      return may_lie_deeper(of) ? std::string() : '/' + slug->second;
    }
    if (!of.parent.empty() && of.parent == from_.root) return '/' + std::string(my_drive);
    if (by_id_.contains(of.parent)) return of.parent;
    return may_lie_deeper(of) ? std::string() : '/' + std::string(shared_with_me);
  }

  /// Whether the unknown folder of a file may exist and still be listed.
  bool may_lie_deeper(const item& of) const {
    if (of.parent.empty()) return from_.is_cut && !of.home.empty();
    if (from_.is_cut) return true;
    if (!from_.is_unfinished || !from_.is_unfinished(of.home)) return false;
    // A file that was at the top in a complete snapshot stays there.
    const auto* old = from_.before ? from_.before->find(of.id) : nullptr;
    return old == nullptr || old->what->home != of.home || old->what->parent != of.parent ||
           from_.before->find(of.parent) != nullptr;
  }

  void gather() {
    for (const auto& one : from_.items) {
      if (one->is_trashed || one->id == from_.root || (from_.is_whole && !from_.is_whole(one->home))) continue;
      const auto parent = parent_of(*one);
      if (!parent.empty()) children_[parent].push_back(one);
    }
    const auto add = [this](std::string_view slug, std::string name) {
      if (is_wanted(slug)) made_->drives_.emplace_back(std::string(slug), std::move(name));
    };
    add(my_drive, "My Drive");
    if (!from_.root.empty()) made_->roots_.emplace(from_.root, from_.scheme + "://" + std::string(my_drive));
    for (const auto& one : from_.drives) {
      const auto slug = slugs_.find(one.id);
      if (slug == slugs_.end()) continue;
      add(slug->second, shown(one.name));
      if (!is_wanted(slug->second)) made_->left_out_.insert(one.id);
      made_->roots_.emplace(one.id, from_.scheme + "://" + slug->second);
    }
    add(shared_with_me, "Shared with me");
  }

  void place_all() {
    std::deque<folder> open;
    for (const auto& [slug, name] : made_->drives_) open.push_back({'/' + slug, from_.scheme + "://" + slug});
    // Each file has one parent, so none is visited twice. Files in a cycle are not visited at all.
    for (; !open.empty(); open.pop_front()) {
      const auto in = std::move(open.front());
      const auto found = children_.find(in.id);
      if (found == children_.end()) continue;
      auto all = std::move(found->second);
      children_.erase(found);
      std::sort(all.begin(), all.end(), is_older);
      std::set<std::string, std::less<>> taken;
      for (const auto& one : all) {
        auto uri = uri_in(in, *one, taken);
        if (one->is_folder()) open.push_back({one->id, uri.starts_with(from_.scheme + ":///") ? std::string() : uri});
        place(one, std::move(uri));
      }
    }
    for (const auto& [parent, all] : children_) made_->unplaced_ += all.size();
  }

  std::string uri_in(const folder& in, const item& what, std::set<std::string, std::less<>>& taken) const {
    auto by_id = from_.scheme + ":///" + percent_encode(what.id);
    if (in.uri.empty()) return by_id;
    auto segment = segment_of(what.name);
    if (segment.empty() || taken.contains(segment)) segment = segment_of(what.name, what.id);
    // Another file's own name may already end with this id.
    while (taken.contains(segment)) segment += id_mark + percent_encode(what.id);
    if (in.uri.size() + 1 + segment.size() > longest_uri) return by_id;
    taken.insert(segment);
    return in.uri + '/' + segment;
  }

  void place(const shared_item& what, std::string uri) {
    placed one;
    one.what = what;
    one.uri = std::move(uri);
    if (const auto links = links_.find(what->id); links != links_.end()) one.links = links->second;
    made_->placed_.emplace(what->id, std::move(one));
  }

  void list() {
    std::vector<resource> entries;
    entries.reserve(made_->placed_.size() + made_->drives_.size());
    std::map<std::string, std::vector<std::string>, std::less<>> inside;  // URIs by the URI of their folder
    for (auto& [id, one] : made_->placed_) {
      auto entry = entry_of(*one.what, one.uri, weight_of(*one.what, one.links, from_.now));
      one.version = entry.version;
      inside[std::string(one.uri.substr(0, one.uri.rfind('/')))].push_back(one.uri);
      if (one.what->is_folder()) {
        folders_.emplace_back(id, entries.size());
      } else if (const auto sheets = from_.sheets.find(id); sheets != from_.sheets.end()) {
        one.sheets = sheets->second;
        // The spreadsheet's own contents begin with the first sheet, so it needs no entry.
        for (std::size_t i = 1; i < sheets->second.size(); ++i) entries.push_back(entry_of_sheet(entry, sheets->second[i]));
      }
      entries.push_back(std::move(entry));
      if (one.what->is_folder()) folders_.back().second = entries.size() - 1;
    }
    const auto version_of_folder = [&inside](const std::string& uri) {
      auto& all = inside[uri];
      std::sort(all.begin(), all.end());
      std::string joined;
      for (const auto& child : all) (joined += child) += '\n';
      return bytes::to_hex(bytes::digest_of(joined));
    };
    for (const auto& [id, at] : folders_) {
      auto& one = made_->placed_.at(id);
      one.version = entries[at].version = version_of_folder(one.uri);
    }
    for (const auto& [slug, name] : made_->drives_) {
      auto entry = entry_of_drive(from_.scheme + "://" + slug, name);
      entry.version = version_of_folder(entry.uri);
      entries.push_back(std::move(entry));
    }
    made_->entries_ = std::make_unique<const entry_snapshot>(std::move(entries));
  }

  /// Keeps the last entries of targets that are no longer served, since access rules apply to notifications about them.
  void keep_ended() {
    if (!from_.before) return;
    for (const auto& one : from_.items) {
      if (!one->is_shortcut() || made_->placed_.contains(one->target)) continue;
      if (const auto* old = from_.before->find(one->target)) {
        if (auto entry = from_.before->entries().find(old->uri)) made_->ended_.emplace(one->target, std::move(*entry));
      } else if (const auto* last = from_.before->ended(one->target)) {
        made_->ended_.emplace(one->target, *last);
      }
    }
  }

  const material from_;
  const std::map<std::string, std::string, std::less<>> slugs_;
  const std::shared_ptr<scene> made_{new scene()};
  std::unordered_map<std::string, shared_item> by_id_;
  std::unordered_map<std::string, std::size_t> links_;
  std::unordered_map<std::string, std::vector<shared_item>> children_;
  std::vector<std::pair<std::string, std::size_t>> folders_;  // ids, and the indexes of their entries
};

std::shared_ptr<const scene> scene::make(material from) { return scene_maker(std::move(from)).make(); }

const placed* scene::find(std::string_view id) const {
  const auto found = placed_.find(std::string(id));
  return found == placed_.end() ? nullptr : &found->second;
}

const placed* scene::at(std::string_view uri) const {
  const auto entry = entries_->find(uri);
  if (!entry) return nullptr;
  for (const auto& [key, value] : entry->metadata) {
    if (key != id_key) continue;
    const auto* id = std::get_if<std::string>(&value);
    return id == nullptr ? nullptr : find(*id);
  }
  return nullptr;
}

const resource* scene::ended(const std::string& id) const {
  const auto found = ended_.find(id);
  return found == ended_.end() ? nullptr : &found->second;
}

std::string scene::would_be_at(const item& what) const {
  std::string folder;
  if (what.parent.empty() && !roots_.contains(what.home)) {
    folder = scheme_ + "://" + std::string(shared_with_me);
  } else if (const auto root = roots_.find(what.parent); root != roots_.end()) {
    folder = root->second;
  } else if (const auto* above = find(what.parent); above != nullptr && above->what->is_folder()) {
    folder = above->uri;
  } else {
    return {};
  }
  if (folder.starts_with(scheme_ + ":///")) return scheme_ + ":///" + percent_encode(what.id);
  const auto segment = segment_of(what.name);
  const auto place = folder + '/' + segment;
  const auto* const now = find(what.id);
  const bool is_taken = entries_->find(place) && (now == nullptr || now->uri != place);
  return segment.empty() || is_taken ? folder + '/' + segment_of(what.name, what.id) : place;
}

bool scene::leads_to_listed(const item& shortcut) const {
  const auto* target = find(shortcut.target);
  return target != nullptr && !target->what->is_shortcut();
}

std::vector<const placed*> scene::latest(std::size_t most, const std::function<bool(const item&)>& fits) const {
  std::vector<const placed*> all;
  for (const auto& [id, one] : placed_) {
    if (fits(*one.what)) all.push_back(&one);
  }
  const auto is_later = [](const placed* a, const placed* b) {
    const auto when = [](const placed* of) { return of->what->modified.value_or(drive::time::min()); };
    return when(a) != when(b) ? when(a) > when(b) : a->uri < b->uri;
  };
  const auto end = all.begin() + static_cast<std::ptrdiff_t>(std::min(most, all.size()));
  std::partial_sort(all.begin(), end, all.end(), is_later);
  all.erase(end, all.end());
  return all;
}

std::vector<drive::resource_key> scene::keys_of(const item& what) const {
  constexpr int most_levels = 100;
  std::vector<drive::resource_key> keys;
  const auto* now = &what;
  for (int level = 0; level < most_levels; ++level) {
    const auto key = keys_.find(now->id);
    if (!now->resource_key.empty()) {
      keys.push_back({now->id, now->resource_key});
    } else if (key != keys_.end()) {
      keys.push_back({now->id, key->second});
    }
    const auto* above = find(now->parent);
    if (above == nullptr) break;
    now = above->what.get();
  }
  return keys;
}

void scene::tell_changes_since(const scene& before, change_listener& to) const {
  bool is_list_changed = before.drives_ != drives_ || before.entries_->size() != entries_->size();
  std::unordered_set<std::string> told;
  std::vector<std::string> heads;  // ids of changed files, whose shortcuts have changed, too
  bool are_starred_changed = false;
  bool are_recent_changed = false;
  // `is_own`: the file itself has changed, and not only its target.
  const auto tell = [&](const placed& one, bool is_own) {
    const auto title = shown(one.what->name);
    if (is_own) {
      to.content_changed(one.uri, title);
    } else {
      to.alias_changed(one.uri, title);
    }
    // A caller with access by id need not know the file's path, so this notification has no title.
    if (!told.insert(one.what->id).second) return;
    heads.push_back(one.what->id);
    if (const auto by_id = scheme_ + ":///" + one.what->id; by_id != one.uri) to.alias_changed(by_id, {});
  };
  const auto note_views = [&](const placed& one) {
    if (one.what->is_folder() || one.what->is_shortcut()) return;
    are_recent_changed = true;
    are_starred_changed = are_starred_changed || one.what->is_starred;
  };
  for (const auto& [id, old] : before.placed_) {
    if (const auto* now = find(id); now == nullptr || now->uri != old.uri) {
      is_list_changed = true;
      tell(old, true);
      note_views(old);
    }
  }
  for (const auto& [id, now] : placed_) {
    const auto* old = before.find(id);
    const bool is_same_place = old != nullptr && old->uri == now.uri;
    if (is_same_place && old->version == now.version && (old->what == now.what || *old->what == *now.what)) continue;
    if (!is_same_place || old->version != now.version) tell(now, true);
    is_list_changed = true;
    note_views(now);
    if (old != nullptr) note_views(*old);
  }
  // A shortcut returns its target's content but has its own version, so its change must be notified, too.
  if (!heads.empty()) {
    std::unordered_multimap<std::string, const placed*> leading;
    for (const auto& [id, one] : placed_) {
      if (one.what->is_shortcut()) leading.emplace(one.what->target, &one);
    }
    while (!heads.empty() && !leading.empty()) {
      const auto id = std::move(heads.back());
      heads.pop_back();
      const auto [begin, end] = leading.equal_range(id);
      for (auto at = begin; at != end; ++at) {
        if (!told.contains(at->second->what->id)) tell(*at->second, false);
      }
    }
  }
  for (const auto& [slug, name] : drives_) {
    const auto uri = scheme_ + "://" + slug;
    const auto entry = entries_->find(uri);
    const auto old = before.entries_->find(uri);
    if (entry && (!old || old->version != entry->version)) to.content_changed(uri, name);
  }
  for (const auto& [slug, name] : before.drives_) {
    const auto uri = scheme_ + "://" + slug;
    if (!entries_->find(uri)) to.content_changed(uri, name);
  }
  if (before.drives_ != drives_) to.content_changed(scheme_ + ":///", {});
  if (are_starred_changed) to.content_changed(scheme_ + ":///starred", {});
  if (are_recent_changed) to.content_changed(scheme_ + ":///recent", {});
  if (is_list_changed) to.list_changed();
}

}  // namespace hondana::gdrive
