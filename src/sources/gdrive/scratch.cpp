/// A file that has a name for a moment.
#include "sources/gdrive/scratch.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <string>

#include "os/disk/spool.hpp"

namespace hondana::gdrive {
namespace {

tl::unexpected<failure> no_room_for_scratch(const char* what, int error) {
  return fail(errc::source_unavailable, "The temporary file for a conversion cannot be written. Try again later.",
              std::string(what) + ": " + std::strerror(error));
}

}  // namespace

result<scratch> scratch::make() {
  scratch made;
  std::string name = disk::spool::folder() + "/hondana-XXXXXX";
  made.writer_ = disk::handle(::mkostemp(name.data(), O_CLOEXEC));
  if (!made.writer_.is_open()) return no_room_for_scratch("making a file", errno);
  made.reader_ = disk::handle(::open(name.c_str(), O_RDONLY | O_CLOEXEC | O_NOFOLLOW));
  const int error = errno;
  if (::unlink(name.c_str()) != 0) return no_room_for_scratch("unlinking a file", errno);
  if (!made.reader_.is_open()) return no_room_for_scratch("opening a file", error);
  return made;
}

result<void> scratch::append(std::string_view bytes) {
  while (!bytes.empty()) {
    const auto put = ::write(writer_.get(), bytes.data(), bytes.size());
    if (put < 0 && errno == EINTR) continue;
    if (put <= 0) return no_room_for_scratch("writing a file", put < 0 ? errno : ENOSPC);
    bytes.remove_prefix(static_cast<std::size_t>(put));
  }
  return {};
}

}  // namespace hondana::gdrive
