/// Bytes of a member of a log, from anywhere.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <memory>
#include <span>
#include <string>
#include <utility>

#include <hondana/error.hpp>

#include "os/disk/handle.hpp"
#include "os/disk/read_at.hpp"

namespace hondana::records {

/// Threads: any.
class content {
 public:
  content() = default;
  content(const content&) = delete;
  content& operator=(const content&) = delete;
  virtual ~content() = default;

  /// Constant: what is written later is not part of it.
  [[nodiscard]] virtual std::uint64_t size() const noexcept = 0;
  /// Fills `into` from `offset` on; fewer bytes at the end, or where the file has been truncated meanwhile. Errors:
  /// source_unavailable.
  [[nodiscard]] virtual result<std::size_t> read(std::uint64_t offset, std::span<char> into) const = 0;
};

/// A file that is not compressed, as long as it was when it was opened.
class file_content final : public content {
 public:
  file_content(std::shared_ptr<const disk::handle> file, std::uint64_t size) noexcept : file_(std::move(file)), size_(size) {}
  [[nodiscard]] std::uint64_t size() const noexcept override { return size_; }
  [[nodiscard]] result<std::size_t> read(std::uint64_t offset, std::span<char> into) const override {
    if (offset >= size_) return std::size_t{0};
    const auto wanted = static_cast<std::size_t>(std::min<std::uint64_t>(into.size(), size_ - offset));
    const auto got = disk::read_at(file_->get(), into.data(), wanted, offset);
    if (got) return *got;
    return fail(errc::source_unavailable, "A log file could not be read.", std::strerror(got.error()));
  }

 private:
  std::shared_ptr<const disk::handle> file_;
  std::uint64_t size_;
};

}  // namespace hondana::records
