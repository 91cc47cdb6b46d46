/// Random access to the bytes of log files; compressed files are decompressed once and cached.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <list>
#include <memory>
#include <mutex>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <hondana/error.hpp>
#include <hondana/provider.hpp>

#include "os/disk/file_descriptor.hpp"
#include "os/disk/file_stamp.hpp"
#include "sources/logs/records/decompression.hpp"

namespace hondana::records {

/// Bytes with random access. Threads: any.
class content {
 public:
  content() = default;
  content(const content&) = delete;
  content& operator=(const content&) = delete;
  virtual ~content() = default;

  /// Returns the number of bytes. Constant: data that is appended later does not count.
  [[nodiscard]] virtual std::uint64_t size() const noexcept = 0;
  /// Reads from `offset`, and returns the number of bytes. It is smaller than the buffer only at the end, or if the file was
  /// truncated meanwhile. Errors: source_unavailable.
  [[nodiscard]] virtual result<std::size_t> read(std::uint64_t offset, std::span<char> buffer) const = 0;
};

/// An uncompressed file, with its size at the time of opening.
class file_content final : public content {
 public:
  file_content(std::shared_ptr<const disk::handle> file, std::uint64_t size) noexcept : file_(std::move(file)), size_(size) {}
  [[nodiscard]] std::uint64_t size() const noexcept override { return size_; }
  [[nodiscard]] result<std::size_t> read(std::uint64_t offset, std::span<char> buffer) const override {
    if (offset >= size_) return std::size_t{0};
    const auto size = static_cast<std::size_t>(std::min<std::uint64_t>(buffer.size(), size_ - offset));
    const auto count = disk::read_at(file_->get(), buffer.data(), size, offset);
    if (count) return *count;
    return fail(errc::source_unavailable, "A log file could not be read.", std::strerror(count.error()));
  }

 private:
  std::shared_ptr<const disk::handle> file_;
  std::uint64_t size_;
};

/// A copy of decompressed data, compressed again in frames, so that any part can be read quickly. A small copy is in memory,
/// unless the copies in memory together exceed `max_memory_bytes`. A larger one is in a temporary file without a name.
/// Threads: first one thread calls `append` and `finish`; then any thread may call `read`.
class decompressed_copy final : public content {
 public:
  static constexpr std::size_t frame_bytes = 256u << 10;      ///< Decompressed bytes of a frame.
  static constexpr std::size_t max_small_bytes = 64u << 10;   ///< Limit of a small copy, after compression.
  static constexpr std::size_t max_memory_bytes = 32u << 20;  ///< Of all copies of the process in memory together.

  decompressed_copy() = default;
  ~decompressed_copy() override;

  /// Returns the number of copies in this process that have files.
  [[nodiscard]] static std::size_t file_count() noexcept;
  [[nodiscard]] bool has_file() const noexcept { return file_.is_open(); }

  /// Appends decompressed data. Errors: source_unavailable if the disk is full, or no file can be created.
  result<void> append(std::string_view bytes);
  /// Stores the last frame. Must be called before `read`. Errors: as `append`.
  result<void> finish();

  [[nodiscard]] std::uint64_t size() const noexcept override { return size_; }
  [[nodiscard]] result<std::size_t> read(std::uint64_t offset, std::span<char> buffer) const override;
  /// Returns the size of the file; 0 if there is none.
  [[nodiscard]] std::uint64_t disk_bytes() const noexcept { return file_.is_open() ? written_bytes_ : 0; }

 private:
  /// Compresses and stores `pending_` as a frame.
  result<void> flush();
  /// Writes a compressed frame to the file.
  result<void> write(std::string_view frame);
  /// Creates a file and moves the data in memory there. Errors: source_unavailable if no file can be created.
  result<void> open();
  void release_memory() noexcept;

  disk::handle file_;
  std::string memory_;                        // the frames, while there is no file
  std::vector<std::uint64_t> frame_offsets_;  // where frames begin
  std::uint64_t written_bytes_ = 0;           // of compressed frames
  std::uint64_t size_ = 0;                    // of the decompressed data
  std::string pending_;                       // decompressed data that is not yet in a frame
};

/// A cache of decompressed files. Identifies files by device, inode, size and modification time, which renaming preserves. If a
/// deadline interrupts decompression, the next request for the file continues it. Threads: any. Requests for the same file wait
/// for each other.
class decompression_cache {
 public:
  /// `max_file_bytes`: limit of one file after decompression; the rest is not read. `max_cached_bytes`: disk space of all
  /// copies. The cache removes copies beyond this limit, beyond 128 copies, and beyond 192 copies with files in the process,
  /// least recently used first.
  decompression_cache(std::uint64_t max_file_bytes, std::uint64_t max_cached_bytes) noexcept
      : max_file_bytes_(max_file_bytes), max_cached_bytes_(max_cached_bytes) {}

  struct decompressed {
    std::shared_ptr<const content> bytes{};
    std::string error{};  ///< Why the contents are incomplete. Empty: they are complete.
  };
  /// Returns the decompressed contents of `file`, which has the state `stamp`. Errors: timed_out, cancelled,
  /// source_unavailable.
  [[nodiscard]] result<decompressed> get(const disk::stamp& stamp, std::shared_ptr<const disk::handle> file, compression format,
                                         const request_context& context);

  /// Returns the first `size` decompressed bytes of a file, or fewer if it ends or is damaged. Not cached.
  [[nodiscard]] static std::string read_front(int file, const disk::stamp& stamp, compression format, std::size_t size);

  /// Returns how many decompressions were started so far.
  [[nodiscard]] std::uint64_t started_count() const noexcept;

  /// Size of decompressed data from which `max_ratio` applies.
  static constexpr std::uint64_t min_ratio_bytes = 64u << 20;
  /// If data expands to more than this multiple, it counts as a decompression bomb, and its rest is not read.
  static constexpr std::uint64_t max_ratio = 500;

 private:
  struct decompression_job;
  struct cached_job {
    disk::stamp stamp;
    std::shared_ptr<decompression_job> job;
  };
  [[nodiscard]] std::shared_ptr<decompression_job> find_or_add_job(const disk::stamp& stamp);
  void discard(const std::shared_ptr<decompression_job>& job);
  /// Removes copies beyond the limits, except that of `exempt`.
  void evict(const std::shared_ptr<decompression_job>& exempt);
  /// Decompresses until the end, a limit, or an error in the file, which sets `decompression_job::error`.
  result<void> decompress(decompression_job& job, const request_context& context) const;

  const std::uint64_t max_file_bytes_;
  const std::uint64_t max_cached_bytes_;
  mutable std::mutex mutex_;
  std::list<cached_job> jobs_;  // most recently used first
  std::uint64_t started_count_ = 0;
};

}  // namespace hondana::records
