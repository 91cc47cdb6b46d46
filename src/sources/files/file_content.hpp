/// Reads a file consistently while it may change, within limits on memory and open files.
#pragma once

#include <cstddef>
#include <cstdint>
#include <list>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <variant>

#include <hondana/error.hpp>
#include <hondana/provider.hpp>
#include <hondana/resource.hpp>

#include "base/bytes/digest.hpp"
#include "os/disk/file_stamp.hpp"
#include "sources/files/file_range.hpp"
#include "sources/files/open_file.hpp"
#include "text/secrets/scanner.hpp"

namespace hondana::files {

/// The largest file, in bytes, that is read at once. Larger files are streamed.
inline constexpr std::size_t max_buffered_bytes = 1 << 20;

/// Lends buffers of at most `max_bytes` bytes in total until their content has been sent. Never waits: there are few reader
/// threads, and slow clients hold buffers for long. Small buffers are always lent, since they are encoded and returned at once.
/// Threads: any, concurrently.
class buffer_pool {
 public:
  explicit buffer_pool(std::size_t max_bytes = 128u << 20);

  /// A buffer of `size` bytes with unspecified content. It counts as `size` bytes even if it grows later, or as
  /// `reserved_bytes` if that is more. It is returned when the last copy of the pointer is destroyed, which may be after the
  /// pool itself. A buffer much larger than `max_buffered_bytes` is then freed. Errors: overloaded when the limit is reached.
  [[nodiscard]] result<std::shared_ptr<std::string>> acquire(std::size_t size, std::size_t reserved_bytes = 0);

 private:
  struct state;
  struct lease;
  std::shared_ptr<state> state_;
};

/// Limits responses that are read while they are sent, because each of them holds a file open. The limit is an eighth of the
/// descriptors that this process may open. The callers of one address (IPv6: one /64 network) share a quarter of it; callers on
/// this machine may use all of it. So slow readers leave descriptors for small files and for connections. Threads: any.
class reader_slots {
 public:
  /// `max_readers`: the limit; 0: as the descriptor limit allows.
  explicit reader_slots(std::size_t max_readers = 0);

  /// Takes one slot, which is released with the last copy of the pointer. The pointer may outlive this object. Errors:
  /// overloaded.
  [[nodiscard]] result<std::shared_ptr<void>> acquire(const std::string& address);

 private:
  struct state;
  std::shared_ptr<state> state_;
};

/// The most bytes that a scan reads. A larger file is judged by this part of it.
inline constexpr std::uint64_t max_scan_bytes = 256ull << 20;

/// The result of a scan.
struct scan_result {
  content_kind kind = content_kind::text;  ///< `text` or `blob`.
  std::optional<bytes::digest> digest;     ///< Of the whole content, if it was requested and the file is within the limit.
};

/// Scans the first `size` bytes of a file. Stops at the first sign of binary data, unless a digest is needed.
/// Errors: as `for_each_window`.
[[nodiscard]] result<scan_result> scan(const open_file& file, std::uint64_t size, bool needs_digest,
                                       const request_context& context);

/// Caches the kinds of content of files by their stamps. Evicts the least recently used. Threads: any, concurrently.
class content_kind_cache {
 public:
  explicit content_kind_cache(std::size_t max_entries = 4096) : max_entries_(max_entries) {}

  [[nodiscard]] std::optional<content_kind> find(const disk::stamp& stamp);
  /// A racy stamp must not be cached.
  void store(const disk::stamp& stamp, content_kind kind);

 private:
  using entry = std::pair<bytes::digest, content_kind>;

  std::size_t max_entries_;
  std::mutex mutex_;
  std::list<entry> by_use_;  // most recently used first
  std::map<bytes::digest, std::list<entry>::iterator> by_key_;
};

/// The content of a file, or of a part of it.
struct file_content {
  std::variant<shared_bytes, std::shared_ptr<byte_reader>> data;
  /// Of the whole file, or of its first 256 MiB, even if `data` is a part. `detect` for large whole files.
  content_kind kind = content_kind::detect;
  bool is_validated = false;     ///< `kind` was determined from all of `data`.
  std::string front;             ///< The first 4 KiB of the whole file.
  std::string version;           ///< Of the whole file. Empty if it changes too fast and is too large to digest.
  bool is_racy = false;          ///< It changed during the read, or so recently that another change may not show.
  std::size_t masked_count = 0;  ///< Number of masked secrets if `data` is bytes. A reader has it in its `trailing_metadata`.
};

/// State that all reads share. Threads: any, concurrently.
struct read_resources {
  buffer_pool buffers;
  buffer_pool listing_buffers{
      256u << 20};  ///< For folder listings above `max_buffered_bytes`; each counts as the largest read.
  reader_slots readers;
  content_kind_cache kind_cache{4096};
};

/// Reads an open file, or the range `part` of it. Bytes that are appended after the call are not included. All results are
/// those of the file with its secrets masked according to `policy`; only the version may be that of the raw file.
///
/// A file of up to 1 MiB is read at once. It is read a second time if it changed meanwhile, or so recently that a change may
/// not show. If the two differ, the whole procedure is tried once more. Larger content becomes a reader, whose consumer makes
/// two passes and compares them.
/// Errors: response_too_large above `request.max_bytes`, content_changed, invalid_argument for a range beyond the end,
/// overloaded, timed_out, cancelled, source_unavailable.
[[nodiscard]] result<file_content> read_content(const std::shared_ptr<const open_file>& file, const std::optional<range>& part,
                                                const read_request& request, read_resources& resources,
                                                secrets::masking_policy policy = secrets::masking_policy::none);

}  // namespace hondana::files
