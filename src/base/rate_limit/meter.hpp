/// Whether a caller may ask for more now.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include <hondana/error.hpp>
#include <hondana/limits.hpp>
#include <hondana/provider.hpp>

#include "base/rate_limit/ledger.hpp"

namespace hondana::rate_limit {

/// What an address counts as: its network, in bytes; empty for one of this machine, for Unix sockets and for what is no
/// address. IPv6 addresses count by their first 64 bits, which one site usually has.
[[nodiscard]] std::string network_of(std::string_view address, bool count_loopback);

/// Whose share of a queue a call takes: an identity's, or a network's where nobody was asked who it is. Empty: nobody's in
/// particular, as of many who come by a proxy on this machine.
[[nodiscard]] std::string share_of(const caller& who);

/// What callers have left. Outlives configurations.
struct ledgers {
  explicit ledgers(std::size_t callers) : identities(callers), addresses(callers) {}
  ledger identities;
  ledger addresses;
};

/// The limits of one configuration over the ledgers of a server. Immutable but for these. Threads: any.
class meter {
 public:
  /// Null when there is nothing to limit.
  [[nodiscard]] static std::shared_ptr<const meter> make(const server_limits& with, std::shared_ptr<ledgers> kept);

  /// A message has come from an address: before it is known who asks. Errors: too_many_requests, with `retry`.
  [[nodiscard]] result<void> arrived(std::string_view address, clock::time_point now = clock::now()) const;
  /// A request of a caller. `is_counted`: `arrived` has been asked about it. Errors: as `arrived`.
  [[nodiscard]] result<void> admit(const caller& who, bool is_completion, bool is_counted,
                                   clock::time_point now = clock::now()) const;
  /// An answer has left, or as much of it as did.
  void written(const caller& who, std::uint64_t bytes, clock::time_point now = clock::now()) const;
  /// Whether anybody wants to hear of that.
  [[nodiscard]] bool counts_bytes() const noexcept;

 private:
  meter(const server_limits& with, std::shared_ptr<ledgers> kept);
  [[nodiscard]] bool counts_identity(const caller& who) const noexcept;

  rates per_identity_;
  rates per_address_;
  bool limits_identities_;
  bool limits_addresses_;
  bool counts_loopback_;
  std::shared_ptr<ledgers> kept_;
};

}  // namespace hondana::rate_limit
