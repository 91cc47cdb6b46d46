/// What a compressed file holds, in a nameless file of our own that can be read from anywhere.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include <hondana/error.hpp>

#include "disk/handle.hpp"
#include "records/content.hpp"

namespace hondana::records {

/// Compressed anew in frames of `frame_bytes`, whose places are kept in memory: 8 bytes a frame. Threads: `append` and
/// `finish` one at a time and before `read`, which any.
class kept_copy final : public content {
 public:
  static constexpr std::size_t frame_bytes = 256u << 10;

  /// Errors: source_unavailable where no file can be made.
  [[nodiscard]] static result<std::unique_ptr<kept_copy>> make();

  /// Errors: source_unavailable when there is no room.
  result<void> append(std::string_view bytes);
  result<void> finish();

  [[nodiscard]] std::uint64_t size() const noexcept override { return size_; }
  [[nodiscard]] result<std::size_t> read(std::uint64_t offset, std::span<char> into) const override;
  [[nodiscard]] std::uint64_t disk_bytes() const noexcept { return written_; }

 private:
  kept_copy() = default;
  result<void> flush();

  disk::handle file_;
  std::vector<std::uint64_t> frames_;  // where they begin
  std::uint64_t written_ = 0;
  std::uint64_t size_ = 0;
  std::string pending_;
};

}  // namespace hondana::records
