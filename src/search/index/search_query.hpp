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

/// Restricts the filter to URIs that begin with `prefix`, in all its spellings (see `catalog::prefix_forms`).
void set_prefix(document_filter& filter, std::string_view prefix);

/// Limit of words in a query; further words are ignored.
inline constexpr std::size_t max_query_words = 32;

/// The words of a query, each once, in order.
[[nodiscard]] std::vector<query_word> parse_words(const tokenizer::tokenizer& tokenizer, std::string_view query);

inline constexpr std::string_view search_uri = "search:///";
inline constexpr std::string_view search_template =
    "search:///{?q,limit,lang,scheme,uriPrefix,minPriority,audience,modifiedSince,owner}";
inline constexpr std::string_view waiting_template = "search:///{?wait}";

/// A parsed URI of search:///.
struct address {
  index_query query{};  ///< With an empty `q`: a request for the state of the index.
  bool waits = false;   ///< `?wait=complete`: answer when everything that exists now is indexed.
};

/// `uri` is canonical. Errors: resource_not_found for a path; invalid_argument for unknown or repeated parameters and invalid
/// values: "limit: expected a number from 1 to 50."
[[nodiscard]] result<address> parse_address(std::string_view uri);

}  // namespace hondana::search
