/// Searches the index for a caller.
#pragma once

#include <cstddef>
#include <memory>
#include <string>
#include <vector>

#include "search/index/shared_index.hpp"
#include "search/index/store.hpp"
#include "server/tools/search_engine.hpp"

namespace hondana::search {

/// A query with conditions. The tool `search` supports only some of them.
struct index_query {
  std::string q{};         ///< The words; empty only in `address`.
  std::size_t limit = 10;  ///< 1 to 50.
  document_filter filter{};
};

/// One result.
struct hit {
  resource entry{};  ///< As the caller may see it now.
  stored_passage passage{};
  std::string language{};    ///< BCP 47; empty: unknown.
  double score = 0;          ///< 0 to 1, comparable within one answer.
  std::string reason{};      ///< See `explain_rank`.
  bool has_changed = false;  ///< The resource now has another version than the indexed one.
};

struct search_results {
  std::vector<hit> hits{};  ///< The best first.
  bool is_complete = true;  ///< Everything was indexed and examined, as far as the caller may know.
  std::string note{};       ///< Why it is not complete, or why there was no search by meaning, in fixed words; empty: none.
};

/// Searches with the current access rights of the caller, not those at indexing time. Resources hidden from the caller do not
/// influence the results, except through word frequencies. Threads: any; blocks.
class engine final : public tools::search_engine {
 public:
  explicit engine(std::shared_ptr<shared_index> index) : index_(std::move(index)) {}

  /// Finds passages by words and, with an embedding service, by meaning. Errors: invalid_argument for a query without a word if
  /// there is no embedding service; source_unavailable; cancelled, timed_out.
  [[nodiscard]] result<search_results> find(const request_context& context, const tools::tool_services& services,
                                            const index_query& query) const;

  /// Searches for the tool `search`. Checks conditions that the index does not support on at most 50 results of `find`.
  [[nodiscard]] result<tools::search_answer> search(const request_context& context, const tools::tool_services& services,
                                                    const tools::search_query& query) const override;

 private:
  const std::shared_ptr<shared_index> index_;
};

}  // namespace hondana::search
