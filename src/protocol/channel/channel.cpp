/// A connection from a client to one server, independent of the transport.
#include "protocol/channel/channel.hpp"

#include <charconv>
#include <system_error>

namespace hondana::channel {

std::optional<call_id> call_named(std::string_view id) noexcept {
  call_id out = 0;
  const auto* end = id.data() + id.size();
  const auto [stopped, wrong] = std::from_chars(id.data(), end, out);
  return wrong == std::errc() && stopped == end && out != 0 ? std::optional(out) : std::nullopt;
}

}  // namespace hondana::channel
