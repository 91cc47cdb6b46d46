/// What finds resources by words; an index may take the place of the one there is.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include <hondana/error.hpp>
#include <hondana/provider.hpp>
#include <hondana/resource.hpp>

#include "protocol/model/filter.hpp"
#include "server/tools/place.hpp"

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
