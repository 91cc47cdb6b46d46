/// Limits for connections: in total, from one address, and by file descriptors.
#pragma once

#include <chrono>
#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <mutex>
#include <unordered_map>

namespace hondana::transport::http_server {

/// The part of a peer's address that is counted: a whole IPv4 address, or the first 64 bits of IPv6, which one site usually
/// has.
struct counted_address {
  std::uint64_t bits = 0;
  bool is_network = false;   ///< False for Unix sockets, which have no limit per address.
  bool is_loopback = false;  ///< All clients of a proxy on this machine have this address.
};

/// Counts connections and compares with the limits. Threads: any.
class admission {
 public:
  struct caps {
    std::size_t max_connections;
    std::size_t max_rejected;         ///< In addition to `max_connections`: those that get a 503.
    std::size_t max_per_address = 0;  ///< 0: a quarter of `max_connections` for other machines, no limit for loopback.
  };
  enum class decision {
    accept,
    reject,  ///< Too many connections; the peer gets a 503.
    drop,    ///< Too many even for a 503.
  };
  struct admission_result {
    decision status = decision::drop;
    std::shared_ptr<void> slot;  ///< The connection is counted until this is released; may outlive the admission.
  };

  explicit admission(caps limits);
  [[nodiscard]] admission_result admit(const counted_address& address);
  [[nodiscard]] std::size_t open_connections() const;
  /// Waits until no connection is left. False if some are left at `deadline`.
  bool wait_until_empty(std::chrono::steady_clock::time_point deadline);

 private:
  struct counts {
    mutable std::mutex mutex;
    std::condition_variable closed;
    std::size_t open_count = 0;
    std::unordered_map<std::uint64_t, std::size_t> by_address;  // only those above 0
  };

  caps caps_;
  std::shared_ptr<counts> counts_ = std::make_shared<counts>();
};

/// The number of connections that fit into the descriptor limit. A quarter of the limit, at least 128, is reserved for files
/// and other uses. Returns at least 16.
[[nodiscard]] std::size_t max_connections_by_descriptors() noexcept;

/// Whether a connection with this descriptor leaves a quarter of the limit, at most 128, for other uses. The kernel assigns the
/// lowest free number.
[[nodiscard]] bool leaves_descriptor_reserve(int descriptor) noexcept;

}  // namespace hondana::transport::http_server
