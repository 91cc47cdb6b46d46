/// Errors about messages as such, before or instead of any operation; their numbers stand nowhere else.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

#include "protocol/rpc/envelope.hpp"
#include "protocol/wire/codec.hpp"

namespace hondana::wire {

/// -32700: no JSON. `why` names the place.
[[nodiscard]] protocol_error not_json(std::string_view why);
/// -32600: "Invalid request: WHY".
[[nodiscard]] protocol_error invalid_request(std::string_view why, int http_status = 400);
/// What `rpc::read_message` could not take.
[[nodiscard]] protocol_error of_malformed(const rpc::malformed& what);
/// -32603, which says nothing of the reason; that is for the log.
[[nodiscard]] protocol_error internal_error();
/// The peer waits for `limit` requests already.
[[nodiscard]] protocol_error too_many_under_way(std::size_t limit);
/// An answer for which there is no room among those of its batch.
[[nodiscard]] protocol_error too_much_for_a_batch(std::size_t limit);
/// What HTTP refuses by itself: `text` as it is, with the number for `http_status`.
[[nodiscard]] protocol_error refused_by_http(int http_status, std::string_view text);

}  // namespace hondana::wire
