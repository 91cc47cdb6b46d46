/// Reading a stretch of a file, forward.
#include "sources/files/reader.hpp"

#include <algorithm>
#include <utility>

#include "sources/files/window.hpp"
#include "text/secrets/redactor.hpp"

namespace hondana::files {

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
