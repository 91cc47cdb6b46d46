/// Tools on the wire: decodes calls, writes entries and results.
#pragma once

#include <string_view>

#include <hondana/tool.hpp>

#include "base/json/reader.hpp"
#include "base/json/writer.hpp"
#include "protocol/wire/codec.hpp"
#include "protocol/wire/entries.hpp"

namespace hondana::wire {

[[nodiscard]] decoded<model::operation> decode_list_tools(std::string_view method, const json::object& params);
[[nodiscard]] decoded<model::operation> decode_call_tool(std::string_view method, const json::object& params);

/// One entry of `tools/list`.
void write(json::writer& to, const tool& entry, const entry_members& members);
/// The members of a `tools/call` result, without braces.
void write(json::writer& to, const tool_result& result, const entry_members& members);

}  // namespace hondana::wire
