/// What stores of analyses have kept when whoever writes, or keeps, is killed.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>

#include "sources/analyses/cache/store.hpp"

namespace analyses_bench {

using opening = std::function<std::shared_ptr<hondana::analyses::analysis_store>()>;

struct kills {
  std::size_t times = 0;
  std::uint64_t acknowledged = 0;
  std::uint64_t lost = 0;
  std::uint64_t partial = 0;  ///< Whole ones that are not as they were put.
  std::uint64_t more = 0;     ///< That were kept although nobody had been told yet.
  double slowest = 0;         ///< Milliseconds until it could be read again.
};

/// A child claims and puts one analysis after the other, in three parts each, and tells each whole one; at some moment `kill`
/// is called with its process id, then `again`, and all that it told is looked up. Throws.
[[nodiscard]] kills kill_again_and_again(const opening& open, std::size_t times, const std::function<void(int pid)>& kill,
                                         const std::function<void()>& again);

/// So many threads in each of so many processes claim the same and wait. How many computed it, and how many were served.
struct crowd {
  std::uint64_t computed = 0;
  std::uint64_t served = 0;
  double milliseconds = 0;
};
[[nodiscard]] crowd claim_at_once(const opening& open, int processes, int threads);

/// Number `number`: a small analysis that is seen to be whole.
[[nodiscard]] hondana::analyses::analysis numbered(std::uint64_t number);

}  // namespace analyses_bench
