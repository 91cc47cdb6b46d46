/// A queue that renders documents on threads of its own, each document once for all callers.
#pragma once

#include <chrono>
#include <cstddef>
#include <functional>
#include <memory>
#include <string>

#include <hondana/error.hpp>
#include <hondana/provider.hpp>

#include "sources/docs/document_text.hpp"

namespace hondana::docs {

/// How much of a press there is. No number is 0.
struct press_bounds {
  std::size_t at_once = 2;   ///< Documents being rendered.
  std::size_t queued = 64;   ///< Documents that wait for their turn.
  std::size_t waiting = 12;  ///< Calls that wait, of requests: the other threads of the source are for what is in hand.
  std::chrono::milliseconds one{20'000};        ///< What a document may take once it is begun; whoever renders keeps to it.
  std::chrono::milliseconds slow_for{300'000};  ///< For so long one that took all of that is not tried again.
  std::chrono::milliseconds failed_for{5'000};  ///< The same of one that failed for what is not its own.
};

/// A slow document holds a turn here, and of the threads of its source no more than those that wait. What has begun goes on
/// when nobody waits any more, so that who asks again finds it done. Threads: any.
class press {
 public:
  using text = result<std::shared_ptr<const prose>>;

  struct order {
    std::string key{};                        ///< Of the document in its state: equal ones are rendered together.
    std::function<text(const call&)> make{};  ///< Keeps what it made. Owns whatever it touches.
    /// False: its file may have changed without a trace, and only a rendering that has not begun is as good as its own.
    bool may_join_begun = true;
    bool is_for_later = false;  ///< Behind all requests, and not counted as one.
  };

  explicit press(const press_bounds& within);
  /// Ends what is rendered; leaves threads behind that are stuck for more than a second.
  ~press();
  press(const press&) = delete;
  press& operator=(const press&) = delete;

  /// Waits for the text until the deadline of `by`. Errors: those of `make`, also of the last time if that was just now;
  /// overloaded, with `retry`; timed_out and cancelled for whoever waits alone.
  [[nodiscard]] text print(order what, const call& by);

 private:
  struct job;
  struct state;
  std::shared_ptr<state> state_;  // of the threads, too
};

}  // namespace hondana::docs
