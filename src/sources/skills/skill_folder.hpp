/// Folders of skills on disk: scanning and opening their files, and the latest collection made from them.
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

/// A regular file below a folder; `path` is relative to it.
struct scanned_file {
  std::string path;
  disk::stamp stamp;

  bool operator==(const scanned_file&) const = default;
};

/// The result of a walk, in no particular order.
struct walk_result {
  std::vector<scanned_file> files;
  std::vector<omitted_entry> omitted;
  std::int64_t latest_ctime = 0;  ///< Latest ctime of any folder, in nanoseconds since 1970, taken when the walk left it.
};

/// An open regular file, with its stamp at that time.
struct opened_file {
  disk::handle file;
  disk::stamp stamp;
  bool masks = false;  ///< Secrets are masked before the bytes are used in any other way.
};

/// One folder, opened once, and opened again when its path names another folder. No call follows symbolic links below it. While
/// the path does not name a folder, all calls fail with source_unavailable. Threads: any.
class folder {
 public:
  /// `own_files`: absolute paths, with links resolved, of the server's own files. They are treated as missing, and so are files
  /// named like their locks, older versions and copies.
  /// Errors: source_unavailable for a path that is not a folder or cannot be opened.
  [[nodiscard]] static result<folder> open(const std::string& path, std::vector<std::string> own_files = {});

  [[nodiscard]] const std::string& path() const noexcept { return path_; }

  /// Lists everything below, except names that begin with a dot. Leaves out entries that are neither file nor folder, that
  /// cannot be opened, or that are nested deeper than 32 levels. Also leaves out everything after the first 100 000 files.
  /// `on_enter_folder` (may be empty) is called with each folder's path and descriptor before it is read.
  /// Errors: cancelled, timed_out, source_unavailable.
  [[nodiscard]] result<walk_result> walk(const request_context& request,
                                         const std::function<void(const std::string&, int)>& on_enter_folder = {}) const;

  /// Errors: resource_not_found, access_denied, source_unavailable.
  [[nodiscard]] result<opened_file> open_file(std::string_view path) const;
  /// Whether something with this name exists. Also true if that cannot be determined.
  [[nodiscard]] bool may_contain(std::string_view path) const;

 private:
  /// The open folder. Shared with calls that began before it was opened again.
  struct open_folder {
    disk::handle handle;
    disk::own_files own_files;
  };
  struct root_state {
    std::mutex mutex;
    std::shared_ptr<const open_folder> current;
  };
  folder(std::string path, std::vector<std::string> own_files, disk::handle root);
  [[nodiscard]] std::shared_ptr<const open_folder> make_open_folder(disk::handle root) const;
  [[nodiscard]] result<std::shared_ptr<const open_folder>> root() const;
  [[nodiscard]] result<disk::handle> open_at(const open_folder& base, std::string_view path, int flags) const;

  std::string path_;
  std::vector<std::string> own_files_;
  std::unique_ptr<root_state> root_state_;
};

/// Reads into `buffer` from `offset`. Returns fewer bytes only at the end of the file. Errors: source_unavailable.
[[nodiscard]] result<std::size_t> read_at(int file, std::span<char> buffer, std::uint64_t offset);

/// Caches the latest collection. A refresh costs one `stat` per file; only files that changed are read. Threads: any.
class collection_cache {
 public:
  /// Among folders that contain the same top-level name, the first wins. `log` receives a line for each skill that is left out.
  /// `masks`: secrets in files are masked, so digests are those of the masked content.
  collection_cache(std::string prefix, std::vector<folder> folders, std::function<void(std::string_view)> log,
                   bool masks = true);

