/// An index, what keeps it up, and what is asked of it.
#pragma once

#include <chrono>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include <hondana/provider.hpp>
#include <hondana/search.hpp>

#include "bridge/engine.hpp"
#include "bridge/place.hpp"
#include "catalog/feed.hpp"

namespace hondana::inline v0 {

/// Threads: any.
class search_index {
 public:
  struct state;
  explicit search_index(std::unique_ptr<state> made);
  ~search_index();
  search_index(const search_index&) = delete;
  search_index& operator=(const search_index&) = delete;

  /// Begins to index what the server at `where` serves, and to hear of its changes. Once.
  void serve(std::shared_ptr<const bridge::place> where, std::shared_ptr<catalog::feed> changes);
  /// Stops; the server goes. Waits until the thread has ended: a call of a source or of the embedding service ends at once, one
  /// of the store when it is done, such as the check of a large file, or a PostgreSQL that has two minutes to answer.
  void leave();
  /// The source of `search:///`. Always the same.
  [[nodiscard]] const std::shared_ptr<hondana::provider>& source() const noexcept;
  /// What `search_resources` asks.
  [[nodiscard]] std::shared_ptr<const bridge::search_engine> engine() const noexcept;

  [[nodiscard]] search_state now() const;
  void refresh();
  [[nodiscard]] result<void> wait(std::chrono::steady_clock::time_point until,
                                  const std::function<void(const search_state&)>& hears, const std::stop_token& stop = {});

 private:
  std::shared_ptr<state> state_;  // of the engine and the source, too
};

}  // namespace hondana::inline v0
