/// The services that built-in tools use: catalog, access rules, timers and search engine at the time of a call.
#pragma once

#include <condition_variable>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <utility>

#include <hondana/error.hpp>
#include <hondana/provider.hpp>

#include "base/executor/timers.hpp"
#include "server/catalog/catalog.hpp"
#include "server/gate/gate.hpp"

namespace hondana::tools {

class search_engine;

/// The services for one call.
struct tool_services {
  std::shared_ptr<const catalog::catalog> catalog;
  std::shared_ptr<const gate::gate> gate;
  std::shared_ptr<executor::timers> timers;
  std::shared_ptr<const search_engine> engine{};  ///< The engine of an index. Null: there is no index.
};

/// Holds the current services. A running call uses the services that it started with. Threads: any.
class services_holder {
 public:
  /// Sets the services of later calls.
  void put(tool_services services) {
    const std::lock_guard lock(mutex_);
    services_ = std::move(services);
  }
  [[nodiscard]] tool_services current() const {
    const std::lock_guard lock(mutex_);
    return services_;
  }

 private:
  mutable std::mutex mutex_;
  tool_services services_;
};

/// Calls `start` with a completion, and waits until the completion is called. `start` must call it exactly once, by the
/// deadline of `context`. Errors: those of the answer; cancelled, at once when `context.stop` is requested. Threads: one that
/// may block, and that the answer does not need.
template <class T, class Start>
[[nodiscard]] result<T> await(const request_context& context, Start&& start) {
  struct await_state {
    std::mutex mutex;
    std::condition_variable_any answered;
    std::optional<result<T>> answer;
  };
  const auto state = std::make_shared<await_state>();
  start(catalog::completion<T>([state](result<T> answer) {
    {
      const std::lock_guard lock(state->mutex);
      state->answer = std::move(answer);
    }
    state->answered.notify_all();
  }));
  std::unique_lock lock(state->mutex);
  if (!state->answered.wait(lock, context.stop, [&] { return state->answer.has_value(); })) {
    return fail(errc::cancelled, "The request was cancelled.");
  }
  return std::move(*state->answer);
}

}  // namespace hondana::tools
