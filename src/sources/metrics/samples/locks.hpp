/// Two locks that let nobody wait for ever.
#pragma once

#include <condition_variable>
#include <cstdint>
#include <mutex>
#include <shared_mutex>

namespace hondana::samples {

/// Whoever comes first is first.
class turns {
 public:
  void lock() {
    std::unique_lock held(mutex_);
    const auto mine = next_++;
    turned_.wait(held, [&] { return serving_ == mine; });
  }
  void unlock() {
    const std::lock_guard held(mutex_);
    ++serving_;
    turned_.notify_all();
  }

 private:
  std::mutex mutex_;
  std::condition_variable turned_;
  std::uint64_t next_ = 0, serving_ = 0;
};

/// Many readers or one writer; readers do not overtake a writer that waits.
class fair_lock {
 public:
  void lock() {
    const std::lock_guard entered(entry_);
    body_.lock();
  }
  void unlock() { body_.unlock(); }
  void lock_shared() {
    const std::lock_guard entered(entry_);
    body_.lock_shared();
  }
  void unlock_shared() { body_.unlock_shared(); }

 private:
  std::mutex entry_;
  std::shared_mutex body_;
};

}  // namespace hondana::samples
