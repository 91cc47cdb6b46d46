/// Limits the number of connections: in total, from one address, and by file descriptors.
#pragma once

#include <chrono>
#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <mutex>
#include <unordered_map>

namespace hondana::transport::http_server {

/// What connections are counted by: a whole IPv4 address, or the first 64 bits of an IPv6 address, which one owner usually has.
struct counted_address {
  std::uint64_t bits = 0;    ///< The address or its first 64 bits.
  bool is_network = false;   ///< False for Unix sockets, which have no limit per address.
  bool is_loopback = false;  ///< All clients of a proxy on this machine have this address.
};

/// Counts connections, and decides about new ones. Threads: any. Copies share the counts.
class admission {
 public:
  struct caps {
    std::size_t max_connections;
    std::size_t max_rejected;         ///< Connections that get a 503, in addition to `max_connections`.
    std::size_t max_per_address = 0;  ///< 0: a quarter of `max_connections` for other machines, no limit for loopback.
  };
  enum class decision {
    accept,
    reject,  ///< Too many connections; the peer gets a 503.
    drop,    ///< Too many even for a 503; the caller must close the connection.
  };
  struct admission_result {
    decision status = decision::drop;
    std::shared_ptr<void> slot;  ///< Keep it while the connection exists: it counts until then. May outlive the admission.
  };

  explicit admission(caps limits);
  /// Counts a new connection, and decides about it.
  [[nodiscard]] admission_result admit(const counted_address& address);
  /// The number of counted connections, including rejected ones.
  [[nodiscard]] std::size_t open_connections() const;
  /// Waits until no connection is counted. Returns false if some are left at `deadline`.
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

/// Returns the number of connections that fit into the process's limit of descriptors, at least 16. A quarter of the limit, at
/// least 128, is reserved for files and other uses.
[[nodiscard]] std::size_t max_connections_by_descriptors() noexcept;

/// Whether enough descriptors remain for other uses after a new connection got `descriptor`: a quarter of the limit, at most
/// 128. The kernel assigns the lowest free number.
[[nodiscard]] bool leaves_descriptor_reserve(int descriptor) noexcept;

}  // namespace hondana::transport::http_server
