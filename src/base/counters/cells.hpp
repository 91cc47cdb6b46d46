/// Numbers that many threads add to at once, each mostly to lines of its own.
#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>

namespace hondana::counters {

/// How many threads add without getting into each other's way.
inline constexpr std::size_t shards = 8;

/// Of the calling thread; from 0 to `shards` - 1.
[[nodiscard]] inline std::size_t own_shard() noexcept {
  static std::atomic<std::size_t> last{0};
  static constinit thread_local std::size_t mine = 0;  // one more than it is
  if (mine == 0) [[unlikely]]
    mine = last.fetch_add(1, std::memory_order_relaxed) % shards + 1;
  return mine - 1;
}

/// A fixed number of sums. Threads: any, without a lock; a sum that is asked for while others add has some of that.
class cells {
 public:
  explicit cells(std::size_t count)
      : count_(count), lines_((count + in_line - 1) / in_line), all_(std::make_unique<line[]>(lines_ * shards)) {}

  /// `where`: less than `size()`. Amounts below 0 are added modulo 2^64, and so come out right.
  void add(std::size_t where, std::uint64_t amount) noexcept {
    at(own_shard(), where).fetch_add(amount, std::memory_order_relaxed);
  }
  [[nodiscard]] std::uint64_t sum(std::size_t where) const noexcept {
    std::uint64_t out = 0;
    for (std::size_t one = 0; one < shards; ++one) out += at(one, where).load(std::memory_order_relaxed);
    return out;
  }
  [[nodiscard]] std::size_t size() const noexcept { return count_; }

 private:
  static constexpr std::size_t in_line = 8;
  struct alignas(64) line {
    std::array<std::atomic<std::uint64_t>, in_line> of{};
  };
  [[nodiscard]] std::atomic<std::uint64_t>& at(std::size_t shard, std::size_t where) const noexcept {
    return all_[shard * lines_ + where / in_line].of[where % in_line];
  }

  const std::size_t count_;
  const std::size_t lines_;
  const std::unique_ptr<line[]> all_;
};

}  // namespace hondana::counters
