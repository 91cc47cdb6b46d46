/// The extension dev.hondana/versioned-resources: versions, filters for lists, and changes sent with their entries.
/// See docs/versioned-resources.md.
#pragma once

#include <cstddef>
#include <memory>
#include <string>
#include <string_view>

#include <hondana/resource.hpp>

#include "base/bytes/prepared_content.hpp"
#include "base/json/reader.hpp"
#include "base/json/writer.hpp"
#include "protocol/model/iso_8601.hpp"
#include "protocol/model/operations.hpp"
#include "protocol/rpc/message_body.hpp"
#include "protocol/wire/codec.hpp"
#include "protocol/wire/entry_json.hpp"

namespace hondana::wire::versioned {

/// Parses the `filter` of `resources/list`. Errors: members that are unknown, repeated or invalid.
[[nodiscard]] json::decoded<model::resource_filter> parse_filter(const json::object& object);

using model::parse_time;

}  // namespace hondana::wire::versioned

namespace hondana::wire::versioned {

/// The maximum number of URIs in one request.
inline constexpr std::size_t max_uris = 10'000;

/// Whether `capabilities` declare the extension, in `extensions` or, as in older revisions, in `experimental`.
/// Members of other types count as not declared.
[[nodiscard]] bool is_declared_by(const json::object& capabilities);
/// Writes the extension's identifier with its settings, as a member of `extensions` or, in older revisions, of `experimental`.
void write_setting(json::writer& writer);
/// Whether only clients that know the extension send this operation.
[[nodiscard]] bool needs_extension(const model::operation& operation);

// These functions decode the parameters of a request. `method`: for errors, which are -32602 with the path of the member.

/// `resources/list`, with an optional `filter`.
[[nodiscard]] decoded<model::operation> decode_list(std::string_view method, const json::object& params);
/// `resources/get`
[[nodiscard]] decoded<model::operation> decode_get(std::string_view method, const json::object& params);
/// `resources/subscribe`: with `uris`, `model::subscribe_entries`; with `uri`, `model::subscribe`. Both at once are an error.
[[nodiscard]] decoded<model::operation> decode_subscribe(std::string_view method, const json::object& params);
/// `resources/unsubscribe`: with `uris`, `model::unsubscribe_entries`; with `uri`, `model::unsubscribe`. Both at once are an
/// error.
[[nodiscard]] decoded<model::operation> decode_unsubscribe(std::string_view method, const json::object& params);
/// Reads the optional `version` into the `cached_version` of a `read_resource` or `get_resource`. Ignores other operations.
[[nodiscard]] json::decoded<void> read_version(const json::object& params, model::operation& operation);

/// Appends `"resource":{…},"contents":{…}`. A stream is read later, on `reader_executor`.
void append_resource(rpc::body& out, const resource& entry, bytes::prepared_content content,
                     const std::shared_ptr<executor::executor>& reader_executor, entry_members members);
/// The error `codes::not_modified`: the client already has this version.
[[nodiscard]] protocol_error not_modified(std::string_view uri, std::string_view version);

}  // namespace hondana::wire::versioned
