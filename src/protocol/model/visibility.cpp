/// Bitmaps of visible entries and the small table that holds them.
#include "protocol/model/visibility.hpp"

#include <algorithm>
#include <bit>
#include <utility>

namespace hondana::model {
namespace {

constexpr std::size_t word_bits = 64;
constexpr std::size_t views_kept = 16;

}  // namespace

visibility::visibility(std::size_t entries) : entries_(entries), words_((entries + word_bits - 1) / word_bits) {}

visibility::sight visibility::at(std::size_t index) const noexcept {
  const auto& place = words_[index / word_bits];
  const auto bit = std::uint64_t{1} << (index % word_bits);
  if ((place.known.load(std::memory_order_acquire) & bit) == 0) return sight::unknown;
  return (place.visible.load(std::memory_order_relaxed) & bit) != 0 ? sight::visible : sight::hidden;
}

void visibility::remember(std::size_t index, bool is_visible) noexcept {
  auto& place = words_[index / word_bits];
  const auto bit = std::uint64_t{1} << (index % word_bits);
  if (is_visible) place.visible.fetch_or(bit, std::memory_order_relaxed);
  place.known.fetch_or(bit, std::memory_order_release);
}

std::size_t visibility::skip_hidden(std::size_t index) const noexcept {
  while (index < entries_) {
    const auto& place = words_[index / word_bits];
    const auto known = place.known.load(std::memory_order_acquire);
    const auto hidden = known & ~place.visible.load(std::memory_order_relaxed);
    const auto run = static_cast<std::size_t>(std::countr_one(hidden >> (index % word_bits)));
    const auto left_in_word = word_bits - index % word_bits;
    if (run < left_in_word) return std::min(index + run, entries_);
    index += left_in_word;
  }
  return entries_;
}

std::shared_ptr<visibility> visibility_table::of(const std::shared_ptr<const view>& through) {
  const auto id = through->id();
  const std::lock_guard lock(mutex_);
  const auto is_same = [&](const row& one) {
    return one.address == through.get() && one.id == id && !one.owner.owner_before(through) && !through.owner_before(one.owner);
  };
  const auto place = std::find_if(rows_.begin(), rows_.end(), is_same);
  if (place != rows_.end()) {
    std::rotate(place, place + 1, rows_.end());
    return rows_.back().seen;
  }
  if (rows_.size() == views_kept) rows_.erase(rows_.begin());
  rows_.push_back({through, through.get(), id, std::make_shared<visibility>(entries_)});
  return rows_.back().seen;
}

}  // namespace hondana::model
