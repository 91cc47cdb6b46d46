/// Chooses the protocol revision for each message. Only this file handles both legacy and stateless revisions.
#include "protocol/wire/choose_codec.hpp"

#include <algorithm>
#include <utility>

#include "base/bytes/buffer_pool.hpp"
#include "base/json/writer.hpp"
#include "protocol/wire/legacy/codec.hpp"
#include "protocol/wire/modern/codec.hpp"
#include "protocol/wire/modern/requests.hpp"
#include "protocol/wire/request_params.hpp"
#include "protocol/wire/wire_constants.hpp"

namespace hondana::wire {
namespace {

/// -32022 with the supported revisions.
/// If the request declares its revision in the body, only those that can be declared there are listed, as in `server/discover`.
/// If only a header names it, the client can be of either kind, so all are listed.
/// Spec: 2026-07-28 basic/versioning#protocol-version-negotiation.
protocol_error unsupported_revision(std::string_view requested, bool is_declared) {
  std::string data;
  json::writer writer(data);
  writer.begin_object().key("supported").begin_array();
  for (const auto name : modern::revisions()) writer.string(name);
  if (!is_declared) {
    for (const auto legacy_name : legacy::revisions()) writer.string(legacy_name);
  }
  writer.end_array().member("requested", requested.substr(0, 200)).end_object();
  return {codes::unsupported_revision, "Unsupported protocol version", std::move(data), 400};
}

bool is_modern(std::string_view revision) {
  const auto revisions = modern::revisions();
  return std::find(revisions.begin(), revisions.end(), revision) != revisions.end();
}

decoded<const codec*> choose_for_initialize(const rpc::request& request, const negotiation& negotiation) {
  if (negotiation.revision != nullptr) {
    return tl::unexpected(protocol_error{-32600, "Invalid request: initialize: this session is initialized already", {}, 200});
  }
  const auto requested = request.params.find_string("protocolVersion");
  const codec* requested_codec = requested && *requested ? legacy::find(**requested) : nullptr;
  return requested_codec != nullptr ? requested_codec : &legacy::newest();
}

/// For HTTP messages without a declaration in the body.
/// The header distinguishes stateless and legacy clients; the handshake determines the legacy revision.
/// Spec: 2025-11-25 basic/transports#session-management, #protocol-version-header.
decoded<const codec*> choose_by_header(const rpc::http_headers& headers, const negotiation& negotiation) {
  if (headers.protocol_version && legacy::find(*headers.protocol_version) == nullptr) {
    // The stateless decoder reports the missing _meta.
    if (is_modern(*headers.protocol_version)) return &modern::current();
    return tl::unexpected(unsupported_revision(*headers.protocol_version, false));
  }
  if (negotiation.revision != nullptr) return negotiation.revision;
  return tl::unexpected(
      protocol_error{-32600,
                     "Invalid request: the header Mcp-Session-Id is missing. Open a session with initialize and "
                     "send its id with every message, or declare the protocol version in _meta.",
                     {},
                     400});
}

}  // namespace

decoded<const codec*> choose_codec(const rpc::request& request, const rpc::request_info& request_info,
                                   const negotiation& negotiation) {
  const auto declared = modern::declared_revision(request.params);
  if (!declared) {
    auto error = invalid_params(request.method, declared.error());
    error.http_status = 400;
    return tl::unexpected(std::move(error));
  }
  if (*declared) {
    if (is_modern(**declared)) return &modern::current();
    // If header and body disagree, the intended revision is unknown, so it is not reported as unsupported.
    auto mismatch = request_info.http ? modern::revision_mismatch(**declared, *request_info.http) : std::nullopt;
    return tl::unexpected(mismatch ? std::move(*mismatch) : unsupported_revision(**declared, true));
  }
  if (request.method == "initialize") return choose_for_initialize(request, negotiation);
  if (request_info.http) return choose_by_header(*request_info.http, negotiation);
  if (negotiation.revision != nullptr) return negotiation.revision;
  // Before a handshake, legacy clients may only send ping. All other requests must declare their revision.
  if (request.method == "ping") return &legacy::newest();
  return &modern::current();
}

decoded<const codec*> choose_codec(const rpc::notification& notification, const rpc::request_info& request_info,
                                   const negotiation& negotiation) {
  const auto declared = modern::declared_revision(notification.params);
  const bool is_declared = declared && *declared;
  if (request_info.http && !is_declared) return choose_by_header(*request_info.http, negotiation);
  if (request_info.http) {
    if (auto rejection = reject_version(*request_info.http)) return tl::unexpected(std::move(*rejection));
  }
  return is_declared ? &modern::current() : &choose_for_unreadable(request_info, negotiation);
}

std::optional<protocol_error> reject_header(const rpc::request_info& request_info, const negotiation& negotiation) {
  if (!request_info.http) return {};
  const auto chosen = choose_by_header(*request_info.http, negotiation);
  return chosen ? std::nullopt : std::optional(chosen.error());
}

std::optional<protocol_error> reject_version(const rpc::http_headers& headers) {
  if (!headers.protocol_version || is_modern(*headers.protocol_version)) return {};
  if (legacy::find(*headers.protocol_version) != nullptr) return {};
  return unsupported_revision(*headers.protocol_version, false);
}

bool needs_no_session(const rpc::http_headers& headers) noexcept {
  return headers.protocol_version && is_modern(*headers.protocol_version);
}

const codec& choose_for_unreadable(const rpc::request_info& request_info, const negotiation& negotiation) {
  const auto* header_codec =
      request_info.http && request_info.http->protocol_version ? legacy::find(*request_info.http->protocol_version) : nullptr;
  // Stateless clients send a revision header with every message, so an unknown revision is answered as a stateless one.
  if (request_info.http && request_info.http->protocol_version && header_codec == nullptr) return modern::current();
  if (negotiation.revision != nullptr) return *negotiation.revision;
  if (header_codec != nullptr) return *header_codec;
  return request_info.http ? legacy::headerless_default() : modern::current();
}

void record_negotiation(negotiation& negotiation, const codec& revision) noexcept { negotiation.revision = &revision; }

rpc::body wrap_result(const rpc::request_id& id, rpc::body result) {
  rpc::body message(R"({"jsonrpc":"2.0","id":)" + rpc::to_json(id) + R"(,"result":)");
  message.append(std::move(result));
  message.text() += '}';
  return message;
}

rpc::body wrap_result(const rpc::request_id& id, std::string_view result) {
  constexpr std::string_view before_id = R"({"jsonrpc":"2.0","id":)";
  constexpr std::string_view before_result = R"(,"result":)";
  const auto id_text = rpc::to_json(id);
  auto message = bytes::acquire_buffer();
  message.reserve(before_id.size() + id_text.size() + before_result.size() + result.size() + 1);
  ((((message += before_id) += id_text) += before_result) += result) += '}';
  return rpc::body(std::move(message));
}

std::string wrap_error(const std::optional<rpc::request_id>& id, const protocol_error& error, const codec& codec) {
  std::string text;
  json::writer writer(text);
  writer.begin_object().member("jsonrpc", "2.0");
  if (id) {
    writer.key("id").raw(rpc::to_json(*id));
  } else if (codec.writes_null_ids()) {
    writer.key("id").null();
  }
  writer.key("error").begin_object().key("code").integer(error.code).member("message", error.message);
  if (!error.data.empty()) writer.key("data").raw(error.data);
  writer.end_object().end_object();
  return text;
}

std::string progress_notification(const model::token& token, const progress& progress) {
  std::string text;
  json::writer writer(text);
  writer.begin_object().member("jsonrpc", "2.0").member("method", "notifications/progress");
  writer.key("params").begin_object().key("progressToken").raw(rpc::to_json(token)).key("progress").number(progress.done);
  if (progress.total) writer.key("total").number(*progress.total);
  writer.member_if("message", progress.message).end_object().end_object();
  return text;
}

std::string cancelled_notification(const rpc::request_id& id, std::string_view reason) {
  std::string text;
  json::writer writer(text);
  writer.begin_object().member("jsonrpc", "2.0").member("method", "notifications/cancelled");
  writer.key("params").begin_object().key("requestId").raw(rpc::to_json(id)).member("reason", reason).end_object().end_object();
  return text;
}

std::span<const std::string_view> modern_revisions() noexcept { return modern::revisions(); }

std::span<const std::string_view> session_revisions() noexcept { return legacy::revisions(); }

}  // namespace hondana::wire
