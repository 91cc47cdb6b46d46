/// Checks periodically, during long work, whether the request was cancelled.
#pragma once

#include <cstdint>
#include <functional>

#include <hondana/error.hpp>

namespace hondana::git {

/// Counts the steps of an operation, and checks for cancellation at the first step and at every 1024th after it. `is_stopped`
/// returns true if the operation is cancelled; it may be empty, and must outlive this object.
class cancellation_checker {
 public:
  explicit cancellation_checker(const std::function<bool()>& is_stopped) noexcept : is_stopped_(is_stopped) {}

  /// Counts one step. Errors: cancelled.
  [[nodiscard]] result<void> step() {
    if (steps_++ % 1024 != 0) return {};
    return check();
  }
  /// Checks now. Call it before a step that takes long. Errors: cancelled.
  [[nodiscard]] result<void> check() const {
    if (is_stopped_ && is_stopped_()) return fail(errc::cancelled, "The request was cancelled.");
    return {};
  }
  /// Number of calls of `step`.
  [[nodiscard]] std::uint64_t steps() const noexcept { return steps_; }

 private:
  const std::function<bool()>& is_stopped_;
  std::uint64_t steps_ = 0;
};

}  // namespace hondana::git
