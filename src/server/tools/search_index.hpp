/// What a server needs of a search index.
#pragma once

#include <chrono>
#include <functional>
#include <memory>
#include <stop_token>

#include <hondana/provider.hpp>
#include <hondana/search.hpp>

#include "server/catalog/feed.hpp"
#include "server/tools/engine.hpp"
#include "server/tools/place.hpp"

namespace hondana::inline v0 {

/// An index with what keeps it up, as `open_search_index` makes it. Threads: any.
class search_index {
 public:
  search_index() = default;
  search_index(const search_index&) = delete;
  search_index& operator=(const search_index&) = delete;
  virtual ~search_index() = default;

  /// Begins to index what the server at `where` serves, and to hear of its changes. Once.
  virtual void serve(std::shared_ptr<const tools::place> where, std::shared_ptr<catalog::feed> changes) = 0;
  /// Stops; the server goes. Waits until the thread has ended: a call of a source or of the embedding service ends at once, one
  /// of the store when it is done, such as the check of a large file, or a PostgreSQL that has two minutes to answer.
  virtual void leave() = 0;
  /// The source of `search:///`. Always the same.
  [[nodiscard]] virtual const std::shared_ptr<hondana::provider>& source() const noexcept = 0;
  /// What `search_resources` asks.
  [[nodiscard]] virtual std::shared_ptr<const tools::search_engine> engine() const noexcept = 0;

  [[nodiscard]] virtual search_state now() const = 0;
  virtual void refresh() = 0;
  [[nodiscard]] virtual result<void> wait(std::chrono::steady_clock::time_point until,
                                          const std::function<void(const search_state&)>& hears,
                                          const std::stop_token& stop = {}) = 0;
};

}  // namespace hondana::inline v0
