/// Rate limits of callers: token buckets in bounded memory, and the decision to admit a request.
#include "base/rate_limit/rate_limiter.hpp"

#include <arpa/inet.h>
#include <netinet/in.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstring>
#include <functional>
#include <limits>
#include <utility>

namespace hondana::rate_limit {
namespace {

/// The number of balances to examine for eviction. Normally nearly all balances are full.
constexpr std::size_t max_eviction_probes = 8;
/// The default burst, in seconds of the rate.
constexpr double default_burst_seconds = 2;

const std::optional<rate_quota>& rate_of(const rate_quotas& limits, std::size_t index) {
  switch (static_cast<limited_quantity>(index)) {
    case limited_quantity::bytes:
      return limits.bytes;
    case limited_quantity::completions:
      return limits.completions;
    case limited_quantity::requests:
      break;
  }
  return limits.requests;
}

/// At least 1, because otherwise no operation would ever be admitted.
double burst_of(const rate_quota& limit) {
  return std::max(limit.burst.value_or(default_burst_seconds * limit.per_second), 1.0);
}

/// Refills a balance up to `now`. Returns false when it is full, so that it equals a new balance.
template <class Balance>
bool refill(Balance& tokens, clock::time_point& updated_at, const rate_quotas& limits, clock::time_point now) {
  const auto elapsed = std::max(std::chrono::duration<double>(now - updated_at).count(), 0.0);
  updated_at = std::max(updated_at, now);
  bool is_in_use = false;
  for (std::size_t i = 0; i < quantity_count; ++i) {
    const auto& limit = rate_of(limits, i);
    if (!limit) {
      tokens[i] = std::numeric_limits<double>::max();  // unlimited; if a limit is set later, its burst caps this
      continue;
    }
    const auto burst = burst_of(*limit);
    tokens[i] = std::min(tokens[i] + elapsed * limit->per_second, burst);
    is_in_use = is_in_use || tokens[i] < burst;
  }
  return is_in_use;
}

clock::duration refill_time(double missing, const rate_quota& limit) {
  // At most one day, because more nanoseconds might overflow.
  constexpr double max_seconds = 86'400;
  const std::chrono::duration<double> wait(std::min(missing / limit.per_second, max_seconds));
  return std::chrono::ceil<std::chrono::milliseconds>(wait);
}

}  // namespace

bucket_table::bucket_table(std::size_t max_callers) : max_per_shard_(std::max<std::size_t>(max_callers / shard_count, 1)) {}

void bucket_table::set_max_callers(std::size_t max_callers) noexcept {
  max_per_shard_ = std::max<std::size_t>(max_callers / shard_count, 1);
}

bucket_table::shard& bucket_table::shard_of(std::string_view caller) {
  return shards_[std::hash<std::string_view>()(caller) % shard_count];
}

bucket_table::bucket_set& bucket_table::bucket_set_of(shard& locked_shard, std::string_view caller, const rate_quotas& limits,
                                                      clock::time_point now) {
  if (const auto position = locked_shard.positions.find(caller); position != locked_shard.positions.end()) {
    auto& entry = *locked_shard.entries[position->second];
    refill(entry.tokens, entry.updated_at, limits, now);
    return entry;
  }
  const auto reset = [&](bucket_set& entry) {
    entry.caller = caller;
    entry.updated_at = now;
    for (std::size_t i = 0; i < quantity_count; ++i) {
      const auto& limit = rate_of(limits, i);
      entry.tokens[i] = limit ? burst_of(*limit) : 0;
    }
    refill(entry.tokens, entry.updated_at, limits, now);
  };
  if (locked_shard.entries.size() < max_per_shard_) {
    auto created = std::make_unique<bucket_set>();
    reset(*created);
    locked_shard.entries.push_back(std::move(created));
    locked_shard.positions.emplace(locked_shard.entries.back()->caller, locked_shard.entries.size() - 1);
    return *locked_shard.entries.back();
  }
  for (std::size_t probes = 0; probes < std::min(max_eviction_probes, locked_shard.entries.size()); ++probes) {
    const auto index = locked_shard.eviction_cursor++ % locked_shard.entries.size();
    auto& entry = *locked_shard.entries[index];
    if (refill(entry.tokens, entry.updated_at, limits, now)) continue;
    locked_shard.positions.erase(entry.caller);
    reset(entry);
    locked_shard.positions.emplace(entry.caller, index);
    return entry;
  }
  if (locked_shard.shared.updated_at == clock::time_point()) {
    reset(locked_shard.shared);
  } else {
    refill(locked_shard.shared.tokens, locked_shard.shared.updated_at, limits, now);
  }
  return locked_shard.shared;
}

std::optional<shortage> bucket_table::consume(std::string_view caller, const rate_quotas& limits, token_cost cost,
                                              clock::time_point now) {
  auto& locked_shard = shard_of(caller);
  const std::lock_guard lock(locked_shard.mutex);
  auto& tokens = bucket_set_of(locked_shard, caller, limits, now).tokens;
  std::optional<shortage> worst;
  const auto require = [&](limited_quantity quantity, double min_tokens) {
    const auto index = static_cast<std::size_t>(quantity);
    const auto& limit = rate_of(limits, index);
    if (!limit || tokens[index] >= min_tokens) return;
    const shortage candidate{quantity, refill_time(min_tokens - tokens[index], *limit)};
    if (!worst || worst->retry_after < candidate.retry_after) worst = candidate;
  };
  if (cost.request) require(limited_quantity::requests, 1);
  if (cost.completion) require(limited_quantity::completions, 1);
  require(limited_quantity::bytes, 0);
  if (worst) return worst;
  if (cost.request) tokens[static_cast<std::size_t>(limited_quantity::requests)] -= 1;
  if (cost.completion) tokens[static_cast<std::size_t>(limited_quantity::completions)] -= 1;
  return std::nullopt;
}

void bucket_table::refund(std::string_view caller, const rate_quotas& limits, token_cost cost, clock::time_point now) {
  auto& locked_shard = shard_of(caller);
  const std::lock_guard lock(locked_shard.mutex);
  auto& entry = bucket_set_of(locked_shard, caller, limits, now);
  if (cost.request) entry.tokens[static_cast<std::size_t>(limited_quantity::requests)] += 1;
  if (cost.completion) entry.tokens[static_cast<std::size_t>(limited_quantity::completions)] += 1;
  refill(entry.tokens, entry.updated_at, limits, now);
}

void bucket_table::charge(std::string_view caller, const rate_quotas& limits, double bytes, clock::time_point now) {
  auto& locked_shard = shard_of(caller);
  const std::lock_guard lock(locked_shard.mutex);
  bucket_set_of(locked_shard, caller, limits, now).tokens[static_cast<std::size_t>(limited_quantity::bytes)] -= bytes;
}

std::size_t bucket_table::size() const {
  std::size_t total = 0;
  for (const auto& entry : shards_) {
    const std::lock_guard lock(entry.mutex);
    total += entry.entries.size();
  }
  return total;
}

namespace {

constexpr std::string_view anonymous = "anonymous";
constexpr std::array<unsigned char, 12> v4_in_v6{0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xff, 0xff};
constexpr std::size_t network_bytes = 8;

bool has_limit(const rate_quotas& limits) { return limits.requests || limits.bytes || limits.completions; }

std::string bytes_of(const void* data, std::size_t count) { return {static_cast<const char*>(data), count}; }

std::string_view name_of(limited_quantity quantity) {
  switch (quantity) {
    case limited_quantity::bytes:
      return "response bytes";
    case limited_quantity::completions:
      return "completions";
    case limited_quantity::requests:
      break;
  }
  return "requests";
}

tl::unexpected<failure> reject(const shortage& missing, std::string_view subject) {
  const auto wait = std::chrono::ceil<std::chrono::milliseconds>(missing.retry_after);
  const auto seconds = std::max<std::int64_t>(std::chrono::ceil<std::chrono::seconds>(wait).count(), 1);
  failure out{errc::too_many_requests,
              "Too many " + std::string(name_of(missing.quantity)) + " from this " + std::string(subject) + ": wait " +
                  std::to_string(seconds) + " s before the next request, and send requests more slowly.",
              {}};
  out.retry_after = std::max(wait, std::chrono::milliseconds(1));
  return tl::unexpected(std::move(out));
}

}  // namespace

std::string network_of(std::string_view address, bool count_loopback) {
  if (address.size() >= INET6_ADDRSTRLEN) return {};
  // The most frequent case, handled without parsing.
  if (!count_loopback && address == "127.0.0.1") return {};
  std::array<char, INET6_ADDRSTRLEN> text{};
  std::copy(address.begin(), address.end(), text.begin());
  in_addr ipv4{};
  if (::inet_pton(AF_INET, text.data(), &ipv4) == 1) {
    const bool is_loopback = ntohl(ipv4.s_addr) >> 24 == 127;
    return is_loopback && !count_loopback ? std::string() : bytes_of(&ipv4, sizeof ipv4);
  }
  in6_addr ipv6{};
  if (::inet_pton(AF_INET6, text.data(), &ipv6) != 1) return {};
  if (std::equal(v4_in_v6.begin(), v4_in_v6.end(), ipv6.s6_addr)) {
    const bool is_loopback = ipv6.s6_addr[v4_in_v6.size()] == 127;
    return is_loopback && !count_loopback ? std::string() : bytes_of(ipv6.s6_addr + v4_in_v6.size(), sizeof ipv4);
  }
  const bool is_loopback = std::memcmp(&ipv6, &in6addr_loopback, sizeof ipv6) == 0;
  return is_loopback && !count_loopback ? std::string() : bytes_of(ipv6.s6_addr, network_bytes);
}

std::string queue_key_of(const caller_info& caller) {
  if (caller.identity != anonymous) return caller.identity;
  auto network = network_of(caller.address, false);
  // The NUL prefix keeps networks distinct from identities.
  return network.empty() ? network : '\0' + network;
}

std::shared_ptr<const rate_limiter> rate_limiter::make(const server_limits& limits, std::shared_ptr<bucket_tables> tables) {
  if (!has_limit(limits.per_identity) && !has_limit(limits.per_address)) return nullptr;
  return std::shared_ptr<const rate_limiter>(new rate_limiter(limits, std::move(tables)));
}

rate_limiter::rate_limiter(const server_limits& limits, std::shared_ptr<bucket_tables> tables)
    : per_identity_(limits.per_identity),
      per_address_(limits.per_address),
      limits_identities_(has_limit(limits.per_identity)),
      limits_addresses_(has_limit(limits.per_address)),
      counts_loopback_(limits.limits_loopback),
      tables_(std::move(tables)) {}

bool rate_limiter::counts_identity(const caller_info& caller) const noexcept {
  return limits_identities_ && caller.identity != anonymous;
}

bool rate_limiter::counts_bytes() const noexcept { return per_identity_.bytes || per_address_.bytes; }

result<void> rate_limiter::admit_message(std::string_view address, clock::time_point now) const {
  if (!limits_addresses_) return {};
  const auto network = network_of(address, counts_loopback_);
  if (network.empty()) return {};
  const auto missing = tables_->addresses.consume(network, per_address_, {}, now);
  if (missing) return reject(*missing, "address");
  return {};
}

result<void> rate_limiter::admit(const caller_info& caller, bool is_completion, bool is_counted, clock::time_point now) const {
  const token_cost cost{true, is_completion};
  const bool has_identity = counts_identity(caller);
  if (has_identity) {
    const auto missing = tables_->identities.consume(caller.identity, per_identity_, cost, now);
    if (missing) return reject(*missing, "caller");
  }
  if (!limits_addresses_ || (is_counted && !is_completion)) return {};
  const auto network = network_of(caller.address, counts_loopback_);
  if (network.empty()) return {};
  const auto missing = tables_->addresses.consume(network, per_address_, {!is_counted, is_completion}, now);
  if (!missing) return {};
  if (has_identity) tables_->identities.refund(caller.identity, per_identity_, cost, now);
  return reject(*missing, "address");
}

void rate_limiter::charge_bytes(const caller_info& caller, std::uint64_t bytes, clock::time_point now) const {
  const auto amount = static_cast<double>(bytes);
  if (per_identity_.bytes && counts_identity(caller)) {
    tables_->identities.charge(caller.identity, per_identity_, amount, now);
  }
  if (!per_address_.bytes) return;
  const auto network = network_of(caller.address, counts_loopback_);
  if (!network.empty()) tables_->addresses.charge(network, per_address_, amount, now);
}

}  // namespace hondana::rate_limit
