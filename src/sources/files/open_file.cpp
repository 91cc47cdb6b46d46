/// An open regular file: reads of parts, of windows and of streams, with secrets masked.
#include "sources/files/open_file.hpp"

#include <sys/stat.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <memory>
#include <span>
#include <utility>

#include "os/disk/file_descriptor.hpp"
#include "text/secrets/redactor.hpp"

namespace hondana::files {

result<disk::stamp> open_file::state() const {
  struct stat attributes{};
  if (::fstat(file_.get(), &attributes) != 0) {
    return fail(errc::source_unavailable, "The size and times of the file cannot be determined.", std::strerror(errno));
  }
  return disk::stamp_of(attributes);
}

result<std::size_t> open_file::read(char* buffer, std::size_t size, std::uint64_t offset) const {
  const auto count = disk::read_at(file_.get(), buffer, size, offset);
  if (!count)
    return fail(errc::source_unavailable, "The file cannot be read: the disk or network behind it fails.",
                std::strerror(count.error()));
  return *count;
}

result<std::size_t> open_file::read_counting(char* buffer, std::size_t size, std::uint64_t offset, bool /*is_first*/,
                                             std::size_t& /*masked*/) const {
  return read(buffer, size, offset);  // an unmasked file has no masked secrets
}

result<std::size_t> masked_file::read(char* buffer, std::size_t size, std::uint64_t offset) const {
  std::size_t ignored = 0;
  return read_counting(buffer, size, offset, false, ignored);
}

result<std::size_t> masked_file::read_counting(char* buffer, std::size_t size, std::uint64_t offset, bool is_first,
                                               std::size_t& masked) const {
  if (offset == 0) {
    auto count = source_->read(buffer, size, 0);
    if (!count) return count;
    char next_byte = 0;
    auto excess = *count == size ? source_->read(&next_byte, 1, size) : 0;
    if (!excess) return excess;
    if (*excess == 0) {
      masked += secrets::redactor(policy_, {buffer, *count}).mask_part(std::span(buffer, *count), 0, *count, is_first);
      return count;
    }
  }
  std::array<char, secrets::front_bytes> front;
  auto front_size = source_->read(front.data(), front.size(), 0);
  if (!front_size) return front_size;
  const secrets::redactor redactor(policy_, {front.data(), *front_size});
  // Begins at a multiple of the unit size, so that characters of UTF-16 and UTF-32 stay whole.
  const auto margin = std::min<std::uint64_t>(offset, redactor.margin_bytes() + offset % secrets::unit_bytes);
  const auto begin = static_cast<std::size_t>(margin);
  const auto window_size = begin + size + redactor.margin_bytes();
  const auto window = std::make_unique_for_overwrite<char[]>(window_size);
  auto count = source_->read(window.get(), window_size, offset - margin);
  if (!count) return count;
  const auto end = std::clamp(*count, begin, begin + size);
  masked += redactor.mask_part(std::span(window.get(), *count), begin, end, is_first);
  std::memcpy(buffer, window.get() + begin, end - begin);
  return end - begin;
}

file_reader::file_reader(std::shared_ptr<const open_file> file, std::uint64_t offset, std::uint64_t size,
                         std::shared_ptr<void> slot) noexcept
    : file_(std::move(file)), offset_(offset), size_(size), slot_(std::move(slot)) {}

result<std::size_t> file_reader::read(std::span<char> buffer) {
  const auto requested = static_cast<std::size_t>(std::min<std::uint64_t>(buffer.size(), size_ - position_));
  if (requested == 0) return std::size_t{0};
  auto count =
      require_full(file_->read_counting(buffer.data(), requested, offset_ + position_, position_ == 0, masked_), requested);
  if (count) position_ += requested;
  return count;
}

result<void> file_reader::rewind() {
  position_ = 0;
  masked_ = 0;
  return {};
}

metadata file_reader::trailing_metadata() const { return secrets::redaction_metadata(masked_); }

}  // namespace hondana::files
