/// Callers to ledgers, shortages to words.
#include "base/rate_limit/meter.hpp"

#include <arpa/inet.h>
#include <netinet/in.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstring>
#include <utility>

namespace hondana::rate_limit {
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
  // By far the most frequent one, and no business of ours then.
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
  // No identity begins with NUL.
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
