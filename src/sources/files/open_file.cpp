/// Positioned reads; a file is never mapped, since its truncation would then be a signal.
#include "sources/files/open_file.hpp"

#include <sys/stat.h>

#include <cerrno>
#include <cstring>

#include "os/disk/read_at.hpp"

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
  return read(into, size, offset);  // nothing is masked in a file as it is
}

}  // namespace hondana::files
