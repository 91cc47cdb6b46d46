/// Decoding requests of the stateless era.
#pragma once

#include <string_view>

#include "protocol/wire/codec.hpp"

namespace hondana::wire::modern {

inline constexpr std::string_view this_revision = "2026-07-28";

/// The operation a request asks for, with what it declares of itself. Errors: as `codec::decode`.
[[nodiscard]] decoded<model::request> decode_request(const rpc::request& from, const rpc::facts& facts);
/// The error for a method that this revision, or this server, does not have.
[[nodiscard]] protocol_error unknown(std::string_view method);

}  // namespace hondana::wire::modern
