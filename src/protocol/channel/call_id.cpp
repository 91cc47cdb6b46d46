/// Ids of ours in messages.
#include <charconv>
#include <system_error>

#include "protocol/channel/channel.hpp"

namespace hondana::channel {

std::optional<call_id> call_named(std::string_view id) noexcept {
  call_id out = 0;
  const auto* end = id.data() + id.size();
  const auto [stopped, wrong] = std::from_chars(id.data(), end, out);
  return wrong == std::errc() && stopped == end && out != 0 ? std::optional(out) : std::nullopt;
}

}  // namespace hondana::channel
