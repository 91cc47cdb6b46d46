/// Calls of more than one step: filtered lists, single entries, tools, and checked files of skills.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include <hondana/client.hpp>

#include "client/engine.hpp"

namespace hondana::outbound {

/// Entries that fit: chosen by the server where it can, else here. A page may be short or empty and still have a cursor.
[[nodiscard]] result<page<resource>> resource_page(engine& of, const std::optional<std::string>& cursor,
                                                   const entry_filter& wanted, const call_options& how);
[[nodiscard]] result<resource> describe(engine& of, std::string_view uri, const call_options& how);
[[nodiscard]] result<called> call_tool(engine& of, std::string_view name, const value& arguments, const call_options& how);
[[nodiscard]] result<read_answer> read_skill_file(engine& of, const skill& whose, std::string_view uri,
                                                  const call_options& how);
[[nodiscard]] result<value> any_request(engine& of, std::string_view method, const value& params, const call_options& how);

}  // namespace hondana::outbound
