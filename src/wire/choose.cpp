/// Era and revision of each message, and the envelopes of answers.
#include "wire/choose.hpp"

#include <algorithm>
#include <utility>

#include "json/writer.hpp"
#include "wire/legacy/codec.hpp"
#include "wire/modern/codec.hpp"
#include "wire/params.hpp"

namespace hondana::wire {
namespace {

/// -32022 with every revision this server speaks: modern ones per request, the others after `initialize`.
/// Spec: 2026-07-28 basic/versioning#protocol-version-negotiation.
protocol_error unsupported_revision(std::string_view asked) {
  std::string data;
  json::writer to(data);
  to.begin_object().key("supported").begin_array();
  for (const auto one : modern::revisions()) to.string(one);
  for (const auto one : legacy::revisions()) to.string(one);
  to.end_array().member("requested", asked.substr(0, 200)).end_object();
  return {-32022, "Unsupported protocol version", std::move(data), 400};
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

/// For a request over HTTP that declares nothing in its body: the header decides.
decoded<const codec*> choose_by_header(const rpc::http_headers& headers) {
  if (!headers.protocol_version) return &legacy::without_header();
  if (const auto* known = legacy::find(*headers.protocol_version)) return known;
  if (is_modern(*headers.protocol_version)) return &modern::current();  // its decoder names the missing _meta
  return tl::unexpected(unsupported_revision(*headers.protocol_version));
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
    return tl::unexpected(unsupported_revision(**declared));
  }
  if (request.method == "initialize") return choose_opening(request, with);
  if (facts.http) return choose_by_header(*facts.http);
  if (with.settled != nullptr) return with.settled;
  // Before any handshake a legacy peer may only ping; everything else must declare itself.
  if (request.method == "ping") return &legacy::newest();
  return &modern::current();
}

decoded<const codec*> choose(const rpc::notification& notification, const rpc::facts& facts, const conversation& with) {
  if (auto refused = refuse_header(facts)) return tl::unexpected(std::move(*refused));
  const auto declared = modern::declared_revision(notification.params);
  if (declared && *declared) return &modern::current();
  return &choose_for_unreadable(facts, with);
}

std::optional<protocol_error> refuse_header(const rpc::facts& facts) {
  if (!facts.http) return {};
  const auto known = choose_by_header(*facts.http);
  return known ? std::nullopt : std::optional(known.error());
}

const codec& choose_for_unreadable(const rpc::facts& facts, const conversation& with) {
  if (with.settled != nullptr) return *with.settled;
  if (facts.http && facts.http->protocol_version) {
    if (const auto* known = legacy::find(*facts.http->protocol_version)) return *known;
    return modern::current();
  }
  return facts.http ? legacy::without_header() : modern::current();
}

void settle(conversation& with, const codec& revision) noexcept { with.settled = &revision; }

rpc::body wrap_result(const rpc::request_id& id, rpc::body result) {
  rpc::body message(R"({"jsonrpc":"2.0","id":)" + rpc::to_json(id) + R"(,"result":)");
  message.append(std::move(result));
  message.text() += '}';
  return message;
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

std::string_view newest_revision() noexcept { return modern::revisions().front(); }

}  // namespace hondana::wire
