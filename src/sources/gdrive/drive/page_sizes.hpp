/// How many entries a page of a list is asked to have.
#pragma once

#include <algorithm>
#include <atomic>

namespace hondana::drive {

/// All that Drive gives, fewer where an answer was too large, and more again with each that was not: whoever may share files
/// with us says how large an answer is. A page token goes with any size. Threads: any.
/// Spec: Google, AIP-158 (pagination), page size.
class page_sizes {
 public:
  static constexpr int most = 1'000;

  /// For one who wants so many.
  [[nodiscard]] int next(int wanted) const noexcept { return std::clamp(std::min(wanted, now_.load()), 1, most); }
  /// So many were not too many.
  void fits(int size) noexcept { now_ = std::clamp(2 * size, std::min(now_.load(), most), most); }
  /// So many were, and half of it is to be asked for. Whether it is less than ever before.
  bool is_too_large(int size) noexcept {
    now_ = std::max(size / 2, 1);
    if (now_ >= least_) return false;
    least_ = now_.load();
    return true;
  }

 private:
  std::atomic<int> now_{most};
  std::atomic<int> least_{most};
};

}  // namespace hondana::drive
