/// Folders of skills on disk: walking and opening their files, and the latest collection made from them.
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <hondana/provider.hpp>

#include "os/disk/file_descriptor.hpp"
#include "os/disk/file_stamp.hpp"
#include "os/disk/private_file.hpp"
#include "sources/skills/skill_collection.hpp"

namespace hondana::skills {

/// A regular file below a folder; the path is relative to it.
struct seen_file {
  std::string path;
  disk::stamp state;

  bool operator==(const seen_file&) const = default;
};

/// What a walk found, in no order.
struct walked {
  std::vector<seen_file> files;
  std::vector<omission> left_out;
  std::int64_t changed = 0;  ///< When the folder that had changed last had, by the kernel's clock, as each was left.
};

/// An open regular file, with its state when it was opened.
struct opened_file {
  disk::handle file;
  disk::stamp state;
  bool masks = false;  ///< Its secrets are masked before anything else is done with it.
};

/// One folder, opened once, and again when its path has come to name another. Symbolic links below it are not followed, by no
/// call. While there is no folder at its path, all calls fail with source_unavailable. Threads: any.
class folder {
 public:
  /// Errors: source_unavailable for what is no folder or cannot be opened.
  /// `kept_back`: absolute paths, links resolved, of files that are as if they were not there, with those that are named like
  /// them.
  [[nodiscard]] static result<folder> open(const std::string& path, std::vector<std::string> kept_back = {});

  [[nodiscard]] const std::string& path() const noexcept { return path_; }

  /// Everything below, but names that begin with a dot. What is no file and no folder, cannot be opened, lies deeper than 32
  /// levels or beyond the first 100 000 files is left out. Errors: cancelled, timed_out, source_unavailable.
  /// `entering` (may be empty) is called with each folder's path and a descriptor of it before it is read.
  [[nodiscard]] result<walked> walk(const call& by, const std::function<void(const std::string&, int)>& entering = {}) const;

  /// Errors: resource_not_found, access_denied, source_unavailable.
  [[nodiscard]] result<opened_file> open_file(std::string_view below) const;
  /// Whether there is anything of this name, or that cannot be told.
  [[nodiscard]] bool may_hold(std::string_view below) const;

 private:
  /// What is open; shared with calls that began before it was opened again.
  struct place {
    disk::handle at;
    disk::own_files own;
  };
  struct top {
    std::mutex mutex;
    std::shared_ptr<const place> now;
  };
  folder(std::string path, std::vector<std::string> kept_back, disk::handle root);
  [[nodiscard]] std::shared_ptr<const place> hold(disk::handle root) const;
  [[nodiscard]] result<std::shared_ptr<const place>> root() const;
  [[nodiscard]] result<disk::handle> open_at(const place& in, std::string_view below, int flags) const;

  std::string path_;
  std::vector<std::string> kept_back_;
  std::unique_ptr<top> top_;
};

/// Fills `into` from `offset`; less only where the file ends. Errors: source_unavailable.
[[nodiscard]] result<std::size_t> read_at(int file, std::span<char> into, std::uint64_t offset);

/// Keeps the newest collection. Looking anew costs a look at each file's inode; only files that changed are read.
/// Threads: any.
class shelf {
 public:
  /// Of folders that have the same names at their top, the first wins. `log` receives a line for each skill that is left out.
  /// `masks`: secrets are masked in the files, so that digests are of what is sent.
  shelf(std::string prefix, std::vector<folder> folders, std::function<void(std::string_view)> log, bool masks = true);

  /// The collection as the folders are now; made by one caller for all who wait. Errors: cancelled, timed_out,
  /// source_unavailable.
  [[nodiscard]] result<std::shared_ptr<const collection>> refreshed(const call& by);
  /// From now on tells of changes, when looking anew finds them; null: to nobody.
  void watch(std::shared_ptr<change_listener> to);
  /// From now on tells, too, of what changes in the list before the first look.
  void attach_list();
  /// `entering` is called for every folder that is looked at, with its place among the folders, its path below that and a
  /// descriptor, before it is read. Call before anything else.
  void cover_with(std::function<void(std::size_t, const std::string&, int)> entering) { entering_ = std::move(entering); }
  /// The log may be gone from now on: nothing is written to it any more, when this returns.
  void be_silent();
  /// The newest one that was made; null before the first.
  [[nodiscard]] std::shared_ptr<const collection> latest() const;

  /// Opens a file of a collection by its path there. Errors: as `folder::open_file`.
  [[nodiscard]] result<opened_file> open_file(std::string_view path) const;

  /// Whether something that could be served at a path of a collection is there; does without a walk.
  [[nodiscard]] bool may_hold(std::string_view path) const;
  /// When the newest collection was last found to be what the folders hold.
  [[nodiscard]] std::chrono::steady_clock::time_point looked_at_last() const;
  /// The digest of a file of a collection, when it is known and cannot have changed since; else empty.
  [[nodiscard]] std::string digest_of(const std::string& path, const disk::stamp& state) const;

  [[nodiscard]] const std::vector<folder>& folders() const noexcept { return folders_; }
  [[nodiscard]] bool masks() const noexcept { return masks_; }

 private:
  /// A file with what reading it through gave.
  struct record {
    disk::stamp state;
    std::shared_ptr<const looked_at> known;
    bool is_racy = false;  ///< It may have changed since without a trace, and is read again.
  };
  /// What the folders hold at one moment, by the paths of the collection.
  struct snapshot {
    std::map<std::string, disk::stamp, std::less<>> files;
    std::map<std::string, std::size_t, std::less<>> owners;  // by name at the top, the place among the folders
    std::vector<omission> left_out;

    bool operator==(const snapshot&) const = default;
  };

  [[nodiscard]] std::string with_prefix(std::string_view path) const;
  [[nodiscard]] result<snapshot> look(const call& by);
  /// Tells once of each folder that it cannot be looked at, and then that it can.
  void tell_of(std::size_t place, const result<walked>& found);
  [[nodiscard]] bool has_racy() const;
  result<std::shared_ptr<const looked_at>> read_through(const found_file& file, const call& by);
  void tell(const collection& made);
  void say(const std::string& line);

  const std::string prefix_;
  const std::vector<folder> folders_;
  const std::function<void(std::string_view)> log_;
  const bool masks_;
  std::function<void(std::size_t, const std::string&, int)> entering_;
  std::mutex log_mutex_;
  bool is_silent_ = false;

  std::timed_mutex looking_;  // held while the folders are looked at
  std::chrono::steady_clock::time_point begun_;
  snapshot seen_;
  std::int64_t folders_changed_ = 0;  // the latest change of one, as far as looks have seen
  std::vector<omission> told_;
  std::vector<bool> is_out_of_reach_;  // by the folder's place

  mutable std::mutex mutex_;
  std::map<std::string, std::size_t, std::less<>> owners_;  // as in the latest look
  std::map<std::string, record> records_;                   // changed only while `looking_` is held, too
  std::shared_ptr<const collection> latest_;
  std::chrono::steady_clock::time_point looked_at_;
  std::shared_ptr<change_listener> listener_;
  std::optional<std::int64_t> told_since_;  // by `wall_clock`; absent: nobody hears of the list
};

/// Reads an open file to the end: its digest, and of a SKILL.md the frontmatter. Errors: as `read_at`, cancelled, timed_out.
[[nodiscard]] result<looked_at> look_at(const opened_file& file, std::string_view path, const call& by);

}  // namespace hondana::skills
