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

constexpr std::size_t max_message_bytes = 300;

tl::unexpected<failure> malformed(std::string reason) { return fail(errc::protocol_error, std::move(reason)); }
tl::unexpected<failure> malformed(const json::member_error& error) {
  return malformed("answered with JSON that is not a list of vectors: " + error.text());
}

std::string name_of_vector(std::size_t index) { return "data[" + std::to_string(index) + "].embedding"; }

/// Scales the vector to length 1. Errors: protocol_error.
result<void> normalise(vector& embedding, std::size_t index) {
  double square = 0;
  for (const float number : embedding) square += static_cast<double>(number) * number;
  if (!std::isfinite(square)) return malformed("answered with numbers that are not finite, in " + name_of_vector(index));
  if (!(square > 0)) return malformed("answered with only zeros, in " + name_of_vector(index));
  const double scale = 1 / std::sqrt(square);
  for (float& number : embedding) number = static_cast<float>(number * scale);
  return {};
}

result<void> check_size(std::size_t size, std::size_t index) {
  if (size == 0) return malformed("answered with an empty vector, in " + name_of_vector(index));
  if (size > max_dimensions)
    return malformed("answered with a vector of " + std::to_string(size) + " numbers; at most " +
                     std::to_string(max_dimensions) + " are supported");
  return {};
}

result<vector> from_numbers(const json::array& numbers, std::size_t index) {
  const auto elements = numbers.elements();
  HONDANA_TRY(check_size(elements.size(), index));
  vector out;
  out.reserve(elements.size());
  for (const auto& element : elements) {
    const auto number = element.as_number("");
    // A model without pooling returns one vector for each token.
    if (!number)
      return malformed("answered with " + name_of_vector(index) + " that is not a list of numbers" +
                       (element.type() == json::kind::array
                            ? "; a model with one vector for each token requires pooling, such as --pooling mean"
                            : ""));
    out.push_back(static_cast<float>(*number));
  }
  return out;
}

result<vector> from_base64(std::string_view text, std::size_t index) {
  const auto bytes = json::decode_base64(text);
  if (!bytes || bytes->size() % sizeof(float) != 0)
    return malformed("answered with " + name_of_vector(index) + " that is neither numbers nor base64 of floats");
  const auto size = bytes->size() / sizeof(float);
  HONDANA_TRY(check_size(size, index));
  vector out;
  out.reserve(size);
  const auto octet = [&](std::size_t i) { return static_cast<std::uint32_t>(static_cast<unsigned char>((*bytes)[i])); };
  for (std::size_t i = 0; i < bytes->size(); i += sizeof(float))
    out.push_back(std::bit_cast<float>(octet(i) | octet(i + 1) << 8 | octet(i + 2) << 16 | octet(i + 3) << 24));
  return out;
}

result<vector> parse_vector(const json::value& member, std::size_t index) {
  auto out = [&]() -> result<vector> {
    const auto path = name_of_vector(index);
    if (member.type() == json::kind::string) {
      const auto text = member.as_string(path);
      if (!text) return malformed(text.error());
      return from_base64(*text, index);
    }
    const auto numbers = member.as_array(path);
    if (!numbers) return malformed(numbers.error());
    return from_numbers(*numbers, index);
  }();
  if (!out) return out;
  HONDANA_TRY(normalise(*out, index));
  return out;
}

/// The index of the text that a vector belongs to. Errors: protocol_error.
result<std::size_t> read_index(const json::object& object, std::size_t position) {
  const auto member = object.find("index");
  if (!member) return malformed(member.error());
  if (!*member || (*member)->is_null()) return position;
  const auto index = (*member)->as_integer(object.path_of("index"));
  if (!index) return malformed(index.error());
  return *index < 0 ? std::size_t(-1) : static_cast<std::size_t>(*index);
}

/// The string in a member; no value if it is missing or not a string.
std::optional<std::string_view> find_text(const json::object& object, std::string_view name) {
  const auto member = object.find_string(name);
  return member && *member ? *member : std::nullopt;
}

std::optional<std::string> find_message(std::string_view body) {
  const auto document = json::document::parse(body);
  if (!document) return std::nullopt;
  const auto object = document->root().as_object("");
  if (!object) return std::nullopt;
  if (const auto inner = object->find_object("error"); inner && *inner) {
    if (const auto text = find_text(**inner, "message")) return std::string(*text);
  }
  for (const auto name : {"error", "message", "detail"}) {
    if (const auto text = find_text(*object, name)) return std::string(*text);
  }
  return std::nullopt;
}

/// The text on one line, without control characters, cut at a character boundary.
std::string to_single_line(std::string_view text) {
  std::string out;
  json::append_replacing(out, text.substr(0, max_message_bytes));
  if (text.size() > max_message_bytes) out += "…";
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
constexpr std::array<std::string_view, 9> size_error_phrases{"context length", "context size",   "too large",
                                                             "too long",       "batch size",     "max_tokens",
                                                             "maximum input",  "must have less", "input array"};

}  // namespace

result<std::vector<vector>> parse_vectors(std::string_view body, std::size_t count) {
  const auto document = json::document::parse(body);
  if (!document) return malformed("answered with invalid JSON: " + document.error().message);
  const auto object = document->root().as_object("");
  if (!object) return malformed(object.error());
  const auto data = object->get("data");
  if (!data) return malformed(data.error());
  const auto list = data->as_array("data");
  if (!list) return malformed(list.error());
  if (list->size() != count)
    return malformed("answered with " + std::to_string(list->size()) + " vectors for " + std::to_string(count) + " texts");
  std::vector<vector> out(count);
  std::size_t position = 0;
  for (const auto& element : list->elements()) {
    const auto entry = element.as_object("data[" + std::to_string(position) + "]");
    if (!entry) return malformed(entry.error());
    HONDANA_TRY(const auto index, read_index(*entry, position));
    if (index >= count || !out[index].empty())
      return malformed("answered with vectors whose indexes are not those of the texts");
    const auto numbers = entry->get("embedding");
    if (!numbers) return malformed(numbers.error());
    HONDANA_TRY(auto parsed, parse_vector(*numbers, position++));
    out[index] = std::move(parsed);
  }
  for (const auto& embedding : out) {
    if (embedding.size() != out.front().size())
      return malformed("answered with vectors of different dimensions, " + std::to_string(out.front().size()) + " and " +
                       std::to_string(embedding.size()));
  }
  return out;
}

rejection parse_rejection(int status, std::string_view body) {
  const auto message = find_message(body);
  const auto lower = ascii::to_lower(message ? std::string_view(*message) : body);
  rejection out;
  out.message = to_single_line(message ? std::string_view(*message) : body);
  const bool may_be_size_error = status == 400 || status == 413 || status == 422 || status == 500;
  out.is_too_large =
      status == 413 ||
      (may_be_size_error && std::any_of(size_error_phrases.begin(), size_error_phrases.end(),
                                        [&](std::string_view phrase) { return lower.find(phrase) != std::string::npos; }));
  return out;
}

}  // namespace hondana::embeddings
