/// Decodes the parameters that all revisions share, and encodes the errors they cause.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/json/reader.hpp"
#include "base/json/writer.hpp"
#include "protocol/model/operations.hpp"
#include "protocol/wire/codec.hpp"

namespace hondana::wire {

/// A URI in canonical form, and as answers spell it.
struct spelled_uri {
  std::string canonical;
  std::string asked;
};
[[nodiscard]] json::decoded<spelled_uri> spell_uri(std::string_view uri, const std::string& path);
/// The URIs of the array `member`, which may be absent. Errors: also for more than `most`; `whole` is what these are too many
/// for.
[[nodiscard]] json::decoded<std::vector<spelled_uri>> spell_uris(const json::object& from, std::string_view member,
                                                                 std::size_t most, std::string_view whole);

/// "Invalid params for METHOD: PATH: WHAT", -32602.
[[nodiscard]] protocol_error invalid_params(std::string_view method, const json::bad_member& what);
/// -32601, naming the method.
[[nodiscard]] protocol_error method_not_found(std::string_view method, std::string_view revision);

/// `uri`, which must be there.
[[nodiscard]] json::decoded<spelled_uri> uri_of(const json::object& params);
/// `cursor`, when there is one.
[[nodiscard]] json::decoded<std::optional<std::string>> cursor_of(const json::object& params);
/// The parameters of any list: `List{cursor}`.
template <class List>
[[nodiscard]] decoded<model::operation> decode_list(std::string_view method, const json::object& params) {
  auto cursor = cursor_of(params);
  if (!cursor) return tl::unexpected(invalid_params(method, cursor.error()));
  return model::operation{List{std::move(*cursor)}};
}
[[nodiscard]] decoded<model::operation> decode_list_templates(std::string_view method, const json::object& params);
[[nodiscard]] decoded<model::operation> decode_read(std::string_view method, const json::object& params);
/// At most 8192 bytes a value and 256 variables in the context, when it is about a template.
[[nodiscard]] decoded<model::operation> decode_complete(std::string_view method, const json::object& params);
/// Of the revisions without `context`: what is called so means nothing there.
[[nodiscard]] decoded<model::operation> decode_complete_alone(std::string_view method, const json::object& params);
[[nodiscard]] decoded<model::operation> decode_subscribe(std::string_view method, const json::object& params);
[[nodiscard]] decoded<model::operation> decode_unsubscribe(std::string_view method, const json::object& params);
[[nodiscard]] decoded<model::operation> decode_cancelled(std::string_view method, const json::object& params);

/// `_meta.progressToken`, when there is one.
[[nodiscard]] json::decoded<std::optional<model::token>> progress_token(const json::object& params);
/// `_meta["dev.hondana/mounts"]`, when there is one: the mounts the request came through (docs/mounting.md). At most 32 ids of
/// at most 64 bytes.
[[nodiscard]] json::decoded<std::vector<std::string>> mounts_of(const json::object& params);
/// `traceparent` (as version 00 writes it), `tracestate` and `baggage` of `_meta`, whatever the revision; what is not there,
/// malformed or too long is left out. Spec: 2026-07-28 basic#_meta; W3C Trace Context 3.2 and 3.3, W3C Baggage.
[[nodiscard]] trace_context trace_of(const json::object& params);
/// The method of `what` when it lies behind a capability that `self` does not declare; empty otherwise. Completion, which has
/// no capability in the oldest revision, is not looked at.
[[nodiscard]] std::string_view undeclared_method(const model::operation& what, const model::self_description& self);
/// Checks `{name, version}` as peers introduce themselves; nobody here acts on who they say they are.
[[nodiscard]] json::decoded<void> check_implementation(const json::object& from);

/// Writes the `resources` capability.
void write_resources_capability(json::writer& to, const model::self_description& self);
/// The members `tools`, `prompts` and `logging` of capabilities, where there are any.
void write_handler_capabilities(json::writer& to, const model::self_description& self);
/// A `completion` result, without braces.
void write(json::writer& to, const complete_result& values);

/// Errors whose number is the same in every revision; not-found is not among them.
[[nodiscard]] protocol_error encode_plain_failure(const failure& why);
/// `{"uri":URI}`.
[[nodiscard]] std::string uri_data(std::string_view uri);

}  // namespace hondana::wire
