/// The order of turns.
#include "sources/metrics/scraping/rota.hpp"

#include <algorithm>

namespace hondana::scraping {
namespace {

constexpr std::chrono::milliseconds first_ones{1'000};

}  // namespace

rota::rota(const std::vector<std::chrono::milliseconds>& every, clock::time_point begin, std::size_t most_slow)
    : most_slow_(most_slow) {
  const auto count = static_cast<int>(every.size());
  for (int i = 0; i < count; ++i) {
    const auto whole = every[static_cast<std::size_t>(i)];
    const auto due = begin + std::min(whole, first_ones) * i / count;
    auto base = begin + whole * i / count;
    // Neither twice in a moment nor long after the first.
    if (base < due + whole / 2) base += whole;
    turns_.push_back({whole, due, base});
    slow_.emplace(due, static_cast<std::size_t>(i));
  }
}

std::optional<std::size_t> rota::take(clock::time_point now) {
  const auto is_due = [now](const queue& all) { return !all.empty() && all.begin()->first <= now; };
  const bool has_slow = is_due(slow_) && may_take_slow();
  if (!has_slow && !is_due(quick_)) return std::nullopt;
  auto& from = has_slow && (!is_due(quick_) || slow_.begin()->first < quick_.begin()->first) ? slow_ : quick_;
  const auto which = from.begin()->second;
  from.erase(from.begin());
  if (turns_[which].is_slow) ++slow_under_way_;
  return which;
}

std::optional<rota::clock::time_point> rota::next_due() const {
  std::optional<clock::time_point> out;
  if (!quick_.empty()) out = quick_.begin()->first;
  if (!slow_.empty() && may_take_slow()) out = out ? std::min(*out, slow_.begin()->first) : slow_.begin()->first;
  return out;
}

void rota::done(std::size_t which, bool was_slow, clock::time_point now) {
  auto& one = turns_[which];
  if (one.is_slow) --slow_under_way_;
  one.is_slow = was_slow;
  one.due = one.base;
  if (one.due <= now) one.due += ((now - one.due) / one.every + 1) * one.every;
  queue_of(one).emplace(one.due, which);
}

}  // namespace hondana::scraping
