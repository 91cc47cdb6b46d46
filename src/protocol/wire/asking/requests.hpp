/// The requests of a client, and their encoding in the revision of the server.
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
  std::string target{};                ///< The URI or name that it refers to, for errors and headers.
  bool repeats_target = false;         ///< `target` is repeated in the header `Mcp-Name`.
  bool allows_input_requests = false;  ///< The server may answer with a request for input; the request is then repeated.
};

using optional_cursor = std::optional<std::string>;
using named_texts = std::vector<std::pair<std::string, std::string>>;

/// `filter`: a filter, for servers with the versioned-resources extension; null: no filter.
[[nodiscard]] request list_resources(const optional_cursor& cursor, const entry_filter* filter);
[[nodiscard]] request list_templates(const optional_cursor& cursor);
[[nodiscard]] request list_folder(std::string_view uri, const optional_cursor& cursor);
[[nodiscard]] request list_tools(const optional_cursor& cursor);
[[nodiscard]] request list_prompts(const optional_cursor& cursor);
[[nodiscard]] request list_skills(const optional_cursor& cursor);
/// `version`: the version that the client has, for servers with the versioned-resources extension; may be empty.
[[nodiscard]] request read(std::string_view uri, std::string_view version);
/// Versioned-resources extension: requests entry and content.
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
/// For servers with sessions: subscribes to one URI.
[[nodiscard]] request subscribe(std::string_view uri);
[[nodiscard]] request unsubscribe(std::string_view uri);
/// For servers with sessions and the versioned-resources extension: changes are sent with their entries.
[[nodiscard]] request subscribe_entries(const std::vector<std::string>& uris);
[[nodiscard]] request unsubscribe_entries(const std::vector<std::string>& uris);
/// For servers without sessions: opens a stream of changes.
/// `entries`: changes are sent with their entries (versioned-resources extension).
[[nodiscard]] request listen(const watch_request& watch, bool entries);
/// For servers with sessions: sets the minimum level of log messages.
[[nodiscard]] request set_level(log_level min_level);
[[nodiscard]] request ping();
/// Requests the revisions and capabilities of a server without sessions.
[[nodiscard]] request discover();
/// Opens a session with the revision of `protocol`.
[[nodiscard]] request initialize(const client_options& options, const negotiated_protocol& protocol);
/// Any other method. `params`: an object, or null for none.
[[nodiscard]] request custom_request(std::string_view method, const value& params);

/// Complete notifications.
[[nodiscard]] std::string initialized();
[[nodiscard]] std::string roots_changed();

/// The revision that client and server have agreed on.
struct negotiated_protocol {
  std::string revision;
  bool is_modern = false;
};

/// Writes `capabilities` for a client with these options, as an object.
void write_capabilities(json::writer& writer, const client_options& options, const negotiated_protocol& protocol);
/// Writes the client's name and version, as an object.
void write_client_info(json::writer& writer, const client_options& options, const negotiated_protocol& protocol);

/// The complete message. `requests_progress`: requests progress notifications. `trace` is sent in `_meta`.
[[nodiscard]] std::string encode_request(const request& request, std::uint64_t id, const negotiated_protocol& protocol,
                                         const client_options& options, bool requests_progress,
                                         const trace_context& trace = {});
/// The HTTP headers for the request.
[[nodiscard]] std::vector<std::pair<std::string, std::string>> headers_of(const request& request,
                                                                          const negotiated_protocol& protocol);
/// The headers of every message in a session. Spec: 2025-06-18 basic/transports#protocol-version-header.
[[nodiscard]] std::vector<std::pair<std::string, std::string>> session_headers(const negotiated_protocol& protocol);
/// The header that repeats an argument of a tool. Spec: 2026-07-28 basic/transports/streamable-http#value-encoding.
[[nodiscard]] std::pair<std::string, std::string> argument_header(std::string_view name, std::string_view value);

/// The description of a server in its answer to `server/discover` or `initialize`.
[[nodiscard]] server_description parse_server_description(const json::object& result, const negotiated_protocol& protocol);

}  // namespace hondana::wire::asking
