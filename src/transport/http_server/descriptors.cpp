/// What the limit of descriptors leaves for connections.
#include "transport/http_server/descriptors.hpp"

#include <algorithm>

#include "os/disk/descriptors.hpp"

namespace hondana::transport::http_server {
namespace {

constexpr std::size_t least_reserve = 128;
constexpr std::size_t fewest_connections = 16;

}  // namespace

std::size_t connections_within_descriptors() noexcept {
  const auto all = disk::descriptor_limit();
  const auto reserve = std::max(all / 4, least_reserve);
  return all > reserve + fewest_connections ? all - reserve : fewest_connections;
}

bool leaves_enough(int descriptor) noexcept {
  const auto all = disk::descriptor_limit();
  return static_cast<std::size_t>(descriptor) < all - std::min(all / 4, least_reserve);
}

}  // namespace hondana::transport::http_server
