/// A connection from a client to one server, independent of the transport.
#include "protocol/channel/channel.hpp"

#include <charconv>
#include <system_error>

namespace hondana::channel {

std::optional<call_id> parse_call_id(std::string_view text) noexcept {
  call_id call = 0;
  const auto* end = text.data() + text.size();
  const auto [parsed_end, error] = std::from_chars(text.data(), end, call);
  return error == std::errc() && parsed_end == end && call != 0 ? std::optional(call) : std::nullopt;
}

}  // namespace hondana::channel
