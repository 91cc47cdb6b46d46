/// A value that is replaced occasionally and read by many threads without waiting.
#include "base/executor/published.hpp"

namespace hondana::executor {

std::uint64_t next_published_id() noexcept {
  static std::atomic<std::uint64_t> last{0};
  return last.fetch_add(1, std::memory_order_relaxed) + 1;
}

}  // namespace hondana::executor
