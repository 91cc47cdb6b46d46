/// The least recently used order, and what counts.
#include "catalog/read_cache.hpp"

#include <algorithm>
#include <functional>
#include <utility>
#include <variant>

namespace hondana::catalog {
namespace {

/// What a place costs besides contents and URIs: the nodes of map and list, what vouches for it, and the headers of their
/// allocations.
constexpr std::size_t bookkeeping_bytes = 512;
constexpr std::size_t share_of_one = 8;

/// Zero when something of it is only pulled.
std::size_t bytes_of(const bytes::prepared_reading& what) {
  std::size_t total = what.version.size();
  for (const auto& one : what.contents) {
    const auto* whole = std::get_if<shared_bytes>(&one.data);
    if (whole == nullptr) return 0;
    for (const auto& [name, held] : one.metadata) {
      const auto* text = std::get_if<std::string>(&held);
      total += sizeof(metadata::value_type) + name.size() + (text != nullptr ? text->size() : 0);
    }
    total += sizeof one + one.uri.size() + one.name.size() + one.title.size() + one.mimeType.size() + (*whole)->size();
  }
  return total;
}

/// A copy with bytes of its own: those of a source may be lent, and must go back.
read_cache::kept copy_of(const bytes::prepared_reading& what) {
  auto copy = std::make_shared<bytes::prepared_reading>(what);
  copy->valid.reset();  // it stands beside the copy, where it can be renewed
  for (auto& one : copy->contents) {
    auto& whole = std::get<shared_bytes>(one.data);
    whole = std::make_shared<const std::string>(*whole);
  }
  return copy;
}

}  // namespace

std::size_t read_cache::hasher::operator()(const key_view& of) const noexcept {
  const std::hash<std::string_view> text;
  const auto mixed = text(of.uri) * 31 + (of.asked_uri == of.uri ? 0 : text(of.asked_uri));
  return mixed * 31 + of.source * 0x9E3779B97F4A7C15u + (of.through != nullptr ? of.through->id() + 1 : 0);
}

read_cache::vouched read_cache::find_vouched(const key_view& of) {
  const std::lock_guard lock(mutex_);
  const auto found = places_.find(of);
  if (found == places_.end()) return {};
  order_.splice(order_.begin(), order_, found->second.in_order);
  return {found->second.what, found->second.by, found->second.ttl};
}

void read_cache::vouch(const key& of, const kept& what, std::chrono::milliseconds ttl, std::shared_ptr<const validity> by) {
  const std::lock_guard lock(mutex_);
  const auto found = places_.find(of);
  if (found == places_.end() || found->second.what != what) return;
  found->second.ttl = ttl;
  found->second.by.swap(by);  // the former goes when the lock is free again
}

void read_cache::keep(const key& of, const bytes::prepared_reading& what) {
  const auto content = what.version.empty() ? 0 : bytes_of(what);
  if (content == 0) return;
  const auto cost = content + of.uri.size() + of.asked_uri.size() + bookkeeping_bytes;
  {
    const std::lock_guard lock(mutex_);
    if (cost > most_bytes_ / share_of_one) return;
  }
  auto copy = copy_of(what);
  const std::lock_guard lock(mutex_);
  if (cost > most_bytes_ / share_of_one) return;
  if (const auto before = places_.find(of); before != places_.end()) drop(before);
  shrink_to(most_bytes_ - cost);
  const auto place = places_.emplace(of, shelf_place{std::move(copy), cost, {}, what.valid, what.ttl}).first;
  order_.push_front(&place->first);
  place->second.in_order = order_.begin();
  counts_.bytes += cost;
  counts_.entries += 1;
}

void read_cache::missed() {
  const std::lock_guard lock(mutex_);
  counts_.misses += 1;
}

void read_cache::limit_to(std::size_t most_bytes) {
  const std::lock_guard lock(mutex_);
  most_bytes_ = most_bytes;
  shrink_to(most_bytes_);
}

read_cache_counts read_cache::counts() const {
  const std::lock_guard lock(mutex_);
  auto all = counts_;
  all.hits = hits_.load(std::memory_order_relaxed);
  return all;
}

void read_cache::shrink_to(std::size_t most) {
  while (counts_.bytes > most) {
    drop(places_.find(*order_.back()));
    counts_.evictions += 1;
  }
}

void read_cache::drop(shelf::iterator place) {
  counts_.bytes -= place->second.bytes;
  counts_.entries -= 1;
  order_.erase(place->second.in_order);
  places_.erase(place);
}

bool is_within(std::uint64_t limit, const bytes::prepared_reading& kept) noexcept {
  std::uint64_t total = 0;
  for (const auto& one : kept.contents) {
    if (const auto* whole = std::get_if<shared_bytes>(&one.data)) total += (*whole)->size();
  }
  return total <= limit;
}

}  // namespace hondana::catalog
