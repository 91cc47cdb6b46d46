/// A value that is replaced occasionally and read by many threads without waiting.
#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <mutex>
#include <new>

#include "base/threads/thread_instance.hpp"

namespace hondana::executor {

/// Returns a new id for a `published` object, unique in this process.
[[nodiscard]] std::uint64_t next_published_id() noexcept;

/// `SlotCount` slots, each with a shared value or null. Threads: any.
/// Usually a reader locks a mutex only on its first read after a value changed. Later reads use a weak pointer that the thread
/// has cached.
///
/// For each type `published<T, SlotCount>`, a thread caches up to four objects, with 32 bytes a slot, until the thread ends.
/// As long, the weak pointer can prevent that the memory of a value made by `make_shared` is freed. The value itself is
/// destroyed.
template <class T, std::size_t SlotCount = 1>
class published {
 public:
  published() = default;
  published(const published&) = delete;
  published& operator=(const published&) = delete;

  /// The current value of slot number `index`; null if none was published.
  [[nodiscard]] std::shared_ptr<const T> read(std::size_t index = 0) const noexcept {
    auto* const cache = cached_slots();
    const auto& slot = slots_[index];
    if (cache != nullptr && (*cache)[index].version == slot.version.load(std::memory_order_acquire)) {
      if ((*cache)[index].is_null) return nullptr;
      if (auto value = (*cache)[index].value.lock()) return value;
    }
    const std::lock_guard lock(slot.mutex);
    if (cache != nullptr) (*cache)[index] = {slot.version.load(std::memory_order_relaxed), !slot.value, slot.value};
    return slot.value;
  }

  /// Replaces the value of slot number `index` by `value`, which may be null.
  void publish(std::shared_ptr<const T> value, std::size_t index = 0) {
    auto& slot = slots_[index];
    const std::lock_guard lock(slot.mutex);
    slot.value.swap(value);  // the previous value is destroyed after the lock is released
    slot.version.fetch_add(1, std::memory_order_release);
  }
  /// Like `publish`, but only if the current value is the object `expected`, or null if `expected` is null.
  void replace(const T* expected, std::shared_ptr<const T> desired, std::size_t index = 0) {
    auto& slot = slots_[index];
    const std::lock_guard lock(slot.mutex);
    if (slot.value.get() != expected) return;
    slot.value.swap(desired);
    slot.version.fetch_add(1, std::memory_order_release);
  }

 private:
  struct shared_slot {
    mutable std::mutex mutex;
    std::shared_ptr<const T> value;
    std::atomic<std::uint64_t> version{1};
  };
  struct cached_value {
    std::uint64_t version = 0;  // the slot's version at the last read; 0 is never a slot's version
    bool is_null = false;
    std::weak_ptr<const T> value;
  };
  using cached_values = std::array<cached_value, SlotCount>;
  struct thread_cache {
    std::uint64_t owner_id = 0;
    std::unique_ptr<cached_values> values;
  };

  /// The cache of the calling thread; null if memory is exhausted.
  [[nodiscard]] cached_values* cached_slots() const noexcept {
    constexpr std::size_t max_cached_objects = 4;
    auto* const caches = threads::thread_instance<std::array<thread_cache, max_cached_objects>>();
    if (caches == nullptr) return nullptr;
    auto& cache = (*caches)[id_ % max_cached_objects];
    if (cache.owner_id != id_) {
      cache.owner_id = 0;
      cache.values.reset(new (std::nothrow) cached_values());
      if (!cache.values) return nullptr;
      cache.owner_id = id_;
    }
    return cache.values.get();
  }

  const std::uint64_t id_ = next_published_id();
  std::array<shared_slot, SlotCount> slots_;
};

}  // namespace hondana::executor
