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

#include <hondana/capabilities.hpp>
#include <hondana/provider.hpp>

#include "os/disk/file_descriptor.hpp"
#include "os/disk/file_stamp.hpp"
#include "os/disk/served_dir.hpp"
#include "sources/skills/skill_collection.hpp"

namespace hondana::skills {

/// A regular file that a walk found.
struct scanned_file {
  std::string path;  ///< Relative to the folder that was walked.
  disk::stamp stamp;

  bool operator==(const scanned_file&) const = default;
};

/// The result of a walk, in no particular order.
struct walk_result {
  std::vector<scanned_file> files;
  std::vector<omitted_entry> omitted;
  std::int64_t latest_ctime = 0;  ///< The latest ctime of all folders, each when the walk left it. Nanoseconds since 1970.
};

/// An open regular file.
struct opened_file {
  disk::handle file;
  disk::stamp stamp;   ///< When it was opened.
  bool masks = false;  ///< Readers must mask secrets in the bytes before they use them.
};

/// A folder of skills. It is opened once, and again when its path names another folder. No call follows symbolic links in it.
/// While the path does not name a folder, `walk` and `open_file` fail with source_unavailable. Threads: any.
class folder {
 public:
  /// `own_files`: absolute paths, with links resolved, of the server's own files. They are never served, nor are their locks,
  /// older versions and copies. Errors: source_unavailable if `path` is not a folder or cannot be opened.
  [[nodiscard]] static result<folder> open(const std::string& path, std::vector<std::string> own_files = {});

  [[nodiscard]] const std::string& path() const noexcept { return dir_.path(); }

  /// Lists everything in the folder and below. Names with a leading dot are skipped. `walk_result::omitted` has everything else
  /// that is left out: links and other special files, own files, and entries that cannot be accessed. Also entries that are
  /// deeper than 32 levels, or come after the first 100,000 files.
  ///
  /// `on_enter_folder`: called with the path (empty: the folder itself) and descriptor of each folder before it is read; may be
  /// empty. Errors: cancelled, timed_out, source_unavailable.
  [[nodiscard]] result<walk_result> walk(const request_context& request,
                                         const std::function<void(const std::string&, int)>& on_enter_folder = {}) const;

  /// Opens a regular file by its path relative to the folder. Errors: resource_not_found, access_denied, source_unavailable.
  [[nodiscard]] result<opened_file> open_file(std::string_view path) const;
  /// Whether anything but an own file exists at this path, or that cannot be determined.
  [[nodiscard]] bool may_contain(std::string_view path) const;

 private:
  explicit folder(disk::served_dir dir) noexcept : dir_(std::move(dir)) {}
  /// The folder that the path names now. Errors: source_unavailable.
  [[nodiscard]] result<std::shared_ptr<const disk::served_dir::opened>> current() const;

  disk::served_dir dir_;
};

/// Converts the errno of a failed read of an open file.
[[nodiscard]] tl::unexpected<failure> read_failure(int error);
/// Reads into `buffer` from `offset`. Returns fewer bytes only at the end of the file. Errors: source_unavailable.
[[nodiscard]] result<std::size_t> read_at(int file, std::span<char> buffer, std::uint64_t offset);

/// Caches the latest collection of some folders. A refresh costs one `stat` per file, and reads only files that may have
/// changed. Threads: any.
class collection_cache {
 public:
  /// `prefix`: as for `collection::build`. `folders`: if several contain the same top-level name, it is served from the first.
  /// `log`: receives a line for each skill that is left out; may be empty. `masks`: whether to mask secrets; then digests are
  /// those of the masked bytes.
  collection_cache(std::string prefix, std::vector<folder> folders, std::function<void(std::string_view)> log,
                   bool masks = true);

  /// Makes a collection of the current state of the folders, and notifies the listener of changes since the last one. Callers
  /// that wait for the same scan share its result. Errors: cancelled, timed_out, source_unavailable if one of the folders
  /// cannot be read.
  [[nodiscard]] result<std::shared_ptr<const collection>> refresh(const request_context& request);
  /// Sets the listener for changes that `refresh` finds; null: none.
  void set_listener(std::shared_ptr<change_listener> listener);
  /// Has the first `refresh` notify the listener that the list has changed, if a folder has changed since this call. Later
  /// changes are notified in any case.
  void watch_list();
  /// Sets a function that scans call before a folder is read: with the index in `folders`, the path in that folder, and the
  /// descriptor. Must be called before any other method.
  void set_folder_listener(std::function<void(std::size_t, const std::string&, int)> on_enter_folder) {
    on_enter_folder_ = std::move(on_enter_folder);
  }
  /// Stops logging. When this returns, the log is no longer used and may be destroyed.
  void disable_log();
  /// The latest collection; null before the first refresh.
  [[nodiscard]] std::shared_ptr<const collection> latest() const;

  /// Opens a file by its path in a collection, which must begin with the prefix. Errors: as `folder::open_file`.
  [[nodiscard]] result<opened_file> open_file(std::string_view path) const;

  /// Whether something that could be served may exist at a path in a collection. Does not scan the folders.
  [[nodiscard]] bool may_contain(std::string_view path) const;
  /// When the latest collection was last found to match the folders; the epoch before the first refresh.
  [[nodiscard]] std::chrono::steady_clock::time_point last_checked_at() const;
  /// The digest of a file by its path in a collection. Empty if the last scan found no such file, found another stamp, or read
  /// the file while that was racy.
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
    std::map<std::string, std::size_t, std::less<>> owners;  // by top-level name: the index of the folder it is served from
    std::vector<omitted_entry> omitted;

    bool operator==(const snapshot&) const = default;
  };

  [[nodiscard]] std::string with_prefix(std::string_view path) const;
  [[nodiscard]] result<snapshot> scan(const request_context& request);
  /// Logs once that a folder cannot be scanned, and once that it can be scanned again.
  void report_folder(std::size_t index, const result<walk_result>& walked);
  /// Whether a file must be read again by the next refresh.
  [[nodiscard]] bool has_racy() const;
  /// The summary of a file of `last_scan_`, from `records_` if that is still valid.
  result<std::shared_ptr<const file_summary>> summarize_file(const candidate_file& file, const request_context& request);
  /// Logs each skill that is left out, unless the last collection left it out for the same reason.
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
  std::vector<bool> is_unreachable_;  // by index of the folder: whether the last scan failed

  mutable std::mutex mutex_;
  std::map<std::string, std::size_t, std::less<>> owners_;  // as of the latest scan
  std::map<std::string, record> records_;                   // written only while `scan_mutex_` is held, too
  std::shared_ptr<const collection> latest_;
  std::chrono::steady_clock::time_point checked_at_;
  std::shared_ptr<change_listener> listener_;
  std::optional<std::int64_t> watched_since_;  // the first `watch_list`, by `disk::wall_clock`; absent: none
};

/// Summarizes an open file: reads it to its end, but not much more than `max_skill_bytes`, and masks secrets if `file.masks`.
/// Errors: those of `read_at`, cancelled, timed_out.
[[nodiscard]] result<file_summary> summarize(const opened_file& file, std::string_view path, const request_context& request);

}  // namespace hondana::skills
