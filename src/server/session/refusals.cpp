/// Rejections of HTTP requests outside of sessions, and their lines in the log.
#include "server/session/refusals.hpp"

#include <algorithm>
#include <utility>

#include "protocol/wire/choose.hpp"
#include "protocol/wire/codec.hpp"
#include "protocol/wire/request_params.hpp"

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

std::optional<std::string> refusal_log::line(int status, std::string_view address, std::string_view identity,
                                             std::string_view why, clock::time_point now) {
  std::size_t left_out = 0;
  {
    const std::lock_guard lock(mutex_);
    const auto seconds = std::chrono::floor<std::chrono::seconds>(now - filled_);
    if (seconds.count() > 0) {
      left_ = std::min(at_once, left_ + static_cast<std::size_t>(std::min<std::int64_t>(seconds.count(), at_once)));
      filled_ = now;
    }
    if (left_ == 0) {
      ++left_out_;
      return std::nullopt;
    }
    --left_;
    left_out = std::exchange(left_out_, 0);
  }
  auto whom = std::string(address.empty() ? identity : address);
  if (!address.empty() && !identity.empty()) whom += " (" + std::string(identity) + ')';
  auto out = "refused " + whom + " with " + std::to_string(status) + ": " + std::string(why);
  if (left_out > 0) out += "; " + std::to_string(left_out) + " more were not logged";
  return out;
}

}  // namespace hondana::session
