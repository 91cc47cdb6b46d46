/// A value that is replaced occasionally and read by many threads without waiting.
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

/// Returns an id for a `posted` object that is unique in this process.
[[nodiscard]] std::uint64_t next_posting_id() noexcept;

/// `places` slots that each publish a shared value or null. Threads: any.
/// A reader locks a mutex only on its first read after a value changed. Later reads use a weak pointer that the thread has
/// cached.
///
/// Each thread caches the values of up to four objects per type, `places` times 32 bytes each, until the thread ends.
/// The memory of a value made by `make_shared` can stay allocated as long, because of the weak pointer. The value itself is
/// destroyed.
template <class T, std::size_t places = 1>
class posted {
 public:
  posted() = default;
  posted(const posted&) = delete;
  posted& operator=(const posted&) = delete;

  /// The current value of a slot; null if none was posted.
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

  /// Publishes `what`, which may be null, in a slot.
  void post(std::shared_ptr<const T> what, std::size_t place = 0) {
    auto& slot = slots_[place];
    const std::lock_guard lock(slot.mutex);
    slot.held.swap(what);  // the previous value is destroyed after the lock is released
    slot.version.fetch_add(1, std::memory_order_release);
  }
  /// Publishes `now`, which may be null, if the current value is `what`.
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
    std::uint64_t version = 0;  // the slot's version at the last read; 0 is never a slot's version
    bool is_null = false;
    std::weak_ptr<const T> what;
  };
  using glimpses = std::array<glimpse, places>;
  struct memory {
    std::uint64_t of = 0;
    std::unique_ptr<glimpses> all;
  };

  /// The cache of the calling thread; null if memory is exhausted.
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
