/// The first at once, the others together.
#include "sources/logs/telling.hpp"

#include <mutex>
#include <utility>

namespace hondana::logs {

void telling::tell_to(std::shared_ptr<change_listener> to) {
  const std::lock_guard lock(mutex_);
  to_.swap(to);
}

void telling::turn(bool on) {
  const std::lock_guard lock(mutex_);
  is_on_ = on;
}

void telling::tell() {
  std::shared_ptr<change_listener> to;
  {
    const std::lock_guard lock(mutex_);
    if (!is_on_ || !to_ || is_late_) return;
    const auto now = executor::clock::now();
    if (now - told_ < between) {
      is_late_ = true;
      timers_.at(told_ + between, [weak = weak_from_this()] {
        if (const auto self = weak.lock()) self->tell_late();
      });
      return;
    }
    told_ = now;
    to = to_;
  }
  to->content_changed(uri_, title_);
}

void telling::tell_late() {
  std::shared_ptr<change_listener> to;
  {
    const std::lock_guard lock(mutex_);
    is_late_ = false;
    if (!is_on_) return;
    told_ = executor::clock::now();
    to = to_;
  }
  if (to) to->content_changed(uri_, title_);
}

}  // namespace hondana::logs
