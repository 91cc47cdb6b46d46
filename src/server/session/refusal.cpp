/// Refusals of HTTP requests that no conversation gets to see.
#include "server/session/refusal.hpp"

#include "protocol/wire/choose.hpp"
#include "protocol/wire/params.hpp"
#include "protocol/wire/refusals.hpp"

namespace hondana::session {
namespace {

std::string text_of(const wire::protocol_error& why, const std::optional<rpc::http_headers>& headers) {
  const rpc::facts facts{{}, headers};
  return wire::wrap_error({}, why, wire::choose_for_unreadable(facts, {}));
}

rpc::delivery written(const wire::protocol_error& why, const rpc::http_headers& headers) {
  return {why.http_status, rpc::body(text_of(why, headers))};
}

}  // namespace

std::string error_text(int http_status, std::string_view why, const std::optional<rpc::http_headers>& headers) {
  return text_of(wire::refused_by_http(http_status, why), headers);
}

std::string error_text(const failure& why, const std::optional<rpc::http_headers>& headers) {
  return text_of(wire::encode_plain_failure(why), headers);
}

rpc::delivery refuse(int http_status, std::string_view why, const rpc::http_headers& headers) {
  return written(wire::refused_by_http(http_status, why), headers);
}

std::optional<rpc::delivery> refuse_version(const rpc::http_headers& headers) {
  const auto refused = wire::refuse_version(headers);
  return refused ? std::optional(written(*refused, headers)) : std::nullopt;
}

bool needs_no_session(const rpc::http_headers& headers) noexcept { return wire::needs_no_session(headers); }

}  // namespace hondana::session
