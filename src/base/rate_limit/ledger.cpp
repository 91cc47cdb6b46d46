/// Taking, charging and forgetting.
#include "base/rate_limit/ledger.hpp"

#include <algorithm>
#include <functional>
#include <limits>

namespace hondana::rate_limit {
namespace {

/// How many balances are looked at for one to forget: full ones are nearly all, unless somebody pays for the others.
constexpr std::size_t most_looks = 8;
/// Saved up where nothing is said of it.
constexpr double seconds_saved = 2;

const rate& rate_of(const rates& all, std::size_t which) {
  switch (static_cast<good>(which)) {
    case good::bytes:
      return all.bytes;
    case good::completions:
      return all.completions;
    case good::requests:
      break;
  }
  return all.requests;
}

/// At least one, or nothing could ever be had.
double burst_of(const rate& one) { return std::max(one.burst > 0 ? one.burst : seconds_saved * one.per_second, 1.0); }

/// Adds what has come back since; false when nothing is left to come, so that a new balance would be the same.
template <class Balance>
bool fill(Balance& left, clock::time_point& at, const rates& allowed, clock::time_point now) {
  const auto passed = std::max(std::chrono::duration<double>(now - at).count(), 0.0);
  at = std::max(at, now);
  bool is_in_use = false;
  for (std::size_t i = 0; i < goods; ++i) {
    const auto& with = rate_of(allowed, i);
    if (with.per_second <= 0) {
      left[i] = std::numeric_limits<double>::max();  // of which a limit that comes later leaves its burst
      continue;
    }
    const auto burst = burst_of(with);
    left[i] = std::min(left[i] + passed * with.per_second, burst);
    is_in_use = is_in_use || left[i] < burst;
  }
  return is_in_use;
}

clock::duration time_for(double missing, const rate& at) {
  // No more than a day: beyond that the count of nanoseconds might not fit, and nobody waits for it.
  constexpr double longest = 86'400;
  const std::chrono::duration<double> wait(std::min(missing / at.per_second, longest));
  return std::chrono::ceil<std::chrono::milliseconds>(wait);
}

}  // namespace

ledger::ledger(std::size_t most) : most_a_shard_(std::max<std::size_t>(most / shards, 1)) {}

void ledger::limit_to(std::size_t most) noexcept { most_a_shard_ = std::max<std::size_t>(most / shards, 1); }

ledger::shard& ledger::shard_of(std::string_view who) { return shards_[std::hash<std::string_view>()(who) % shards]; }

ledger::account& ledger::account_of(shard& in, std::string_view who, const rates& allowed, clock::time_point now) {
  if (const auto known = in.places.find(who); known != in.places.end()) {
    auto& one = *in.accounts[known->second];
    fill(one.left, one.at, allowed, now);
    return one;
  }
  const auto open = [&](account& one) {
    one.who = who;
    one.at = now;
    for (std::size_t i = 0; i < goods; ++i) one.left[i] = burst_of(rate_of(allowed, i));
    fill(one.left, one.at, allowed, now);
  };
  if (in.accounts.size() < most_a_shard_) {
    auto made = std::make_unique<account>();
    open(*made);
    in.accounts.push_back(std::move(made));
    in.places.emplace(in.accounts.back()->who, in.accounts.size() - 1);
    return *in.accounts.back();
  }
  for (std::size_t looks = 0; looks < std::min(most_looks, in.accounts.size()); ++looks) {
    const auto place = in.hand++ % in.accounts.size();
    auto& one = *in.accounts[place];
    if (fill(one.left, one.at, allowed, now)) continue;
    in.places.erase(one.who);
    open(one);
    in.places.emplace(one.who, place);
    return one;
  }
  if (in.shared.at == clock::time_point()) {
    open(in.shared);
  } else {
    fill(in.shared.left, in.shared.at, allowed, now);
  }
  return in.shared;
}

std::optional<shortage> ledger::take(std::string_view who, const rates& allowed, wish what, clock::time_point now) {
  auto& in = shard_of(who);
  const std::lock_guard lock(in.mutex);
  auto& left = account_of(in, who, allowed, now).left;
  std::optional<shortage> worst;
  const auto want = [&](good of, double least) {
    const auto index = static_cast<std::size_t>(of);
    const auto& with = rate_of(allowed, index);
    if (with.per_second <= 0 || left[index] >= least) return;
    const shortage one{of, time_for(least - left[index], with)};
    if (!worst || worst->wait < one.wait) worst = one;
  };
  if (what.request) want(good::requests, 1);
  if (what.completion) want(good::completions, 1);
  want(good::bytes, 0);
  if (worst) return worst;
  if (what.request) left[static_cast<std::size_t>(good::requests)] -= 1;
  if (what.completion) left[static_cast<std::size_t>(good::completions)] -= 1;
  return std::nullopt;
}

void ledger::give_back(std::string_view who, const rates& allowed, wish what, clock::time_point now) {
  auto& in = shard_of(who);
  const std::lock_guard lock(in.mutex);
  auto& one = account_of(in, who, allowed, now);
  if (what.request) one.left[static_cast<std::size_t>(good::requests)] += 1;
  if (what.completion) one.left[static_cast<std::size_t>(good::completions)] += 1;
  fill(one.left, one.at, allowed, now);
}

void ledger::charge(std::string_view who, const rates& allowed, double bytes, clock::time_point now) {
  auto& in = shard_of(who);
  const std::lock_guard lock(in.mutex);
  account_of(in, who, allowed, now).left[static_cast<std::size_t>(good::bytes)] -= bytes;
}

std::size_t ledger::size() const {
  std::size_t all = 0;
  for (const auto& one : shards_) {
    const std::lock_guard lock(one.mutex);
    all += one.accounts.size();
  }
  return all;
}

}  // namespace hondana::rate_limit
