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

/// This many bytes at the beginning of the contents identify a file, even after it is renamed or compressed.
inline constexpr std::size_t identity_bytes = 4096;

/// An open file, before decompression.
struct opened_file {
  listed_file listed{};  ///< With the state at the time of opening.
  std::shared_ptr<const disk::handle> file{};
  compression format = compression::none;
  std::string front{};  ///< The first `identity_bytes` of its decompressed contents.
};

/// A file of a log, ready to read.
struct log_file {
  opened_file opened{};
  std::shared_ptr<const content> bytes{};  ///< The decompressed contents.
  std::uint64_t end = 0;                   ///< End of the last complete record. A line that is still being written begins here.
  record_framing framing{};
  timestamp_parser timestamps{};
  std::string error{};  ///< Why the contents are incomplete. Empty: they are complete.
};

/// Opens the files of one log. Threads: any.
class file_opener {
 public:
  file_opener(framing_options framing, time_zone zone, std::uint64_t max_file_bytes, std::uint64_t max_cached_bytes)
      : framing_(std::move(framing)), zone_(zone), cache_(max_file_bytes, max_cached_bytes) {}

  /// Opens a file of `listing`. Errors: as `open_listed`.
  [[nodiscard]] result<opened_file> open(const file_listing& listing, const listed_file& file);
  /// Makes an open file ready to read, compressed or not. Errors: those of `decompression_cache::get`; content_changed if the
  /// file has become shorter.
  [[nodiscard]] result<log_file> decompress(opened_file file, const request_context& context);
  [[nodiscard]] const decompression_cache& cache() const noexcept { return cache_; }

 private:
  /// Returns the beginning of a compressed file, from `fronts_` if possible.
  [[nodiscard]] std::string read_front(const opened_file& file);

  const framing_options framing_;
  const time_zone zone_;
  decompression_cache cache_;
  std::mutex mutex_;
  using file_key = std::tuple<std::uint64_t, std::uint64_t, std::uint64_t, std::int64_t>;
  std::map<file_key, std::string> fronts_;  // of compressed files
};

/// A last line without a line end is read only if nothing was written for this many nanoseconds. Otherwise it may contain half
/// a secret.
inline constexpr std::int64_t line_settle_time = 2'000'000'000;

/// Whether the last line of an uncompressed file has no line end yet. `file`: a descriptor. `size`: of the file.
[[nodiscard]] bool has_partial_line(int file, std::uint64_t size) noexcept;

/// A place in a log, for cursors: the next page has the records before it. It stays valid when files are rotated.
struct log_position {
  std::uint64_t device = 0;
  std::uint64_t inode = 0;
  std::uint64_t front_bytes = 0;  ///< Length of the beginning of the contents that identifies the file.
  bytes::digest front{};          ///< Digest of this beginning.
  std::uint64_t end = 0;          ///< The next page has records that end here or earlier.
  std::uint64_t scanned = 0;      ///< No record begins in [scanned, end), so this range need not be searched again.
  bytes::digest anchor{};         ///< Digest of up to `anchor_bytes` before `end`.

  static constexpr std::uint64_t anchor_bytes = 256;
};

/// Formats a position for cursors.
[[nodiscard]] std::string to_text(const log_position& position);
/// Parses the result of `to_text`. Returns nullopt for other texts.
[[nodiscard]] std::optional<log_position> parse_position(std::string_view text);

/// Makes a position in a file; see `log_position`. Errors: content_changed if the file has become shorter, source_unavailable.
[[nodiscard]] result<log_position> make_position(const log_file& file, std::uint64_t end, std::uint64_t scanned);

/// Whether a file begins like that of the position, and is not too short.
[[nodiscard]] bool may_contain(const opened_file& file, const log_position& position) noexcept;
/// Whether the bytes before the position in a file are those for which it was made. Errors: as `make_position`.
[[nodiscard]] result<bool> contains(const log_file& file, const log_position& position);

/// Opens the files of a listing on demand, with only a few open at a time. An index is that of a file in the listing, from the
/// oldest on. Threads: one at a time.
class opened_files {
 public:
  /// `opener` and `context` must outlive this object.
  opened_files(file_listing listing, file_opener& opener, const request_context& context, bool redact)
      : listing_(std::move(listing)), opener_(opener), context_(context), redact_(redact) {}

  [[nodiscard]] std::size_t size() const noexcept { return listing_.files.size(); }
  [[nodiscard]] const listed_file& listed(std::size_t index) const { return listing_.files[index]; }
  [[nodiscard]] const file_listing& listing() const noexcept { return listing_; }

  /// Opens a file without decompressing it. Errors: access_denied, source_unavailable. content_changed if the name does not
  /// exist any more, or leads to another file.
  [[nodiscard]] result<opened_file> open(std::size_t index);
  /// Returns a file ready to read; keeps a few such files. Errors: as `open` and `file_opener::decompress`.
  [[nodiscard]] result<std::shared_ptr<const log_file>> get(std::size_t index);
  /// Creates a window for `file`, the result of `get(index)`. It must not outlive this object.
  [[nodiscard]] masked_window open_window(std::size_t index, const log_file& file);

  struct file_location {
    std::size_t index = 0;
    std::shared_ptr<const log_file> file{};
  };
  /// Finds the file of a position. Returns nullopt if it is lost, and sets `reason` to a sentence for people. Errors: as `get`.
  [[nodiscard]] result<std::optional<file_location>> find(const log_position& position, std::string& reason);

  /// Whether a file is a copy of the live file that logrotate's `copytruncate` has made, while the live file is not yet
  /// truncated. Such a copy was created later than the live file, and equals its beginning. `newer`: a file after it in the
  /// listing. Errors: as `get`.
  [[nodiscard]] result<bool> is_copy(std::size_t index, const log_file& newer);

 private:
  /// Returns the end of the contents of older files. `bytes`: the contents of file `index`.
  [[nodiscard]] result<std::string> read_before(std::size_t index, const content& bytes, std::size_t max_bytes);
  /// Whether `bytes` may continue a private key that began in an older file. `between`: the text between both files.
  [[nodiscard]] static result<bool> may_continue_key(const content& bytes, const std::string& between);
  [[nodiscard]] bool is_empty(std::size_t index) const { return listing_.files[index].stamp.size == 0; }
  /// Returns the beginning of the contents of files that are newer than file `index`.
  [[nodiscard]] result<std::string> read_after(std::size_t index, std::size_t max_bytes);

  const file_listing listing_;
  file_opener& opener_;
  const request_context& context_;
  const bool redact_;
  std::map<std::size_t, std::shared_ptr<const log_file>> open_files_;
};

}  // namespace hondana::records
