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

constexpr rlim_t max_descriptors = 1u << 17;
constexpr std::size_t probe_count = 8;

}  // namespace

void raise_descriptor_limit() noexcept {
  rlimit limit{};
  if (::getrlimit(RLIMIT_NOFILE, &limit) != 0) return;
  const auto target = std::min(limit.rlim_max, max_descriptors);
  if (limit.rlim_cur >= target) return;
  limit.rlim_cur = target;
  (void)::setrlimit(RLIMIT_NOFILE, &limit);  // on failure, the old limit is sufficient
}

std::size_t descriptor_limit() noexcept {
  rlimit limit{};
  if (::getrlimit(RLIMIT_NOFILE, &limit) != 0) return 0;
  return std::min(limit.rlim_cur, max_descriptors);
}

bool lacks_descriptors() noexcept {
  std::array<handle, probe_count> probes;
  for (auto& probe : probes) {
    probe = handle(::open("/dev/null", O_RDONLY | O_CLOEXEC));  // a file that always exists
    if (!probe.is_open()) return errno == EMFILE || errno == ENFILE;
  }
  return false;
}

}  // namespace hondana::disk
