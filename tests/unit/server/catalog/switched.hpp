/// What vouches for something for as long as a test wants.
#pragma once

#include <atomic>

#include <hondana/resource.hpp>

namespace hondana::test {

/// Threads: any.
class switched final : public cache_validator {
 public:
  [[nodiscard]] bool is_valid() const noexcept override {
    ++asked;
    return is_on;
  }
  std::atomic<bool> is_on{true};
  mutable std::atomic<int> asked{0};
};

}  // namespace hondana::test
