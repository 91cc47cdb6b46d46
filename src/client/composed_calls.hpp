/// Calls of the client that take more than one request: filtered lists, single entries, tool calls, and verified files of
/// skills.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include <hondana/client.hpp>

#include "client/engine.hpp"

namespace hondana::outbound {

/// One page of the entries that match `wanted`. The server filters if it can, otherwise the client does. A page may be short or
/// empty and still have a cursor.
[[nodiscard]] result<page<resource>> resource_page(engine& of, const std::optional<std::string>& cursor,
                                                   const entry_filter& wanted, const call_options& how);
/// The current entry of one resource: from `resources/get` if the server has versions, otherwise from the list.
[[nodiscard]] result<resource> describe(engine& of, std::string_view uri, const call_options& how);
/// Calls a tool over HTTP with the headers that its `x-mcp-header` requires.
[[nodiscard]] result<called> call_tool(engine& of, std::string_view name, const value& arguments, const call_options& how);
/// Reads a file of a skill and compares its size, digest and front matter with the skill's entry. Errors: broken_protocol,
/// invalid_argument.
[[nodiscard]] result<read_answer> read_skill_file(engine& of, const skill& whose, std::string_view uri,
                                                  const call_options& how);
/// Sends any request. The result is the server's JSON.
[[nodiscard]] result<value> any_request(engine& of, std::string_view method, const value& params, const call_options& how);

}  // namespace hondana::outbound
