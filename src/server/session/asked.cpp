/// Ids of our own and who waits for their answers.
#include "server/session/asked.hpp"

#include <stdexcept>
#include <utility>

#include "base/bytes/hex.hpp"
#include "base/bytes/random.hpp"

namespace hondana::session {
namespace {

constexpr std::size_t most_waiting = 256;

}  // namespace

std::string random_name() {
  const auto raw = bytes::random_bytes(16);
  if (!raw) throw std::runtime_error(raw.error().public_text);
  return bytes::to_hex(*raw);
}

asked::asked() : prefix_(random_name()) {}

std::optional<std::string> asked::open(taker take) {
  const std::lock_guard lock(mutex_);
  if (waiting_.size() >= most_waiting) return {};
  auto id = prefix_ + '-' + std::to_string(next_++);
  waiting_.emplace(id, std::move(take));
  return id;
}

bool asked::answer(const rpc::request_id& id, peer_answer what) {
  const auto* text = std::get_if<std::string>(&id);
  taker take;
  {
    const std::lock_guard lock(mutex_);
    const auto place = text != nullptr ? waiting_.find(*text) : waiting_.end();
    if (place == waiting_.end()) return false;
    take = std::move(place->second);
    waiting_.erase(place);
  }
  take(std::move(what));
  return true;
}

void asked::drop(const std::string& id) {
  taker dropped;  // dies without the lock: it may own the last reference to what drops more
  const std::lock_guard lock(mutex_);
  const auto place = waiting_.find(id);
  if (place == waiting_.end()) return;
  dropped = std::move(place->second);
  waiting_.erase(place);
}

std::size_t asked::size() const {
  const std::lock_guard lock(mutex_);
  return waiting_.size();
}

}  // namespace hondana::session
