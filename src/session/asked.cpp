/// Ids of our own and who waits for their answers.
#include "session/asked.hpp"

#include <random>
#include <utility>

namespace hondana::session {
namespace {

constexpr std::size_t most_waiting = 256;

}  // namespace

std::string random_name() {
  constexpr std::string_view digits = "0123456789abcdef";
  std::random_device device;
  std::string out;
  for (int word = 0; word < 4; ++word) {
    auto bits = device();
    for (int digit = 0; digit < 8; ++digit, bits >>= 4) out.push_back(digits[bits & 0xF]);
  }
  return out;
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
