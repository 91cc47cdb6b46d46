/// An owning file descriptor, complete reads and writes, and the names in a folder.
#pragma once

#include <dirent.h>
#include <unistd.h>

#include <cerrno>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string_view>
#include <utility>

#include <tl/expected.hpp>

namespace hondana::disk {

/// Owns a descriptor and closes it on destruction. -1: none.
/// Threads: one at a time; the descriptor itself may be used by several.
class handle {
 public:
  handle() = default;
  explicit handle(int descriptor) noexcept : descriptor_(descriptor) {}
  handle(handle&& other) noexcept : descriptor_(std::exchange(other.descriptor_, -1)) {}
  handle& operator=(handle&& other) noexcept {
    std::swap(descriptor_, other.descriptor_);
    return *this;
  }
  handle(const handle&) = delete;
  handle& operator=(const handle&) = delete;
  ~handle() {
    if (descriptor_ >= 0) ::close(descriptor_);
  }

  [[nodiscard]] int get() const noexcept { return descriptor_; }
  [[nodiscard]] bool is_open() const noexcept { return descriptor_ >= 0; }
  /// Releases ownership and returns the descriptor.
  [[nodiscard]] int release() noexcept { return std::exchange(descriptor_, -1); }

 private:
  int descriptor_ = -1;
};

/// Reads up to `size` bytes at `offset` into `buffer`. Returns fewer only at the end of the file. Errors: an errno.
[[nodiscard]] inline tl::expected<std::size_t, int> read_at(int file, char* buffer, std::size_t size, std::uint64_t offset) {
  std::size_t filled = 0;
  while (filled < size) {
    const auto count = ::pread(file, buffer + filled, size - filled, static_cast<off_t>(offset + filled));
    if (count > 0) {
      filled += static_cast<std::size_t>(count);
    } else if (count == 0) {
      break;
    } else if (errno != EINTR) {
      return tl::unexpected(errno);
    }
  }
  return filled;
}

/// Writes all bytes. Returns 0 or an errno; after an error, some of the bytes may have been written.
[[nodiscard]] inline int write_all(int file, std::string_view bytes) {
  while (!bytes.empty()) {
    const auto count = ::write(file, bytes.data(), bytes.size());
    if (count == 0) return ENOSPC;
    if (count < 0 && errno != EINTR) return errno;
    if (count > 0) bytes.remove_prefix(static_cast<std::size_t>(count));
  }
  return 0;
}

/// The names in a folder, without `.` and `..`. Threads: one at a time.
class dir_stream {
 public:
  /// `folder`: open for reading. If it is not open, errno must be the reason, which becomes `error`.
  explicit dir_stream(handle folder) noexcept : stream_(folder.is_open() ? ::fdopendir(folder.get()) : nullptr) {
    if (stream_) {
      static_cast<void>(folder.release());
    } else {
      error_ = errno;
    }
  }

  [[nodiscard]] bool is_open() const noexcept { return stream_ != nullptr; }
  /// The errno for which the folder could not be opened, or not be read to its end. 0: none.
  [[nodiscard]] int error() const noexcept { return error_; }
  /// Must not be called unless the stream is open.
  [[nodiscard]] int descriptor() const noexcept { return ::dirfd(stream_.get()); }
  /// Returns the next entry, which is valid until the next call. Null at the end, and on failure: then `error` is set.
  [[nodiscard]] const dirent* next() noexcept {
    while (stream_) {
      errno = 0;
      const dirent* const entry = ::readdir(stream_.get());
      if (entry == nullptr) {
        error_ = errno;
        break;
      }
      const std::string_view name = entry->d_name;
      if (name != "." && name != "..") return entry;
    }
    return nullptr;
  }

 private:
  struct closer {
    void operator()(DIR* stream) const noexcept { ::closedir(stream); }
  };
  std::unique_ptr<DIR, closer> stream_;
  int error_ = 0;
};

}  // namespace hondana::disk
