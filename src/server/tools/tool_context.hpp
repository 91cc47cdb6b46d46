/// The context of built-in tools: catalog, access rules, timers and search engine at the time of a call.
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

/// The context of one call.
struct surroundings {
  std::shared_ptr<const catalog::catalog> catalog;
  std::shared_ptr<const gate::gate> gate;
  std::shared_ptr<executor::timers> timers;
  std::shared_ptr<const search_engine> engine{};  ///< The engine of an index. Null: there is no index.
};

/// Holds the current context. A running call uses the context that it started with. Threads: any.
class place {
 public:
  void put(surroundings next) {
    const std::lock_guard lock(mutex_);
    present_ = std::move(next);
  }
  [[nodiscard]] surroundings now() const {
    const std::lock_guard lock(mutex_);
    return present_;
  }

 private:
  mutable std::mutex mutex_;
  surroundings present_;
};

/// Calls `start`, which answers through a completion exactly once, by the deadline of its call; waits for the answer. Errors:
/// those of the answer; cancelled at once when `by` is cancelled. Threads: one that may block, and that the answer does not
/// depend on.
template <class T, class Start>
[[nodiscard]] result<T> await(const call& by, Start&& start) {
  struct waiting {
    std::mutex mutex;
    std::condition_variable_any came;
    std::optional<result<T>> answer;
  };
  const auto state = std::make_shared<waiting>();
  start(catalog::completion<T>([state](result<T> answer) {
    {
      const std::lock_guard lock(state->mutex);
      state->answer = std::move(answer);
    }
    state->came.notify_all();
  }));
  std::unique_lock lock(state->mutex);
  if (!state->came.wait(lock, by.stop, [&] { return state->answer.has_value(); })) {
    return fail(errc::cancelled, "The request was cancelled.");
  }
  return std::move(*state->answer);
}

}  // namespace hondana::tools
