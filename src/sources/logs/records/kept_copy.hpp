/// What a compressed file holds, in memory or in a nameless file of our own, that can be read from anywhere.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include <hondana/error.hpp>

#include "os/disk/handle.hpp"
#include "sources/logs/records/content.hpp"

namespace hondana::records {

/// Compressed anew in frames of `frame_bytes`, whose places are kept in memory: 8 bytes a frame. What stays small has no file,
/// so that many of them take no descriptors, as long as all those of the process hold little. Threads: `append` and `finish`
/// one at a time and before `read`, which any.
class kept_copy final : public content {
 public:
  static constexpr std::size_t frame_bytes = 256u << 10;
  static constexpr std::size_t small_bytes = 64u << 10;     ///< After compression.
  static constexpr std::size_t most_in_memory = 32u << 20;  ///< Of all.

  kept_copy() = default;
  ~kept_copy() override;

  /// How many there are in the process that have files.
  [[nodiscard]] static std::size_t files() noexcept;
  [[nodiscard]] bool has_file() const noexcept { return file_.is_open(); }

  /// Errors: source_unavailable when there is no room, or no file can be made.
  result<void> append(std::string_view bytes);
  result<void> finish();

  [[nodiscard]] std::uint64_t size() const noexcept override { return size_; }
  [[nodiscard]] result<std::size_t> read(std::uint64_t offset, std::span<char> into) const override;
  [[nodiscard]] std::uint64_t disk_bytes() const noexcept { return file_.is_open() ? written_ : 0; }

 private:
  result<void> flush();
  result<void> write(std::string_view frame);
  /// Takes a file, and what is in memory goes there. Errors: source_unavailable where no file can be made.
  result<void> open();
  void leave_memory() noexcept;

  disk::handle file_;
  std::string in_memory_;              // as long as there is no file
  std::vector<std::uint64_t> frames_;  // where they begin
  std::uint64_t written_ = 0;
  std::uint64_t size_ = 0;
  std::string pending_;
};

}  // namespace hondana::records
