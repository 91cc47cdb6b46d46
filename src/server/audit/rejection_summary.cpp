/// Combines numerous rejections in few audit records.
#include "server/audit/rejection_summary.hpp"

#include <algorithm>
#include <utility>

#include "base/rate_limit/rate_limiter.hpp"

namespace hondana::audit {

bool rejection_summary::is_network_full(const std::string& network) const {
  auto entry = windows_.lower_bound(window_key{network, {}, {}, std::nullopt});
  std::size_t count = 0;
  while (entry != windows_.end() && std::get<0>(entry->first) == network && count < max_per_network) ++entry, ++count;
  return count == max_per_network;
}

bool rejection_summary::is_first(const audit_decision& decision, clock::time_point now) {
  const std::lock_guard lock(mutex_);
  auto network = rate_limit::network_of(decision.address, true);
  if (network.empty()) network = decision.address;
  window_key key{network, decision.identity, decision.reason, decision.http_status};
  auto position = windows_.find(key);
  bool is_new = position == windows_.end();
  if (is_new && windows_.size() >= max_callers) {
    // Beyond the limit of callers, only the number is recorded.
    is_new = false;
    position = windows_.try_emplace({{}, {}, decision.reason, decision.http_status}, caller_window{now, {}, {}}).first;
  } else if (is_new && is_network_full(network)) {
    // Beyond the limit of a network, the network and the number are recorded.
    is_new = false;
    position = windows_.try_emplace({network, {}, {}, std::nullopt}, caller_window{now, decision.address, {}}).first;
  } else if (is_new) {
    position = windows_.try_emplace(std::move(key), caller_window{now, decision.address, {}}).first;
  }
  if (is_new) return true;
  auto& counted = position->second.counted;
  ++counted.count;
  counted.decision.time = decision.time;
  counted.decision.is_allowed = false;
  counted.decision.is_request = false;
  counted.decision.reason = decision.reason;
  std::tie(std::ignore, counted.decision.identity, std::ignore, counted.decision.http_status) = position->first;
  counted.decision.address = position->second.address;
  if (!counted.decision.address.empty()) counted.decision.client = decision.client;
  return false;
}

std::vector<rejection_summary::counted_rejection> rejection_summary::drain(clock::time_point now, bool include_open) {
  std::vector<counted_rejection> out;
  const std::lock_guard lock(mutex_);
  for (auto entry = windows_.begin(); entry != windows_.end();) {
    auto& [start, address, counted] = entry->second;
    const bool is_over = now >= start + window;
    if (is_over && counted.count == 0) {
      entry = windows_.erase(entry);
      continue;
    }
    if ((is_over || include_open) && counted.count != 0) out.push_back(std::exchange(counted, {}));
    if (is_over) start = now;
    ++entry;
  }
  return out;
}

rejection_summary::clock::time_point rejection_summary::next_due() const {
  const std::lock_guard lock(mutex_);
  auto first = clock::time_point::max();
  for (const auto& [key, entry] : windows_) first = std::min(first, entry.start + window);
  return first;
}

}  // namespace hondana::audit
