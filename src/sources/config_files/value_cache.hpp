/// Caches the last valid values of each file.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <hondana/error.hpp>

#include "os/disk/file_stamp.hpp"
#include "sources/config_files/config_folder.hpp"
#include "sources/config_files/masked_values.hpp"
#include "text/located/format.hpp"

namespace hondana::config_files {

/// The values of a file.
struct cached_values {
  shared_values values;
  std::string stale_reason;   ///< Why these are not the current values: "line 3: …"; empty if they are.
  std::string link_target{};  ///< As in `served_file`, for the file when these values were read.
  bool is_newer = false;      ///< They are from a newer text than the one passed to `parse`.
};

/// Caches the newest valid values of each file, and why a newer text is invalid. Files are identified by the path that they are
/// served by. Threads: any.
class value_cache {
 public:
  /// Limits of all files together. The least recently used are removed first; larger values are not cached.
  static constexpr std::size_t max_bytes = 128u << 20;
  static constexpr std::size_t max_files = 4096;

  /// `log`: receives a line when a file becomes invalid, and when it is valid again; may be empty. `limit`: in bytes.
  value_cache(bool masks_secrets, std::function<void(const std::string&)> log, std::size_t limit = max_bytes)
      : masks_secrets_(masks_secrets), log_(std::move(log)), limit_(limit) {}

  /// The values of a file with this stamp, which may be older if the text with this stamp is invalid. Nothing if they are not
  /// cached, or the stamp was racy.
  [[nodiscard]] std::optional<cached_values> find(const std::string& path, const disk::stamp& state);
  /// A number that increases with each call. Callers must call it before they read a text from disk, and pass it to `parse`.
  [[nodiscard]] std::uint64_t next_sequence() noexcept { return last_sequence_.fetch_add(1) + 1; }
  /// Parses a text, and caches its values. If it is invalid, or seems to be incomplete, returns the last valid values with the
  /// reason. Another call may have cached a text since `sequence`; if its ctime is later, it stays cached. Errors:
  /// source_unavailable if there are no valid values.
  [[nodiscard]] result<cached_values> parse(const std::string& path, located::config_format format, const file_text& text,
                                            std::uint64_t sequence);
  /// The last valid values of a file that cannot be read, with `reason` as their `stale_reason`, which is also logged. Nothing
  /// if none are cached.
  [[nodiscard]] std::optional<cached_values> last_valid(const std::string& path, const std::string& reason);
  /// Removes the values of a file that no longer exists.
  void erase(const std::string& path);

  /// Whether values of a file, or an error, are cached.
  [[nodiscard]] bool contains(const std::string& path) const;
  /// Files that cannot be read now, for people: "app.toml: line 3: …"; at most three.
  [[nodiscard]] std::vector<std::string> describe_errors() const;

 private:
  /// What is cached for a file.
  struct record {
    shared_values values;                ///< The last valid ones; null: none.
    std::string link_target{};           ///< Of the file when `values` were read.
    std::string stale_reason;            ///< Empty: `values` are from the latest text.
    disk::stamp state;                   ///< Of the file when the latest text was read.
    bool is_racy = true;                 ///< Whether the latest text must be read again.
    std::uint64_t sequence = 0;          ///< When the latest text was cached.
    std::int64_t values_changed_at = 0;  ///< The ctime of the file when `values` were read.
    std::uint64_t last_used = 0;
  };
  void put(const std::string& path, record added);
  /// Handles a text that is older than the cached one.
  [[nodiscard]] cached_values accept_late(const std::string& path, record cached, record parsed);
  /// Removes the least recently used files, but not `added_path`, until the limits are met.
  void evict(const std::string& added_path);

  const bool masks_secrets_;
  const std::function<void(const std::string&)> log_;
  const std::size_t limit_;
  mutable std::mutex mutex_;
  std::map<std::string, record, std::less<>> records_;
  std::size_t bytes_ = 0;
  std::uint64_t use_count_ = 0;
  std::atomic<std::uint64_t> last_sequence_{0};
};

}  // namespace hondana::config_files
