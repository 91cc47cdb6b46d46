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

struct speech;

/// A request, independent of its revision and id.
struct request {
  std::string method{};
  std::string params{};         ///< Members without braces: `"uri":"file:///a"`.
  std::string target{};         ///< The URI or name that it refers to, for errors and headers.
  bool repeats_target = false;  ///< `target` is repeated in the header `Mcp-Name`.
  bool may_be_asked = false;    ///< The server may answer with a request for input; the request is then repeated.
};

using cursor = std::optional<std::string>;
using named_texts = std::vector<std::pair<std::string, std::string>>;

/// `wanted`: a filter, for servers with the versioned-resources extension; null: no filter.
[[nodiscard]] request list_resources(const cursor& from, const entry_filter* wanted);
[[nodiscard]] request list_templates(const cursor& from);
[[nodiscard]] request list_folder(std::string_view uri, const cursor& from);
[[nodiscard]] request list_tools(const cursor& from);
[[nodiscard]] request list_prompts(const cursor& from);
[[nodiscard]] request list_skills(const cursor& from);
/// `version`: the version that the client has, for servers with the versioned-resources extension; may be empty.
[[nodiscard]] request read(std::string_view uri, std::string_view version);
/// Versioned-resources extension: requests entry and content.
[[nodiscard]] request get_resource(std::string_view uri);
[[nodiscard]] request get_skill(std::string_view uri);
[[nodiscard]] request get_prompt(std::string_view name, const named_texts& arguments);
/// `arguments`: an object, or null for none.
[[nodiscard]] request call_tool(std::string_view name, const value& arguments);
/// `chosen`: the values of the other variables; revisions before 2025-06-18 ignore them.
[[nodiscard]] request complete_template(std::string_view uri_template, std::string_view variable, std::string_view typed,
                                        const named_texts& chosen);
[[nodiscard]] request complete_prompt(std::string_view name, std::string_view argument, std::string_view typed,
                                      const named_texts& chosen);
/// For servers with sessions: subscribes to one URI.
[[nodiscard]] request subscribe(std::string_view uri);
[[nodiscard]] request unsubscribe(std::string_view uri);
/// For servers with sessions and the versioned-resources extension: changes are sent with their entries.
[[nodiscard]] request subscribe_entries(const std::vector<std::string>& uris);
[[nodiscard]] request unsubscribe_entries(const std::vector<std::string>& uris);
/// For servers without sessions: opens a stream of changes.
/// `entries`: changes are sent with their entries (versioned-resources extension).
[[nodiscard]] request listen(const watch_request& what, bool entries);
/// For servers with sessions: sets the minimum level of log messages.
[[nodiscard]] request set_level(log_level least);
[[nodiscard]] request ping();
/// Requests the revisions and capabilities of a server without sessions.
[[nodiscard]] request discover();
/// Opens a session with the revision `in`.
[[nodiscard]] request initialize(const client_options& options, const speech& in);
/// Any other method. `params`: an object, or null for none.
[[nodiscard]] request any(std::string_view method, const value& params);

/// Complete notifications.
[[nodiscard]] std::string initialized();
[[nodiscard]] std::string roots_changed();

/// The revision that client and server have agreed on.
struct speech {
  std::string revision;
  bool is_modern = false;
};

/// Writes `capabilities` for a client with these options, as an object.
void write_capabilities(json::writer& to, const client_options& options, const speech& in);
/// Writes the client's name and version, as an object.
void write_self(json::writer& to, const client_options& options, const speech& in);

/// The complete message. `reports`: requests progress notifications. `trace` is sent in `_meta`.
[[nodiscard]] std::string spelled(const request& what, std::uint64_t id, const speech& in, const client_options& options,
                                  bool reports, const trace_context& trace = {});
/// The HTTP headers for the request.
[[nodiscard]] std::vector<std::pair<std::string, std::string>> headers_of(const request& what, const speech& in);
/// The headers of every message in a session. Spec: 2025-06-18 basic/transports#protocol-version-header.
[[nodiscard]] std::vector<std::pair<std::string, std::string>> session_fields(const speech& in);
/// The header that repeats an argument of a tool. Spec: 2026-07-28 basic/transports/streamable-http#value-encoding.
[[nodiscard]] std::pair<std::string, std::string> argument_header(std::string_view name, std::string_view value);

/// The description of a server in its answer to `server/discover` or `initialize`.
[[nodiscard]] server_description description_of(const json::object& result, const speech& in);

}  // namespace hondana::wire::asking
