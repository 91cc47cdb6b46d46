/// Which pages are kept, and the least recently used order.
#include "server/session/kept_pages.hpp"

#include <functional>
#include <iterator>
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

std::size_t kept_pages::hasher::operator()(const page_key* of) const noexcept {
  constexpr std::size_t odd = 0x9E3779B97F4A7C15u;
  const std::hash<std::string_view> text;
  const std::hash<const void*> address;
  auto mixed = address(of->by) * odd + address(of->through.get());
  mixed = mixed * odd + static_cast<std::size_t>(of->which);
  if (of->cursor) mixed = mixed * odd + text(*of->cursor);
  if (of->scopes) mixed = mixed * odd + text(*of->scopes) + 1;
  return mixed ^ (mixed >> 32);
}

shared_bytes kept_pages::find(const page_key& of) {
  shared_bytes page;
  std::shared_ptr<const validity> valid;
  {
    const std::lock_guard lock(mutex_);
    const auto found = places_.find(&of);
    if (found == places_.end()) return nullptr;
    const auto place = found->second;
    shelf_.splice(shelf_.begin(), shelf_, place);
    page = place->page;
    valid = place->valid;
    counts_.hits += 1;
  }
  if (valid->holds()) return page;
  const std::lock_guard lock(mutex_);
  counts_.hits -= 1;
  return nullptr;
}

void kept_pages::keep(const page_key& of, std::string_view page, std::shared_ptr<const validity> valid) {
  const auto cost = page.size() + size_of(of.cursor) + size_of(of.scopes) + bookkeeping_bytes;
  const auto hash = hasher()(&of);
  {
    const std::lock_guard lock(mutex_);
    counts_.misses += 1;
    auto& last = made_once_[hash % made_once_.size()];
    const bool is_known = last == hash || places_.contains(&of);
    last = hash;
    if (!is_known || !valid || cost > most_bytes_ / share_of_one) return;
  }
  shelf fresh;
  fresh.push_back({of, std::make_shared<const std::string>(page), std::move(valid), cost});
  const auto place = fresh.begin();
  shelf gone;
  const std::lock_guard lock(mutex_);
  if (is_retired_) return;
  if (const auto before = places_.find(&of); before != places_.end()) take_out(before->second, gone);
  shrink_to(most_bytes_ - cost, gone);
  places_.emplace(&place->of, place);  // the last that may fail
  shelf_.splice(shelf_.begin(), fresh);
  counts_.bytes += cost;
  counts_.entries += 1;
}

void kept_pages::retire() {
  shelf gone;
  const std::lock_guard lock(mutex_);
  is_retired_ = true;
  places_.clear();
  gone.swap(shelf_);
  counts_.bytes = 0;
  counts_.entries = 0;
}

page_cache_counts kept_pages::counts() const {
  const std::lock_guard lock(mutex_);
  return counts_;
}

void kept_pages::shrink_to(std::size_t most, shelf& out) {
  while (counts_.bytes > most) {
    take_out(std::prev(shelf_.end()), out);
    counts_.evictions += 1;
  }
}

void kept_pages::take_out(shelf::iterator place, shelf& out) noexcept {
  counts_.bytes -= place->bytes;
  counts_.entries -= 1;
  places_.erase(&place->of);
  out.splice(out.begin(), shelf_, place);
}

}  // namespace hondana::session
