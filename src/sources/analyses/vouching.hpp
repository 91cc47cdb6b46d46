/// That what was read of analyses still holds.
#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>
#include <memory>
#include <utility>

#include <hondana/clock.hpp>
#include <hondana/resource.hpp>

#include "sources/analyses/cache/cache.hpp"

namespace hondana::analyses_source {

/// Holds while nothing in the store has changed, nor anything that is watched for its sake, and for a second at most: what
/// another process writes is noticed a little later where it shares a file, and not at all while a server that keeps it is not
/// to be reached.
class vouching final : public validity {
 public:
  using counter = std::atomic<std::uint64_t>;
  /// What it was before it was read.
  struct moment {
    std::uint64_t generation = 0;
    std::uint64_t news = 0;
  };
  /// `news`: goes up with whatever is heard of what analyses are based on. `until`: from when on it says something else.
  vouching(std::weak_ptr<const analyses::cache> of, std::shared_ptr<const counter> news, moment then,
           std::chrono::steady_clock::time_point until)
      : of_(std::move(of)), news_(std::move(news)), then_(then), until_(until) {}

  [[nodiscard]] bool holds() const noexcept override {
    if (monotonic_clock::now() >= until_ || news_->load() != then_.news) return false;
    const auto there = of_.lock();
    return there && there->generation() == then_.generation;
  }

 private:
  const std::weak_ptr<const analyses::cache> of_;
  const std::shared_ptr<const counter> news_;
  const moment then_;
  const std::chrono::steady_clock::time_point until_;
};

}  // namespace hondana::analyses_source
