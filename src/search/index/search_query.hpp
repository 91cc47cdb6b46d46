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

/// Lets only URIs that begin with `prefix` pass, in all its spellings (see `catalog::prefix_forms`). Empty: all URIs.
void set_prefix(document_filter& filter, std::string_view prefix);

/// Limit of words in a query; further words are ignored.
inline constexpr std::size_t max_query_words = 32;

/// Returns the words of a query, each once, in order.
[[nodiscard]] std::vector<query_word> parse_words(const tokenizer::tokenizer& tokenizer, std::string_view query);

/// The URI of the state of the index.
inline constexpr std::string_view search_uri = "search:///";
/// The template (RFC 6570) of URIs of searches.
inline constexpr std::string_view search_template =
    "search:///{?q,limit,lang,scheme,uriPrefix,minPriority,audience,modifiedSince,owner}";
/// The template of the URI that waits for a complete index and returns its state.
inline constexpr std::string_view waiting_template = "search:///{?wait}";

/// A parsed URI of search:///.
struct address {
  index_query query{};  ///< With an empty `q`: a request for the state of the index.
  bool waits = false;   ///< `?wait=complete`: answer when everything that exists now is indexed.
};

/// Parses a canonical URI. Errors: resource_not_found for a path. Those of `uri::parse_query`, also for values that only this
/// source can check. invalid_argument for parameters without `q`.
[[nodiscard]] result<address> parse_address(std::string_view uri);

}  // namespace hondana::search
