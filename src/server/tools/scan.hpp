/// Searching without an index: the list is gone through, and the contents of small texts as far as a budget goes.
#pragma once

#include "server/tools/engine.hpp"

namespace hondana::tools {

/// Each word of the query is looked for in names, titles, descriptions and URIs, and in the contents of texts of at most 256
/// KiB whose size their source tells; ASCII letters match in either case. What has more of the words, in a better place,
/// comes first; of equals what is more important.
///
/// A search looks at 50 000 entries or for 1 s, then reads the 5 000 most promising contents, 32 MiB of them, or for 1.5 s.
/// Contents are read as `resources/read` reads them, past the gate and through the caller's view.
class scanning_engine final : public search_engine {
 public:
  [[nodiscard]] result<search_answer> search(const call& by, const surroundings& in, const search_query& what) const override;
};

}  // namespace hondana::tools
