/// Search queries: URIs of search:///, URI prefixes and words.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include <hondana/error.hpp>

#include "search/index/search_engine.hpp"
#include "search/index/store.hpp"
#include "text/tokenizer/tokenizer.hpp"

namespace hondana::search {

/// Lets only what begins so be found, however it is spelled (see `catalog::spellings_of_prefix`).
void begin_with(document_filter& which, std::string_view prefix);

/// Of a query more words than this are left out, the last ones.
inline constexpr std::size_t most_query_words = 32;

/// The words of a query, each once, in their order.
[[nodiscard]] std::vector<wanted_word> words_of(const tokenizer::tokenizer& by, std::string_view query);

inline constexpr std::string_view search_uri = "search:///";
inline constexpr std::string_view search_template =
    "search:///{?q,limit,lang,scheme,uriPrefix,minPriority,audience,modifiedSince,owner}";
inline constexpr std::string_view waiting_template = "search:///{?wait}";

/// What a URI asks.
struct address {
  question what{};     ///< With an empty `q`: how the index is doing.
  bool waits = false;  ///< `?wait=complete`: when all is indexed that is there now.
};

/// `uri` is canonical. Errors: resource_not_found for a path; invalid_argument for parameters that there are not, are there
/// twice or have a value that they cannot have: "limit: expected a number from 1 to 50."
[[nodiscard]] result<address> parse_address(std::string_view uri);

}  // namespace hondana::search
