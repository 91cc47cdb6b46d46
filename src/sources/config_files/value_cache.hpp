/// The cache of the last values of each file that could be read.
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

/// What a file says, or said.
struct kept {
  shared_values what;
  std::string stale;      ///< Why this is not what is there now: "line 3: …"; empty when it is.
  std::string behind{};   ///< Of where it was read from, as in `seen_file`.
  bool is_other = false;  ///< It is of a newer text than the one that was to be read.
};

/// Keeps the newest good values of each file, and what is wrong with what has come since. Threads: any.
class kept_values {
 public:
  /// All files together; beyond, those are let go of that were asked for the longest ago, and one that is larger is not kept.
  static constexpr std::size_t most_bytes = 128u << 20;
  static constexpr std::size_t most_files = 4096;

  /// `log` receives a line when a file cannot be read any more, and when it can again.
  kept_values(bool masks, std::function<void(const std::string&)> log, std::size_t most = most_bytes)
      : masks_(masks), log_(std::move(log)), most_(most) {}

  /// The values of a file whose state is this, if they are known and no change can have gone unnoticed.
  [[nodiscard]] std::optional<kept> of(const std::string& path, const disk::stamp& state);
  /// To be asked for before a text is read from the disk.
  [[nodiscard]] std::uint64_t turn() noexcept { return turns_.fetch_add(1) + 1; }
  /// Reads a text, which does not take the place of a newer one that has been read since its turn began: of readings at the
  /// same time the file's change time says which is newer. Where it cannot be read,
  /// or seems to be about to be written, what was there before with the reason. Errors: source_unavailable, when there was
  /// nothing before.
  [[nodiscard]] result<kept> read(const std::string& path, located::format how, const file_text& text, std::uint64_t begun);
  /// The last good values, for what cannot be opened any more; `why` goes with them.
  [[nodiscard]] std::optional<kept> before(const std::string& path, const std::string& why);
  /// The file is gone: so is what it said.
  void forget(const std::string& path);

  [[nodiscard]] bool knows(const std::string& path) const;
  /// What cannot be read now, for people: "app.toml: line 3: …"; at most three.
  [[nodiscard]] std::vector<std::string> troubles() const;

 private:
  struct record {
    shared_values good;
    std::string behind{};  ///< Of what is good.
    std::string stale;
    disk::stamp state;
    bool is_racy = true;
    std::uint64_t turn = 0;         ///< When the latest reading was done.
    std::int64_t good_changed = 0;  ///< When the file had changed that was good.
    std::uint64_t used = 0;
  };
  void put(const std::string& path, record one);
  /// What a text says that was read before another which is known already.
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
