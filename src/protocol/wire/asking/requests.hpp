/// Makes the requests of a client, and encodes them in the revision that it has negotiated with the server.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <hondana/client.hpp>

#include "base/json/reader.hpp"
#include "base/json/writer.hpp"

namespace hondana::wire::asking {

struct negotiated_protocol;

/// A request, independent of its revision and id.
struct request {
  std::string method{};
  std::string params{};                ///< Members without braces: `"uri":"file:///a"`.
  std::string target{};                ///< The URI or name in `params`, for errors and headers; may be empty.
  bool repeats_target = false;         ///< The header `Mcp-Name` must repeat `target`.
  bool allows_input_requests = false;  ///< The server may answer with requests for input. The client then repeats the request.
};

using optional_cursor = std::optional<std::string>;
using named_texts = std::vector<std::pair<std::string, std::string>>;

/// `filter`: only for servers with the versioned-resources extension; null: no filter.
[[nodiscard]] request list_resources(const optional_cursor& cursor, const entry_filter* filter);
[[nodiscard]] request list_templates(const optional_cursor& cursor);
[[nodiscard]] request list_folder(std::string_view uri, const optional_cursor& cursor);
[[nodiscard]] request list_tools(const optional_cursor& cursor);
[[nodiscard]] request list_prompts(const optional_cursor& cursor);
[[nodiscard]] request list_skills(const optional_cursor& cursor);
/// `version`: the version that the client has, only for servers with the versioned-resources extension; empty: none.
[[nodiscard]] request read(std::string_view uri, std::string_view version);
/// Requests a resource with its entry (versioned-resources extension).
[[nodiscard]] request get_resource(std::string_view uri);
[[nodiscard]] request get_skill(std::string_view uri);
[[nodiscard]] request get_prompt(std::string_view name, const named_texts& arguments);
/// `arguments`: an object, or null for none.
[[nodiscard]] request call_tool(std::string_view name, const value& arguments);
/// `context`: the values of the other variables; revisions before 2025-06-18 ignore them.
[[nodiscard]] request complete_template(std::string_view uri_template, std::string_view variable,
                                        std::string_view partial_value, const named_texts& context);
[[nodiscard]] request complete_prompt(std::string_view name, std::string_view argument, std::string_view partial_value,
                                      const named_texts& context);
/// Subscribes to changes of one resource. For servers with sessions.
[[nodiscard]] request subscribe(std::string_view uri);
/// Ends a subscription of `subscribe`.
[[nodiscard]] request unsubscribe(std::string_view uri);
/// Subscribes to changes with their entries (versioned-resources extension). For servers with sessions.
[[nodiscard]] request subscribe_entries(const std::vector<std::string>& uris);
/// Ends subscriptions of `subscribe_entries`.
[[nodiscard]] request unsubscribe_entries(const std::vector<std::string>& uris);
/// Opens a stream of changes. For servers without sessions.
/// `entries`: request the changes of resources with their entries (versioned-resources extension).
[[nodiscard]] request listen(const watch_request& watch, bool entries);
/// Sets the minimum level of log messages. For servers with sessions.
[[nodiscard]] request set_level(log_level min_level);
[[nodiscard]] request ping();
/// Requests the revisions and capabilities of a server without sessions.
[[nodiscard]] request discover();
/// Opens a session with the revision of `protocol`.
[[nodiscard]] request initialize(const client_options& options, const negotiated_protocol& protocol);
/// Makes a request with any method. `params`: an object, or null for none.
[[nodiscard]] request custom_request(std::string_view method, const value& params);

/// The complete notification `notifications/initialized`.
[[nodiscard]] std::string initialized();
/// The complete notification `notifications/roots/list_changed`.
[[nodiscard]] std::string roots_changed();

/// The revision that client and server have agreed on.
struct negotiated_protocol {
  std::string revision;
  bool is_modern = false;  ///< The revision is stateless.
};

/// Writes the capabilities of a client with these options, as an object.
void write_capabilities(json::writer& writer, const client_options& options, const negotiated_protocol& protocol);
/// Writes the client's name and version, as an object.
void write_client_info(json::writer& writer, const client_options& options, const negotiated_protocol& protocol);

/// Encodes a request as a complete message.
/// `requests_progress`: ask for progress notifications, with `id` as their token. `trace`: is sent in `_meta`.
[[nodiscard]] std::string encode_request(const request& request, std::uint64_t id, const negotiated_protocol& protocol,
                                         const client_options& options, bool requests_progress,
                                         const trace_context& trace = {});
/// The HTTP headers of a request in stateless revisions: revision, method and target. Empty in other revisions.
[[nodiscard]] std::vector<std::pair<std::string, std::string>> headers_of(const request& request,
                                                                          const negotiated_protocol& protocol);
/// The HTTP headers of each message in a session. Empty in revisions that do not have them.
/// Spec: 2025-06-18 basic/transports#protocol-version-header.
[[nodiscard]] std::vector<std::pair<std::string, std::string>> session_headers(const negotiated_protocol& protocol);
/// The HTTP header that repeats an argument of a tool. `name`: without `Mcp-Param-`. `value`: not encoded.
/// Spec: 2026-07-28 basic/transports/streamable-http#value-encoding.
[[nodiscard]] std::pair<std::string, std::string> argument_header(std::string_view name, std::string_view value);

/// Reads the description of a server from its answer to `server/discover` or `initialize`. Ignores invalid members.
[[nodiscard]] server_description parse_server_description(const json::object& result, const negotiated_protocol& protocol);

}  // namespace hondana::wire::asking
