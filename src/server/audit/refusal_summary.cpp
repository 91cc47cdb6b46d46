/// Combines numerous rejections in few audit records.
#include "server/audit/refusal_summary.hpp"

#include <algorithm>
#include <utility>

#include "base/rate_limit/rate_limiter.hpp"

namespace hondana::audit {

bool refusals::has_enough_of(const std::string& network) const {
  auto one = windows_.lower_bound(kind{network, {}, {}, 0});
  std::size_t count = 0;
  while (one != windows_.end() && std::get<0>(one->first) == network && count < most_of_network) ++one, ++count;
  return count == most_of_network;
}

bool refusals::is_first(const audit_decision& what, clock::time_point now) {
  const std::lock_guard lock(mutex_);
  auto network = rate_limit::network_of(what.address, true);
  if (network.empty()) network = what.address;
  kind of{network, what.identity, what.why, what.http_status};
  auto found = windows_.find(of);
  bool is_new = found == windows_.end();
  if (is_new && windows_.size() >= most_callers) {
    // Beyond the limit of callers, only the number is recorded.
    is_new = false;
    found = windows_.try_emplace({{}, {}, what.why, what.http_status}, window_of{now, {}, {}}).first;
  } else if (is_new && has_enough_of(network)) {
    // Beyond the limit of a network, the network and the number are recorded.
    is_new = false;
    found = windows_.try_emplace({network, {}, {}, 0}, window_of{now, what.address, {}}).first;
  } else if (is_new) {
    found = windows_.try_emplace(std::move(of), window_of{now, what.address, {}}).first;
  }
  if (is_new) return true;
  auto& all = found->second.all;
  ++all.times;
  all.what.time = what.time;
  all.what.is_allowed = false;
  all.what.is_request = false;
  all.what.why = what.why;
  std::tie(std::ignore, all.what.identity, std::ignore, all.what.http_status) = found->first;
  all.what.address = found->second.address;
  if (!all.what.address.empty()) all.what.client = what.client;
  return false;
}

std::vector<refusals::counted> refusals::take(clock::time_point now, bool all) {
  std::vector<counted> out;
  const std::lock_guard lock(mutex_);
  for (auto one = windows_.begin(); one != windows_.end();) {
    auto& [since, address, so_far] = one->second;
    const bool is_over = now >= since + window;
    if (is_over && so_far.times == 0) {
      one = windows_.erase(one);
      continue;
    }
    if ((is_over || all) && so_far.times != 0) out.push_back(std::exchange(so_far, {}));
    if (is_over) since = now;
    ++one;
  }
  return out;
}

refusals::clock::time_point refusals::due() const {
  const std::lock_guard lock(mutex_);
  auto first = clock::time_point::max();
  for (const auto& [of, one] : windows_) first = std::min(first, one.since + window);
  return first;
}

}  // namespace hondana::audit
