/// Decodes requests about tools and prompts, and writes their entries and results. Also requests for input from clients.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <hondana/input.hpp>
#include <hondana/prompt.hpp>
#include <hondana/tool.hpp>

#include "base/json/reader.hpp"
#include "base/json/writer.hpp"
#include "protocol/model/operations.hpp"
#include "protocol/wire/codec.hpp"
#include "protocol/wire/entry_json.hpp"

namespace hondana::wire {

/// Reads a client's `capabilities` object. Members of other types count as not declared. Errors: repeated members.
[[nodiscard]] json::decoded<client_capabilities> parse_capabilities(const json::object& capabilities);

/// Reads the optional `inputResponses` and `requestState` of a request.
/// Errors: members of other types, more than 64 responses, repeated keys.
[[nodiscard]] json::decoded<model::input_round> parse_input_round(const json::object& params);

/// The requests for input that a revision supports, and their members.
struct input_members {
  bool form_elicitation = false;
  bool url_elicitation = false;
  bool form_modes = false;       ///< Forms have the member `mode`.
  bool elicitation_ids = false;  ///< URL elicitations have the member `elicitationId`.
  bool sampling_tools = false;   ///< Sampling requests may have tools.
  entry_members entries;         ///< For the messages of sampling requests.
};

/// Whether the revision with these members can express `request`.
[[nodiscard]] bool supports_request(const input_request& request, const input_members& members);
/// Writes `"method":…,"params":{…}`, without braces.
void write(json::writer& writer, const input_request& request, const input_members& members);
/// Returns an object of the type `ClientCapabilities` with the capabilities that `requests` need and `client` lacks.
/// Empty if it lacks none. `requests`: pairs of key and request.
[[nodiscard]] std::string missing_capabilities(const std::vector<std::pair<std::string, input_request>>& requests,
                                               const client_capabilities& client);

[[nodiscard]] decoded<model::operation> decode_list_tools(std::string_view method, const json::object& params);
[[nodiscard]] decoded<model::operation> decode_call_tool(std::string_view method, const json::object& params);

/// Writes one entry of `tools/list`, an object.
void write(json::writer& writer, const tool& entry, const entry_members& members);
/// Writes the members of a `tools/call` result, without braces.
void write(json::writer& writer, const tool_result& result, const entry_members& members);

[[nodiscard]] decoded<model::operation> decode_list_prompts(std::string_view method, const json::object& params);
[[nodiscard]] decoded<model::operation> decode_get_prompt(std::string_view method, const json::object& params);

/// Writes one entry of `prompts/list`, an object.
void write(json::writer& writer, const prompt& entry, const entry_members& members);
/// Writes the members of a `prompts/get` result, without braces.
void write(json::writer& writer, const prompt_result& result, const entry_members& members);

}  // namespace hondana::wire
