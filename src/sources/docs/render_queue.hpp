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

/// Limits of a queue. All numbers must be above 0.
struct render_queue_limits {
  std::size_t max_concurrency = 2;                   ///< Documents rendered at the same time.
  std::size_t max_queued = 64;                       ///< Documents that wait for a thread.
  std::size_t max_waiting_calls = 12;                ///< Calls of `render` that wait, except background ones.
  std::chrono::milliseconds render_timeout{20'000};  ///< Time limit that `render_request::render` must enforce.
  std::chrono::milliseconds slow_ttl{300'000};       ///< How long a document is not tried again after a timeout.
  std::chrono::milliseconds failure_ttl{5'000};      ///< How long it is not tried again after another temporary failure.
};

/// Renders documents on its own threads, so that a slow document blocks only the callers that wait for it. A rendering that has
/// begun continues after its callers have left. Threads: any.
class render_queue {
 public:
  using text_result = result<std::shared_ptr<const document_text>>;

  struct render_request {
    std::string key{};  ///< Identifies the document and its state. Requests with equal keys share one rendering.
    /// Renders the document, and caches the result for later calls. Must own everything that it uses. Called on a thread of the
    /// queue.
    std::function<text_result(const request_context&)> render{};
    /// Whether to share a rendering that has already begun. False: the file may have changed since without a new key.
    bool can_join_running = true;
    bool is_background = false;  ///< Runs after all other requests, and does not count against `max_waiting_calls`.
  };

  explicit render_queue(const render_queue_limits& limits);
  /// Stops the renderings. Detaches threads that do not end within a second.
  ~render_queue();
  render_queue(const render_queue&) = delete;
  render_queue& operator=(const render_queue&) = delete;

  /// Queues a document, and waits for its text until the deadline of `context`. Errors: those of `render_request::render`, also
  /// a stored one of a recent rendering; overloaded, with `retry_after`; source_unavailable if no thread can be started.
  /// timed_out and cancelled, after which the rendering may continue.
  [[nodiscard]] text_result render(render_request request, const request_context& context);

 private:
  struct job;
  struct state;
  std::shared_ptr<state> state_;  // shared with the threads
};

}  // namespace hondana::docs
