/// What is spoken with a server, and requests spelled in it.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <hondana/client.hpp>

#include "channel/channel.hpp"
#include "json/reader.hpp"
#include "json/writer.hpp"

namespace hondana::outbound {

/// The revisions this client speaks with sessions, the newest first, and the ones without.
[[nodiscard]] const std::vector<std::string>& revisions_with_sessions();
[[nodiscard]] const std::vector<std::string>& modern_revisions();

/// What both sides agreed on.
struct speech {
  std::string revision;
  bool is_modern = false;
};

/// A request before it is known in which revision and under which id it goes out.
struct request {
  std::string method;
  std::string params{};                                        ///< Members, without braces: `"uri":"file:///a"`.
  std::string target{};                                        ///< The URI or name it is about: for errors and headers.
  bool repeats_target = false;                                 ///< In the header `Mcp-Name`.
  std::vector<std::pair<std::string, std::string>> headers{};  ///< Others, ready to be sent.
  channel::content_sink content{};
  bool may_be_asked = false;  ///< The answer may be a question, after which the request is made again.
  bool is_kept = false;       ///< The answer may be kept for the time it says.
};

/// The `capabilities` a client with these options has, as an object.
void write_capabilities(json::writer& to, const client_options& options, const speech& in);
void write_self(json::writer& to, const client_options& options, const speech& in);

/// The message. `reports`: the server is asked to tell how far it is.
[[nodiscard]] std::string spelled(const request& what, channel::call_id id, const speech& in, const client_options& options,
                                  bool reports);
/// The headers beside it.
[[nodiscard]] std::vector<std::pair<std::string, std::string>> headers_of(const request& what, const speech& in);
/// A value as a header carries it. Spec: 2026-07-28 basic/transports/streamable-http#value-encoding.
[[nodiscard]] std::string header_spelling(std::string_view value);

/// What an answer to `server/discover` or `initialize` says of the server.
[[nodiscard]] server_description description_of(const json::object& result, const speech& in);

}  // namespace hondana::outbound
