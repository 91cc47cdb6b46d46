/// A limit with a bell.
#include "transport/stdio/patience.hpp"

#include <sys/eventfd.h>
#include <unistd.h>

#include <algorithm>

namespace hondana::transport::stdio {

patience::patience(std::chrono::milliseconds stall) : changed_(eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK)), stall_(stall) {}

patience::~patience() {
  if (changed_ >= 0) ::close(changed_);
}

void patience::shorten(std::chrono::milliseconds stall, clock::time_point end) {
  {
    const std::lock_guard lock(mutex_);
    stall_ = std::min(stall_, stall);
    end_ = std::min(end_, end);
  }
  eventfd_write(changed_, 1);
}

patience::clock::time_point patience::until(clock::time_point progress) const {
  const std::lock_guard lock(mutex_);
  return std::min(progress + stall_, end_);
}

void patience::heard() const noexcept {
  eventfd_t count = 0;
  eventfd_read(changed_, &count);
}

}  // namespace hondana::transport::stdio
