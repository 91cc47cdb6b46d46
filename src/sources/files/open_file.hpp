/// Reads an open regular file in parts, in windows or as a stream, with its secrets masked if required.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string_view>

#include <hondana/error.hpp>
#include <hondana/provider.hpp>
#include <hondana/resource.hpp>

#include "os/disk/file_descriptor.hpp"
#include "os/disk/file_stamp.hpp"
#include "protocol/model/caller_checks.hpp"
#include "text/secrets/scanner.hpp"

namespace hondana::files {

/// An open regular file; derived classes change its bytes. Threads: any, concurrently.
class open_file {
 public:
  /// For derived classes that override everything.
  open_file() = default;
  explicit open_file(disk::handle file) noexcept : file_(std::move(file)) {}
  open_file(const open_file&) = delete;
  open_file& operator=(const open_file&) = delete;
  virtual ~open_file() = default;

  /// The current stamp. Errors: source_unavailable.
  [[nodiscard]] virtual result<disk::stamp> state() const;
  /// Reads up to `size` bytes from `offset`; fewer only at the end of the file. Errors: source_unavailable.
  [[nodiscard]] virtual result<std::size_t> read(char* buffer, std::size_t size, std::uint64_t offset) const;
  /// As `read`. Also adds to `masked` the number of masked secrets that begin in the range; with `is_first`, also one that
  /// begins before it. This class masks none.
  [[nodiscard]] virtual result<std::size_t> read_counting(char* buffer, std::size_t size, std::uint64_t offset, bool is_first,
                                                          std::size_t& masked) const;

 private:
  disk::handle file_;
};

/// The size of a window: the part of a file that is in memory at a time.
inline constexpr std::size_t window_bytes = 256 * 1024;

/// Returns the error content_changed if `count` is less than `size`, otherwise `count`.
[[nodiscard]] inline result<std::size_t> require_full(result<std::size_t> count, std::size_t size) {
  if (count && *count < size) {
    return fail(errc::content_changed, "The file was truncated while it was being read. Read it again.");
  }
  return count;
}

/// Fills all of `buffer`. Errors: content_changed if the file ends before, source_unavailable if the disk fails.
[[nodiscard]] inline result<std::size_t> read_exactly(const open_file& file, char* buffer, std::size_t size,
                                                      std::uint64_t offset) {
  return require_full(file.read(buffer, size, offset), size);
}

/// Calls `visit` with the first `size` bytes of a file, window by window, until it returns false.
/// Errors: as `read_exactly` and `check_cancellation`.
template <class Visitor>
[[nodiscard]] result<void> for_each_window(const open_file& file, std::uint64_t size, const request_context& context,
                                           Visitor&& visit) {
  const auto capacity = static_cast<std::size_t>(std::min<std::uint64_t>(size, window_bytes));
  const auto window = std::make_unique_for_overwrite<char[]>(capacity);
  for (std::uint64_t offset = 0; offset < size;) {
    HONDANA_TRY(check_cancellation(context));
    const auto part_size = static_cast<std::size_t>(std::min<std::uint64_t>(size - offset, capacity));
    HONDANA_TRY(read_exactly(file, window.get(), part_size, offset));
    if (!visit(std::string_view(window.get(), part_size))) break;
    offset += part_size;
  }
  return {};
}

/// Another file (`source`) with its secrets masked. A secret is also masked in a part that contains only some of its bytes. For
/// that, a read takes up to `secrets::margin` more bytes from `source` at either end (twice that for UTF-16, four times that
/// for UTF-32).
class masked_file final : public open_file {
 public:
  masked_file(std::shared_ptr<const open_file> source, secrets::masking_policy policy) noexcept
      : source_(std::move(source)), policy_(policy) {}

  [[nodiscard]] result<disk::stamp> state() const override { return source_->state(); }
  [[nodiscard]] result<std::size_t> read(char* buffer, std::size_t size, std::uint64_t offset) const override;
  [[nodiscard]] result<std::size_t> read_counting(char* buffer, std::size_t size, std::uint64_t offset, bool is_first,
                                                  std::size_t& masked) const override;

 private:
  std::shared_ptr<const open_file> source_;
  secrets::masking_policy policy_;
};

/// Reads `size` bytes of a file from `offset`. Bytes that are appended later are not included.
///
/// Errors of `read`: content_changed when the file has become shorter, source_unavailable when the disk fails.
class file_reader final : public byte_reader {
 public:
  /// `slot`: a slot of a `reader_slots`, released with the reader; may be null.
  file_reader(std::shared_ptr<const open_file> file, std::uint64_t offset, std::uint64_t size,
              std::shared_ptr<void> slot = {}) noexcept;

  [[nodiscard]] std::uint64_t size() const noexcept override { return size_; }
  [[nodiscard]] result<std::size_t> read(std::span<char> buffer) override;
  [[nodiscard]] result<void> rewind() override;
  /// The number of masked secrets, once everything has been read.
  [[nodiscard]] metadata trailing_metadata() const override;

 private:
  std::shared_ptr<const open_file> file_;
  std::uint64_t offset_;
  std::uint64_t size_;
  std::uint64_t position_ = 0;
  std::size_t masked_ = 0;
  std::shared_ptr<void> slot_;
};

}  // namespace hondana::files
