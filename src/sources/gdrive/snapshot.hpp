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

#include <hondana/provider.hpp>
#include <hondana/snapshot.hpp>

#include "sources/gdrive/drive/api_types.hpp"
#include "sources/gdrive/item.hpp"

namespace hondana::gdrive {

class scene;

/// The input for a snapshot.
struct material {
  std::string scheme = "gdrive";
  std::string root{};                         ///< The id of the user's own root folder.
  std::vector<drive::shared_drive> drives{};  ///< All of them, since their slugs depend on each other.
  std::vector<std::string> wanted{};          ///< Slugs; empty: all.
  std::vector<shared_item> items{};           ///< In any order.
  /// Whether a home has been listed completely; null: all have.
  std::function<bool(const std::string& home)> is_whole{};
  /// Whether folders of a home may be missing; null: none are.
  std::function<bool(const std::string& home)> is_unfinished{};
  std::unordered_map<std::string, std::vector<std::string>> sheets{};  ///< Of workbooks, by id.
  std::chrono::system_clock::time_point now{};
  bool is_cut = false;                    ///< Files, perhaps folders, were left out because of the file limit.
  std::shared_ptr<const scene> before{};  ///< The snapshot served so far; null: none.
};

/// A served file.
struct placed {
  shared_item what{};
  std::string uri{};                  ///< As listed.
  std::size_t links = 0;              ///< The number of shortcuts to it.
  std::string version{};              ///< Of its entry.
  std::vector<std::string> sheets{};  ///< Of a workbook that has been read.
};

/// The served files, indexed by id and by URI. Immutable. Threads: any.
class scene {
 public:
  [[nodiscard]] static std::shared_ptr<const scene> make(material from);

  [[nodiscard]] const std::string& scheme() const noexcept { return scheme_; }
  /// The entries of everything with a URI by path, including shortcuts.
  [[nodiscard]] const entry_snapshot& entries() const noexcept { return *entries_; }
  [[nodiscard]] std::size_t files() const noexcept { return placed_.size(); }
  /// The number of files left out because no served folder leads to them, or because they are in a cycle.
  [[nodiscard]] std::size_t unplaced() const noexcept { return unplaced_; }

  /// Finds a file by id; null if it is not served.
  [[nodiscard]] const placed* find(std::string_view id) const;
  /// Finds a file by its listed URI, without parameters; null for drives and unknown URIs.
  [[nodiscard]] const placed* at(std::string_view uri) const;
  /// The URI that an unlisted file would be listed by; empty if that depends on unknown folders.
  [[nodiscard]] std::string would_be_at(const item& what) const;
  /// The last entry of a shortcut's target that is no longer served; null if it was never served.
  [[nodiscard]] const resource* ended(const std::string& id) const;
  /// Whether a shortcut's target is listed at its own place.
  [[nodiscard]] bool leads_to_listed(const item& shortcut) const;
  /// Slugs and names of the drives, My Drive first.
  [[nodiscard]] const std::vector<std::pair<std::string, std::string>>& drives() const noexcept { return drives_; }
  /// Whether a shared drive is known but not served.
  [[nodiscard]] bool leaves_out(const std::string& drive_id) const { return left_out_.contains(drive_id); }
  /// The files that match, latest change first, at most `most`.
  [[nodiscard]] std::vector<const placed*> latest(std::size_t most, const std::function<bool(const item&)>& fits) const;
  /// The resource keys of a file and of the folders above it.
  [[nodiscard]] std::vector<drive::resource_key> keys_of(const item& what) const;

  /// Notifies of all entries that were added, removed or changed since `before`.
  void tell_changes_since(const scene& before, change_listener& to) const;

 private:
  friend class scene_maker;
  scene() = default;

  std::string scheme_;
  std::unordered_map<std::string, placed> placed_;     // by id
  std::unordered_map<std::string, std::string> keys_;  // resource keys by id
  std::vector<std::pair<std::string, std::string>> drives_;
  std::unordered_map<std::string, resource> ended_;  // by id
  std::set<std::string> left_out_;
  std::unordered_map<std::string, std::string> roots_;  // URIs of drives by drive id
  std::unique_ptr<const entry_snapshot> entries_;
  std::size_t unplaced_ = 0;
};

}  // namespace hondana::gdrive
