/// The files of a log while one request reads them, and cursors that find a place again after rotation.
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

#include "base/bytes/digest.hpp"
#include "sources/logs/records/file_content.hpp"
#include "sources/logs/records/framing.hpp"
#include "sources/logs/records/masked_window.hpp"
#include "sources/logs/records/rotated_files.hpp"

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

/// Everything that is older than a place in a member.
struct position {
  std::uint64_t device = 0;
  std::uint64_t inode = 0;
  std::uint64_t front_bytes = 0;  ///< Of the member's front, `telling_bytes` at most,
  bytes::digest front{};          ///< and their digest.
  std::uint64_t end = 0;          ///< Records that end there, or before, are wanted;
  std::uint64_t scanned = 0;      ///< from here up to `end` none begins.
  bytes::digest before{};         ///< Of up to `anchor_bytes` before `end`.

  static constexpr std::uint64_t anchor_bytes = 256;
};

[[nodiscard]] std::string to_text(const position& at);
/// Nothing for what `to_text` does not give.
[[nodiscard]] std::optional<position> position_in(std::string_view text);

/// Errors: content_changed when the member is shorter by now, source_unavailable.
[[nodiscard]] result<position> position_at(const member& in, std::uint64_t end, std::uint64_t scanned);

/// Whether a member's front is that of the place.
[[nodiscard]] bool may_hold(const opened_file& one, const position& at) noexcept;
/// Whether it is that very place.
[[nodiscard]] result<bool> holds(const member& one, const position& at);

/// Opens them as they are asked for and has few open at once. Threads: one at a time.
class opened_set {
 public:
  opened_set(listed_set all, members& with, const call& by, bool redact)
      : all_(std::move(all)), with_(with), by_(by), redact_(redact) {}

  [[nodiscard]] std::size_t size() const noexcept { return all_.files.size(); }
  [[nodiscard]] const listed_file& listed(std::size_t which) const { return all_.files[which]; }
  [[nodiscard]] const listed_set& all() const noexcept { return all_; }

  /// Errors: access_denied, source_unavailable, and content_changed where it is not there any more under its name.
  [[nodiscard]] result<opened_file> open(std::size_t which);
  /// Errors: as `open` and `members::unpack`.
  [[nodiscard]] result<std::shared_ptr<const member>> get(std::size_t which);
  /// A window onto a member of this set, which it must not outlive.
  [[nodiscard]] window window_onto(std::size_t which, const member& of);

  struct place {
    std::size_t which = 0;
    std::shared_ptr<const member> in{};
  };
  /// Where a cursor leads to; nothing where that has gone, and then `why` says how. Errors: as `get`.
  [[nodiscard]] result<std::optional<place>> find(const position& at, std::string& why);

  /// Whether a member is what is being copied of the one that is written, before that is truncated (`copytruncate`): made later
  /// than it, and how it begins.
  [[nodiscard]] result<bool> is_copy(std::size_t which, const member& newer);

 private:
  /// What stands before `of`, which is that member's content.
  [[nodiscard]] result<std::string> before(std::size_t which, const content& of, std::size_t most);
  /// Whether a key that began somewhere before would go on in `of`, with so much between.
  [[nodiscard]] static result<bool> may_go_on(const content& of, const std::string& between);
  [[nodiscard]] bool is_empty(std::size_t which) const { return all_.files[which].facts.size == 0; }
  [[nodiscard]] result<std::string> behind(std::size_t which, std::size_t most);

  const listed_set all_;
  members& with_;
  const call& by_;
  const bool redact_;
  std::map<std::size_t, std::shared_ptr<const member>> open_;
};

}  // namespace hondana::records
