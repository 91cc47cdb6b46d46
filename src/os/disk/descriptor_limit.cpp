/// The limit of file descriptors of this process, and errors caused by a lack of descriptors.
#include "os/disk/descriptor_limit.hpp"

#include <fcntl.h>
#include <sys/resource.h>

#include <algorithm>
#include <array>
#include <cerrno>

#include "os/disk/file_descriptor.hpp"

namespace hondana::disk {
namespace {

constexpr rlim_t most_descriptors = 1u << 17;
constexpr std::size_t few = 8;

}  // namespace

void raise_descriptor_limit() noexcept {
  rlimit now{};
  if (::getrlimit(RLIMIT_NOFILE, &now) != 0) return;
  const auto wanted = std::min(now.rlim_max, most_descriptors);
  if (now.rlim_cur >= wanted) return;
  now.rlim_cur = wanted;
  (void)::setrlimit(RLIMIT_NOFILE, &now);  // on failure, the old limit is sufficient
}

std::size_t descriptor_limit() noexcept {
  rlimit now{};
  if (::getrlimit(RLIMIT_NOFILE, &now) != 0) return 0;
  return std::min(now.rlim_cur, most_descriptors);
}

bool lacks_descriptors() noexcept {
  std::array<handle, few> probes;
  for (auto& one : probes) {
    one = handle(::open("/dev/null", O_RDONLY | O_CLOEXEC));  // a file that always exists
    if (!one.is_open()) return errno == EMFILE || errno == ENFILE;
  }
  return false;
}

}  // namespace hondana::disk
