/// A file descriptor with one owner, whole reads and writes, and the names in a folder.
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

/// Closes its descriptor when it dies. Threads: one at a time; the descriptor itself may be used by several.
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
  /// Gives the descriptor away.
  [[nodiscard]] int release() noexcept { return std::exchange(descriptor_, -1); }

 private:
  int descriptor_ = -1;
};

/// Fills `into` with up to `size` bytes from `offset`; fewer only where the file ends. Errors: errno.
[[nodiscard]] inline tl::expected<std::size_t, int> read_at(int file, char* into, std::size_t size, std::uint64_t offset) {
  std::size_t filled = 0;
  while (filled < size) {
    const auto count = ::pread(file, into + filled, size - filled, static_cast<off_t>(offset + filled));
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

/// Errors: errno; then a part may have been written. 0: none.
[[nodiscard]] inline int write_all(int file, std::string_view bytes) {
  while (!bytes.empty()) {
    const auto count = ::write(file, bytes.data(), bytes.size());
    if (count == 0) return ENOSPC;
    if (count < 0 && errno != EINTR) return errno;
    if (count > 0) bytes.remove_prefix(static_cast<std::size_t>(count));
  }
  return 0;
}

struct closes_folder_stream {
  void operator()(DIR* of) const noexcept { ::closedir(of); }
};
/// For `readdir`; `dirfd` is its descriptor.
using folder_stream = std::unique_ptr<DIR, closes_folder_stream>;

/// Takes over the folder, which is open for reading. Null: errno says why.
[[nodiscard]] inline folder_stream stream_of(handle folder) noexcept {
  folder_stream made(folder.is_open() ? ::fdopendir(folder.get()) : nullptr);
  if (made) static_cast<void>(folder.release());
  return made;
}

}  // namespace hondana::disk
