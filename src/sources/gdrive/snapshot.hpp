/// An immutable snapshot of the Drive files that are served, with the path of each.
#pragma once

#include <chrono>
#include <cstddef>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

#include <hondana/entry_snapshot.hpp>
#include <hondana/provider.hpp>

#include "sources/gdrive/drive/api_types.hpp"
#include "sources/gdrive/item.hpp"

namespace hondana::gdrive {

class snapshot;

/// The input for a snapshot.
struct snapshot_input {
  std::string scheme = "gdrive";
  std::string root{};                         ///< The id of the user's own root folder.
  std::vector<drive::shared_drive> drives{};  ///< All of them, since their slugs depend on each other.
  std::vector<std::string> drive_slugs{};     ///< Slugs; empty: all.
  std::vector<shared_item> items{};           ///< In any order.
  /// Whether a home has been listed completely; null: all have.
  std::function<bool(const std::string& home)> is_complete{};
  /// Whether folders of a home may be missing; null: none are.
  std::function<bool(const std::string& home)> may_miss_folders{};
  std::unordered_map<std::string, std::vector<std::string>> sheets{};  ///< Of workbooks, by id.
  std::chrono::system_clock::time_point now{};
  bool is_truncated = false;                   ///< Files, perhaps folders, were left out because of the file limit.
  std::shared_ptr<const snapshot> previous{};  ///< The snapshot served so far; null: none.
};

/// A served file.
struct served_file {
  shared_item item{};
  std::string uri{};                  ///< As listed.
  std::size_t shortcut_count = 0;     ///< The number of shortcuts to it.
  std::string version{};              ///< Of its entry.
  std::vector<std::string> sheets{};  ///< Of a workbook that has been read.
};

/// The served files, indexed by id and by URI. Immutable. Threads: any.
class snapshot {
 public:
  [[nodiscard]] static std::shared_ptr<const snapshot> make(snapshot_input input);

  [[nodiscard]] const std::string& scheme() const noexcept { return scheme_; }
  /// The entries of everything with a URI by path, including shortcuts.
  [[nodiscard]] const entry_snapshot& entries() const noexcept { return *entries_; }
  [[nodiscard]] std::size_t file_count() const noexcept { return files_.size(); }
  /// The number of files left out because no served folder leads to them, or because they are in a cycle.
  [[nodiscard]] std::size_t unserved_count() const noexcept { return unserved_count_; }

  /// Finds a file by id; null if it is not served.
  [[nodiscard]] const served_file* find(std::string_view id) const;
  /// Finds a file by its listed URI, without parameters; null for drives and unknown URIs.
  [[nodiscard]] const served_file* find_by_uri(std::string_view uri) const;
  /// The URI that an unlisted file would be listed by; empty if that depends on unknown folders.
  [[nodiscard]] std::string expected_uri(const item& item) const;
  /// The last entry of a shortcut's target that is no longer served; null if it was never served.
  [[nodiscard]] const resource* last_entry(const std::string& id) const;
  /// Whether a shortcut's target is listed at its own place.
  [[nodiscard]] bool has_listed_target(const item& shortcut) const;
  /// Slugs and names of the drives, My Drive first.
  [[nodiscard]] const std::vector<std::pair<std::string, std::string>>& drives() const noexcept { return drives_; }
  /// Whether a shared drive is known but not served.
  [[nodiscard]] bool is_excluded_drive(const std::string& drive_id) const { return excluded_drives_.contains(drive_id); }
  /// The files that match, latest change first, at most `max_files`.
  [[nodiscard]] std::vector<const served_file*> find_latest(std::size_t max_files,
                                                            const std::function<bool(const item&)>& predicate) const;
  /// The resource keys of a file and of the folders above it.
  [[nodiscard]] std::vector<drive::resource_key> resource_keys_of(const item& item) const;

  /// Notifies of all entries that were added, removed or changed since `previous`.
  void notify_changes_since(const snapshot& previous, change_listener& listener) const;

 private:
  friend class snapshot_builder;
  snapshot() = default;

  std::string scheme_;
  std::unordered_map<std::string, served_file> files_;          // by id
  std::unordered_map<std::string, std::string> resource_keys_;  // resource keys by id
  std::vector<std::pair<std::string, std::string>> drives_;
  std::unordered_map<std::string, resource> last_entries_;  // by id
  std::set<std::string> excluded_drives_;
  std::unordered_map<std::string, std::string> drive_uris_;  // URIs of drives by drive id
  std::unique_ptr<const entry_snapshot> entries_;
  std::size_t unserved_count_ = 0;
};

}  // namespace hondana::gdrive
