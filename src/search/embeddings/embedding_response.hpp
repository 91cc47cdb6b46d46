/// Parses responses and errors of embedding services.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include <hondana/error.hpp>

#include "search/embeddings/embedder.hpp"

namespace hondana::embeddings {

/// Longer vectors are refused.
inline constexpr std::size_t most_dimensions = 16'384;

/// The vectors of `count` texts in their order, each of length 1 and all of one dimension. They come in any order by `index`
/// (without one: as they stand), as numbers or as base64 of little-endian floats, whichever was asked for.
///
/// Errors: broken_protocol; the text begins with a verb, such as "answered with…", and holds nothing of the answer.
/// Spec: OpenAI API reference, "Create embeddings" (object list, data[].index, data[].embedding, encoding_format). The same
/// shape is in Ollama's "OpenAI compatibility", in the README of llama.cpp's server (POST /v1/embeddings) and in vLLM's
/// "OpenAI-compatible server" (Embeddings API).
[[nodiscard]] result<std::vector<vector>> vectors_in(std::string_view answer, std::size_t count);

/// An answer that is no success.
struct refusal {
  std::string words;         ///< The service's own, cut and on one line. They may repeat what was sent: for the log only.
  bool is_for_size = false;  ///< Fewer or shorter texts may be taken.
};

/// Never fails: what is no JSON is plain text.
/// Spec: `{"error":{"message","type","code"}}` (OpenAI, llama.cpp, vLLM since 0.10), `{"error":"…"}` (Ollama's own API),
/// `{"object":"error","message":"…"}` (vLLM before).
[[nodiscard]] refusal refusal_in(int status, std::string_view body);

}  // namespace hondana::embeddings
