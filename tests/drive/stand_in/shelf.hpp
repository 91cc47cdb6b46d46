/// All files and shared drives of the stand-in, who sees them, and what has changed for whom.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "drive/stand_in/things.hpp"

namespace drive_test {

struct held_file {
  file is{};
  std::int64_t version = 1;
  bool is_root = false;
  std::string changed_by{};
};

struct held_drive {
  shared_drive is{};
};

/// One line of a log of changes.
struct change {
  std::int64_t number = 0;
  std::string id{};
  bool is_drive = false;            ///< Of a drive itself.
  std::string log{};                ///< The shared drive in whose log it stands; empty: the users' own.
  std::set<std::string> seen_by{};  ///< Who saw it before or after.
  std::string time{};
};

/// Keys of links by the ids of their files, as the header X-Goog-Drive-Resource-Keys has them.
using resource_keys = std::map<std::string, std::string>;

/// Threads: the caller's lock.
class shelf {
 public:
  explicit shelf(const setup& how);

  std::string add(file one);
  std::string add(shared_drive one);
  std::string folder(std::string_view path, const std::string& drive);
  void edit(const std::string& id, const std::function<void(file&)>& change);
  void trash(const std::string& id, bool is_trashed);
  void remove(const std::string& id);
  void remove_drive(const std::string& id);
  void share(const std::string& id, const permission& with);
  void unshare(const std::string& id, const std::string& whom);
  void join(const std::string& drive, const permission& who);
  void leave(const std::string& drive, const std::string& whom);

  /// Null when there is none. "root" is that of the user.
  [[nodiscard]] const held_file* find(const std::string& id, const std::string& user = {}) const;
  [[nodiscard]] const held_drive* find_drive(const std::string& id) const;
  [[nodiscard]] const std::map<std::string, held_file>& files() const noexcept { return files_; }
  [[nodiscard]] const std::map<std::string, held_drive>& drives() const noexcept { return drives_; }
  [[nodiscard]] const std::vector<change>& changes() const noexcept { return changes_; }
  /// The number that the next change will have.
  [[nodiscard]] std::int64_t next_change() const noexcept { return next_change_; }
  /// What has a number below that of the next change is past.
  void skip_numbers() noexcept { next_change_ += 1000; }
  [[nodiscard]] static std::string root_of(std::string_view user);
  [[nodiscard]] std::set<std::string> children_of(const std::string& id) const;

  /// The role of a user, by name; empty when there is none.
  [[nodiscard]] std::string role_of(const std::string& user, const held_file& of) const;
  /// Whether lists have it.
  [[nodiscard]] bool is_listed(const std::string& user, const held_file& one) const;
  /// Whether it is found by its id.
  [[nodiscard]] bool is_reached(const std::string& user, const held_file& one, const resource_keys& with = {}) const;
  [[nodiscard]] bool is_member(const std::string& user, const held_drive& of) const;
  /// Itself, or a folder above it.
  [[nodiscard]] bool is_trashed(const held_file& one) const;

  /// Is called with each change once it is there.
  std::function<void(const change&)> on_change{};

 private:
  [[nodiscard]] std::set<std::string> viewers_of(const held_file& one) const;
  held_file& get(const std::string& id);
  void note(const held_file& one, std::set<std::string> seen_by);
  void note_drive(const std::string& id, std::set<std::string> seen_by);
  void ensure_root(const std::string& user);
  /// With all below.
  [[nodiscard]] std::vector<std::string> subtree_of(const std::string& id) const;

  const setup& how_;
  std::map<std::string, held_file> files_;
  std::map<std::string, held_drive> drives_;
  std::set<std::string> people_;
  std::map<std::string, std::set<std::string>> children_;
  std::vector<change> changes_;
  std::int64_t next_change_ = 1001;
  std::int64_t next_version_ = 1;
};

}  // namespace drive_test
