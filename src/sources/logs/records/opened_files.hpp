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
inline constexpr std::size_t identity_bytes = 4096;

/// An open file, before decompression.
struct opened_file {
  listed_file listed{};
  std::shared_ptr<const disk::handle> file{};
  compression format = compression::none;
  std::string front{};  ///< The first `identity_bytes` of its contents.
};

/// A file of a log, ready to read.
struct log_file {
  opened_file opened{};
  std::shared_ptr<const content> bytes{};
  std::uint64_t end = 0;  ///< End of the last complete record. A line that is still being written begins here.
  record_framing framing{};
  timestamp_parser timestamps{};
  std::string error{};  ///< Why the contents are incomplete. Empty: they are complete.
};

/// Opens the files of one log. Threads: any.
class file_opener {
 public:
  file_opener(framing_options framing, time_zone zone, std::uint64_t max_file_bytes, std::uint64_t max_cached_bytes)
      : framing_(std::move(framing)), zone_(zone), cache_(max_file_bytes, max_cached_bytes) {}

  /// Errors: as `open_listed`.
  [[nodiscard]] result<opened_file> open(const file_listing& listing, const listed_file& file);
  /// Errors: those of `decompression_cache::get`.
  [[nodiscard]] result<log_file> decompress(opened_file file, const request_context& context);
  [[nodiscard]] const decompression_cache& cache() const noexcept { return cache_; }

 private:
  [[nodiscard]] std::string read_front(const opened_file& file);

  const framing_options framing_;
  const time_zone zone_;
  decompression_cache cache_;
  std::mutex mutex_;
  using file_key = std::tuple<std::uint64_t, std::uint64_t, std::uint64_t, std::int64_t>;
  std::map<file_key, std::string> fronts_;  // of compressed files
};

/// A last line without a line end counts as complete if nothing was written for this long: half a line may contain half a
/// secret.
inline constexpr std::int64_t line_settle_time = 2'000'000'000;  // nanoseconds

/// Whether the last line does not have a line end yet.
[[nodiscard]] bool has_partial_line(int file, std::uint64_t size) noexcept;

/// A place in a log, for cursors: all older records are still to be read.
struct log_position {
  std::uint64_t device = 0;
  std::uint64_t inode = 0;
  std::uint64_t front_bytes = 0;  ///< Length of the identifying beginning of the contents, at most `identity_bytes`.
  bytes::digest front{};          ///< Digest of this beginning.
  std::uint64_t end = 0;          ///< Records that end here or earlier are wanted.
  std::uint64_t scanned = 0;      ///< No record begins from here to `end`.
  bytes::digest anchor{};         ///< Digest of up to `anchor_bytes` before `end`.

  static constexpr std::uint64_t anchor_bytes = 256;
};

[[nodiscard]] std::string to_text(const log_position& position);
/// Parses the result of `to_text`. Returns nothing for other texts.
[[nodiscard]] std::optional<log_position> parse_position(std::string_view text);

/// Errors: content_changed if the file has become shorter, source_unavailable.
[[nodiscard]] result<log_position> make_position(const log_file& file, std::uint64_t end, std::uint64_t scanned);

/// Whether a file begins like that of the position.
[[nodiscard]] bool may_contain(const opened_file& file, const log_position& position) noexcept;
/// Whether a file has the position, by the contents before it.
[[nodiscard]] result<bool> contains(const log_file& file, const log_position& position);

/// Opens the files of a listing on demand, with only a few open at a time. Threads: one at a time.
class opened_files {
 public:
  opened_files(file_listing listing, file_opener& opener, const request_context& context, bool redact)
      : listing_(std::move(listing)), opener_(opener), context_(context), redact_(redact) {}

  [[nodiscard]] std::size_t size() const noexcept { return listing_.files.size(); }
  [[nodiscard]] const listed_file& listed(std::size_t index) const { return listing_.files[index]; }
  [[nodiscard]] const file_listing& listing() const noexcept { return listing_; }

  /// Errors: access_denied, source_unavailable. content_changed if the name does not exist any more.
  [[nodiscard]] result<opened_file> open(std::size_t index);
  /// Errors: as `open` and `file_opener::decompress`.
  [[nodiscard]] result<std::shared_ptr<const log_file>> get(std::size_t index);
  /// A window onto a file of this set. The window must not outlive the set.
  [[nodiscard]] masked_window open_window(std::size_t index, const log_file& file);

  struct file_location {
    std::size_t index = 0;
    std::shared_ptr<const log_file> file{};
  };
  /// Finds the place of a cursor. Returns nothing if it is lost; `reason` then says why. Errors: as `get`.
  [[nodiscard]] result<std::optional<file_location>> find(const log_position& position, std::string& reason);

  /// Whether a file is a copy of the live file that `copytruncate` is still making, before it truncates the live file. Such a
  /// copy is newer than the live file and equals its beginning.
  [[nodiscard]] result<bool> is_copy(std::size_t index, const log_file& newer);

 private:
  /// The contents of older files directly before `bytes`, which is the contents of file `index`.
  [[nodiscard]] result<std::string> read_before(std::size_t index, const content& bytes, std::size_t max_bytes);
  /// Whether a private key that began earlier could continue in `bytes`. `between`: the text between them.
  [[nodiscard]] static result<bool> may_continue_key(const content& bytes, const std::string& between);
  [[nodiscard]] bool is_empty(std::size_t index) const { return listing_.files[index].stamp.size == 0; }
  [[nodiscard]] result<std::string> read_after(std::size_t index, std::size_t max_bytes);

  const file_listing listing_;
  file_opener& opener_;
  const request_context& context_;
  const bool redact_;
  std::map<std::size_t, std::shared_ptr<const log_file>> open_files_;
};

}  // namespace hondana::records
