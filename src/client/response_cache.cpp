/// The cache of results, for the time that servers allow.
#include "client/response_cache.hpp"

#include <algorithm>
#include <utility>

#include <hondana/clock.hpp>
#include <hondana/uri.hpp>

namespace hondana {
namespace {

constexpr std::size_t entry_overhead_bytes = 256;

std::string canonical_or_unchanged(std::string_view uri) {
  auto canonical = canonical_uri(uri);
  return canonical ? std::move(*canonical) : std::string(uri);
}

/// Whether a change of the URI `changed` may affect `cached`. A change of a folder affects its entries, and the reverse.
bool may_affect(std::string_view changed, std::string_view cached) noexcept {
  return uri_covers(changed, cached) || uri_covers(cached, changed);
}

}  // namespace

client_cache::client_cache(std::size_t max_bytes) : store_(std::make_unique<store>(max_bytes)) {}
client_cache::~client_cache() = default;

std::size_t client_cache::bytes() const { return store_->bytes(); }

std::string client_cache::store::map_key(const request_key& key, bool is_public) {
  std::string out = is_public ? "+" : "-";
  for (const auto* part : {&key.server, &key.method, &key.params}) {
    out += std::to_string(part->size()) + ':' + *part;
  }
  // An anonymous client may have other access than a known one, so an empty identity is an identity of its own.
  if (!is_public) out += key.identity;
  return out;
}

std::uint64_t client_cache::store::generation() const {
  const std::lock_guard lock(mutex_);
  return generation_;
}

std::optional<std::pair<client_cache::store::shared_text, std::chrono::milliseconds>> client_cache::store::find(
    const request_key& key) {
  const auto now = monotonic_clock::now();
  const std::lock_guard lock(mutex_);
  for (const bool is_public : {false, true}) {
    const auto position = by_key_.find(map_key(key, is_public));
    if (position == by_key_.end()) continue;
    if (position->second->expires_at <= now) {
      erase(position->second);
      continue;
    }
    lru_.splice(lru_.begin(), lru_, position->second);
    return std::pair(position->second->result,
                     std::chrono::duration_cast<std::chrono::milliseconds>(position->second->expires_at - now));
  }
  return {};
}

void client_cache::store::insert(const request_key& key, std::string result, const wire::asking::freshness& freshness,
                                 std::uint64_t expected_generation) {
  if (freshness.ttl <= std::chrono::milliseconds(0)) return;
  cached_response entry;
  entry.key = map_key(key, freshness.is_public);
  entry.server = key.server;
  entry.method = key.method;
  entry.uri = key.uri;
  entry.canonical = canonical_or_unchanged(key.uri);
  entry.expires_at = monotonic_clock::now() + freshness.ttl;
  entry.bytes = entry_overhead_bytes + 2 * entry.key.size() + entry.server.size() + entry.uri.size() + entry.canonical.size() +
                result.size();
  if (entry.bytes > max_bytes_ / 4) return;
  entry.result = std::make_shared<const std::string>(std::move(result));
  const std::lock_guard lock(mutex_);
  if (generation_ != expected_generation) return;
  if (const auto existing = by_key_.find(entry.key); existing != by_key_.end()) erase(existing->second);
  bytes_ += entry.bytes;
  lru_.push_front(std::move(entry));
  by_key_.emplace(lru_.front().key, lru_.begin());
  while (bytes_ > max_bytes_) erase(std::prev(lru_.end()));
}

void client_cache::store::erase(std::list<cached_response>::iterator position) {
  bytes_ -= position->bytes;
  by_key_.erase(position->key);
  lru_.erase(position);
}

void client_cache::store::invalidate_resource(const std::string& server, std::string_view uri) {
  const auto canonical = canonical_or_unchanged(uri);
  const std::lock_guard lock(mutex_);
  ++generation_;
  for (auto position = lru_.begin(); position != lru_.end();) {
    const auto next = std::next(position);
    // The server may write the URI differently.
    const auto is_meant = [&] {
      return uri.empty() || may_affect(uri, position->uri) || may_affect(canonical, position->canonical);
    };
    if (position->server == server && !position->uri.empty() && is_meant()) erase(position);
    position = next;
  }
}

void client_cache::store::invalidate_lists(const std::string& server, std::initializer_list<std::string_view> prefixes) {
  const std::lock_guard lock(mutex_);
  ++generation_;
  for (auto position = lru_.begin(); position != lru_.end();) {
    const auto next = std::next(position);
    const auto has_changed = [&position](std::string_view prefix) { return position->method.starts_with(prefix); };
    if (position->server == server && position->uri.empty() && std::any_of(prefixes.begin(), prefixes.end(), has_changed))
      erase(position);
    position = next;
  }
}

std::size_t client_cache::store::bytes() const {
  const std::lock_guard lock(mutex_);
  return bytes_;
}

}  // namespace hondana
