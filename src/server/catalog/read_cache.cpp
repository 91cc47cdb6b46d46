/// The read cache: contents, also in encoded form, for repeated reads of unchanged resources.
#include "server/catalog/read_cache.hpp"

#include <algorithm>
#include <functional>
#include <string>
#include <utility>
#include <variant>

#include "base/json/base64.hpp"
#include "base/json/buffer.hpp"
#include "base/json/escape.hpp"

namespace hondana::catalog {
namespace {

/// Bytes that are counted in `among` while they exist.
struct counted {
  counted(std::string of, std::shared_ptr<std::atomic<std::size_t>> among) : bytes(std::move(of)), alive(std::move(among)) {
    alive->fetch_add(bytes.size(), std::memory_order_relaxed);
  }
  counted(const counted&) = delete;
  counted& operator=(const counted&) = delete;
  ~counted() { alive->fetch_sub(bytes.size(), std::memory_order_relaxed); }

  const std::string bytes;
  const std::shared_ptr<std::atomic<std::size_t>> alive;
};

}  // namespace

shared_bytes lent_forms::encode(std::string_view content, bool is_text) const {
  // Encodes into a buffer first, so that the cached string has no unused capacity.
  std::string inside;
  if (is_text) {
    json::buffer grown;
    grown.reserve(content.size() + content.size() / 8 + json::escape_room);
    json::append_escaped(grown, content);
    inside = grown.view();
  } else {
    inside.reserve(json::base64_size(content.size()));
    json::append_base64(inside, content);
  }
  const auto made = std::make_shared<const counted>(std::move(inside), alive_);
  return {made, &made->bytes};
}

namespace {

/// Memory of an item besides contents and URIs: nodes of the map and the list, the validity, and allocation headers.
constexpr std::size_t bookkeeping_bytes = 512;
constexpr std::size_t share_of_one = 8;

/// Returns 0 if a content is a stream.
std::size_t bytes_of(const bytes::prepared_reading& what) {
  std::size_t total = what.version.size();
  for (const auto& one : what.contents) {
    const auto* whole = std::get_if<shared_bytes>(&one.data);
    const auto* form = std::get_if<bytes::encoded>(&one.data);
    if (whole == nullptr && form == nullptr) return 0;
    for (const auto& [name, held] : one.metadata) {
      const auto* text = std::get_if<std::string>(&held);
      total += sizeof(metadata::value_type) + name.size() + (text != nullptr ? text->size() : 0);
    }
    total += sizeof one + one.uri.size() + one.name.size() + one.title.size() + one.mimeType.size() +
             (whole != nullptr ? (*whole)->size() : form->inside->size());
  }
  return total;
}

bool has_big(const bytes::prepared_reading& what) {
  return std::any_of(what.contents.begin(), what.contents.end(),
                     [](const bytes::prepared& one) { return std::get<shared_bytes>(one.data)->size() > lent_forms::big; });
}

std::size_t encoded_bytes_of(const bytes::prepared_reading& what) {
  std::size_t total = 0;
  for (const auto& one : what.contents) {
    if (const auto* form = std::get_if<bytes::encoded>(&one.data)) total += form->inside->size();
  }
  return total;
}

}  // namespace

std::size_t read_cache::hasher::operator()(const key_view& of) const noexcept {
  const std::hash<std::string_view> text;
  const auto mixed = text(of.uri) * 31 + (of.asked_uri == of.uri ? 0 : text(of.asked_uri));
  const auto view = of.through != nullptr ? of.through->id() + 1 : 0;
  return mixed * 31 + of.source * 0x9E3779B97F4A7C15u + view * 2 + (of.as_bytes ? 1 : 0);
}

read_cache::vouched read_cache::find_vouched(const key_view& of) {
  const auto place = hasher()(of) % most_posted;
  if (const auto there = posted_.read(place); there && same()(there->of, of)) {
    there->was_read_again.store(true, std::memory_order_relaxed);
    return there->told;
  }
  const std::lock_guard lock(mutex_);
  const auto found = places_.find(of);
  if (found == places_.end()) return {};
  order_.splice(order_.begin(), order_, found->second.in_order);
  posted_.post(found->second.now, place);
  return found->second.now->told;
}

void read_cache::vouch(const key& of, const kept& what, std::chrono::milliseconds ttl, std::shared_ptr<const validity> by) {
  std::shared_ptr<const record> before;  // destroyed after the lock is released
  const std::lock_guard lock(mutex_);
  const auto found = places_.find(as_view(of));
  if (found == places_.end() || found->second.now->told.what != what) return;
  order_.splice(order_.begin(), order_, found->second.in_order);
  if (const auto& told = found->second.now->told; told.ttl == ttl && told.by == by) return;
  before = std::exchange(found->second.now, record_of(found->first, {what, std::move(by), ttl}));
  posted_.replace(before.get(), found->second.now, hasher()(of) % most_posted);
}

std::shared_ptr<const read_cache::record> read_cache::record_of(std::shared_ptr<const key> of, vouched told) {
  auto made = std::make_shared<record>();
  made->of = std::move(of);
  made->told = std::move(told);
  return made;
}

/// Copies the bytes, because the source may lend its own and need them back.
read_cache::kept read_cache::copy_of(const bytes::prepared_reading& what, bool as_bytes) const {
  auto copy = std::make_shared<bytes::prepared_reading>(what);
  copy->valid.reset();  // stored next to the copy, where it can be replaced
  for (auto& one : copy->contents) {
    const auto whole = std::get<shared_bytes>(one.data);
    if (whole->size() > lent_forms::big && !as_bytes) {
      one.data = bytes::encoded{forms_.encode(*whole, one.is_text), whole->size()};
    } else {
      one.data = std::make_shared<const std::string>(*whole);
    }
  }
  return copy;
}

read_cache::kept read_cache::keep(const key& of, const bytes::prepared_reading& what) {
  const auto content = what.version.empty() ? 0 : bytes_of(what);
  if (content == 0) return nullptr;
  const auto bookkeeping = of.uri.size() + of.asked_uri.size() + bookkeeping_bytes;
  std::size_t longest = 0;
  {
    const std::lock_guard lock(mutex_);
    longest = most_bytes_ / share_of_one;
    if (content + bookkeeping > longest) return nullptr;
    if (has_big(what) && (!is_met_again(of, what.version) || strays() + content > most_bytes_ / 2)) return nullptr;
  }
  auto copy = copy_of(what, of.as_bytes);
  // If only the encoded form is too long, it is encoded for each answer.
  if (bytes_of(*copy) + bookkeeping > longest) copy = copy_of(what, true);
  const auto cost = bytes_of(*copy) + bookkeeping;
  const auto encoded = encoded_bytes_of(*copy);
  const std::lock_guard lock(mutex_);
  if (cost > most_bytes_ / share_of_one) return nullptr;
  if (const auto before = places_.find(as_view(of)); before != places_.end()) drop(before);
  encoded_ += encoded;  // do not count it as evicted
  const bool has_room = make_room_for(cost);
  encoded_ -= encoded;
  if (!has_room) return nullptr;
  std::list<const key*> turn{nullptr};  // allocated first, so that no later failure leaves an item without a list node
  const auto held = std::make_shared<const key>(of);
  auto now = record_of(held, {copy, what.valid, what.ttl});
  const auto place = places_.emplace(held, shelf_place{std::move(now), cost, encoded, {}}).first;
  turn.front() = held.get();
  order_.splice(order_.begin(), turn);
  place->second.in_order = order_.begin();
  counts_.bytes += cost;
  counts_.entries += 1;
  encoded_ += encoded;
  return copy;
}

bool read_cache::is_met_again(const key& of, const std::string& version) {
  const auto digest = hasher()(of) * 0x9E3779B97F4A7C15u ^ std::hash<std::string>()(version);
  auto& place = met_[digest % met_.size()];
  return std::exchange(place, digest) == digest;
}

void read_cache::missed() {
  const std::lock_guard lock(mutex_);
  counts_.misses += 1;
}

void read_cache::limit_to(std::size_t most_bytes) {
  const std::lock_guard lock(mutex_);
  most_bytes_ = most_bytes;
  (void)make_room_for(0);
}

read_cache_counts read_cache::counts() const {
  const std::lock_guard lock(mutex_);
  auto all = counts_;
  all.hits = hits_.load(std::memory_order_relaxed);
  return all;
}

bool read_cache::make_room_for(std::size_t more) {
  for (auto second_turns = order_.size();;) {
    if (counts_.bytes + std::min(strays(), most_bytes_ / 2) + more <= most_bytes_) return true;
    if (order_.empty()) return false;
    const auto last = places_.find(as_view(*order_.back()));
    if (second_turns > 0 && last->second.now->was_read_again.exchange(false, std::memory_order_relaxed)) {
      --second_turns;
      order_.splice(order_.begin(), order_, last->second.in_order);
      continue;
    }
    drop(last);
    counts_.evictions += 1;
  }
}

std::size_t read_cache::strays() const noexcept {
  const auto alive = forms_.bytes();
  return alive > encoded_ ? alive - encoded_ : 0;
}

void read_cache::drop(shelf::iterator place) {
  counts_.bytes -= place->second.bytes;
  encoded_ -= place->second.encoded;
  counts_.entries -= 1;
  posted_.replace(place->second.now.get(), nullptr, hasher()(place->first) % most_posted);
  order_.erase(place->second.in_order);
  places_.erase(place);
}

bool is_within(std::uint64_t limit, const bytes::prepared_reading& kept) noexcept {
  std::uint64_t total = 0;
  for (const auto& one : kept.contents) {
    if (const auto* whole = std::get_if<shared_bytes>(&one.data)) total += (*whole)->size();
    if (const auto* form = std::get_if<bytes::encoded>(&one.data)) total += form->size;
  }
  return total <= limit;
}

}  // namespace hondana::catalog
