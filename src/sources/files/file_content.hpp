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

/// Content of up to this many bytes is read into memory. Larger content is streamed: read piece by piece while it is sent.
inline constexpr std::size_t max_buffered_bytes = 1 << 20;

/// Lends buffers of at most `max_bytes` bytes in total. Never waits, because slow clients hold buffers for long. Buffers of up
/// to 64 KiB do not count and are always lent, because they are encoded and returned soon. Threads: any, concurrently.
class buffer_pool {
 public:
  explicit buffer_pool(std::size_t max_bytes = 128u << 20);

  /// Lends a buffer of `size` bytes with unspecified content. It counts as the larger of `size` and `reserved_bytes`, even if
  /// it grows later. It is returned when the last copy of the pointer is destroyed, which may be after the pool itself. Errors:
  /// overloaded when the limit is reached.
  [[nodiscard]] result<std::shared_ptr<std::string>> acquire(std::size_t size, std::size_t reserved_bytes = 0);

 private:
  struct state;
  struct lease;
  std::shared_ptr<state> state_;
};

/// Limits the number of streamed responses, because each of them holds a file open. The callers of one address (IPv6: one /64
/// network) share a quarter of the limit; callers on this machine may use all of it. So slow clients leave descriptors for
/// small files and for connections. Threads: any.
class reader_slots {
 public:
  /// `max_readers`: the limit; 0: an eighth of the descriptors that this process may open.
  explicit reader_slots(std::size_t max_readers = 0);

  /// Takes one slot for a client's address. It is released with the last copy of the pointer, which may outlive this object.
  /// Errors: overloaded when a limit is reached.
  [[nodiscard]] result<std::shared_ptr<void>> acquire(const std::string& address);

 private:
  struct state;
  std::shared_ptr<state> state_;
};

/// The most bytes that a scan reads. A larger file is judged by its first part.
inline constexpr std::uint64_t max_scan_bytes = 256ull << 20;

/// The result of a scan.
struct scan_result {
  content_kind kind = content_kind::text;  ///< `text` or `blob`.
  std::optional<bytes::digest> digest;     ///< Of all scanned bytes, if requested and `size` is at most `max_scan_bytes`.
};

/// Determines whether the first `size` bytes of a file are text, by at most `max_scan_bytes` of them. Stops at the first sign
/// of binary data, unless `needs_digest`. Errors: as `for_each_window`.
[[nodiscard]] result<scan_result> scan(const open_file& file, std::uint64_t size, bool needs_digest,
                                       const request_context& context);

/// Caches whether files are text, by their stamps. Evicts the least recently used. Threads: any, concurrently.
class content_kind_cache {
 public:
  explicit content_kind_cache(std::size_t max_entries = 4096) : max_entries_(max_entries) {}

  /// Returns `text` or `blob`; nothing if it is not cached.
  [[nodiscard]] std::optional<content_kind> find(const disk::stamp& stamp);
  /// `stamp` must not be racy (`disk::is_racy`): the file could change without a new stamp.
  void store(const disk::stamp& stamp, content_kind kind);

 private:
  using entry = std::pair<bytes::digest, content_kind>;  // the digest of a stamp

  std::size_t max_entries_;
  std::mutex mutex_;
  std::list<entry> by_use_;  // most recently used first
  std::map<bytes::digest, std::list<entry>::iterator> by_key_;
};

/// The content of a file, or of a part of it.
struct file_content {
  std::variant<shared_bytes, std::shared_ptr<byte_reader>> data;  ///< Bytes in memory, or a reader of streamed content.
  /// Whether the whole file is text, even if `data` is a part; judged by its first 256 MiB. `detect`: unknown; only for a
  /// reader of the whole file, whose consumer must determine the kind.
  content_kind kind = content_kind::detect;
  bool is_validated = false;  ///< `kind` was determined from all of `data`.
  std::string front;          ///< The first 4 KiB of the whole file.
  std::string version;        ///< Of the whole file. Empty for a file over 256 MiB that has just changed.
  bool is_racy = false;  ///< The file changed during the read, or so recently that another change may not change `version`.
  std::size_t masked_count = 0;  ///< Number of masked secrets if `data` is bytes. A reader has it in its `trailing_metadata`.
};

/// State that all reads share. Threads: any, concurrently.
struct read_resources {
  buffer_pool buffers;
  /// For folder listings above `max_buffered_bytes`. Each counts as `read_request::max_bytes`.
  buffer_pool listing_buffers{256u << 20};
  reader_slots readers;
  content_kind_cache kind_cache{4096};
};

/// Reads an open file, or the range `part` of it. Bytes that are appended later are not included. Secrets are masked according
/// to `policy` in all results; only `version` may depend on the unmasked file.
///
/// Content of up to 1 MiB is read into memory, and read again if the file changed during the read or shortly before. If the
/// second read differs, everything is tried once more. Larger content, or any content if no buffer is available, becomes a
/// reader. Its consumer must read it twice and compare.
/// Errors: response_too_large above `request.max_bytes`, content_changed, overloaded if no reader is available, timed_out,
/// cancelled, source_unavailable. For a range also those of `locate_range`.
[[nodiscard]] result<file_content> read_content(const std::shared_ptr<const open_file>& file, const std::optional<range>& part,
                                                const read_request& request, read_resources& resources,
                                                secrets::masking_policy policy = secrets::masking_policy::none);

}  // namespace hondana::files
