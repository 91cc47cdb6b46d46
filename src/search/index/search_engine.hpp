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

/// A query with conditions. It supports more conditions than the tool.
struct index_query {
  std::string q{};         ///< Not empty.
  std::size_t limit = 10;  ///< 1 to 50.
  document_filter filter{};
};

/// One result.
struct hit {
  resource entry{};  ///< As the caller may see it now.
  stored_passage passage{};
  std::string language{};
  double score = 0;  ///< 0 to 1, comparable within one answer.
  std::string reason{};
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

  /// Errors: invalid_argument for a query without a word; those of the store; cancelled, timed_out.
  [[nodiscard]] result<search_results> find(const request_context& context, const tools::tool_services& services,
                                            const index_query& query) const;

  [[nodiscard]] result<tools::search_answer> search(const request_context& context, const tools::tool_services& services,
                                                    const tools::search_query& query) const override;

 private:
  const std::shared_ptr<shared_index> index_;
};

}  // namespace hondana::search
