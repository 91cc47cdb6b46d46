/// Which jobs are known to keep a processor busy.
#pragma once

#include <array>
#include <atomic>
#include <chrono>
#include <cstdint>
#include <functional>
#include <string_view>

namespace hondana::executor {

/// Identifies requests for the same operation on the same thing, which take about the same time. 0: unknown.
using job_kind = std::uint64_t;

/// `operation`: a number of the caller's choice, different for each operation.
[[nodiscard]] inline job_kind kind_of(std::uint64_t operation, std::string_view target) noexcept {
  return (std::hash<std::string_view>{}(target) * 31 + operation) | 1;
}

/// Remembers which kinds of jobs used more than two milliseconds of processor time when they ran last. Kinds share 1021 slots,
/// so a kind may be forgotten when another one takes its slot. Threads: any.
class known_costs {
 public:
  static constexpr std::chrono::milliseconds least{2};

  [[nodiscard]] bool is_costly(job_kind kind) const noexcept {
    return kind != 0 && slot(kind).load(std::memory_order_relaxed) == kind;
  }
  /// Records the processor time that a job of this kind used.
  void record(job_kind kind, std::chrono::nanoseconds used) noexcept {
    if (kind == 0) return;
    auto& costly = slot(kind);
    if (used >= least) {
      costly.store(kind, std::memory_order_relaxed);
    } else if (costly.load(std::memory_order_relaxed) == kind) {
      costly.store(0, std::memory_order_relaxed);
    }
  }

 private:
  [[nodiscard]] std::atomic<job_kind>& slot(job_kind kind) noexcept { return slots_[kind % slots_.size()]; }
  [[nodiscard]] const std::atomic<job_kind>& slot(job_kind kind) const noexcept { return slots_[kind % slots_.size()]; }

  std::array<std::atomic<job_kind>, 1021> slots_{};
};

}  // namespace hondana::executor
