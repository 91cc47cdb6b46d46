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
struct render_queue_limits {
  std::size_t max_concurrency = 2;  ///< Documents rendered at the same time.
  std::size_t max_queued = 64;      ///< Documents in the queue.
  /// Waiting calls of requests. The other threads of the source serve what needs no rendering.
  std::size_t max_waiting_calls = 12;
  std::chrono::milliseconds render_timeout{20'000};  ///< Time limit of a rendering, which the renderer enforces.
  std::chrono::milliseconds slow_ttl{300'000};       ///< How long a document that exceeded it is not tried again.
  /// How long a document that failed for another temporary reason is not tried again.
  std::chrono::milliseconds failure_ttl{5'000};
};

/// Renders documents on its own threads, so that a slow one blocks only the callers that wait for it. A rendering continues
/// after its callers leave, and a later call finds the result. Threads: any.
class render_queue {
 public:
  using text_result = result<std::shared_ptr<const document_text>>;

  struct render_request {
    std::string key{};  ///< The document and its state. Requests with the same key share one rendering.
    std::function<text_result(const request_context&)>
        render{};  ///< Renders and caches the document. Owns everything that it uses.
    /// False: the file may have changed without a trace, so a rendering that has already begun cannot be shared.
    bool can_join_running = true;
    bool is_background = false;  ///< Runs after all requests, and is not counted as one.
  };

  explicit render_queue(const render_queue_limits& limits);
  /// Stops the renderings. Leaves threads behind that do not end within a second.
  ~render_queue();
  render_queue(const render_queue&) = delete;
  render_queue& operator=(const render_queue&) = delete;

  /// Waits for the text until the deadline of `context`. Errors: those of `render`, also remembered ones of a recent call;
  /// overloaded, with `retry_after`; timed_out and cancelled for this caller only.
  [[nodiscard]] text_result render(render_request request, const request_context& context);

 private:
  struct job;
  struct state;
  std::shared_ptr<state> state_;  // shared with the threads
};

}  // namespace hondana::docs
