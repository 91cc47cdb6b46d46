/// Things that one thread at a time uses, made when they are missing.
#pragma once

#include <cstddef>
#include <memory>
#include <mutex>
#include <utility>
#include <vector>

namespace hondana::tokenizer {

/// Threads: any. What is lent must be given back before the pool goes.
template <class T>
class pool {
 public:
  /// One thing in use; given back at its end.
  class lease {
   public:
    lease(pool& from, std::unique_ptr<T> what) noexcept : from_(&from), what_(std::move(what)) {}
    lease(const lease&) = delete;
    lease& operator=(const lease&) = delete;
    ~lease() { from_->give_back(std::move(what_)); }
    T& operator*() const noexcept { return *what_; }
    T* operator->() const noexcept { return what_.get(); }

   private:
    pool* from_;
    std::unique_ptr<T> what_;
  };

  pool() { idle_.reserve(most_idle); }

  template <class Make>
  [[nodiscard]] lease take(const Make& make) {
    {
      const std::lock_guard lock(mutex_);
      if (!idle_.empty()) {
        auto one = std::move(idle_.back());
        idle_.pop_back();
        return lease(*this, std::move(one));
      }
    }
    return lease(*this, make());
  }

 private:
  static constexpr std::size_t most_idle = 16;

  void give_back(std::unique_ptr<T> one) noexcept {
    const std::lock_guard lock(mutex_);
    if (idle_.size() < most_idle) idle_.push_back(std::move(one));
  }

  std::mutex mutex_;
  std::vector<std::unique_ptr<T>> idle_{};
};

}  // namespace hondana::tokenizer
