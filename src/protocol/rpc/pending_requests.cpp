/// The pending requests of one client: each is answered exactly once, and can be cancelled immediately.
#include "protocol/rpc/pending_requests.hpp"

#include <utility>
#include <vector>

namespace hondana::rpc {

tl::expected<pending_reply, pending_requests::rejection> pending_requests::open(const request_id& id, std::size_t limit,
                                                                                sink answer, outgoing_response fallback) {
  const std::lock_guard lock(mutex_);
  if (entries_.size() >= limit) return tl::unexpected(rejection::full);
  std::stop_source stop;
  const auto [position, is_new] = entries_.try_emplace(id, entry{stop, std::move(answer)});
  if (!is_new) return tl::unexpected(rejection::in_use);
  return pending_reply(shared_from_this(), id, std::move(stop), std::move(fallback));
}

bool pending_requests::has_capacity_for(const request_id& id, std::size_t limit) const {
  const std::lock_guard lock(mutex_);
  return entries_.size() < limit && (entries_.empty() || !entries_.contains(id));
}

bool pending_requests::cancel(const request_id& id) {
  std::optional<entry> cancelled;
  {
    const std::lock_guard lock(mutex_);
    const auto position = entries_.find(id);
    if (position == entries_.end()) return false;
    cancelled = std::move(position->second);
    entries_.erase(position);
  }
  cancelled->stop.request_stop();
  cancelled->answer({});
  return true;
}

void pending_requests::cancel_all() {
  is_disconnected_ = true;
  std::map<request_id, entry> cancelled;
  {
    const std::lock_guard lock(mutex_);
    cancelled.swap(entries_);
  }
  for (auto& [id, request] : cancelled) {
    request.stop.request_stop();
    request.answer({});
  }
}

std::size_t pending_requests::size() const {
  const std::lock_guard lock(mutex_);
  return entries_.size();
}

pending_requests::sink pending_requests::extract_sink(const request_id& id, const std::stop_source& stop) {
  const std::lock_guard lock(mutex_);
  const auto position = entries_.find(id);
  if (position == entries_.end() || position->second.stop != stop) return {};
  auto answer = std::move(position->second.answer);
  entries_.erase(position);
  return answer;
}

pending_reply::pending_reply(std::shared_ptr<pending_requests> table, request_id id, std::stop_source stop,
                             outgoing_response fallback)
    : table_(std::move(table)), id_(std::move(id)), stop_(std::move(stop)), fallback_(std::move(fallback)) {}

pending_reply::~pending_reply() {
  if (table_ && fallback_) send(std::move(*fallback_));
}

void pending_reply::send(outgoing_response response) {
  const auto table = std::move(table_);
  if (!table) return;
  if (const auto answer = table->extract_sink(id_, stop_)) answer(std::move(response));
}

}  // namespace hondana::rpc
