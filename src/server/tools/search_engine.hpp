/// Interfaces of search: an engine that finds resources by words, and an index that replaces the usual one.
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

struct search_query {
  std::string q;                  ///< Not empty.
  std::size_t limit = 10;         ///< Results wanted.
  model::resource_filter filter;  ///< What does not pass is neither found nor looked at.
};

/// One result. Empty texts are absent members.
struct search_hit {
  resource entry;
  std::string range;    ///< The part of it: `lines=10-14`, as the tool read_resource takes it.
  std::string passage;  ///< Its text, or what else of the resource shows the match.
  double score = 0;     ///< 0 to 1, comparable within one answer only.
  std::string why;      ///< What matched, in words.
};

struct search_answer {
  std::vector<search_hit> hits;  ///< The best first.
  bool is_complete = true;       ///< Everything that passes the filter was looked at, contents of small texts too.
};

/// Threads: any; calls block.
class search_engine {
 public:
  search_engine() = default;
  search_engine(const search_engine&) = delete;
  search_engine& operator=(const search_engine&) = delete;
  virtual ~search_engine() = default;

  /// Finds what the caller may list and read, and nothing else. Errors: those of lists; cancelled, timed_out.
  [[nodiscard]] virtual result<search_answer> search(const call& by, const surroundings& in,
                                                     const search_query& what) const = 0;
};

}  // namespace hondana::tools

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
