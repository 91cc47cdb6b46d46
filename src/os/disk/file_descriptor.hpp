/// An owning file descriptor, complete reads and writes, and streams of folder entries.
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

struct folder_stream_closer {
  void operator()(DIR* stream) const noexcept { ::closedir(stream); }
};
/// A stream of folder entries for `readdir`.
using folder_stream = std::unique_ptr<DIR, folder_stream_closer>;

/// Makes a stream from an open folder, and takes ownership of it. Returns null and sets errno on failure.
[[nodiscard]] inline folder_stream open_folder_stream(handle folder) noexcept {
  folder_stream stream(folder.is_open() ? ::fdopendir(folder.get()) : nullptr);
  if (stream) static_cast<void>(folder.release());
  return stream;
}

}  // namespace hondana::disk
