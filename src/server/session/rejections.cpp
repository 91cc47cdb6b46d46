/// Rejections of HTTP requests outside of sessions, and their lines in the log.
#include "server/session/rejections.hpp"

#include <algorithm>
#include <utility>

#include "protocol/wire/choose_codec.hpp"
#include "protocol/wire/codec.hpp"
#include "protocol/wire/request_params.hpp"

namespace hondana::session {
namespace {

std::string error_body(const wire::protocol_error& error, const std::optional<rpc::http_headers>& headers) {
  const rpc::request_info request_info{{}, headers};
  return wire::wrap_error({}, error, wire::choose_for_unreadable(request_info, {}));
}

rpc::outgoing_response make_response(const wire::protocol_error& error, const rpc::http_headers& headers) {
  return {error.http_status, rpc::body(error_body(error, headers))};
}

}  // namespace

std::string error_text(int http_status, std::string_view reason, const std::optional<rpc::http_headers>& headers) {
  return error_body(wire::rejected_by_http(http_status, reason), headers);
}

std::string error_text(const failure& error, const std::optional<rpc::http_headers>& headers) {
  return error_body(wire::encode_common_failure(error), headers);
}

rpc::outgoing_response reject(int http_status, std::string_view reason, const rpc::http_headers& headers) {
  return make_response(wire::rejected_by_http(http_status, reason), headers);
}

std::optional<rpc::outgoing_response> reject_version(const rpc::http_headers& headers) {
  const auto error = wire::reject_version(headers);
  return error ? std::optional(make_response(*error, headers)) : std::nullopt;
}

bool needs_no_session(const rpc::http_headers& headers) noexcept { return wire::needs_no_session(headers); }

std::optional<std::string> rejection_log::make_line(int status, std::string_view address, std::string_view identity,
                                                    std::string_view reason, clock::time_point now) {
  std::size_t suppressed = 0;
  {
    const std::lock_guard lock(mutex_);
    const auto seconds = std::chrono::floor<std::chrono::seconds>(now - refilled_at_);
    if (seconds.count() > 0) {
      tokens_ = std::min(burst, tokens_ + static_cast<std::size_t>(std::min<std::int64_t>(seconds.count(), burst)));
      refilled_at_ = now;
    }
    if (tokens_ == 0) {
      ++suppressed_;
      return std::nullopt;
    }
    --tokens_;
    suppressed = std::exchange(suppressed_, 0);
  }
  auto client = std::string(address.empty() ? identity : address);
  if (!address.empty() && !identity.empty()) client += " (" + std::string(identity) + ')';
  auto out = "refused " + client + " with " + std::to_string(status) + ": " + std::string(reason);
  if (suppressed > 0) out += "; " + std::to_string(suppressed) + " more were not logged";
  return out;
}

}  // namespace hondana::session
