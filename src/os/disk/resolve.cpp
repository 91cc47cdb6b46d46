/// The system call, and a way without it.
#include "os/disk/resolve.hpp"

#include <fcntl.h>
#include <linux/openat2.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstddef>

namespace hondana::disk {
namespace {

constexpr int on_the_way = O_PATH | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC;

handle open_name_by_name(int folder, const std::string& path, int flags) {
  handle at(::openat(folder, ".", on_the_way));
  for (std::size_t begin = 0; at.is_open();) {
    const auto end = std::min(path.find('/', begin), path.size());
    const bool is_last = end == path.size();
    at = handle(::openat(at.get(), path.substr(begin, end - begin).c_str(), is_last ? flags | O_NOFOLLOW : on_the_way));
    if (is_last) break;
    begin = end + 1;
  }
  return at;
}

}  // namespace

int open_resolved(int folder, const std::string& path, int flags, std::uint64_t resolve) noexcept {
  open_how how{};
  how.flags = static_cast<std::uint64_t>(flags);
  how.resolve = resolve;
  int descriptor = -1;
  do {
    descriptor = static_cast<int>(::syscall(SYS_openat2, folder, path.c_str(), &how, sizeof how));
  } while (descriptor < 0 && (errno == EINTR || errno == EAGAIN));
  return descriptor;
}

handle open_without_links(int folder, const std::string& path, int flags) {
  const int descriptor = open_resolved(folder, path, flags, RESOLVE_BENEATH | RESOLVE_NO_SYMLINKS | RESOLVE_NO_MAGICLINKS);
  if (descriptor < 0 && (errno == ENOSYS || errno == EPERM)) return open_name_by_name(folder, path, flags);
  return handle(descriptor);
}

}  // namespace hondana::disk
