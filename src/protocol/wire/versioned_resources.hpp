/// The extension dev.hondana/versioned-resources: versions, filters of lists, and changes sent with their entry.
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

/// Errors name the member: one that is not known, of another type, empty, too long, or that means nothing.
[[nodiscard]] json::decoded<model::resource_filter> filter_of(const json::object& from);

using model::parse_time;

}  // namespace hondana::wire::versioned

// The versioned dialect, an addition to every revision for peers that know it: resources with versions, filters of lists, and
// changes told with the entry. See docs/versioned-resources.md.

namespace hondana::wire::versioned {

/// URIs of one request.
inline constexpr std::size_t most_uris = 10'000;

/// Whether `capabilities` name the dialect's extension, below `extensions` or, as older revisions do, below `experimental`.
/// Members of other types are taken as not naming it.
[[nodiscard]] bool is_declared_by(const json::object& capabilities);
/// Writes the extension's identifier with its setting, as a member of `extensions` or, in older revisions, of `experimental`.
void write_setting(json::writer& to);
/// Whether only a peer that knows the dialect can have asked for this.
[[nodiscard]] bool is_shaped(const model::operation& what);

/// Decoders of requests. Errors: -32602 naming the member.
[[nodiscard]] decoded<model::operation> decode_list(std::string_view method, const json::object& params);
[[nodiscard]] decoded<model::operation> decode_get(std::string_view method, const json::object& params);
/// `uris` in place of `uri` makes them the dialect's; both at once are an error.
[[nodiscard]] decoded<model::operation> decode_subscribe(std::string_view method, const json::object& params);
[[nodiscard]] decoded<model::operation> decode_unsubscribe(std::string_view method, const json::object& params);
/// Adds the `version` that a peer who knows the dialect may send with a read.
[[nodiscard]] json::decoded<void> take_version(const json::object& params, model::operation& into);

/// Appends `"resource":{...},"contents":{...}`; a stream is pulled later, on `home`.
void append_got(rpc::body& to, const resource& entry, bytes::prepared content, const std::shared_ptr<executor::lane>& home,
                entry_members members);
/// 304: the peer has this version already.
[[nodiscard]] protocol_error not_modified(std::string_view uri, std::string_view version);

}  // namespace hondana::wire::versioned
