/// Renders documents behind the requests, so that lists come to know their titles.
#pragma once

#include <functional>
#include <memory>

#include "sources/docs/library.hpp"

namespace hondana::docs {

/// One thread, which is started when it is first woken, and ends when there has been nothing to do. Threads: any.
class learner {
 public:
  explicit learner(std::shared_ptr<library> of);
  /// Ends the rendering; leaves the thread behind when it is stuck for more than a second.
  ~learner();
  learner(const learner&) = delete;
  learner& operator=(const learner&) = delete;

  /// To be called when there is something to do. It may outlive this, and does nothing then.
  [[nodiscard]] std::function<void()> waker() const;

 private:
  struct state;
  std::shared_ptr<state> state_;
};

}  // namespace hondana::docs
