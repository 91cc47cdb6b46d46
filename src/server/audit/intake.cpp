/// Where many threads leave their records and one takes them.
#include "server/audit/intake.hpp"

#include <algorithm>

namespace hondana::audit {
namespace {

/// Threads are dealt out to the parts in turn.
std::size_t turn_of_this_thread() {
  static std::atomic<std::size_t> threads{0};
  thread_local const std::size_t turn = threads.fetch_add(1, std::memory_order_relaxed);
  return turn;
}

}  // namespace

bool intake::put(std::uint64_t number, std::string_view record, std::size_t most) {
  const auto before = held_.fetch_add(record.size(), std::memory_order_relaxed);
  if (before + record.size() > most) {
    held_.fetch_sub(record.size(), std::memory_order_relaxed);
    return false;
  }
  auto& mine = parts_[turn_of_this_thread() % parts];
  const std::lock_guard lock(mine.mutex);
  mine.all.places.push_back({number, mine.all.text.size(), record.size()});
  mine.all.text += record;
  return true;
}

/// One cut through all parts, so that nothing is taken before what was put earlier elsewhere.
void intake::gather() {
  for (auto& one : parts_) one.mutex.lock();
  for (std::size_t i = 0; i < parts; ++i) std::swap(parts_[i].all, taken_[i]);
  for (auto& one : parts_) one.mutex.unlock();
  order_.clear();
  for (auto& one : taken_) {
    for (const auto& at : one.places) order_.push_back({at.number, std::string_view(one.text).substr(at.begin, at.size)});
    one.places.clear();
  }
  const auto is_before = [](const auto& a, const auto& b) { return a.number < b.number; };
  // As they are when one thread put them.
  if (!std::is_sorted(order_.begin(), order_.end(), is_before)) std::sort(order_.begin(), order_.end(), is_before);
}

}  // namespace hondana::audit
