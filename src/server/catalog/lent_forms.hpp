/// Big contents in the form in which they stand in messages, lent to those that send them.
#pragma once

#include <atomic>
#include <cstddef>
#include <memory>
#include <string_view>

#include <hondana/resource.hpp>

namespace hondana::catalog {

/// Encodes contents and counts the bytes of what it has made until nobody has it any more: a peer that takes its answer slowly
/// keeps it in memory, also when the cache has let it go. Threads: any.
class lent_forms {
 public:
  /// What is longer is kept encoded; what is shorter is copied into each answer.
  static constexpr std::size_t big = 64 * 1024;

  /// The inside of a JSON string: `content` escaped, or in base64.
  [[nodiscard]] shared_bytes encode(std::string_view content, bool is_text) const;
  /// Bytes of all that somebody still has.
  [[nodiscard]] std::size_t bytes() const noexcept { return alive_->load(std::memory_order_relaxed); }

 private:
  const std::shared_ptr<std::atomic<std::size_t>> alive_ = std::make_shared<std::atomic<std::size_t>>(0);
};

}  // namespace hondana::catalog
