/// Pulls a stretch of an open file, piece by piece.
#pragma once

#include <cstdint>
#include <memory>

#include <hondana/resource.hpp>

#include "sources/files/open_file.hpp"

namespace hondana::files {

/// A reader of `size` bytes from `offset`, as they were bounded when it was made: what is appended later is not part of it.
///
/// Errors of `read`: content_changed when the file has become shorter, source_unavailable when the disk fails.
class file_reader final : public byte_reader {
 public:
  /// `place`: what it holds among the readers of its room, given up with it.
  file_reader(std::shared_ptr<const open_file> file, std::uint64_t offset, std::uint64_t size,
              std::shared_ptr<void> place = {}) noexcept;

  [[nodiscard]] std::uint64_t size() const noexcept override { return size_; }
  [[nodiscard]] result<std::size_t> read(std::span<char> into) override;
  [[nodiscard]] result<void> rewind() override;
  /// How many secrets were masked, once all has been read.
  [[nodiscard]] metadata facts() const override;

 private:
  std::shared_ptr<const open_file> file_;
  std::uint64_t offset_;
  std::uint64_t size_;
  std::uint64_t done_ = 0;
  std::size_t masked_ = 0;
  std::shared_ptr<void> place_;
};

}  // namespace hondana::files
