/// Embeddings of texts from a service with the OpenAI API.
#pragma once

#include <chrono>
#include <cstddef>
#include <functional>
#include <memory>
#include <span>
#include <stop_token>
#include <string>
#include <string_view>
#include <vector>

#include <hondana/error.hpp>

#include "transport/endpoint/endpoint.hpp"

namespace hondana::embeddings {

/// The embedding of one text, with a Euclidean length of 1.
using vector = std::vector<float>;

/// The configuration of an embedding service.
struct settings {
  endpoint::settings connection{};   ///< The URL up to and including `/v1`, or the whole URL ending in `/embeddings`.
  std::string model{};               ///< Not empty.
  std::size_t dimensions = 0;        ///< Numbers in each vector; requested, and required in responses. 0: not requested.
  std::string query_prefix{};        ///< Put before each query, for models that need it: `search_query: `.
  std::string document_prefix{};     ///< Put before each text of a document: `passage: `.
  std::size_t batch_size = 32;       ///< Texts per request, 1 to 2048.
  std::size_t max_bytes = 8u << 10;  ///< Limit per text without its prefix; longer texts are cut.
  std::chrono::milliseconds query_timeout{1'500};  ///< Timeout of `embed_query`.
};

/// Computes vectors by calling a service. Blocks. Threads: any, several at once.
class embedder {
 public:
  embedder() = default;
  embedder(const embedder&) = delete;
  embedder& operator=(const embedder&) = delete;
  virtual ~embedder() = default;

  /// Returns one vector per text, in order, all of one dimension. A text that the service rejects, while it accepts others,
  /// gets an empty vector.
  ///
  /// When the service rejects a batch, the batch is sent in halves to find the rejected text. A single text that is too large
  /// is shortened. A blank text is sent as a full stop, because services reject empty texts.
  ///
  /// Errors: source_unavailable (down or overloaded; `retry_after` has the pause that the service requests), timed_out,
  /// cancelled, access_denied, response_too_large, protocol_error. The last one means that the service rejects everything or
  /// redirects. It also means that vectors are missing, not finite, all zero, or of a wrong or varying dimension. The service's
  /// own message is only in `failure::private_text`.
  [[nodiscard]] virtual result<std::vector<vector>> embed_documents(std::span<const std::string> texts,
                                                                    std::stop_token stop) const = 0;
  /// Returns the vector of a search query. Gives up after `query_timeout`, or at `deadline` if that is earlier. After failures,
  /// fails at once during a pause (see `backoff`). Errors: as `embed_documents`; content_changed if the dimension differs from
  /// that of the documents.
  [[nodiscard]] virtual result<vector> embed_query(const std::string& text, std::chrono::steady_clock::time_point deadline,
                                                   std::stop_token stop) const = 0;
  /// Identifies model, prefixes and requested dimension. Vectors with different ids are not comparable. Not for people.
  [[nodiscard]] virtual const std::string& id() const noexcept = 0;
  /// The dimension of the last document vectors, or the one known so far; 0: not known yet.
  [[nodiscard]] virtual std::size_t dimension() const noexcept = 0;
  /// Describes model and dimension for people, without the address. Safe to show to any caller.
  [[nodiscard]] virtual std::string description() const = 0;
  [[nodiscard]] virtual std::string address() const = 0;             ///< See `endpoint::address`.
  [[nodiscard]] virtual std::vector<std::string> files() const = 0;  ///< See `endpoint::files`.
};

/// Creates the embedder without calling the service. Errors: invalid_argument, which names the setting.
[[nodiscard]] result<std::shared_ptr<const embedder>> make_embedder(settings options);

}  // namespace hondana::embeddings
