/// Chooses the protocol revision for each message. Only this file handles both legacy and stateless revisions.
#include "protocol/wire/choose.hpp"

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
protocol_error unsupported_revision(std::string_view asked, bool is_declared) {
  std::string data;
  json::writer to(data);
  to.begin_object().key("supported").begin_array();
  for (const auto one : modern::revisions()) to.string(one);
  if (!is_declared) {
    for (const auto one : legacy::revisions()) to.string(one);
  }
  to.end_array().member("requested", asked.substr(0, 200)).end_object();
  return {codes::unsupported_revision, "Unsupported protocol version", std::move(data), 400};
}

bool is_modern(std::string_view revision) {
  const auto known = modern::revisions();
  return std::find(known.begin(), known.end(), revision) != known.end();
}

decoded<const codec*> choose_opening(const rpc::request& request, const conversation& with) {
  if (with.settled != nullptr) {
    return tl::unexpected(protocol_error{-32600, "Invalid request: initialize: this session is initialized already", {}, 200});
  }
  const auto asked = request.params.find_string("protocolVersion");
  const codec* known = asked && *asked ? legacy::find(**asked) : nullptr;
  return known != nullptr ? known : &legacy::newest();
}

/// For HTTP messages without a declaration in the body.
/// The header distinguishes stateless and legacy clients; the handshake determines the legacy revision.
/// Spec: 2025-11-25 basic/transports#session-management, #protocol-version-header.
decoded<const codec*> choose_by_header(const rpc::http_headers& headers, const conversation& with) {
  if (headers.protocol_version && legacy::find(*headers.protocol_version) == nullptr) {
    // The stateless decoder reports the missing _meta.
    if (is_modern(*headers.protocol_version)) return &modern::current();
    return tl::unexpected(unsupported_revision(*headers.protocol_version, false));
  }
  if (with.settled != nullptr) return with.settled;
  return tl::unexpected(
      protocol_error{-32600,
                     "Invalid request: the header Mcp-Session-Id is missing. Open a session with initialize and "
                     "send its id with every message, or declare the protocol version in _meta.",
                     {},
                     400});
}

}  // namespace

decoded<const codec*> choose(const rpc::request& request, const rpc::facts& facts, const conversation& with) {
  const auto declared = modern::declared_revision(request.params);
  if (!declared) {
    auto error = invalid_params(request.method, declared.error());
    error.http_status = 400;
    return tl::unexpected(std::move(error));
  }
  if (*declared) {
    if (is_modern(**declared)) return &modern::current();
    // If header and body disagree, the intended revision is unknown, so it is not reported as unsupported.
    auto differs = facts.http ? modern::revision_mismatch(**declared, *facts.http) : std::nullopt;
    return tl::unexpected(differs ? std::move(*differs) : unsupported_revision(**declared, true));
  }
  if (request.method == "initialize") return choose_opening(request, with);
  if (facts.http) return choose_by_header(*facts.http, with);
  if (with.settled != nullptr) return with.settled;
  // Before a handshake, legacy clients may only send ping. All other requests must declare their revision.
  if (request.method == "ping") return &legacy::newest();
  return &modern::current();
}

decoded<const codec*> choose(const rpc::notification& notification, const rpc::facts& facts, const conversation& with) {
  const auto declared = modern::declared_revision(notification.params);
  const bool is_declared = declared && *declared;
  if (facts.http && !is_declared) return choose_by_header(*facts.http, with);
  if (facts.http) {
    if (auto refused = refuse_version(*facts.http)) return tl::unexpected(std::move(*refused));
  }
  return is_declared ? &modern::current() : &choose_for_unreadable(facts, with);
}

std::optional<protocol_error> refuse_header(const rpc::facts& facts, const conversation& with) {
  if (!facts.http) return {};
  const auto known = choose_by_header(*facts.http, with);
  return known ? std::nullopt : std::optional(known.error());
}

std::optional<protocol_error> refuse_version(const rpc::http_headers& headers) {
  if (!headers.protocol_version || is_modern(*headers.protocol_version)) return {};
  if (legacy::find(*headers.protocol_version) != nullptr) return {};
  return unsupported_revision(*headers.protocol_version, false);
}

bool needs_no_session(const rpc::http_headers& headers) noexcept {
  return headers.protocol_version && is_modern(*headers.protocol_version);
}

const codec& choose_for_unreadable(const rpc::facts& facts, const conversation& with) {
  const auto* named = facts.http && facts.http->protocol_version ? legacy::find(*facts.http->protocol_version) : nullptr;
  // Stateless clients send a revision header with every message, so an unknown revision is answered as a stateless one.
  if (facts.http && facts.http->protocol_version && named == nullptr) return modern::current();
  if (with.settled != nullptr) return *with.settled;
  if (named != nullptr) return *named;
  return facts.http ? legacy::without_header() : modern::current();
}

void settle(conversation& with, const codec& revision) noexcept { with.settled = &revision; }

rpc::body wrap_result(const rpc::request_id& id, rpc::body result) {
  rpc::body message(R"({"jsonrpc":"2.0","id":)" + rpc::to_json(id) + R"(,"result":)");
  message.append(std::move(result));
  message.text() += '}';
  return message;
}

rpc::body wrap_result(const rpc::request_id& id, std::string_view result) {
  constexpr std::string_view before_id = R"({"jsonrpc":"2.0","id":)";
  constexpr std::string_view before_result = R"(,"result":)";
  const auto written_id = rpc::to_json(id);
  auto message = bytes::take_spare_text();
  message.reserve(before_id.size() + written_id.size() + before_result.size() + result.size() + 1);
  ((((message += before_id) += written_id) += before_result) += result) += '}';
  return rpc::body(std::move(message));
}

std::string wrap_error(const std::optional<rpc::request_id>& id, const protocol_error& error, const codec& manners) {
  std::string text;
  json::writer to(text);
  to.begin_object().member("jsonrpc", "2.0");
  if (id) {
    to.key("id").raw(rpc::to_json(*id));
  } else if (manners.writes_null_ids()) {
    to.key("id").null();
  }
  to.key("error").begin_object().key("code").integer(error.code).member("message", error.message);
  if (!error.data.empty()) to.key("data").raw(error.data);
  to.end_object().end_object();
  return text;
}

std::string progress_notification(const model::token& token, const progress& now) {
  std::string text;
  json::writer to(text);
  to.begin_object().member("jsonrpc", "2.0").member("method", "notifications/progress");
  to.key("params").begin_object().key("progressToken").raw(rpc::to_json(token)).key("progress").number(now.done);
  if (now.total) to.key("total").number(*now.total);
  to.member_if("message", now.message).end_object().end_object();
  return text;
}

std::string cancelled_notification(const rpc::request_id& id, std::string_view reason) {
  std::string text;
  json::writer to(text);
  to.begin_object().member("jsonrpc", "2.0").member("method", "notifications/cancelled");
  to.key("params").begin_object().key("requestId").raw(rpc::to_json(id)).member("reason", reason).end_object().end_object();
  return text;
}

std::span<const std::string_view> modern_revisions() noexcept { return modern::revisions(); }

std::span<const std::string_view> session_revisions() noexcept { return legacy::revisions(); }

}  // namespace hondana::wire
