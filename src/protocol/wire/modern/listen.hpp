/// Streams of changes in the stateless era. Spec: 2026-07-28 basic/patterns/subscriptions.
#pragma once

#include <string>
#include <string_view>

#include "base/json/reader.hpp"
#include "base/json/writer.hpp"
#include "protocol/model/change.hpp"
#include "protocol/rpc/envelope.hpp"
#include "protocol/wire/codec.hpp"

namespace hondana::wire::modern {

/// Decodes `subscriptions/listen`. Errors: -32602 naming the member; more URIs than `most_listened` are one.
[[nodiscard]] decoded<model::operation> decode_listen(std::string_view method, const json::object& params);

inline constexpr std::size_t most_listened = 10'000;  ///< URIs of one stream.

/// The acknowledgment, as a whole message.
[[nodiscard]] std::string acknowledge(const model::interests& honoured, const rpc::request_id& stream);
/// The member that names the stream, inside `_meta`.
void write_stream_id(json::writer& to, const rpc::request_id& stream);
/// `"_meta"` with that member alone.
void write_stream_tag(json::writer& to, const rpc::request_id& stream);

}  // namespace hondana::wire::modern
