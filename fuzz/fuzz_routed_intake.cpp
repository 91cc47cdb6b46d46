/// A message whose sink is found by its id: the same message and content as where the sink is known before.
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string>
#include <string_view>

#include "base/json/reader.hpp"
#include "protocol/channel/message_reader.hpp"

namespace {

namespace json = hondana::json;
using hondana::channel::content_sink;
using hondana::channel::limits;
using hondana::channel::message_reader;
using hondana::channel::routing_reader;

void require(bool holds) {
  if (!holds) std::abort();
}

struct outcome {
  bool is_whole = false;
  std::string message;
  std::string content;
  friend bool operator==(const outcome&, const outcome&) = default;
};

content_sink into(std::string& content) {
  return [&content](std::size_t, std::string_view bytes) {
    content += bytes;
    return hondana::result<void>();
  };
}

template <class Intake>
outcome take(Intake& intake, std::string_view bytes, std::size_t piece, std::string& content) {
  while (!bytes.empty()) {
    if (!intake.feed(bytes.substr(0, piece))) break;
    bytes.remove_prefix(std::min(piece, bytes.size()));
  }
  auto whole = intake.finish();
  return {whole.has_value(), whole ? *whole : "", whole ? content : ""};
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size < 2) return 0;
  const std::size_t piece = data[0] % 64 + 1u;
  const bool has_sink = data[1] % 2 == 0;
  const std::string_view bytes(reinterpret_cast<const char*>(data) + 2, size - 2);
  limits most;
  most.max_message_bytes = 1u << 20;

  std::string routed_content;
  bool is_chosen = false;
  // An id that comes late enough finds the message held back.
  hondana::channel::id_wait_limits waits;
  waits.max_bytes_without_id = data[1] / 2u;
  routing_reader routed(
      most,
      [&](const std::string& id) {
        is_chosen = id == "1" && has_sink;
        return is_chosen ? into(routed_content) : content_sink();
      },
      {}, waits);
  const auto got = take(routed, bytes, piece, routed_content);

  std::string known_content;
  message_reader known(most, is_chosen ? into(known_content) : content_sink());
  const auto expected = take(known, bytes, piece, known_content);
  require(got == expected);
  if (got.is_whole) require(routed.id() == known.id());

  // An array is taken apart as the reader does it.
  const auto parsed = json::document::parse(bytes);
  const auto array = parsed ? parsed->root().as_array("") : tl::unexpected(json::member_error{});
  if (!array) return 0;
  const auto elements = array->elements();
  routing_reader apart(most, [](const std::string&) { return content_sink(); }, {}, waits);
  for (auto rest = bytes; !rest.empty(); rest.remove_prefix(std::min(piece, rest.size())))
    require(apart.feed(rest.substr(0, piece)).has_value());
  std::size_t told = 0;
  apart.finish_each([&](const hondana::result<std::string>& one) {
    if (elements.empty() || elements.size() > 1000) {
      require(!one && one.error().code == hondana::errc::protocol_error && told++ == 0);
      return;
    }
    require(one.has_value() && told < elements.size());
    const auto element = json::document::parse(*one);
    require(element.has_value() && element->root().to_json() == elements[told++].to_json());
  });
  require(told == (elements.empty() || elements.size() > 1000 ? 1 : elements.size()));
  return 0;
}
