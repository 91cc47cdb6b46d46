/// Which pages are kept, and the least recently used order.
#include "session/kept_pages.hpp"

#include <functional>
#include <utility>
#include <variant>

namespace hondana::session {
namespace {

/// What a place costs besides page, cursor and scopes: the nodes of map and list, and the headers of their allocations.
constexpr std::size_t bookkeeping_bytes = 384;
constexpr std::size_t share_of_one = 8;

std::size_t size_of(const std::optional<std::string>& text) noexcept { return text ? text->size() : 0; }

/// In the order of the token: who has the same in another order has a page of their own.
std::optional<std::string> scopes_of(const caller& who) {
  if (!who.proof) return std::nullopt;
  std::string all;
  for (const auto& one : who.proof->scopes) ((all += std::to_string(one.size())) += ' ') += one;  // whatever is in them
  return all;
}

}  // namespace

std::optional<page_key> page_asked_for(const model::operation& what, const wire::codec& by, const caller& who) {
  if (const auto* list = std::get_if<model::list_resources>(&what); list != nullptr && !list->filter) {
    return page_key{&by, who.view, scopes_of(who), page_key::list::resources, list->cursor};
  }
  if (const auto* list = std::get_if<model::list_templates>(&what)) {
    return page_key{&by, who.view, scopes_of(who), page_key::list::templates, list->cursor};
  }
  return std::nullopt;
}

std::size_t kept_pages::hasher::operator()(const page_key& of) const noexcept {
  constexpr std::size_t odd = 0x9E3779B97F4A7C15u;
  const std::hash<std::string_view> text;
  const std::hash<const void*> address;
  auto mixed = address(of.by) * odd + address(of.through.get());
  mixed = mixed * odd + static_cast<std::size_t>(of.which);
  if (of.cursor) mixed = mixed * odd + text(*of.cursor);
  if (of.scopes) mixed = mixed * odd + text(*of.scopes) + 1;
  return mixed ^ (mixed >> 32);
}

shared_bytes kept_pages::find(const page_key& of) {
  shared_bytes page;
  std::shared_ptr<const validity> valid;
  {
    const std::lock_guard lock(mutex_);
    const auto place = places_.find(of);
    if (place == places_.end()) return nullptr;
    order_.splice(order_.begin(), order_, place->second.in_order);
    page = place->second.page;
    valid = place->second.valid;
    counts_.hits += 1;
  }
  if (valid->holds()) return page;
  const std::lock_guard lock(mutex_);
  counts_.hits -= 1;
  return nullptr;
}

void kept_pages::keep(const page_key& of, std::string_view page, std::shared_ptr<const validity> valid) {
  const auto cost = page.size() + size_of(of.cursor) + size_of(of.scopes) + bookkeeping_bytes;
  const auto hash = hasher()(of);
  {
    const std::lock_guard lock(mutex_);
    counts_.misses += 1;
    auto& last = made_once_[hash % made_once_.size()];
    const bool is_known = last == hash || places_.contains(of);
    last = hash;
    if (!is_known || !valid || cost > most_bytes_ / share_of_one) return;
  }
  auto copy = std::make_shared<const std::string>(page);
  const std::lock_guard lock(mutex_);
  if (const auto before = places_.find(of); before != places_.end()) drop(before);
  shrink_to(most_bytes_ - cost);
  std::list<const page_key*> turn{nullptr};  // nothing behind this may fail and leave a place without one
  const auto place = places_.emplace(of, shelf_place{std::move(copy), std::move(valid), cost, {}}).first;
  turn.front() = &place->first;
  order_.splice(order_.begin(), turn);
  place->second.in_order = order_.begin();
  counts_.bytes += cost;
  counts_.entries += 1;
}

page_cache_counts kept_pages::counts() const {
  const std::lock_guard lock(mutex_);
  return counts_;
}

void kept_pages::shrink_to(std::size_t most) {
  while (counts_.bytes > most) {
    drop(places_.find(*order_.back()));
    counts_.evictions += 1;
  }
}

void kept_pages::drop(std::unordered_map<page_key, shelf_place, hasher>::iterator place) {
  counts_.bytes -= place->second.bytes;
  counts_.entries -= 1;
  order_.erase(place->second.in_order);
  places_.erase(place);
}

}  // namespace hondana::session
