/// Limits for connections: in total, from one address, and by file descriptors.
#include "transport/http_server/connection_limits.hpp"

#include <algorithm>

#include <hondana/clock.hpp>

#include "os/disk/descriptor_limit.hpp"

namespace hondana::transport::http_server {

admission::admission(caps limits) : caps_(limits) {}

admission::entry admission::enter(const counted_address& from) {
  const auto cap = caps_.per_address != 0 ? caps_.per_address : std::max<std::size_t>(caps_.connections / 4, 1);
  const bool is_counted = from.is_network && (caps_.per_address != 0 || !from.is_loopback);
  const std::lock_guard lock(counts_->mutex);
  if (counts_->open >= caps_.connections + caps_.turned_away) return {};
  ++counts_->open;
  const bool is_one_too_many = is_counted && ++counts_->by_address[from.bits] > cap;
  std::shared_ptr<void> place(nullptr, [all = counts_, bits = from.bits, is_counted](void*) {
    const std::lock_guard again(all->mutex);
    --all->open;
    if (is_counted && --all->by_address[bits] == 0) all->by_address.erase(bits);
    all->left.notify_all();
  });
  // Connections that get a 503 count as well, so that one address cannot occupy all of those either.
  if (is_one_too_many && counts_->by_address[from.bits] > cap + caps_.turned_away / 4) {
    return {welcome::closed, std::move(place)};
  }
  const bool is_full = counts_->open > caps_.connections;
  return {is_full || is_one_too_many ? welcome::told : welcome::served, std::move(place)};
}

std::size_t admission::open() const {
  const std::lock_guard lock(counts_->mutex);
  return counts_->open;
}

bool admission::wait_until_empty(std::chrono::steady_clock::time_point until) {
  std::unique_lock lock(counts_->mutex);
  return monotonic_clock::wait_until(counts_->left, lock, until, [this] { return counts_->open == 0; });
}

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
