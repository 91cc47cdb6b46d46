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
struct kept {
  shared_values what;
  std::string stale;      ///< Why these are not the current values: "line 3: …"; empty if they are.
  std::string behind{};   ///< The target of the link that they were read from, as in `seen_file`.
  bool is_other = false;  ///< They are from a newer text than the one passed to `read`.
};

/// Caches the newest valid values of each file, and the error of a newer text. Threads: any.
class kept_values {
 public:
  /// Limits of all files together. The least recently used are removed first; larger values are not cached.
  static constexpr std::size_t most_bytes = 128u << 20;
  static constexpr std::size_t most_files = 4096;

  /// `log` receives a line when a file becomes invalid, and when it is valid again.
  kept_values(bool masks, std::function<void(const std::string&)> log, std::size_t most = most_bytes)
      : masks_(masks), log_(std::move(log)), most_(most) {}

  /// The values of a file in this state, if they are cached and no change can have gone unnoticed.
  [[nodiscard]] std::optional<kept> of(const std::string& path, const disk::stamp& state);
  /// A number that increases with each call. Call it before reading a text from disk, and pass it to `read`.
  [[nodiscard]] std::uint64_t turn() noexcept { return turns_.fetch_add(1) + 1; }
  /// Parses a text, and caches its values unless a newer text was read since `begun`. Of concurrent reads, the file's change
  /// time decides which is newer. If the text is invalid, or seems to be incomplete, returns the last valid values with the
  /// reason. Errors: source_unavailable if there are none.
  [[nodiscard]] result<kept> read(const std::string& path, located::format how, const file_text& text, std::uint64_t begun);
  /// The last valid values of a file that cannot be opened; `why` is returned with them.
  [[nodiscard]] std::optional<kept> before(const std::string& path, const std::string& why);
  /// Removes the values of a file that no longer exists.
  void forget(const std::string& path);

  [[nodiscard]] bool knows(const std::string& path) const;
  /// Files that cannot be read now, for display: "app.toml: line 3: …"; at most three.
  [[nodiscard]] std::vector<std::string> troubles() const;

 private:
  struct record {
    shared_values good;
    std::string behind{};  ///< Of `good`.
    std::string stale;
    disk::stamp state;
    bool is_racy = true;
    std::uint64_t turn = 0;         ///< When the latest text was read.
    std::int64_t good_changed = 0;  ///< The change time of the file that `good` was read from.
    std::uint64_t used = 0;
  };
  void put(const std::string& path, record one);
  /// Handles a text that is older than the cached one.
  [[nodiscard]] kept late(const std::string& path, record known, record made);
  void make_room(const std::string& for_path);

  const bool masks_;
  const std::function<void(const std::string&)> log_;
  const std::size_t most_;
  mutable std::mutex mutex_;
  std::map<std::string, record, std::less<>> records_;
  std::size_t bytes_ = 0;
  std::uint64_t uses_ = 0;
  std::atomic<std::uint64_t> turns_{0};
};

}  // namespace hondana::config_files
