/// A value that one thread publishes now and then, and many threads read without waiting.
#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <mutex>
#include <new>

#include "base/threads/thread_variable.hpp"

namespace hondana::executor {

/// The number of what is posted somewhere: no two of a process have the same.
[[nodiscard]] std::uint64_t next_posting_id() noexcept;

/// Places that each have something, or null. Whoever reads takes a lock only for the first time after something was posted;
/// from then on it knows what is there, without keeping it alive. Threads: any.
///
/// A thread remembers what it read of a few of these at a time, in `places` times 32 bytes, until it ends; of what was made by
/// `make_shared` the bare memory may stay as long.
template <class T, std::size_t places = 1>
class posted {
 public:
  posted() = default;
  posted(const posted&) = delete;
  posted& operator=(const posted&) = delete;

  [[nodiscard]] std::shared_ptr<const T> read(std::size_t place = 0) const noexcept {
    auto* const all = remembered();
    const auto& slot = slots_[place];
    if (all != nullptr && (*all)[place].version == slot.version.load(std::memory_order_acquire)) {
      if ((*all)[place].is_null) return nullptr;
      if (auto there = (*all)[place].what.lock()) return there;
    }
    const std::lock_guard lock(slot.mutex);
    if (all != nullptr) (*all)[place] = {slot.version.load(std::memory_order_relaxed), !slot.held, slot.held};
    return slot.held;
  }

  void post(std::shared_ptr<const T> what, std::size_t place = 0) {
    auto& slot = slots_[place];
    const std::lock_guard lock(slot.mutex);
    slot.held.swap(what);  // the former goes when the lock is free again
    slot.version.fetch_add(1, std::memory_order_release);
  }
  /// Posts `now`, which may be null, in place of `what` alone.
  void replace(const T* what, std::shared_ptr<const T> now, std::size_t place = 0) {
    auto& slot = slots_[place];
    const std::lock_guard lock(slot.mutex);
    if (slot.held.get() != what) return;
    slot.held.swap(now);
    slot.version.fetch_add(1, std::memory_order_release);
  }

 private:
  struct slot_of_all {
    mutable std::mutex mutex;
    std::shared_ptr<const T> held;
    std::atomic<std::uint64_t> version{1};
  };
  struct glimpse {
    std::uint64_t version = 0;  // of the slot; none has this one
    bool is_null = false;
    std::weak_ptr<const T> what;
  };
  using glimpses = std::array<glimpse, places>;
  struct memory {
    std::uint64_t of = 0;
    std::unique_ptr<glimpses> all;
  };

  /// Of the calling thread; null where there is no memory for it.
  [[nodiscard]] glimpses* remembered() const noexcept {
    constexpr std::size_t at_a_time = 4;
    auto* const known = threads::own<std::array<memory, at_a_time>>();
    if (known == nullptr) return nullptr;
    auto& mine = (*known)[id_ % at_a_time];
    if (mine.of != id_) {
      mine.of = 0;
      mine.all.reset(new (std::nothrow) glimpses());
      if (!mine.all) return nullptr;
      mine.of = id_;
    }
    return mine.all.get();
  }

  const std::uint64_t id_ = next_posting_id();
  std::array<slot_of_all, places> slots_;
};

}  // namespace hondana::executor
