/// Who gets tokens for a session now.
#pragma once

#include <mutex>
#include <stop_token>

#include "auth/oauth/session.hpp"

namespace hondana::oauth {

/// One at a time gets tokens; the others wait, and mostly find that nothing is left to do.
class session::turn {
 public:
  turn(session& of, const std::stop_token& stop) : of_(of) {
    std::unique_lock lock(of.mutex_);
    has_it_ = of.turns_.wait(lock, stop, [&of] { return !of.is_taken_; });
    if (has_it_) of.is_taken_ = true;
  }
  ~turn() {
    if (!has_it_) return;
    {
      const std::scoped_lock lock(of_.mutex_);
      of_.is_taken_ = false;
    }
    of_.turns_.notify_one();
  }
  turn(const turn&) = delete;
  turn& operator=(const turn&) = delete;

  [[nodiscard]] bool has_it() const noexcept { return has_it_; }

 private:
  session& of_;
  bool has_it_ = false;
};

}  // namespace hondana::oauth
