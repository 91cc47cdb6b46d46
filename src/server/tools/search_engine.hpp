/// Interfaces of search: an engine that finds resources by words, and an index with such an engine.
#pragma once

#include <chrono>
#include <cstddef>
#include <functional>
#include <memory>
#include <stop_token>
#include <string>
#include <vector>

#include <hondana/error.hpp>
#include <hondana/provider.hpp>
#include <hondana/resource.hpp>
#include <hondana/search.hpp>

#include "protocol/model/operations.hpp"
#include "server/catalog/change_feed.hpp"
#include "server/tools/tool_context.hpp"

namespace hondana::tools {

/// A search request.
struct search_query {
  std::string text;               ///< Not empty.
  std::size_t limit = 10;         ///< Largest number of results.
  model::resource_filter filter;  ///< Other resources are neither returned nor examined.
};

/// One result.
struct search_hit {
  resource entry;
  std::string range;    ///< The matching part, as the tool read_resource takes it: `lines=10-14`. Empty: none.
  std::string passage;  ///< Text of that part, or another text of the resource that shows the match.
  double score = 0;     ///< 0 to 1; comparable only within one answer.
  std::string reason;   ///< What matched, for people.
};

/// The results of a search.
struct search_answer {
  std::vector<search_hit> hits;  ///< Best first.
  bool is_complete = true;       ///< All resources that pass the filter were examined, including contents of small texts.
};

/// Finds resources by words. Threads: any; calls block.
class search_engine {
 public:
  search_engine() = default;
  search_engine(const search_engine&) = delete;
  search_engine& operator=(const search_engine&) = delete;
  virtual ~search_engine() = default;

  /// Finds resources that match the query and that the caller may list. Errors: invalid_argument for a query without words;
  /// those of lists; cancelled, timed_out.
  [[nodiscard]] virtual result<search_answer> search(const request_context& context, const tool_services& services,
                                                     const search_query& query) const = 0;
};

}  // namespace hondana::tools

namespace hondana::inline v0 {

/// An index with its indexer, made by `open_search_index`. Threads: any.
class search_index {
 public:
  search_index() = default;
  search_index(const search_index&) = delete;
  search_index& operator=(const search_index&) = delete;
  virtual ~search_index() = default;

  /// Starts to index the resources of the server that `holder` belongs to, and to follow the changes in `feed`. Call once.
  virtual void start(std::shared_ptr<const tools::services_holder> holder, std::shared_ptr<catalog::change_feed> feed) = 0;
  /// Stops indexing, because the server is being destroyed. Waits for the indexing thread. Calls of sources and of the
  /// embedding service end at once. A running call of the store is completed first, such as the check of a large file or a
  /// PostgreSQL request. That takes up to two minutes.
  virtual void shutdown() = 0;
  /// The source of `search:///`. Always the same object.
  [[nodiscard]] virtual const std::shared_ptr<hondana::provider>& source() const noexcept = 0;
  /// The engine of `search_resources`.
  [[nodiscard]] virtual std::shared_ptr<const tools::search_engine> engine() const noexcept = 0;

  /// See `search_state_of`.
  [[nodiscard]] virtual search_state state() const = 0;
  /// See `refresh_search_index`.
  virtual void refresh() = 0;
  /// See `wait_until_indexed`. Also ends when `stop` is requested; errors: cancelled.
  [[nodiscard]] virtual result<void> wait(std::chrono::steady_clock::time_point deadline,
                                          const std::function<void(const search_state&)>& on_progress,
                                          const std::stop_token& stop = {}) = 0;
};

}  // namespace hondana::inline v0
