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

/// One text as a vector of length 1.
using vector = std::vector<float>;

/// As configured.
struct settings {
  endpoint::settings at{};     ///< The URL up to and with `/v1`, or the whole one that ends in `/embeddings`.
  std::string model{};         ///< Not empty.
  std::size_t dimensions = 0;  ///< Asked for where it is not 0, and what comes must have it.
  /// Put before each text, as some models want it (`search_query: `, `passage: `).
  std::string query_prefix{};
  std::string document_prefix{};
  std::size_t batch = 32;                       ///< Texts in one request, 1 to 2048.
  std::size_t most_bytes = 8u << 10;            ///< Of one text; what is beyond is cut at a character.
  std::chrono::milliseconds query_time{1'500};  ///< A query waits no longer, and is then answered without vectors.
};

/// Makes vectors. Blocks. Threads: any, several at once.
class embedder {
 public:
  embedder() = default;
  embedder(const embedder&) = delete;
  embedder& operator=(const embedder&) = delete;
  virtual ~embedder() = default;

  /// One each, in this order, all of one dimension. A text that the service refuses by itself, while it takes others, has an
  /// empty vector; which one that is, is found out by asking for halves of the batch. Errors: source_unavailable (down,
  /// overloaded: the text says for how long it asks to be left alone, and so does `retry`), timed_out, cancelled,
  /// access_denied, broken_protocol (no vectors, too few, not finite, all zero; another dimension than configured, or several).
  /// A batch that is refused for its size is asked for in halves, too, and a single text that is is made shorter. A text that
  /// is blank is sent as a full stop, since services refuse such. The service's own words are only in the private text.
  [[nodiscard]] virtual result<std::vector<vector>> of_documents(std::span<const std::string> texts,
                                                                 std::stop_token stop) const = 0;
  /// Of what somebody searches for; gives up after `query_time` or at `until`, what comes first, and at once for a while after
  /// failures in a row. Errors: also content_changed, for another dimension than documents had last.
  [[nodiscard]] virtual result<vector> of_query(const std::string& text, std::chrono::steady_clock::time_point until,
                                                std::stop_token stop) const = 0;
  /// Model, prefixes and dimensions: vectors of another are not comparable. For machines.
  [[nodiscard]] virtual const std::string& id() const noexcept = 0;
  /// That documents had last; 0: not known yet.
  [[nodiscard]] virtual std::size_t dimension() const noexcept = 0;
  /// For anybody: which model, and how many numbers; not where.
  [[nodiscard]] virtual std::string description() const = 0;
  [[nodiscard]] virtual std::string place() const = 0;               ///< See `endpoint::place`.
  [[nodiscard]] virtual std::vector<std::string> files() const = 0;  ///< See `endpoint::files`.
};

/// Errors: invalid_argument, naming the setting.
[[nodiscard]] result<std::shared_ptr<const embedder>> make_embedder(settings from);

}  // namespace hondana::embeddings
