/// Reading and raising RLIMIT_NOFILE.
#include "transport/http/descriptors.hpp"

#include <sys/resource.h>

#include <algorithm>

namespace hondana::transport::http {
namespace {

constexpr rlim_t least_reserve = 128;
constexpr rlim_t fewest_connections = 16;
// Where the limit is that of the whole system, memory ends before it.
constexpr rlim_t most_descriptors = 1u << 17;

}  // namespace

void raise_descriptor_limit() noexcept {
  rlimit now{};
  if (::getrlimit(RLIMIT_NOFILE, &now) != 0) return;
  const auto wanted = std::min(now.rlim_max, most_descriptors);
  if (now.rlim_cur >= wanted) return;
  now.rlim_cur = wanted;
  (void)::setrlimit(RLIMIT_NOFILE, &now);  // the old limit serves too
}

std::size_t connections_within_descriptors() noexcept {
  rlimit now{};
  if (::getrlimit(RLIMIT_NOFILE, &now) != 0) return fewest_connections;
  const auto all = std::min(now.rlim_cur, most_descriptors);
  const auto reserve = std::max(all / 4, least_reserve);
  return all > reserve + fewest_connections ? all - reserve : fewest_connections;
}

}  // namespace hondana::transport::http
