/// Who listens to the list.
#pragma once

#include <memory>
#include <mutex>
#include <utility>

#include "sources/metrics/metrics_provider.hpp"

namespace hondana::metrics {

struct metrics_provider::list_listener {
  void turn(std::shared_ptr<change_listener> next) {
    const std::lock_guard lock(mutex);
    to.swap(next);
  }
  void tell() {
    std::shared_ptr<change_listener> there;
    {
      const std::lock_guard lock(mutex);
      there = to;
    }
    if (there) there->list_changed();
  }

  std::mutex mutex;
  std::shared_ptr<change_listener> to;
};

}  // namespace hondana::metrics
