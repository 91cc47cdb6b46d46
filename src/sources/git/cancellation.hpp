/// Checks periodically, during long work, whether the request was cancelled.
#pragma once

#include <cstdint>
#include <functional>

#include <hondana/error.hpp>

namespace hondana::git {

/// Counts steps of some work, and checks for cancellation at the first one and at every 1024th after it. Lifetime: refers to
/// `is_stopped`.
class cancellation_checker {
 public:
  explicit cancellation_checker(const std::function<bool()>& is_stopped) noexcept : is_stopped_(is_stopped) {}

  /// Errors: cancelled.
  [[nodiscard]] result<void> step() {
    if (steps_++ % 1024 != 0) return {};
    return check();
  }
  /// Checks now; for use before work that takes long by itself. Errors: cancelled.
  [[nodiscard]] result<void> check() const {
    if (is_stopped_ && is_stopped_()) return fail(errc::cancelled, "The request was cancelled.");
    return {};
  }
  [[nodiscard]] std::uint64_t steps() const noexcept { return steps_; }

 private:
  const std::function<bool()>& is_stopped_;
  std::uint64_t steps_ = 0;
};

}  // namespace hondana::git
