/// Reading with what decides about secrets around it.
#include "sources/files/masked_file.hpp"

#include <algorithm>
#include <array>
#include <cstring>
#include <memory>
#include <span>

#include "text/secrets/redactor.hpp"

namespace hondana::files {
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
  // From a multiple of so many bytes on, for the characters of UTF-16 and UTF-32.
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

}  // namespace hondana::files
