/// Caches the results of token checks, and prevents two threads from checking the same token at once.
#include "auth/authentication/token_cache.hpp"

namespace hondana::authentication {

template <class Outcome>
std::optional<Outcome> outcome_cache<Outcome>::find(const bytes::sha256_bytes& token, key_generation keys, steady_time now) {
  auto& shard = shard_of(token);
  const std::lock_guard lock(shard.mutex);
  const auto position = shard.entries.find(token);
  if (position == shard.entries.end()) return {};
  const auto& cached = position->second;
  if (cached.expires_at <= now || (cached.keys != 0 && cached.keys != keys)) return {};
  return cached.outcome;
}

template <class Outcome>
void outcome_cache<Outcome>::put(const bytes::sha256_bytes& token, Outcome outcome, key_generation keys,
                                 steady_time expires_at) {
  auto& shard = shard_of(token);
  const std::lock_guard lock(shard.mutex);
  const auto order = ++shard.last_order;
  shard.entries.insert_or_assign(token, entry{std::move(outcome), keys, expires_at, order});
  shard.insertions.emplace_back(token, order);
  while (shard.insertions.size() > max_shard_entries_) {
    const auto position = shard.entries.find(shard.insertions.front().first);
    // A token that was put in again has a later element in `insertions`, so it stays.
    if (position != shard.entries.end() && position->second.order == shard.insertions.front().second)
      shard.entries.erase(position);
    shard.insertions.pop_front();
  }
}

template <class Outcome>
std::size_t outcome_cache<Outcome>::size() {
  std::size_t out = 0;
  for (auto& shard : shards_) {
    const std::lock_guard lock(shard.mutex);
    out += shard.entries.size();
  }
  return out;
}

template class outcome_cache<authenticated_caller>;
template class outcome_cache<auth_rejection>;

}  // namespace hondana::authentication
