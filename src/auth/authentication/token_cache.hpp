/// What was found out about tokens a moment ago.
#pragma once

#include <array>
#include <cstdint>
#include <deque>
#include <mutex>
#include <optional>
#include <unordered_map>
#include <utility>

#include <hondana/authenticator.hpp>

#include "auth/authentication/clocks.hpp"
#include "auth/authentication/digest_hash.hpp"

namespace hondana::authentication {

/// By the token's hash, so that no token is kept. The oldest go when there are too many. Threads: any, and few meet: it is cut
/// into parts with a lock each.
template <class What>
class remembered_tokens {
 public:
  /// Good as long as the keys are of one generation; 0: whatever keys there are.
  using key_generation = std::uint64_t;

  explicit remembered_tokens(std::size_t most = 10'000) : most_in_part_((most + parts - 1) / parts) {}

  /// Nothing for what is not there, was put in under other keys than `keys`, or is over by `now`.
  [[nodiscard]] std::optional<What> find(const bytes::sha256_bytes& token, key_generation keys, steady_time now);
  void put(const bytes::sha256_bytes& token, What what, key_generation keys, steady_time until);
  [[nodiscard]] std::size_t size();

 private:
  static constexpr std::size_t parts = 16;

  struct entry {
    What what;
    key_generation keys;
    steady_time until;
    std::uint64_t order;
  };
  struct part {
    std::mutex mutex;
    std::unordered_map<bytes::sha256_bytes, entry, digest_hash> all;
    std::deque<std::pair<bytes::sha256_bytes, std::uint64_t>> order;  // in which they came; as long as `all` may be, at most
    std::uint64_t count = 0;
  };
  [[nodiscard]] part& part_of(const bytes::sha256_bytes& token) { return parts_[token.back() % parts]; }

  const std::size_t most_in_part_;
  std::array<part, parts> parts_;
};

using token_cache = remembered_tokens<known_caller>;
using refused_tokens = remembered_tokens<challenge>;

}  // namespace hondana::authentication
