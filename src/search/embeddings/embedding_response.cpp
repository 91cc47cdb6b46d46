/// Parses responses and errors of embedding services.
#include "search/embeddings/embedding_response.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <cstdint>
#include <optional>
#include <utility>

#include "base/ascii/ascii.hpp"
#include "base/json/base64.hpp"
#include "base/json/reader.hpp"
#include "base/json/utf8.hpp"

namespace hondana::embeddings {
namespace {

constexpr std::size_t most_words = 300;

tl::unexpected<failure> broken(std::string why) { return fail(errc::broken_protocol, std::move(why)); }
tl::unexpected<failure> broken(const json::bad_member& why) {
  return broken("answered with JSON that is not a list of vectors: " + why.text());
}

std::string name_of_vector(std::size_t at) { return "data[" + std::to_string(at) + "].embedding"; }

/// Scales the vector to length 1. Errors: broken_protocol.
result<void> normalise(vector& one, std::size_t at) {
  double square = 0;
  for (const float number : one) square += static_cast<double>(number) * number;
  if (!std::isfinite(square)) return broken("answered with numbers that are not finite, in " + name_of_vector(at));
  if (!(square > 0)) return broken("answered with only zeros, in " + name_of_vector(at));
  const double by = 1 / std::sqrt(square);
  for (float& number : one) number = static_cast<float>(number * by);
  return {};
}

result<void> check_size(std::size_t size, std::size_t at) {
  if (size == 0) return broken("answered with an empty vector, in " + name_of_vector(at));
  if (size > most_dimensions)
    return broken("answered with a vector of " + std::to_string(size) + " numbers; at most " + std::to_string(most_dimensions) +
                  " are supported");
  return {};
}

result<vector> from_numbers(const json::array& numbers, std::size_t at) {
  const auto elements = numbers.elements();
  HONDANA_TRY(check_size(elements.size(), at));
  vector out;
  out.reserve(elements.size());
  for (const auto& one : elements) {
    const auto number = one.as_number("");
    // A model without pooling returns one vector for each token.
    if (!number)
      return broken("answered with " + name_of_vector(at) + " that is not a list of numbers" +
                    (one.type() == json::kind::array
                         ? "; a model with one vector for each token requires pooling, such as --pooling mean"
                         : ""));
    out.push_back(static_cast<float>(*number));
  }
  return out;
}

result<vector> from_base64(std::string_view text, std::size_t at) {
  const auto bytes = json::decode_base64(text);
  if (!bytes || bytes->size() % sizeof(float) != 0)
    return broken("answered with " + name_of_vector(at) + " that is neither numbers nor base64 of floats");
  const auto size = bytes->size() / sizeof(float);
  HONDANA_TRY(check_size(size, at));
  vector out;
  out.reserve(size);
  const auto octet = [&](std::size_t i) { return static_cast<std::uint32_t>(static_cast<unsigned char>((*bytes)[i])); };
  for (std::size_t i = 0; i < bytes->size(); i += sizeof(float))
    out.push_back(std::bit_cast<float>(octet(i) | octet(i + 1) << 8 | octet(i + 2) << 16 | octet(i + 3) << 24));
  return out;
}

result<vector> vector_in(const json::value& from, std::size_t at) {
  auto out = [&]() -> result<vector> {
    const auto path = name_of_vector(at);
    if (from.type() == json::kind::string) {
      const auto text = from.as_string(path);
      if (!text) return broken(text.error());
      return from_base64(*text, at);
    }
    const auto numbers = from.as_array(path);
    if (!numbers) return broken(numbers.error());
    return from_numbers(*numbers, at);
  }();
  if (!out) return out;
  HONDANA_TRY(normalise(*out, at));
  return out;
}

/// The index of the text that a vector belongs to. Errors: broken_protocol.
result<std::size_t> index_in(const json::object& one, std::size_t at) {
  const auto there = one.find("index");
  if (!there) return broken(there.error());
  if (!*there || (*there)->is_null()) return at;
  const auto index = (*there)->as_integer(one.path_of("index"));
  if (!index) return broken(index.error());
  return *index < 0 ? std::size_t(-1) : static_cast<std::size_t>(*index);
}

/// The string in a member; no value if it is missing or not a string.
std::optional<std::string_view> text_in(const json::object& from, std::string_view name) {
  const auto there = from.find_string(name);
  return there && *there ? *there : std::nullopt;
}

std::optional<std::string> message_in(std::string_view body) {
  const auto document = json::document::parse(body);
  if (!document) return std::nullopt;
  const auto whole = document->root().as_object("");
  if (!whole) return std::nullopt;
  if (const auto inner = whole->find_object("error"); inner && *inner) {
    if (const auto text = text_in(**inner, "message")) return std::string(*text);
  }
  for (const auto name : {"error", "message", "detail"}) {
    if (const auto text = text_in(*whole, name)) return std::string(*text);
  }
  return std::nullopt;
}

/// The text on one line, without control characters, cut at a character boundary.
std::string for_a_line(std::string_view text) {
  std::string out;
  json::append_replacing(out, text.substr(0, most_words));
  if (text.size() > most_words) out += "…";
  for (char& c : out) {
    if (static_cast<unsigned char>(c) < 0x20 || c == 0x7f) c = ' ';
  }
  return out;
}

/// Texts in errors of services:
/// * OpenAI and vLLM: "This model's maximum context length is 8192 tokens…" (400); OpenAI: "max_tokens_per_request" (400).
/// * llama.cpp: "input is too large to process. increase the physical batch size" (500), "… exceeds the available context size"
///   (400).
/// * Ollama: "the input length exceeds the context length" (400).
/// * Text Embeddings Inference: "batch size 64 > maximum allowed batch size 32" and "`inputs` must have less than 512 tokens"
///   (413, 422).
constexpr std::array<std::string_view, 9> signs_of_size{"context length", "context size",   "too large",
                                                        "too long",       "batch size",     "max_tokens",
                                                        "maximum input",  "must have less", "input array"};

}  // namespace

result<std::vector<vector>> vectors_in(std::string_view answer, std::size_t count) {
  const auto document = json::document::parse(answer);
  if (!document) return broken("answered with invalid JSON: " + document.error().what);
  const auto whole = document->root().as_object("");
  if (!whole) return broken(whole.error());
  const auto data = whole->get("data");
  if (!data) return broken(data.error());
  const auto list = data->as_array("data");
  if (!list) return broken(list.error());
  if (list->size() != count)
    return broken("answered with " + std::to_string(list->size()) + " vectors for " + std::to_string(count) + " texts");
  std::vector<vector> out(count);
  std::size_t at = 0;
  for (const auto& element : list->elements()) {
    const auto one = element.as_object("data[" + std::to_string(at) + "]");
    if (!one) return broken(one.error());
    HONDANA_TRY(const auto index, index_in(*one, at));
    if (index >= count || !out[index].empty()) return broken("answered with vectors whose indexes are not those of the texts");
    const auto numbers = one->get("embedding");
    if (!numbers) return broken(numbers.error());
    HONDANA_TRY(auto made, vector_in(*numbers, at++));
    out[index] = std::move(made);
  }
  for (const auto& one : out) {
    if (one.size() != out.front().size())
      return broken("answered with vectors of different dimensions, " + std::to_string(out.front().size()) + " and " +
                    std::to_string(one.size()));
  }
  return out;
}

refusal refusal_in(int status, std::string_view body) {
  const auto message = message_in(body);
  const auto lower = ascii::in_lower_case(message ? std::string_view(*message) : body);
  refusal out;
  out.words = for_a_line(message ? std::string_view(*message) : body);
  const bool may_be = status == 400 || status == 413 || status == 422 || status == 500;
  out.is_for_size =
      status == 413 || (may_be && std::any_of(signs_of_size.begin(), signs_of_size.end(),
                                              [&](std::string_view sign) { return lower.find(sign) != std::string::npos; }));
  return out;
}

}  // namespace hondana::embeddings
