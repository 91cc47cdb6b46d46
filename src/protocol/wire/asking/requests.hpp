/// Requests of a client, and how they are written in the revision that the server speaks.
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

/// A request before it is known in which revision and under which id it goes out.
struct request {
  std::string method{};
  std::string params{};         ///< Members, without braces: `"uri":"file:///a"`.
  std::string target{};         ///< The URI or name it is about: for errors and headers.
  bool repeats_target = false;  ///< In the header `Mcp-Name`.
  bool may_be_asked = false;    ///< The answer may be a question, after which the request is made again.
};

using cursor = std::optional<std::string>;
using named_texts = std::vector<std::pair<std::string, std::string>>;

/// `wanted`: for servers of the versioned dialect; null for all.
[[nodiscard]] request list_resources(const cursor& from, const entry_filter* wanted);
[[nodiscard]] request list_templates(const cursor& from);
[[nodiscard]] request list_folder(std::string_view uri, const cursor& from);
[[nodiscard]] request list_tools(const cursor& from);
[[nodiscard]] request list_prompts(const cursor& from);
[[nodiscard]] request list_skills(const cursor& from);
/// `version`: the one that is there already, for servers of the versioned dialect; or empty.
[[nodiscard]] request read(std::string_view uri, std::string_view version);
/// Of the versioned dialect: entry and content.
[[nodiscard]] request get_resource(std::string_view uri);
[[nodiscard]] request get_skill(std::string_view uri);
[[nodiscard]] request get_prompt(std::string_view name, const named_texts& arguments);
/// `arguments`: an object, or null for none.
[[nodiscard]] request call_tool(std::string_view name, const value& arguments);
/// `chosen`: what the other variables are; revisions before 2025-06-18 ignore it.
[[nodiscard]] request complete_template(std::string_view uri_template, std::string_view variable, std::string_view typed,
                                        const named_texts& chosen);
[[nodiscard]] request complete_prompt(std::string_view name, std::string_view argument, std::string_view typed,
                                      const named_texts& chosen);
/// With sessions, one URI at a time.
[[nodiscard]] request subscribe(std::string_view uri);
[[nodiscard]] request unsubscribe(std::string_view uri);
/// With sessions and the versioned dialect: changes come with their entries.
[[nodiscard]] request subscribe_entries(const std::vector<std::string>& uris);
[[nodiscard]] request unsubscribe_entries(const std::vector<std::string>& uris);
/// Without sessions: a stream of changes. `entries`: they come with their entries, by the versioned dialect.
[[nodiscard]] request listen(const watch_request& what, bool entries);
/// With sessions: the least level of log messages that are wanted.
[[nodiscard]] request set_level(log_level least);
[[nodiscard]] request ping();
/// What a server without sessions speaks and has.
[[nodiscard]] request discover();
/// Opens a session in `in`.
[[nodiscard]] request initialize(const client_options& options, const speech& in);
/// A method that this client knows nothing of. `params`: an object, or null for none.
[[nodiscard]] request any(std::string_view method, const value& params);

/// Whole messages that expect no answer.
[[nodiscard]] std::string initialized();
[[nodiscard]] std::string roots_changed();

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
