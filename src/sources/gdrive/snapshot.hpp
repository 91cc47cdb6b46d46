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

#include <hondana/capabilities.hpp>
#include <hondana/entry_snapshot.hpp>
#include <hondana/provider.hpp>

#include "sources/gdrive/drive/api_types.hpp"
#include "sources/gdrive/item.hpp"

namespace hondana::gdrive {

class snapshot;

/// The input for a snapshot.
struct snapshot_input {
  std::string scheme = "gdrive";
  std::string root{};                         ///< Id of the user's own root folder.
  std::vector<drive::shared_drive> drives{};  ///< All known ones, also those that are not served: slugs depend on each other.
  std::vector<std::string> drive_slugs{};     ///< Slugs of the drives to serve. Empty: all.
  std::vector<shared_item> items{};           ///< In any order.
  /// Whether a home (`item::home`) has been listed in full once. Files of other homes are left out. May be empty: all have.
  std::function<bool(const std::string& home)> is_complete{};
  /// Whether folders of a home may be missing. May be empty: none are.
  std::function<bool(const std::string& home)> may_miss_folders{};
  std::unordered_map<std::string, std::vector<std::string>> sheets{};  ///< Names of the sheets of spreadsheets, by id.
  std::chrono::system_clock::time_point now{};                         ///< For priorities.
  bool is_truncated = false;                   ///< Files or folders were left out because of `follower_options::max_files`.
  std::shared_ptr<const snapshot> previous{};  ///< The snapshot before. Null: none.
};

/// A served file, folder or shortcut.
struct served_file {
  shared_item item{};
  std::string uri{};                  ///< The listed URI.
  std::size_t shortcut_count = 0;     ///< Number of shortcuts to the file.
  std::string version{};              ///< Of the entry.
  std::vector<std::string> sheets{};  ///< Names of the sheets of a spreadsheet. Empty: it has not been read yet.
};

/// The served files, indexed by id and by URI. Immutable. Threads: any.
class snapshot {
 public:
  /// Never null.
  [[nodiscard]] static std::shared_ptr<const snapshot> make(snapshot_input input);

  [[nodiscard]] const std::string& scheme() const noexcept { return scheme_; }
  /// The entries of all served files, sheets and drives.
  [[nodiscard]] const entry_snapshot& entries() const noexcept { return *entries_; }
  /// Number of served files, folders and shortcuts.
  [[nodiscard]] std::size_t file_count() const noexcept { return files_.size(); }
  /// Number of files that are left out, because their drive or folder is not served.
  [[nodiscard]] std::size_t unserved_count() const noexcept { return unserved_count_; }

  /// Finds a file by id. Null: it is not served.
  [[nodiscard]] const served_file* find(std::string_view id) const;
  /// Finds a file by its listed URI. Null: a drive, or an unknown URI. For the URI of a sheet: the spreadsheet.
  [[nodiscard]] const served_file* find_by_uri(std::string_view uri) const;
  /// The URI under which a file would be listed in its folder. Empty: the folder is unknown.
  [[nodiscard]] std::string expected_uri(const item& item) const;
  /// The last entry of a file that is no longer served, if it is the target of a shortcut. Null: it was never served.
  [[nodiscard]] const resource* last_entry(const std::string& id) const;
  /// Whether the target of a shortcut is served, and not itself a shortcut.
  [[nodiscard]] bool has_listed_target(const item& shortcut) const;
  /// Slugs and names of the served drives, My Drive first.
  [[nodiscard]] const std::vector<std::pair<std::string, std::string>>& drives() const noexcept { return drives_; }
  /// Whether a shared drive is known but not served.
  [[nodiscard]] bool is_excluded_drive(const std::string& drive_id) const { return excluded_drives_.contains(drive_id); }
  /// The files for which `predicate` returns true, latest change first, at most `max_files`.
  [[nodiscard]] std::vector<const served_file*> find_latest(std::size_t max_files,
                                                            const std::function<bool(const item&)>& predicate) const;
  /// The resource keys of a file and of the folders above it.
  [[nodiscard]] std::vector<drive::resource_key> resource_keys_of(const item& item) const;

  /// Notifies `listener` of all resources that were added, removed or changed since `previous`, and of the list.
  void notify_changes_since(const snapshot& previous, change_listener& listener) const;

 private:
  friend class snapshot_builder;
  snapshot() = default;

  std::string scheme_;
  std::unordered_map<std::string, served_file> files_;          // by id
  std::unordered_map<std::string, std::string> resource_keys_;  // resource keys by id
  std::vector<std::pair<std::string, std::string>> drives_;     // slugs and names
  std::unordered_map<std::string, resource> last_entries_;      // by id
  std::set<std::string> excluded_drives_;                       // ids of drives that are not served
  std::unordered_map<std::string, std::string> drive_uris_;     // URIs of all drives by the id of their root folder
  std::unique_ptr<const entry_snapshot> entries_;
  std::size_t unserved_count_ = 0;
};

}  // namespace hondana::gdrive
