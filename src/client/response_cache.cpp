/// Caches responses for the time that their servers allow.
#include "client/response_cache.hpp"

#include <algorithm>
#include <utility>

#include <hondana/clock.hpp>
#include <hondana/uri.hpp>

namespace hondana {
namespace {

constexpr std::size_t overhead = 256;

std::string canonical_or_same(std::string_view uri) {
  auto canonical = canonical_uri(uri);
  return canonical ? std::move(*canonical) : std::string(uri);
}

/// Whether a change of the URI `told` may affect `kept`. A change of a folder affects its entries, and the reverse.
bool have_changed_together(std::string_view told, std::string_view kept) noexcept {
  return covers(told, kept) || covers(kept, told);
}

}  // namespace

client_cache::client_cache(std::size_t bytes) : store_(std::make_unique<store>(bytes)) {}
client_cache::~client_cache() = default;

std::size_t client_cache::bytes() const { return store_->bytes(); }

std::string client_cache::store::key_of(const question& what, bool is_public) {
  std::string out = is_public ? "+" : "-";
  for (const auto* part : {&what.server, &what.method, &what.params}) {
    out += std::to_string(part->size()) + ':' + *part;
  }
  // An anonymous client may have other access than a known one, so an empty identity is an identity of its own.
  if (!is_public) out += what.identity;
  return out;
}

std::uint64_t client_cache::store::mark() const {
  const std::lock_guard lock(mutex_);
  return changes_;
}

std::optional<std::pair<client_cache::store::text, std::chrono::milliseconds>> client_cache::store::find(const question& what) {
  const auto now = monotonic_clock::now();
  const std::lock_guard lock(mutex_);
  for (const bool is_public : {false, true}) {
    const auto found = by_key_.find(key_of(what, is_public));
    if (found == by_key_.end()) continue;
    if (found->second->until <= now) {
      drop(found->second);
      continue;
    }
    order_.splice(order_.begin(), order_, found->second);
    return std::pair(found->second->result, std::chrono::duration_cast<std::chrono::milliseconds>(found->second->until - now));
  }
  return {};
}

void client_cache::store::keep(const question& what, std::string result, const wire::asking::freshness& how,
                               std::uint64_t since) {
  if (how.ttl <= std::chrono::milliseconds(0)) return;
  kept one;
  one.key = key_of(what, how.is_public);
  one.server = what.server;
  one.method = what.method;
  one.uri = what.uri;
  one.canonical = canonical_or_same(what.uri);
  one.until = monotonic_clock::now() + how.ttl;
  one.bytes = overhead + 2 * one.key.size() + one.server.size() + one.uri.size() + one.canonical.size() + result.size();
  if (one.bytes > most_ / 4) return;
  one.result = std::make_shared<const std::string>(std::move(result));
  const std::lock_guard lock(mutex_);
  if (changes_ != since) return;
  if (const auto found = by_key_.find(one.key); found != by_key_.end()) drop(found->second);
  bytes_ += one.bytes;
  order_.push_front(std::move(one));
  by_key_.emplace(order_.front().key, order_.begin());
  while (bytes_ > most_) drop(std::prev(order_.end()));
}

void client_cache::store::drop(std::list<kept>::iterator which) {
  bytes_ -= which->bytes;
  by_key_.erase(which->key);
  order_.erase(which);
}

void client_cache::store::forget_resource(const std::string& server, std::string_view uri) {
  const auto canonical = canonical_or_same(uri);
  const std::lock_guard lock(mutex_);
  ++changes_;
  for (auto one = order_.begin(); one != order_.end();) {
    const auto next = std::next(one);
    // The server may write the URI differently.
    const auto is_meant = [&] {
      return uri.empty() || have_changed_together(uri, one->uri) || have_changed_together(canonical, one->canonical);
    };
    if (one->server == server && !one->uri.empty() && is_meant()) drop(one);
    one = next;
  }
}

void client_cache::store::forget_lists(const std::string& server, std::initializer_list<std::string_view> prefixes) {
  const std::lock_guard lock(mutex_);
  ++changes_;
  for (auto one = order_.begin(); one != order_.end();) {
    const auto next = std::next(one);
    const auto has_changed = [&one](std::string_view prefix) { return one->method.starts_with(prefix); };
    if (one->server == server && one->uri.empty() && std::any_of(prefixes.begin(), prefixes.end(), has_changed)) drop(one);
    one = next;
  }
}

std::size_t client_cache::store::bytes() const {
  const std::lock_guard lock(mutex_);
  return bytes_;
}

}  // namespace hondana
