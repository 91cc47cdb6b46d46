/// Parses responses and errors of embedding services.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include <hondana/error.hpp>

#include "search/embeddings/embedder.hpp"

namespace hondana::embeddings {

/// Longer vectors are rejected.
inline constexpr std::size_t max_dimensions = 16'384;

/// The vectors of `count` texts in the order of the texts, each of length 1 and all of one dimension. In the response, they may
/// be in any order of `index`; without it, their position counts. Numbers and base64 of little-endian floats are both accepted.
///
/// Errors: protocol_error. The text begins with a verb, such as "answered with…", and contains nothing from the response.
/// Spec: OpenAI API reference, "Create embeddings" (object list, data[].index, data[].embedding, encoding_format). The same
/// format is documented in Ollama's "OpenAI compatibility", in the README of llama.cpp's server (POST /v1/embeddings) and in
/// vLLM's "OpenAI-compatible server" (Embeddings API).
[[nodiscard]] result<std::vector<vector>> parse_vectors(std::string_view body, std::size_t count);

/// An error response.
struct rejection {
  std::string message;  ///< The service's message, cut and on one line. It may repeat the request: use it only in the log.
  bool is_too_large = false;  ///< The service may accept fewer or shorter texts.
};

/// Never fails: a body that is not JSON is treated as plain text.
/// Spec: `{"error":{"message","type","code"}}` (OpenAI, llama.cpp, vLLM since 0.10), `{"error":"…"}` (Ollama's own API),
/// `{"object":"error","message":"…"}` (vLLM before).
[[nodiscard]] rejection parse_rejection(int status, std::string_view body);

}  // namespace hondana::embeddings
