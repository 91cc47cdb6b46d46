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
constexpr std::size_t most_looks = 8;
/// The default burst, in seconds of the rate.
constexpr double seconds_saved = 2;

const rate& rate_of(const rates& all, std::size_t which) {
  switch (static_cast<good>(which)) {
    case good::bytes:
      return all.bytes;
    case good::completions:
      return all.completions;
    case good::requests:
      break;
  }
  return all.requests;
}

/// At least 1, because otherwise no operation would ever be admitted.
double burst_of(const rate& one) { return std::max(one.burst > 0 ? one.burst : seconds_saved * one.per_second, 1.0); }

/// Refills a balance up to `now`. Returns false when it is full, so that it equals a new balance.
template <class Balance>
bool fill(Balance& left, clock::time_point& at, const rates& allowed, clock::time_point now) {
  const auto passed = std::max(std::chrono::duration<double>(now - at).count(), 0.0);
  at = std::max(at, now);
  bool is_in_use = false;
  for (std::size_t i = 0; i < goods; ++i) {
    const auto& with = rate_of(allowed, i);
    if (with.per_second <= 0) {
      left[i] = std::numeric_limits<double>::max();  // unlimited; if a limit is set later, its burst caps this
      continue;
    }
    const auto burst = burst_of(with);
    left[i] = std::min(left[i] + passed * with.per_second, burst);
    is_in_use = is_in_use || left[i] < burst;
  }
  return is_in_use;
}

clock::duration time_for(double missing, const rate& at) {
  // At most one day, because more nanoseconds might overflow.
  constexpr double longest = 86'400;
  const std::chrono::duration<double> wait(std::min(missing / at.per_second, longest));
  return std::chrono::ceil<std::chrono::milliseconds>(wait);
}

}  // namespace

ledger::ledger(std::size_t most) : most_a_shard_(std::max<std::size_t>(most / shards, 1)) {}

void ledger::limit_to(std::size_t most) noexcept { most_a_shard_ = std::max<std::size_t>(most / shards, 1); }

ledger::shard& ledger::shard_of(std::string_view who) { return shards_[std::hash<std::string_view>()(who) % shards]; }

ledger::account& ledger::account_of(shard& in, std::string_view who, const rates& allowed, clock::time_point now) {
  if (const auto known = in.places.find(who); known != in.places.end()) {
    auto& one = *in.accounts[known->second];
    fill(one.left, one.at, allowed, now);
    return one;
  }
  const auto open = [&](account& one) {
    one.who = who;
    one.at = now;
    for (std::size_t i = 0; i < goods; ++i) one.left[i] = burst_of(rate_of(allowed, i));
    fill(one.left, one.at, allowed, now);
  };
  if (in.accounts.size() < most_a_shard_) {
    auto made = std::make_unique<account>();
    open(*made);
    in.accounts.push_back(std::move(made));
    in.places.emplace(in.accounts.back()->who, in.accounts.size() - 1);
    return *in.accounts.back();
  }
  for (std::size_t looks = 0; looks < std::min(most_looks, in.accounts.size()); ++looks) {
    const auto place = in.hand++ % in.accounts.size();
    auto& one = *in.accounts[place];
    if (fill(one.left, one.at, allowed, now)) continue;
    in.places.erase(one.who);
    open(one);
    in.places.emplace(one.who, place);
    return one;
  }
  if (in.shared.at == clock::time_point()) {
    open(in.shared);
  } else {
    fill(in.shared.left, in.shared.at, allowed, now);
  }
  return in.shared;
}

std::optional<shortage> ledger::take(std::string_view who, const rates& allowed, wish what, clock::time_point now) {
  auto& in = shard_of(who);
  const std::lock_guard lock(in.mutex);
  auto& left = account_of(in, who, allowed, now).left;
  std::optional<shortage> worst;
  const auto want = [&](good of, double least) {
    const auto index = static_cast<std::size_t>(of);
    const auto& with = rate_of(allowed, index);
    if (with.per_second <= 0 || left[index] >= least) return;
    const shortage one{of, time_for(least - left[index], with)};
    if (!worst || worst->wait < one.wait) worst = one;
  };
  if (what.request) want(good::requests, 1);
  if (what.completion) want(good::completions, 1);
  want(good::bytes, 0);
  if (worst) return worst;
  if (what.request) left[static_cast<std::size_t>(good::requests)] -= 1;
  if (what.completion) left[static_cast<std::size_t>(good::completions)] -= 1;
  return std::nullopt;
}

void ledger::give_back(std::string_view who, const rates& allowed, wish what, clock::time_point now) {
  auto& in = shard_of(who);
  const std::lock_guard lock(in.mutex);
  auto& one = account_of(in, who, allowed, now);
  if (what.request) one.left[static_cast<std::size_t>(good::requests)] += 1;
  if (what.completion) one.left[static_cast<std::size_t>(good::completions)] += 1;
  fill(one.left, one.at, allowed, now);
}

void ledger::charge(std::string_view who, const rates& allowed, double bytes, clock::time_point now) {
  auto& in = shard_of(who);
  const std::lock_guard lock(in.mutex);
  account_of(in, who, allowed, now).left[static_cast<std::size_t>(good::bytes)] -= bytes;
}

std::size_t ledger::size() const {
  std::size_t all = 0;
  for (const auto& one : shards_) {
    const std::lock_guard lock(one.mutex);
    all += one.accounts.size();
  }
  return all;
}

