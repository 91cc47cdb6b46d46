/// Room that many connections, sessions or streams share: bytes counted against a cap.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <utility>

namespace hondana::transport::http_server {

/// Counts bytes against a cap, and against that of a larger one it is part of. Threads: any.
class byte_budget {
 public:
  explicit byte_budget(std::size_t limit, std::shared_ptr<byte_budget> part_of = {}) noexcept
      : left_(static_cast<std::int64_t>(limit)), part_of_(std::move(part_of)) {}

  /// False, and nothing taken, when fewer than `bytes` are left.
  [[nodiscard]] bool take(std::size_t wanted) noexcept {
    const auto bytes = static_cast<std::int64_t>(wanted);
    auto left = left_.load(std::memory_order_relaxed);
    while (bytes <= left) {
      if (!left_.compare_exchange_weak(left, left - bytes, std::memory_order_relaxed)) continue;
      if (!part_of_ || part_of_->take(wanted)) return true;
      left_.fetch_add(bytes, std::memory_order_relaxed);
      return false;
    }
    return false;
  }
  /// Takes what has been used already; nobody else gets any until as much has come back.
  void take_anyway(std::size_t bytes) noexcept {
    left_.fetch_sub(static_cast<std::int64_t>(bytes), std::memory_order_relaxed);
    if (part_of_) part_of_->take_anyway(bytes);
  }
  [[nodiscard]] bool is_used_up() const noexcept {
    return left_.load(std::memory_order_relaxed) <= 0 || (part_of_ && part_of_->is_used_up());
  }
  void give_back(std::size_t given) noexcept {
    const auto bytes = static_cast<std::int64_t>(given);
    left_.fetch_add(bytes, std::memory_order_relaxed);
    if (part_of_) part_of_->give_back(given);
  }

 private:
  std::atomic<std::int64_t> left_;
  const std::shared_ptr<byte_budget> part_of_;
};

/// What one connection has taken; given back at the latest when this is destroyed. Threads: one at a time.
class byte_share {
 public:
  explicit byte_share(std::shared_ptr<byte_budget> of) noexcept : of_(std::move(of)) {}
  ~byte_share() { release(); }
  byte_share(const byte_share&) = delete;
  byte_share& operator=(const byte_share&) = delete;

  /// Takes what is missing to `bytes`; false, and nothing taken, when there is not so much left.
  [[nodiscard]] bool grow_to(std::size_t bytes) noexcept {
    if (bytes <= taken_) return true;
    if (!of_->take(bytes - taken_)) return false;
    taken_ = bytes;
    return true;
  }
  void release() noexcept { of_->give_back(std::exchange(taken_, 0)); }

 private:
  std::shared_ptr<byte_budget> of_;
  std::size_t taken_ = 0;
};

}  // namespace hondana::transport::http_server
