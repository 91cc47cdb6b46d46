/// Checks what was configured.
#include "search/embeddings/embedder.hpp"

#include <utility>

#include "base/json/utf8.hpp"
#include "search/embeddings/answers.hpp"
#include "search/embeddings/service.hpp"

namespace hondana::embeddings {
namespace {

constexpr std::size_t most_in_a_batch = 2048;
constexpr std::size_t least_bytes = 64;
constexpr std::size_t most_bytes = 1u << 20;
constexpr std::size_t longest_name = 512;
constexpr std::chrono::milliseconds longest_query{60'000};

tl::unexpected<failure> unfit(std::string why) { return fail(errc::invalid_argument, std::move(why)); }

bool is_name(const std::string& text) { return text.size() <= longest_name && json::is_utf8(text) && !json::has_nul(text); }

}  // namespace

result<std::shared_ptr<const embedder>> make_embedder(settings from) {
  if (from.model.empty()) return unfit("model: missing; set the name of the model at the service");
  if (!is_name(from.model) || !is_name(from.query_prefix) || !is_name(from.document_prefix))
    return unfit("model, query_prefix and document_prefix must be UTF-8 of at most " + std::to_string(longest_name) + " bytes");
  if (from.dimensions > most_dimensions) return unfit("dimensions: at most " + std::to_string(most_dimensions));
  if (from.batch == 0 || from.batch > most_in_a_batch)
    return unfit("batch: expected 1 to " + std::to_string(most_in_a_batch) + " texts in a request");
  if (from.most_bytes < least_bytes || from.most_bytes > most_bytes)
    return unfit("most_bytes: from " + std::to_string(least_bytes) + " to " + std::to_string(most_bytes) + " bytes of a text");
  if (from.query_time.count() <= 0 || from.query_time > longest_query)
    return unfit("query_time: expected more than 0 and at most a minute");
  HONDANA_TRY(auto at, endpoint::endpoint::of(from.at));
  return std::make_shared<const service>(std::move(from), std::move(at));
}

}  // namespace hondana::embeddings
