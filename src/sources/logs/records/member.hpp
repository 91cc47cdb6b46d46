/// A file of a log, opened to be read.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <tuple>

#include <hondana/error.hpp>
#include <hondana/provider.hpp>

#include "sources/logs/records/content.hpp"
#include "sources/logs/records/file_set.hpp"
#include "sources/logs/records/framing.hpp"
#include "sources/logs/records/unpacked_files.hpp"

namespace hondana::records {

/// So much of its front says which file it is, wherever it is moved and however it is compressed.
inline constexpr std::size_t telling_bytes = 4096;

/// What can be said of a member before it is unpacked.
struct opened_file {
  listed_file listed{};
  std::shared_ptr<const disk::handle> file{};
  compression how = compression::none;
  std::string front{};  ///< The first `telling_bytes` of what it holds.
};

/// One whose bytes are at hand.
struct member {
  opened_file of{};
  std::shared_ptr<const content> bytes{};
  std::uint64_t end = 0;  ///< Behind its last record; a line that is still being written is behind that.
  framing frame{};
  time_reader times{};
  std::string trouble{};  ///< Why not all of it can be read; empty: it can.
};

/// Opens members of one log. Threads: any.
class members {
 public:
  members(framing_choice how, zone in, std::uint64_t most_of_one, std::uint64_t most_kept)
      : framing_(std::move(how)), zone_(in), unpacked_(most_of_one, most_kept) {}

  /// Errors: as `open_listed`.
  [[nodiscard]] result<opened_file> open(const listed_set& in, const listed_file& which);
  /// Errors: those of `unpacked_files::get`.
  [[nodiscard]] result<member> unpack(opened_file of, const call& by);
  [[nodiscard]] const unpacked_files& unpacked() const noexcept { return unpacked_; }

 private:
  [[nodiscard]] std::string front_of(const opened_file& of);

  const framing_choice framing_;
  const zone zone_;
  unpacked_files unpacked_;
  std::mutex mutex_;
  using key = std::tuple<std::uint64_t, std::uint64_t, std::uint64_t, std::int64_t>;
  std::map<key, std::string> fronts_;  // of compressed files
};

/// A line without its end counts once nothing has been written for so long: half a line may be half a secret.
inline constexpr std::int64_t line_settles_after = 2'000'000'000;  // nanoseconds

/// Whether the last line has no end yet.
[[nodiscard]] bool is_open_ended(int file, std::uint64_t size) noexcept;

}  // namespace hondana::records
