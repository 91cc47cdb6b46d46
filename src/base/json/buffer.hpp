/// A growing buffer of bytes whose new memory is not zeroed.
#pragma once

#include <cstddef>
#include <cstring>
#include <memory>
#include <string_view>
#include <utility>

namespace hondana::json {

/// An output buffer for encoded content. Unlike a string, it does not zero memory before the caller writes to it.
/// A moved-from buffer is empty.
class buffer {
 public:
  buffer() = default;
  ~buffer() = default;
  buffer(buffer&& other) noexcept { swap(other); }
  buffer& operator=(buffer&& other) noexcept {
    buffer moved(std::move(other));
    swap(moved);
    return *this;
  }
  buffer(const buffer&) = delete;
  buffer& operator=(const buffer&) = delete;

  [[nodiscard]] std::string_view view() const noexcept { return {bytes_.get(), size_}; }
  [[nodiscard]] std::size_t size() const noexcept { return size_; }
  [[nodiscard]] bool empty() const noexcept { return size_ == 0; }
  [[nodiscard]] std::size_t capacity() const noexcept { return capacity_; }
  /// Removes the bytes; the capacity stays.
  void clear() noexcept { size_ = 0; }

  void append(std::string_view bytes) {
    if (bytes.empty()) return;
    std::memcpy(prepare(bytes.size()), bytes.data(), bytes.size());
    size_ += bytes.size();
  }
  /// Returns a pointer to at least `count` writable bytes after the content, valid until the next call that grows the buffer.
  [[nodiscard]] char* prepare(std::size_t count) {
    if (capacity_ - size_ < count) reserve(size_ + count > 2 * capacity_ ? size_ + count : 2 * capacity_);
    return bytes_.get() + size_;
  }
  /// Adds the first `count` bytes written at the result of `prepare` to the content.
  void commit(std::size_t count) noexcept { size_ += count; }
  /// Ensures a capacity of at least `bytes` in total.
  void reserve(std::size_t bytes) {
    if (bytes <= capacity_) return;
    auto larger = std::make_unique_for_overwrite<char[]>(bytes);
    if (size_ != 0) std::memcpy(larger.get(), bytes_.get(), size_);
    bytes_ = std::move(larger);
    capacity_ = bytes;
  }
  void swap(buffer& other) noexcept {
    bytes_.swap(other.bytes_);
    std::swap(size_, other.size_);
    std::swap(capacity_, other.capacity_);
  }

 private:
  std::unique_ptr<char[]> bytes_;
  std::size_t size_ = 0;
  std::size_t capacity_ = 0;
};

}  // namespace hondana::json
