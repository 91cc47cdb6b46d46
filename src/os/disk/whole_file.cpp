/// Reads whole files up to a limit, and notices changes during the read.
#include "os/disk/whole_file.hpp"

#include <sys/stat.h>

#include <cerrno>
#include <cstddef>

#include <hondana/error.hpp>

#include "os/disk/file_descriptor.hpp"

namespace hondana::disk {

tl::expected<whole_file, int> read_whole(int file, std::uint64_t max_bytes) {
  using read_outcome = whole_file::read_outcome;
  struct stat attributes{};
  if (::fstat(file, &attributes) != 0) return tl::unexpected(errno);
  if (!S_ISREG(attributes.st_mode)) return tl::unexpected(EINVAL);
  whole_file whole;
  whole.state = stamp_of(attributes);
  if (whole.state.size > max_bytes) {
    whole.outcome = read_outcome::too_large;
    return whole;
  }
  whole.bytes.resize(static_cast<std::size_t>(whole.state.size));
  HONDANA_TRY(const auto count, read_at(file, whole.bytes.data(), whole.bytes.size(), 0));
  if (::fstat(file, &attributes) != 0) return tl::unexpected(errno);
  if (count != whole.bytes.size() || stamp_of(attributes) != whole.state) whole.outcome = read_outcome::changed;
  whole.bytes.resize(count);
  return whole;
}

}  // namespace hondana::disk
