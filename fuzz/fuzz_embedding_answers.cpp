/// Answers of embedding services: the first byte says to how many texts, and which status a refusal has; what is taken for
/// vectors is of length 1 and of one dimension, and neither errors nor refusals hold anything that is not for a line of a log.
#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string>
#include <string_view>

#include "base/json/utf8.hpp"
#include "search/embeddings/embedding_response.hpp"

namespace {

using namespace hondana;

void demand(bool holds) {
  if (!holds) std::abort();
}

bool is_for_a_line(const std::string& text) {
  return json::is_utf8(text) &&
         std::none_of(text.begin(), text.end(), [](char c) { return static_cast<unsigned char>(c) < 0x20; });
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size == 0) return 0;
  const std::string_view text(reinterpret_cast<const char*>(data) + 1, size - 1);
  const std::size_t count = data[0] % 5;
  if (const auto got = embeddings::parse_vectors(text, count)) {
    demand(got->size() == count);
    for (const auto& one : *got) {
      demand(!one.empty() && one.size() == got->front().size() && one.size() <= embeddings::max_dimensions);
      double square = 0;
      for (const float number : one) square += static_cast<double>(number) * number;
      demand(std::abs(square - 1) < 1e-3);
    }
  } else {
    demand(got.error().code == errc::protocol_error && !got.error().public_text.empty());
  }
  constexpr int statuses[] = {400, 404, 413, 422, 429, 500};
  const auto refused = embeddings::parse_rejection(statuses[data[0] % 6], text);
  demand(is_for_a_line(refused.message) && refused.message.size() < 1'000);
  return 0;
}
