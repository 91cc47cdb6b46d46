/// Bytes that come and go, by transport.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>

#include "base/counters/families.hpp"

namespace hondana::counters {

enum class way : std::uint8_t { stdio, http };

/// Of this process; what TLS adds is not counted. Threads: any.
class traffic {
 public:
  [[nodiscard]] static traffic& here();
  void received(way by, std::size_t bytes) noexcept { received_->add(static_cast<std::size_t>(by), bytes); }
  void sent(way by, std::size_t bytes) noexcept { sent_->add(static_cast<std::size_t>(by), bytes); }

 private:
  traffic();
  const std::shared_ptr<sums> received_;
  const std::shared_ptr<sums> sent_;
};

}  // namespace hondana::counters
