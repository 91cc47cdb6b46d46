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
  std::string link_target{};  ///< The target of the link that they were read from, as in `served_file`.
  bool is_newer = false;      ///< They are from a newer text than the one passed to `parse`.
};

/// Caches the newest valid values of each file, and the error of a newer text. Threads: any.
class value_cache {
 public:
  /// Limits of all files together. The least recently used are removed first; larger values are not cached.
  static constexpr std::size_t max_bytes = 128u << 20;
  static constexpr std::size_t max_files = 4096;

  /// `log` receives a line when a file becomes invalid, and when it is valid again.
  value_cache(bool masks_secrets, std::function<void(const std::string&)> log, std::size_t limit = max_bytes)
      : masks_secrets_(masks_secrets), log_(std::move(log)), limit_(limit) {}

  /// The values of a file in this state, if they are cached and no change can have gone unnoticed.
  [[nodiscard]] std::optional<cached_values> find(const std::string& path, const disk::stamp& state);
  /// A number that increases with each call. Call it before reading a text from disk, and pass it to `parse`.
  [[nodiscard]] std::uint64_t next_sequence() noexcept { return last_sequence_.fetch_add(1) + 1; }
  /// Parses a text, and caches its values unless a newer text was read since `sequence`. Of concurrent reads, the file's change
  /// time decides which is newer. If the text is invalid, or seems to be incomplete, returns the last valid values with the
  /// reason. Errors: source_unavailable if there are none.
  [[nodiscard]] result<cached_values> parse(const std::string& path, located::config_format format, const file_text& text,
                                            std::uint64_t sequence);
  /// The last valid values of a file that cannot be opened; `reason` is returned with them.
  [[nodiscard]] std::optional<cached_values> last_valid(const std::string& path, const std::string& reason);
  /// Removes the values of a file that no longer exists.
  void erase(const std::string& path);

  [[nodiscard]] bool contains(const std::string& path) const;
  /// Files that cannot be read now, for display: "app.toml: line 3: …"; at most three.
  [[nodiscard]] std::vector<std::string> describe_errors() const;

 private:
  struct record {
    shared_values values;
    std::string link_target{};  ///< Of `values`.
    std::string stale_reason;
    disk::stamp state;
    bool is_racy = true;
    std::uint64_t sequence = 0;          ///< When the latest text was read.
    std::int64_t values_changed_at = 0;  ///< The change time of the file that `values` was read from.
    std::uint64_t last_used = 0;
  };
  void put(const std::string& path, record added);
  /// Handles a text that is older than the cached one.
  [[nodiscard]] cached_values accept_late(const std::string& path, record cached, record parsed);
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
