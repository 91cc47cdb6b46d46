/// JSON-RPC envelopes from peers: every JSON text is one of four things, and what is said of it is sound.
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string>
#include <string_view>
#include <variant>

#include "protocol/rpc/message.hpp"

namespace {

using namespace hondana;

void check_id(const rpc::request_id& id) {
  const auto text = rpc::to_json(id);
  const auto parsed = json::document::parse(text);
  if (!parsed) std::abort();
  if (const auto* number = std::get_if<std::int64_t>(&id)) {
    const auto back = parsed->root().as_integer("id");
    if (!back || *back != *number) std::abort();
  } else {
    const auto back = parsed->root().as_string("id");
    if (!back || *back != std::get<std::string>(id)) std::abort();
  }
}

void check_params(const json::object& params) {
  for (const auto& [name, value] : params.members()) {
    if (params.path_of(name).empty()) std::abort();
    if (!json::document::parse(value.to_json())) std::abort();
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const auto document = json::document::parse({reinterpret_cast<const char*>(data), size});
  if (!document) {
    if (document.error().message.empty()) std::abort();
    return 0;
  }
  const auto message = rpc::read_message(document->root());
  if (const auto* request = std::get_if<rpc::request>(&message)) {
    check_id(request->id);
    check_params(request->params);
  } else if (const auto* notification = std::get_if<rpc::notification>(&message)) {
    check_params(notification->params);
  } else if (const auto* response = std::get_if<rpc::response>(&message)) {
    if (response->id) check_id(*response->id);
  } else {
    const auto& malformed = std::get<rpc::malformed>(message);
    if (malformed.code != -32600 && malformed.code != -32602) std::abort();
    if (malformed.text.empty()) std::abort();
    if (malformed.id) check_id(*malformed.id);
  }
  return 0;
}
