/// Calls of `client` that do more than send one request: filtered lists, single entries, tool calls, verified files of skills,
/// and requests of any method. Arguments, results and errors are those of the functions of `client` with these names.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include <hondana/client.hpp>

#include "client/engine.hpp"

namespace hondana::outbound {

/// Returns one page of the entries that match `filter`. If the server cannot filter, the page may be short or empty and still
/// have a cursor.
[[nodiscard]] result<list_page<resource>> resource_page(engine& engine, const std::optional<std::string>& cursor,
                                                        const entry_filter& filter, const call_options& options);
/// Returns the current entry of one resource. If the server has versions, `resources/get` returns it; the content is discarded.
/// Otherwise searches the list.
[[nodiscard]] result<resource> describe(engine& engine, std::string_view uri, const call_options& options);
/// Calls a tool. Over HTTP, adds the headers that `x-mcp-header` in the tool's schema requires. Lists the tools for this if
/// necessary.
[[nodiscard]] result<tool_response> call_tool(engine& engine, std::string_view name, const value& arguments,
                                              const call_options& options);
/// Reads a file of a skill, and verifies it: size and digest if `skill.files` is set, and the front matter of SKILL.md.
[[nodiscard]] result<read_response> read_skill_file(engine& engine, const skill& skill, std::string_view uri,
                                                    const call_options& options);
/// Implements `client::request`.
[[nodiscard]] result<value> send_request(engine& engine, std::string_view method, const value& params,
                                         const call_options& options);

}  // namespace hondana::outbound
