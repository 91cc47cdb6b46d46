/// Messages cut at their id: whatever is put in its place, the rest means the same.
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <optional>
#include <string>
#include <string_view>
#include <variant>

#include "protocol/rpc/message.hpp"
#include "server/session/answer_cache.hpp"

namespace {

using namespace hondana;

void require(bool holds) {
  if (!holds) std::abort();
}

/// What a message asks with that id; nothing when it is no request of it.
std::optional<std::string> asked_with(std::string_view message, std::int64_t id) {
  const auto document = json::document::parse(message);
  if (!document) return std::nullopt;
  const auto read = rpc::read_message(document->root());
  const auto* const request = std::get_if<rpc::request>(&read);
  const auto* const number = request != nullptr ? std::get_if<std::int64_t>(&request->id) : nullptr;
  if (number == nullptr || *number != id) return std::nullopt;
  std::string out = request->method;
  for (const auto& [name, value] : request->params.members()) (((out += '\n') += name) += ' ') += value.to_json();
  return out;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view message(reinterpret_cast<const char*>(data), size);
  const auto cut = session::split_id(message);
  if (!cut) return 0;
  require(cut->id >= 0);
  const auto with = [&cut](std::int64_t id) {
    return std::string(cut->prefix) + std::to_string(id) + std::string(cut->suffix);
  };
  require(with(cut->id) == message);
  const auto asked = asked_with(message, cut->id);
  for (const std::int64_t other : {std::int64_t{0}, std::int64_t{4711}, std::int64_t{999'999'999'999'999'999}}) {
    const auto again = with(other);
    const auto cut_again = session::split_id(again);
    require(cut_again && cut_again->id == other && cut_again->prefix == cut->prefix && cut_again->suffix == cut->suffix);
    require(asked_with(again, other) == asked);
  }
  return 0;
}
