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
  struct stat facts{};
  if (::fstat(file_.get(), &facts) != 0) {
    return fail(errc::source_unavailable, "The size and times of the file cannot be determined.", std::strerror(errno));
  }
  return disk::stamp_of(facts);
}

result<std::size_t> open_file::read(char* into, std::size_t size, std::uint64_t offset) const {
  const auto count = disk::read_at(file_.get(), into, size, offset);
  if (!count)
    return fail(errc::source_unavailable, "The file cannot be read: the disk or network behind it fails.",
                std::strerror(count.error()));
  return *count;
}

result<std::size_t> open_file::read_counting(char* into, std::size_t size, std::uint64_t offset, bool /*is_first*/,
                                             std::size_t& /*masked*/) const {
  return read(into, size, offset);  // an unmasked file has no masked secrets
}

result<std::size_t> masked_file::read(char* into, std::size_t size, std::uint64_t offset) const {
  std::size_t ignored = 0;
  return read_counting(into, size, offset, false, ignored);
}

result<std::size_t> masked_file::read_counting(char* into, std::size_t size, std::uint64_t offset, bool is_first,
                                               std::size_t& masked) const {
  if (offset == 0) {
    auto count = of_->read(into, size, 0);
    if (!count) return count;
    char more = 0;
    auto behind = *count == size ? of_->read(&more, 1, size) : 0;
    if (!behind) return behind;
    if (*behind == 0) {
      masked += secrets::redactor(how_, {into, *count}).mask_part(std::span(into, *count), 0, *count, is_first);
      return count;
    }
  }
  std::array<char, secrets::front_bytes> front;
  auto fronted = of_->read(front.data(), front.size(), 0);
  if (!fronted) return fronted;
  const secrets::redactor by(how_, {front.data(), *fronted});
  // Begins at a multiple of the unit size, so that characters of UTF-16 and UTF-32 stay whole.
  const auto before = std::min<std::uint64_t>(offset, by.around() + offset % secrets::unit_bytes);
  const auto begin = static_cast<std::size_t>(before);
  const auto most = begin + size + by.around();
  const auto window = std::make_unique_for_overwrite<char[]>(most);
  auto count = of_->read(window.get(), most, offset - before);
  if (!count) return count;
  const auto end = std::clamp(*count, begin, begin + size);
  masked += by.mask_part(std::span(window.get(), *count), begin, end, is_first);
  std::memcpy(into, window.get() + begin, end - begin);
  return end - begin;
}

file_reader::file_reader(std::shared_ptr<const open_file> file, std::uint64_t offset, std::uint64_t size,
                         std::shared_ptr<void> place) noexcept
    : file_(std::move(file)), offset_(offset), size_(size), place_(std::move(place)) {}

result<std::size_t> file_reader::read(std::span<char> into) {
  const auto wanted = static_cast<std::size_t>(std::min<std::uint64_t>(into.size(), size_ - done_));
  if (wanted == 0) return std::size_t{0};
  auto count = all_of(file_->read_counting(into.data(), wanted, offset_ + done_, done_ == 0, masked_), wanted);
  if (count) done_ += wanted;
  return count;
}

result<void> file_reader::rewind() {
  done_ = 0;
  masked_ = 0;
  return {};
}

metadata file_reader::facts() const { return secrets::facts_of(masked_); }

}  // namespace hondana::files
