/// Parses responses and errors of embedding services.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include <hondana/error.hpp>

#include "search/embeddings/embedder.hpp"

namespace hondana::embeddings {

/// Limit of numbers in a vector.
inline constexpr std::size_t max_dimensions = 16'384;

/// Returns the vectors of `count` texts in the order of the texts, each of length 1 and all of one dimension. `body`: the
/// response. Its vectors may be in any order if they have an `index`; otherwise they must be in the order of the texts. Vectors
/// may be numbers or base64 of little-endian floats.
///
/// Errors: protocol_error. The public text begins with a verb, such as "answered with…", and quotes nothing from the response.
/// Spec: OpenAI API reference, "Create embeddings" (object list, data[].index, data[].embedding, encoding_format). The same
/// format is documented in Ollama's "OpenAI compatibility", in the README of llama.cpp's server (POST /v1/embeddings) and in
/// vLLM's "OpenAI-compatible server" (Embeddings API).
[[nodiscard]] result<std::vector<vector>> parse_vectors(std::string_view body, std::size_t count);

/// An error response.
struct rejection {
  std::string message;  ///< The service's message, cut and on one line. It may repeat the request: use it only in the log.
  bool is_too_large = false;  ///< The service may accept fewer or shorter texts.
};

/// Parses an error response. `status`: the HTTP status. A body that is not JSON is treated as plain text.
/// Spec: `{"error":{"message","type","code"}}` (OpenAI, llama.cpp, vLLM since 0.10), `{"error":"…"}` (Ollama's own API),
/// `{"object":"error","message":"…"}` (vLLM before).
[[nodiscard]] rejection parse_rejection(int status, std::string_view body);

}  // namespace hondana::embeddings
