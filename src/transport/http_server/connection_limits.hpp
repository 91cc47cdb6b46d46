/// How many connections there may be: in all, from one address, and within the limit of descriptors.
#pragma once

#include <chrono>
#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <mutex>
#include <unordered_map>

namespace hondana::transport::http_server {

/// A peer's address as far as it is counted: an IPv4 address whole, of IPv6 the 64 bits that one site usually has.
struct counted_address {
  std::uint64_t bits = 0;
  bool is_network = false;   ///< False for Unix sockets, which are not counted by address.
  bool is_loopback = false;  ///< Many peers behind a proxy on this machine look like one.
};

/// Counts connections against caps. Threads: any.
class admission {
 public:
  struct caps {
    std::size_t connections;
    std::size_t turned_away;      ///< Beyond `connections`: those being told that there is no room.
    std::size_t per_address = 0;  ///< 0: a quarter of `connections` for addresses of other machines, none for loopback.
  };
  enum class welcome {
    served,
    told,    ///< There is no room, and the peer is to be told.
    closed,  ///< Nor for telling.
  };
  struct entry {
    welcome how = welcome::closed;
    std::shared_ptr<void> place;  ///< Counted until this is let go; may outlive the admission.
  };

  explicit admission(caps limits);
  [[nodiscard]] entry enter(const counted_address& from);
  [[nodiscard]] std::size_t open() const;
  /// False when some are left at `until`.
  bool wait_until_empty(std::chrono::steady_clock::time_point until);

 private:
  struct counts {
    mutable std::mutex mutex;
    std::condition_variable left;
    std::size_t open = 0;
    std::unordered_map<std::uint64_t, std::size_t> by_address;  // those above 0
  };

  caps caps_;
  std::shared_ptr<counts> counts_ = std::make_shared<counts>();
};

/// How many connections fit below the present limit when a quarter of it, at least 128, is kept for files and all else; 16 at
/// least.
[[nodiscard]] std::size_t connections_within_descriptors() noexcept;

/// Whether a connection with this descriptor leaves a quarter of the limit, but no more than 128, to the server's own work: the
/// kernel gives the lowest number that is free.
[[nodiscard]] bool leaves_enough(int descriptor) noexcept;

}  // namespace hondana::transport::http_server
