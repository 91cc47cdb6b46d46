/// Backoff for a failing embedding service.
#pragma once

#include <chrono>
#include <cstddef>
#include <mutex>
#include <optional>

#include <hondana/clock.hpp>

namespace hondana::embeddings {

/// After a failure a while in which nobody need try: 1 second, twice as long after each further one, at most 60 seconds, and
/// what the service itself asks for where that is longer. Afterwards one may try while the others still do without. Threads:
/// any.
class respite {
 public:
  using clock = monotonic_clock;

  /// How long it is still left alone; nothing: ask it, and say what came of it within `patience`.
  [[nodiscard]] std::optional<std::chrono::milliseconds> left(clock::time_point now, std::chrono::milliseconds patience);
  void succeeded();
  /// Several that were asked at the same time count as one: those that `began` before the last failure do not count.
  void failed(clock::time_point began, clock::time_point now, std::optional<std::chrono::milliseconds> asked_for = {});
  /// In a row.
  [[nodiscard]] std::size_t failures() const;

 private:
  mutable std::mutex mutex_;
  std::size_t failures_ = 0;
  clock::time_point last_{};
  clock::time_point until_{};
};

}  // namespace hondana::embeddings
