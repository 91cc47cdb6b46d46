/// The pending requests of one client: each is answered exactly once, and can be cancelled immediately.
#include "protocol/rpc/in_flight.hpp"

#include <utility>
#include <vector>

namespace hondana::rpc {

tl::expected<reply, in_flight::refusal> in_flight::open(const request_id& id, std::size_t limit, sink answer,
                                                        delivery if_dropped) {
  const std::lock_guard lock(mutex_);
  if (entries_.size() >= limit) return tl::unexpected(refusal::full);
  std::stop_source stop;
  const auto [place, is_new] = entries_.try_emplace(id, entry{stop, std::move(answer)});
  if (!is_new) return tl::unexpected(refusal::in_use);
  return reply(shared_from_this(), id, std::move(stop), std::move(if_dropped));
}

bool in_flight::has_room_for(const request_id& id, std::size_t limit) const {
  const std::lock_guard lock(mutex_);
  return entries_.size() < limit && (entries_.empty() || !entries_.contains(id));
}

bool in_flight::cancel(const request_id& id) {
  std::optional<entry> cancelled;
  {
    const std::lock_guard lock(mutex_);
    const auto place = entries_.find(id);
    if (place == entries_.end()) return false;
    cancelled = std::move(place->second);
    entries_.erase(place);
  }
  cancelled->stop.request_stop();
  cancelled->answer({});
  return true;
}

void in_flight::cancel_all() {
  has_left_ = true;
  std::map<request_id, entry> cancelled;
  {
    const std::lock_guard lock(mutex_);
    cancelled.swap(entries_);
  }
  for (auto& [id, one] : cancelled) {
    one.stop.request_stop();
    one.answer({});
  }
}

std::size_t in_flight::size() const {
  const std::lock_guard lock(mutex_);
  return entries_.size();
}

in_flight::sink in_flight::take(const request_id& id, const std::stop_source& of) {
  const std::lock_guard lock(mutex_);
  const auto place = entries_.find(id);
  if (place == entries_.end() || place->second.stop != of) return {};
  auto answer = std::move(place->second.answer);
  entries_.erase(place);
  return answer;
}

reply::reply(std::shared_ptr<in_flight> table, request_id id, std::stop_source stop, delivery if_dropped)
    : table_(std::move(table)), id_(std::move(id)), stop_(std::move(stop)), if_dropped_(std::move(if_dropped)) {}

reply::~reply() {
  if (table_ && if_dropped_) send(std::move(*if_dropped_));
}

void reply::send(delivery what) {
  const auto table = std::move(table_);
  if (!table) return;
  if (const auto answer = table->take(id_, stop_)) answer(std::move(what));
}

}  // namespace hondana::rpc
