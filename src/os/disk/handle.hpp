/// A file descriptor with one owner.
#pragma once

#include <unistd.h>

#include <utility>

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

}  // namespace hondana::disk