  /// The collection that matches the folders now. Concurrent callers share one scan.
  /// Errors: cancelled, timed_out, source_unavailable.
  [[nodiscard]] result<std::shared_ptr<const collection>> refresh(const request_context& request);
  /// Sets the listener for changes that a refresh finds; null: none.
  void set_listener(std::shared_ptr<change_listener> listener);
  /// From now on, changes of the list before the first refresh are reported, too.
  void watch_list();
  /// `on_enter_folder` is called before a folder is read, with its index among the folders, its path below that, and a
  /// descriptor. Call this before any other method.
  void set_folder_listener(std::function<void(std::size_t, const std::string&, int)> on_enter_folder) {
    on_enter_folder_ = std::move(on_enter_folder);
  }
  /// Stops logging. When this returns, the log is no longer used and may be destroyed.
  void disable_log();
  /// The latest collection; null before the first refresh.
  [[nodiscard]] std::shared_ptr<const collection> latest() const;

  /// Opens a file by its path in a collection. Errors: as `folder::open_file`.
  [[nodiscard]] result<opened_file> open_file(std::string_view path) const;

  /// Whether something that could be served exists at a path of a collection. Does not scan the folders.
  [[nodiscard]] bool may_contain(std::string_view path) const;
  /// When the latest collection was last found to match the folders.
  [[nodiscard]] std::chrono::steady_clock::time_point last_checked_at() const;
  /// The digest of a file of a collection. Empty if it is unknown, or if the file may have changed since.
  [[nodiscard]] std::string digest_of(const std::string& path, const disk::stamp& stamp) const;

  [[nodiscard]] const std::vector<folder>& folders() const noexcept { return folders_; }
  [[nodiscard]] bool masks() const noexcept { return masks_; }

 private:
  /// A file and the result of reading it.
  struct record {
    disk::stamp stamp;
    std::shared_ptr<const file_summary> summary;
    bool is_racy = false;  ///< It may have changed since without a new stamp, so it must be read again.
  };
  /// The state of all folders at one moment, by path in the collection.
  struct snapshot {
    std::map<std::string, disk::stamp, std::less<>> files;
    std::map<std::string, std::size_t, std::less<>> owners;  // index of the folder by top-level name
    std::vector<omitted_entry> omitted;

    bool operator==(const snapshot&) const = default;
  };

  [[nodiscard]] std::string with_prefix(std::string_view path) const;
  [[nodiscard]] result<snapshot> scan(const request_context& request);
  /// Logs once that a folder cannot be scanned, and once that it can be scanned again.
  void report_folder(std::size_t index, const result<walk_result>& walked);
  [[nodiscard]] bool has_racy() const;
  result<std::shared_ptr<const file_summary>> summarize_file(const candidate_file& file, const request_context& request);
  void log_omitted(const collection& collection);
  void log_line(const std::string& line);

  const std::string prefix_;
  const std::vector<folder> folders_;
  const std::function<void(std::string_view)> log_;
  const bool masks_;
  std::function<void(std::size_t, const std::string&, int)> on_enter_folder_;
  std::mutex log_mutex_;
  bool is_log_disabled_ = false;

  std::timed_mutex scan_mutex_;  // held during a scan
  std::chrono::steady_clock::time_point last_scan_start_;
  snapshot last_scan_;
  std::int64_t latest_ctime_ = 0;  // latest ctime of a folder that a scan has seen
  std::vector<omitted_entry> logged_omitted_;
  std::vector<bool> is_unreachable_;  // by index of the folder

  mutable std::mutex mutex_;
  std::map<std::string, std::size_t, std::less<>> owners_;  // as of the latest scan
  std::map<std::string, record> records_;                   // written only while `scan_mutex_` is held, too
  std::shared_ptr<const collection> latest_;
  std::chrono::steady_clock::time_point checked_at_;
  std::shared_ptr<change_listener> listener_;
  std::optional<std::int64_t> watched_since_;  // by `wall_clock`; absent: no client watches the list
};

/// Reads an open file to its end: digests it and, for a SKILL.md, parses the front matter. Errors: as `read_at`, cancelled,
/// timed_out.
[[nodiscard]] result<file_summary> summarize(const opened_file& file, std::string_view path, const request_context& request);

}  // namespace hondana::skills
