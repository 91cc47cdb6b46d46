/// A request in the figures and in its trace.
#pragma once

#include <chrono>
#include <cstddef>
#include <memory>
#include <string>
#include <utility>
#include <variant>

#include <hondana/audit.hpp>
#include <hondana/clock.hpp>

#include "base/tracing/tracer.hpp"
#include "protocol/model/operation.hpp"
#include "protocol/rpc/outlet.hpp"
#include "protocol/wire/codec.hpp"
#include "server/session/request_figures.hpp"

namespace hondana::session {

/// Counts a request whose answer was there, and ends its span.
inline void answered_at_hand(const model::request& what, const wire::codec& in, const std::shared_ptr<tracing::live_span>& span,
                             std::chrono::steady_clock::time_point since, const rpc::delivery& said) {
  request_figures::here().answered(request_figures::method_of(what.operation), in, said.error, monotonic_clock::now() - since);
  if (span) end(*span, said.error);
}

/// Counts a request that was on its way, once it is answered or given up.
class counted_request {
 public:
  counted_request(const model::operation& what, const wire::codec& in, std::shared_ptr<tracing::live_span> span,
                  std::chrono::steady_clock::time_point since)
      : method_(request_figures::method_of(what)),
        // It is answered when the stream ends.
        is_stream_(std::holds_alternative<model::listen>(what)),
        in_(in),
        span_(std::move(span)),
        since_(since) {
    request_figures::here().began();
    if (is_stream_) request_figures::here().opened_stream();
  }
  ~counted_request() {
    request_figures::here().ended();
    if (is_stream_) request_figures::here().closed_stream();
  }
  counted_request(const counted_request&) = delete;
  counted_request& operator=(const counted_request&) = delete;

  void answered(int code) {
    auto& all = request_figures::here();
    if (is_stream_) {
      all.answered(method_, in_, code);
    } else {
      all.answered(method_, in_, code, monotonic_clock::now() - since_);
    }
    if (span_) end(*span_, code);
  }
  void given_up(audit_outcome how) {
    request_figures::here().given_up(method_, in_, how);
    if (!span_) return;
    span_->set("error.type", std::string(how == audit_outcome::cancelled ? "cancelled" : "gone"));
    span_->fail();
    span_->end();
  }

 private:
  const std::size_t method_;
  const bool is_stream_;
  const wire::codec& in_;
  const std::shared_ptr<tracing::live_span> span_;
  const std::chrono::steady_clock::time_point since_;
};

}  // namespace hondana::session
