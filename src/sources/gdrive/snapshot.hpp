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

/// What a scene is made of.
struct material {
  std::string scheme = "gdrive";
  std::string root{};                                                  ///< The id of the folder that is the user's own drive.
  std::vector<drive::shared_drive> drives{};                           ///< Whose slugs count.
  std::vector<std::string> wanted{};                                   ///< Slugs; empty: all.
  std::vector<shared_item> items{};                                    ///< In any order.
  std::function<bool(const std::string& home)> is_whole{};             ///< Whether a home is known whole; empty: all are.
  std::function<bool(const std::string& home)> is_unfinished{};        ///< Whether folders of it may be missing; empty: none.
  std::unordered_map<std::string, std::vector<std::string>> sheets{};  ///< Of workbooks, by id.
  std::chrono::system_clock::time_point now{};
  bool is_cut = false;                    ///< There is more, folders perhaps, for which there was no room.
  std::shared_ptr<const scene> before{};  ///< What was served until now; null: nothing.
};

/// One that is served.
struct placed {
  shared_item what{};
  std::string uri{};                  ///< As listed.
  std::size_t links = 0;              ///< Shortcuts that lead to it.
  std::string version{};              ///< Of its entry.
  std::vector<std::string> sheets{};  ///< Of a workbook that was read.
};

/// Immutable. Threads: any.
class scene {
 public:
  [[nodiscard]] static std::shared_ptr<const scene> make(material from);

  [[nodiscard]] const std::string& scheme() const noexcept { return scheme_; }
  /// Everything with a URI by path; shortcuts, too.
  [[nodiscard]] const entry_snapshot& entries() const noexcept { return *entries_; }
  [[nodiscard]] std::size_t files() const noexcept { return placed_.size(); }
  /// How many were left out since no folder leads to them, or they lie too deep.
  [[nodiscard]] std::size_t unplaced() const noexcept { return unplaced_; }

  /// By id; null where it is not served.
  [[nodiscard]] const placed* find(std::string_view id) const;
  /// By the URI that is listed, without parameters; null for drives and what there is not.
  [[nodiscard]] const placed* at(std::string_view uri) const;
  /// Where a file that is not known would be listed; empty: that depends on folders that are not known.
  [[nodiscard]] std::string would_be_at(const item& what) const;
  /// The last entry of what is not served any more and shortcuts lead to; null: it was not served before.
  [[nodiscard]] const resource* ended(const std::string& id) const;
  /// Whether a shortcut's target has a place of its own.
  [[nodiscard]] bool leads_to_listed(const item& shortcut) const;
  /// Drives: slug and name, My Drive first.
  [[nodiscard]] const std::vector<std::pair<std::string, std::string>>& drives() const noexcept { return drives_; }
  /// Whether a shared drive is known, and not to be served.
  [[nodiscard]] bool leaves_out(const std::string& drive_id) const { return left_out_.contains(drive_id); }
  /// Those that fit, the latest change first; at most so many.
  [[nodiscard]] std::vector<const placed*> latest(std::size_t most, const std::function<bool(const item&)>& fits) const;
  /// The ids and keys of a file and of the folders above it that need keys.
  [[nodiscard]] std::vector<drive::resource_key> keys_of(const item& what) const;

  /// Tells what has come, gone or changed since `before` was the newest.
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
  std::unordered_map<std::string, std::string> roots_;  // URIs of drives, by their ids
  std::unique_ptr<const entry_snapshot> entries_;
  std::size_t unplaced_ = 0;
};

}  // namespace hondana::gdrive
