/// All spellings of a beginning, for the stores.
#include "search/index/prefixes.hpp"

#include <iterator>
#include <utility>

#include "server/catalog/prefixes.hpp"

namespace hondana::search {

void begin_with(document_filter& which, std::string_view prefix) {
  which.more_prefixes.clear();
  if (prefix.empty()) return which.uri_prefix.clear();
  auto all = catalog::spellings_of_prefix(prefix);
  which.uri_prefix = std::move(all.front());
  which.more_prefixes.assign(std::make_move_iterator(all.begin() + 1), std::make_move_iterator(all.end()));
}

}  // namespace hondana::search
