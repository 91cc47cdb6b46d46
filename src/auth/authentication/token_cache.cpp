/// Results of recent token checks, and a lock that lets only one request at a time check a token.
#include "auth/authentication/token_cache.hpp"

namespace hondana::authentication {

template <class What>
std::optional<What> remembered_tokens<What>::find(const bytes::sha256_bytes& token, key_generation keys, steady_time now) {
  auto& in = part_of(token);
  const std::lock_guard lock(in.mutex);
  const auto found = in.all.find(token);
  if (found == in.all.end()) return {};
  const auto& it = found->second;
  if (it.until <= now || (it.keys != 0 && it.keys != keys)) return {};
  return it.what;
}

template <class What>
void remembered_tokens<What>::put(const bytes::sha256_bytes& token, What what, key_generation keys, steady_time until) {
  auto& in = part_of(token);
  const std::lock_guard lock(in.mutex);
  const auto order = ++in.count;
  in.all.insert_or_assign(token, entry{std::move(what), keys, until, order});
  in.order.emplace_back(token, order);
  while (in.order.size() > most_in_part_) {
    const auto found = in.all.find(in.order.front().first);
    // A token that was put in again has a later entry in `order`, so it stays.
    if (found != in.all.end() && found->second.order == in.order.front().second) in.all.erase(found);
    in.order.pop_front();
  }
}

template <class What>
std::size_t remembered_tokens<What>::size() {
  std::size_t out = 0;
  for (auto& one : parts_) {
    const std::lock_guard lock(one.mutex);
    out += one.all.size();
  }
  return out;
}

template class remembered_tokens<known_caller>;
template class remembered_tokens<challenge>;

}  // namespace hondana::authentication