namespace {

constexpr std::string_view anonymous = "anonymous";
constexpr std::array<unsigned char, 12> v4_in_v6{0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xff, 0xff};
constexpr std::size_t network_bytes = 8;

bool is_any(const rates& all) {
  return all.requests.per_second > 0 || all.bytes.per_second > 0 || all.completions.per_second > 0;
}

std::string bytes_of(const void* from, std::size_t count) { return {static_cast<const char*>(from), count}; }

std::string_view name_of(good what) {
  switch (what) {
    case good::bytes:
      return "response bytes";
    case good::completions:
      return "completions";
    case good::requests:
      break;
  }
  return "requests";
}

tl::unexpected<failure> refuse(const shortage& why, std::string_view whose) {
  const auto wait = std::chrono::ceil<std::chrono::milliseconds>(why.wait);
  const auto seconds = std::max<std::int64_t>(std::chrono::ceil<std::chrono::seconds>(wait).count(), 1);
  failure out{errc::too_many_requests,
              "Too many " + std::string(name_of(why.of)) + " from this " + std::string(whose) + ": wait " +
                  std::to_string(seconds) + " s before the next request, and send requests more slowly.",
              {}};
  out.retry = std::max(wait, std::chrono::milliseconds(1));
  return tl::unexpected(std::move(out));
}

}  // namespace

std::string network_of(std::string_view address, bool count_loopback) {
  if (address.size() >= INET6_ADDRSTRLEN) return {};
  // The most frequent case, handled without parsing.
  if (!count_loopback && address == "127.0.0.1") return {};
  std::array<char, INET6_ADDRSTRLEN> text{};
  std::copy(address.begin(), address.end(), text.begin());
  in_addr four{};
  if (::inet_pton(AF_INET, text.data(), &four) == 1) {
    const bool is_loopback = ntohl(four.s_addr) >> 24 == 127;
    return is_loopback && !count_loopback ? std::string() : bytes_of(&four, sizeof four);
  }
  in6_addr six{};
  if (::inet_pton(AF_INET6, text.data(), &six) != 1) return {};
  if (std::equal(v4_in_v6.begin(), v4_in_v6.end(), six.s6_addr)) {
    const bool is_loopback = six.s6_addr[v4_in_v6.size()] == 127;
    return is_loopback && !count_loopback ? std::string() : bytes_of(six.s6_addr + v4_in_v6.size(), sizeof four);
  }
  const bool is_loopback = std::memcmp(&six, &in6addr_loopback, sizeof six) == 0;
  return is_loopback && !count_loopback ? std::string() : bytes_of(six.s6_addr, network_bytes);
}

std::string share_of(const caller& who) {
  if (who.identity != anonymous) return who.identity;
  auto network = network_of(who.address, false);
  // The NUL prefix keeps networks distinct from identities.
  return network.empty() ? network : '\0' + network;
}

std::shared_ptr<const meter> meter::make(const server_limits& with, std::shared_ptr<ledgers> kept) {
  if (!is_any(with.per_identity) && !is_any(with.per_address)) return nullptr;
  return std::shared_ptr<const meter>(new meter(with, std::move(kept)));
}

meter::meter(const server_limits& with, std::shared_ptr<ledgers> kept)
    : per_identity_(with.per_identity),
      per_address_(with.per_address),
      limits_identities_(is_any(with.per_identity)),
      limits_addresses_(is_any(with.per_address)),
      counts_loopback_(with.count_loopback),
      kept_(std::move(kept)) {}

bool meter::counts_identity(const caller& who) const noexcept { return limits_identities_ && who.identity != anonymous; }

bool meter::counts_bytes() const noexcept { return per_identity_.bytes.per_second > 0 || per_address_.bytes.per_second > 0; }

result<void> meter::arrived(std::string_view address, clock::time_point now) const {
  if (!limits_addresses_) return {};
  const auto network = network_of(address, counts_loopback_);
  if (network.empty()) return {};
  const auto lacking = kept_->addresses.take(network, per_address_, {}, now);
  if (lacking) return refuse(*lacking, "address");
  return {};
}

result<void> meter::admit(const caller& who, bool is_completion, bool is_counted, clock::time_point now) const {
  const wish of_identity{true, is_completion};
  const bool has_identity = counts_identity(who);
  if (has_identity) {
    const auto lacking = kept_->identities.take(who.identity, per_identity_, of_identity, now);
    if (lacking) return refuse(*lacking, "caller");
  }
  if (!limits_addresses_ || (is_counted && !is_completion)) return {};
  const auto network = network_of(who.address, counts_loopback_);
  if (network.empty()) return {};
  const auto lacking = kept_->addresses.take(network, per_address_, {!is_counted, is_completion}, now);
  if (!lacking) return {};
  if (has_identity) kept_->identities.give_back(who.identity, per_identity_, of_identity, now);
  return refuse(*lacking, "address");
}

void meter::written(const caller& who, std::uint64_t bytes, clock::time_point now) const {
  const auto amount = static_cast<double>(bytes);
  if (per_identity_.bytes.per_second > 0 && counts_identity(who)) {
    kept_->identities.charge(who.identity, per_identity_, amount, now);
  }
  if (per_address_.bytes.per_second <= 0) return;
  const auto network = network_of(who.address, counts_loopback_);
  if (!network.empty()) kept_->addresses.charge(network, per_address_, amount, now);
}

}  // namespace hondana::rate_limit
