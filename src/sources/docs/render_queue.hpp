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

/// Limits of a queue. All numbers are above 0.
struct press_bounds {
  std::size_t at_once = 2;  ///< Documents rendered at the same time.
  std::size_t queued = 64;  ///< Documents in the queue.
  /// Waiting calls of requests. The other threads of the source serve what needs no rendering.
  std::size_t waiting = 12;
  std::chrono::milliseconds one{20'000};        ///< Time limit of a rendering, which the renderer enforces.
  std::chrono::milliseconds slow_for{300'000};  ///< How long a document that exceeded it is not tried again.
  /// How long a document that failed for another temporary reason is not tried again.
  std::chrono::milliseconds failed_for{5'000};
};

/// Renders documents on its own threads, so that a slow one blocks only the callers that wait for it. A rendering continues
/// after its callers leave, and a later call finds the result. Threads: any.
class press {
 public:
  using text = result<std::shared_ptr<const prose>>;

  struct order {
    std::string key{};                        ///< The document and its state. Orders with the same key share one rendering.
    std::function<text(const call&)> make{};  ///< Renders and caches the document. Owns everything that it uses.
    /// False: the file may have changed without a trace, so a rendering that has already begun cannot be shared.
    bool may_join_begun = true;
    bool is_for_later = false;  ///< Runs after all requests, and is not counted as one.
  };

  explicit press(const press_bounds& within);
  /// Stops the renderings. Leaves threads behind that do not end within a second.
  ~press();
  press(const press&) = delete;
  press& operator=(const press&) = delete;

  /// Waits for the text until the deadline of `by`. Errors: those of `make`, also remembered ones of a recent call; overloaded,
  /// with `retry`; timed_out and cancelled for this caller only.
  [[nodiscard]] text print(order what, const call& by);

 private:
  struct job;
  struct state;
  std::shared_ptr<state> state_;  // shared with the threads
};

}  // namespace hondana::docs
