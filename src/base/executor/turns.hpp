/// Long jobs on a thread that has others to do.
#pragma once

#include <functional>

namespace hondana::executor {

/// A thread that takes turns: between two steps of a job it does what else has come. Threads: any.
class turns {
 public:
  turns() = default;
  turns(const turns&) = delete;
  turns& operator=(const turns&) = delete;
  virtual ~turns() = default;
  /// Calls `step` on the thread, again and again until it returns false; never before this returns. After the thread's end
  /// nothing is called any more. Jobs begin in the order of the calls.
  virtual void take_turns(std::function<bool()> step) = 0;
};

}  // namespace hondana::executor
