/// Limits the number of connections: in total, from one address, and by file descriptors.
#include "transport/http_server/connection_limits.hpp"

#include <algorithm>

#include <hondana/clock.hpp>

#include "os/disk/descriptor_limit.hpp"

namespace hondana::transport::http_server {

admission::admission(caps limits) : caps_(limits) {}

admission::admission_result admission::admit(const counted_address& address) {
  const auto address_cap =
      caps_.max_per_address != 0 ? caps_.max_per_address : std::max<std::size_t>(caps_.max_connections / 4, 1);
  const bool is_counted = address.is_network && (caps_.max_per_address != 0 || !address.is_loopback);
  const std::lock_guard lock(counts_->mutex);
  if (counts_->open_count >= caps_.max_connections + caps_.max_rejected) return {};
  ++counts_->open_count;
  const bool exceeds_address_cap = is_counted && ++counts_->by_address[address.bits] > address_cap;
  std::shared_ptr<void> slot(nullptr, [shared = counts_, bits = address.bits, is_counted](void*) {
    const std::lock_guard release_lock(shared->mutex);
    --shared->open_count;
    if (is_counted && --shared->by_address[bits] == 0) shared->by_address.erase(bits);
    shared->closed.notify_all();
  });
  // Connections that get a 503 count as well, so that one address cannot occupy all of those either.
  if (exceeds_address_cap && counts_->by_address[address.bits] > address_cap + caps_.max_rejected / 4) {
    return {decision::drop, std::move(slot)};
  }
  const bool is_full = counts_->open_count > caps_.max_connections;
  return {is_full || exceeds_address_cap ? decision::reject : decision::accept, std::move(slot)};
}

std::size_t admission::open_connections() const {
  const std::lock_guard lock(counts_->mutex);
  return counts_->open_count;
}

bool admission::wait_until_empty(std::chrono::steady_clock::time_point deadline) {
  std::unique_lock lock(counts_->mutex);
  return monotonic_clock::wait_until(counts_->closed, lock, deadline, [this] { return counts_->open_count == 0; });
}

namespace {

constexpr std::size_t min_reserve = 128;
constexpr std::size_t min_connections = 16;

}  // namespace

std::size_t max_connections_by_descriptors() noexcept {
  const auto total = disk::descriptor_limit();
  const auto reserved = std::max(total / 4, min_reserve);
  return total > reserved + min_connections ? total - reserved : min_connections;
}

bool leaves_descriptor_reserve(int descriptor) noexcept {
  const auto total = disk::descriptor_limit();
  return static_cast<std::size_t>(descriptor) < total - std::min(total / 4, min_reserve);
}

}  // namespace hondana::transport::http_server
