/// What the record of requests is told.
#pragma once

#include <string>
#include <string_view>

#include <hondana/audit.hpp>
#include <hondana/error.hpp>
#include <hondana/provider.hpp>

#include "protocol/model/operation.hpp"
#include "server/session/ending.hpp"

namespace hondana::session {

struct context;

/// The decision about a request. `method`: as the peer wrote it.
[[nodiscard]] audit_decision decision_about(const context& with, const caller& who, std::string_view method,
                                            const model::request& what, const result<void>& admitted);
[[nodiscard]] audit_completion completion_of(const completion& how, const std::string& trace);

/// Records that somebody was refused before there was a request to decide about; does nothing without an auditor. `why`: see
/// `audit_decision`.
void record_refusal(auditor* by, const caller& who, std::string_view method, std::string_view why, int http_status = 0);

}  // namespace hondana::session
