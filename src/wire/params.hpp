/// Decodes the parameters that all revisions share.
#pragma once

#include <string_view>

#include "json/reader.hpp"
#include "json/writer.hpp"
#include "model/operation.hpp"
#include "wire/codec.hpp"

namespace hondana::wire {

/// "Invalid params for METHOD: PATH: WHAT", -32602.
[[nodiscard]] protocol_error invalid_params(std::string_view method, const json::bad_member& what);
/// -32601, naming the method.
[[nodiscard]] protocol_error method_not_found(std::string_view method, std::string_view revision);

[[nodiscard]] decoded<model::operation> decode_list_resources(std::string_view method, const json::object& params);
[[nodiscard]] decoded<model::operation> decode_list_templates(std::string_view method, const json::object& params);
[[nodiscard]] decoded<model::operation> decode_read(std::string_view method, const json::object& params);
[[nodiscard]] decoded<model::operation> decode_complete(std::string_view method, const json::object& params);
[[nodiscard]] decoded<model::operation> decode_cancelled(std::string_view method, const json::object& params);

/// `_meta.progressToken`, when there is one.
[[nodiscard]] json::decoded<std::optional<model::token>> progress_token(const json::object& params);
/// Checks `{name, version}` as peers introduce themselves; nobody here acts on who they say they are.
[[nodiscard]] json::decoded<void> check_implementation(const json::object& from);

/// A `completion` result, without braces.
void write(json::writer& to, const complete_result& values);

/// Errors whose number is the same in every revision; not-found is not among them.
[[nodiscard]] protocol_error encode_plain_failure(const failure& why);
/// `{"uri":URI}`.
[[nodiscard]] std::string uri_data(std::string_view uri);

}  // namespace hondana::wire
