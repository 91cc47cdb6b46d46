/// Searches the index for a caller.
#pragma once

#include <cstddef>
#include <memory>
#include <string>
#include <vector>

#include "search/index/index_state.hpp"
#include "search/index/store.hpp"
#include "server/tools/search_engine.hpp"

namespace hondana::search {

/// What is asked, beyond what the tool can ask.
struct question {
  std::string q{};         ///< Not empty.
  std::size_t limit = 10;  ///< 1 to 50.
  document_filter which{};
};

/// One result.
struct hit {
  resource entry{};  ///< As the caller may see it now.
  stored_passage passage{};
  std::string language{};
  double score = 0;  ///< 0 to 1, comparable within one answer.
  std::string why{};
  bool has_changed = false;  ///< The resource has another version now than the one that was indexed.
};

struct hits {
  std::vector<hit> all{};   ///< The best first.
  bool is_complete = true;  ///< Everything there is was indexed, and looked at, as far as the caller may know.
  std::string remark{};     ///< Why it is not, or why nothing was searched by meaning, in fixed words; empty: nothing to say.
};

/// Answers with what the caller may list and read now, whatever it was when it was indexed. What it may not have counts nowhere
/// but in how common words are. Threads: any; blocks.
class engine final : public tools::search_engine {
 public:
  explicit engine(std::shared_ptr<ground> on) : on_(std::move(on)) {}

  /// Errors: invalid_argument for a query without a word; those of the store; cancelled, timed_out.
  [[nodiscard]] result<hits> find(const call& by, const tools::surroundings& in, const question& what) const;

  [[nodiscard]] result<tools::search_answer> search(const call& by, const tools::surroundings& in,
                                                    const tools::search_query& what) const override;

 private:
  const std::shared_ptr<ground> on_;
};

}  // namespace hondana::search
