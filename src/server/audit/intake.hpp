/// Where many threads leave their records and one takes them.
#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <mutex>
#include <string>
#include <string_view>
#include <vector>

namespace hondana::audit {

/// Records that wait to be written. Threads: any; `take` from one at a time.
///
/// A thread has a part of its own as long as there are few threads, so that they hardly wait for one another. What was put
/// before something else was is taken before it.
class intake {
 public:
  /// A number for what will be put, higher than those before.
  [[nodiscard]] std::uint64_t next_number() noexcept { return numbers_.fetch_add(1, std::memory_order_relaxed) + 1; }
  /// False, and nothing is put, when with it more than `most` bytes would wait.
  [[nodiscard]] bool put(std::uint64_t number, std::string_view record, std::size_t most);
  /// Hands `each` everything that was put, in the order of the numbers.
  template <class Each>
  void take(Each&& each) {
    gather();
    for (const auto& one : order_) each(one.text);
    for (auto& one : taken_) {
      held_.fetch_sub(one.text.size(), std::memory_order_relaxed);
      one.text.clear();
    }
  }

 private:
  struct place {
    std::uint64_t number;
    std::size_t begin;
    std::size_t size;
  };
  struct numbered {
    std::uint64_t number;
    std::string_view text;
  };
  struct texts {
    std::string text;
    std::vector<place> places;
  };
  struct alignas(64) part {
    std::mutex mutex;
    texts all;
  };
  static constexpr std::size_t parts = 8;

  void gather();

  std::array<part, parts> parts_;
  std::array<texts, parts> taken_;
  std::vector<numbered> order_;
  std::atomic<std::uint64_t> numbers_{0};
  std::atomic<std::size_t> held_{0};
};

}  // namespace hondana::audit
