/// Prompts on the wire: decodes requests, writes entries and messages.
#pragma once

#include <string_view>

#include <hondana/prompt.hpp>

#include "base/json/reader.hpp"
#include "base/json/writer.hpp"
#include "protocol/wire/codec.hpp"
#include "protocol/wire/entries.hpp"

namespace hondana::wire {

[[nodiscard]] decoded<model::operation> decode_list_prompts(std::string_view method, const json::object& params);
[[nodiscard]] decoded<model::operation> decode_get_prompt(std::string_view method, const json::object& params);

/// One entry of `prompts/list`.
void write(json::writer& to, const prompt& entry, const entry_members& members);
/// The members of a `prompts/get` result, without braces.
void write(json::writer& to, const prompt_result& result, const entry_members& members);

}  // namespace hondana::wire
