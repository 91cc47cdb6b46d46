/// The files of a log during one request, and cursors that remain valid after rotation.
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

/// So many bytes at the beginning of the contents identify a file, even after it is renamed or compressed.
inline constexpr std::size_t telling_bytes = 4096;

/// An open file, before decompression.
struct opened_file {
  listed_file listed{};
  std::shared_ptr<const disk::handle> file{};
  compression how = compression::none;
  std::string front{};  ///< The first `telling_bytes` of its contents.
};

/// A file of a log, ready to read.
struct member {
  opened_file of{};
  std::shared_ptr<const content> bytes{};
  std::uint64_t end = 0;  ///< End of the last complete record. A line that is still being written begins here.
  framing frame{};
  time_reader times{};
  std::string trouble{};  ///< Why the contents are incomplete. Empty: they are complete.
};

/// Opens the files of one log. Threads: any.
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

/// A last line without a line end counts as complete if nothing was written for this long: half a line may contain half a
/// secret.
inline constexpr std::int64_t line_settles_after = 2'000'000'000;  // nanoseconds

/// Whether the last line does not have a line end yet.
[[nodiscard]] bool is_open_ended(int file, std::uint64_t size) noexcept;

/// A place in a log, for cursors: all older records are still to be read.
struct position {
  std::uint64_t device = 0;
  std::uint64_t inode = 0;
  std::uint64_t front_bytes = 0;  ///< Length of the identifying beginning of the contents, at most `telling_bytes`.
  bytes::digest front{};          ///< Digest of this beginning.
  std::uint64_t end = 0;          ///< Records that end here or earlier are wanted.
  std::uint64_t scanned = 0;      ///< No record begins from here to `end`.
  bytes::digest before{};         ///< Digest of up to `anchor_bytes` before `end`.

  static constexpr std::uint64_t anchor_bytes = 256;
};

[[nodiscard]] std::string to_text(const position& at);
/// Parses the result of `to_text`. Returns nothing for other texts.
[[nodiscard]] std::optional<position> position_in(std::string_view text);

/// Errors: content_changed if the file has become shorter, source_unavailable.
[[nodiscard]] result<position> position_at(const member& in, std::uint64_t end, std::uint64_t scanned);

/// Whether a file begins like that of the position.
[[nodiscard]] bool may_hold(const opened_file& one, const position& at) noexcept;
/// Whether a file has the position, by the contents before it.
[[nodiscard]] result<bool> holds(const member& one, const position& at);

/// Opens the files of a listing on demand, with only a few open at a time. Threads: one at a time.
class opened_set {
 public:
  opened_set(listed_set all, members& with, const call& by, bool redact)
      : all_(std::move(all)), with_(with), by_(by), redact_(redact) {}

  [[nodiscard]] std::size_t size() const noexcept { return all_.files.size(); }
  [[nodiscard]] const listed_file& listed(std::size_t which) const { return all_.files[which]; }
  [[nodiscard]] const listed_set& all() const noexcept { return all_; }

  /// Errors: access_denied, source_unavailable. content_changed if the name does not exist any more.
  [[nodiscard]] result<opened_file> open(std::size_t which);
  /// Errors: as `open` and `members::unpack`.
  [[nodiscard]] result<std::shared_ptr<const member>> get(std::size_t which);
  /// A window onto a file of this set. The window must not outlive the set.
  [[nodiscard]] window window_onto(std::size_t which, const member& of);

  struct place {
    std::size_t which = 0;
    std::shared_ptr<const member> in{};
  };
  /// Finds the place of a cursor. Returns nothing if it is lost; `why` then has the reason. Errors: as `get`.
  [[nodiscard]] result<std::optional<place>> find(const position& at, std::string& why);

  /// Whether a file is a copy of the live file that `copytruncate` is still making, before it truncates the live file. Such a
  /// copy is newer than the live file and equals its beginning.
  [[nodiscard]] result<bool> is_copy(std::size_t which, const member& newer);

 private:
  /// The contents of older files directly before `of`, which is the contents of file `which`.
  [[nodiscard]] result<std::string> before(std::size_t which, const content& of, std::size_t most);
  /// Whether a private key that began earlier could continue in `of`, with the text `between` in between.
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
