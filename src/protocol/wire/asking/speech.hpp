/// What is spoken with a server, and messages spelled in it.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <hondana/client.hpp>

#include "base/json/reader.hpp"
#include "base/json/writer.hpp"
#include "protocol/wire/asking/requests.hpp"

namespace hondana::wire::asking {

/// What both sides agreed on.
struct speech {
  std::string revision;
  bool is_modern = false;
};

/// The `capabilities` a client with these options has, as an object.
void write_capabilities(json::writer& to, const client_options& options, const speech& in);
void write_self(json::writer& to, const client_options& options, const speech& in);

/// The message. `reports`: the server is asked to tell how far it is. `trace` goes along in `_meta`.
[[nodiscard]] std::string spelled(const request& what, std::uint64_t id, const speech& in, const client_options& options,
                                  bool reports, const trace_context& trace = {});
/// The headers beside it.
[[nodiscard]] std::vector<std::pair<std::string, std::string>> headers_of(const request& what, const speech& in);
/// Those of every message of a session. Spec: 2025-06-18 basic/transports#protocol-version-header.
[[nodiscard]] std::vector<std::pair<std::string, std::string>> session_fields(const speech& in);
/// The header that repeats an argument of a tool. Spec: 2026-07-28 basic/transports/streamable-http#value-encoding.
[[nodiscard]] std::pair<std::string, std::string> argument_header(std::string_view name, std::string_view value);

/// What an answer to `server/discover` or `initialize` says of the server.
[[nodiscard]] server_description description_of(const json::object& result, const speech& in);

}  // namespace hondana::wire::asking
