/// Calls of the client that take more than one request: filtered lists, single entries, tool calls, and verified files of
/// skills.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include <hondana/client.hpp>

#include "client/engine.hpp"

namespace hondana::outbound {

/// One page of the entries that match `filter`. The server filters if it can, otherwise the client does. A page may be short or
/// empty and still have a cursor.
[[nodiscard]] result<list_page<resource>> resource_page(engine& engine, const std::optional<std::string>& cursor,
                                                        const entry_filter& filter, const call_options& options);
/// The current entry of one resource: from `resources/get` if the server has versions, otherwise from the list.
[[nodiscard]] result<resource> describe(engine& engine, std::string_view uri, const call_options& options);
/// Calls a tool over HTTP with the headers that its `x-mcp-header` requires.
[[nodiscard]] result<tool_response> call_tool(engine& engine, std::string_view name, const value& arguments,
                                              const call_options& options);
/// Reads a file of a skill and compares its size, digest and front matter with the skill's entry. Errors: protocol_error,
/// invalid_argument.
[[nodiscard]] result<read_response> read_skill_file(engine& engine, const skill& skill, std::string_view uri,
                                                    const call_options& options);
/// Sends any request. The result is the server's JSON.
[[nodiscard]] result<value> send_request(engine& engine, std::string_view method, const value& params,
                                         const call_options& options);

}  // namespace hondana::outbound
