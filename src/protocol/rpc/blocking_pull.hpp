/// Pulls a body from a thread of the transport's own, which may wait.
#pragma once

#include <memory>
#include <string>

#include "protocol/rpc/body.hpp"

namespace hondana::rpc {

/// As `body::pull`, on the lane its stream wants, waiting until `deadline`.
/// Errors: as `body::pull`; timed_out when the source does not deliver in time, and then the body must not be used again.
[[nodiscard]] result<bool> pull_until(const std::shared_ptr<body>& from, std::string& out,
                                      executor::clock::time_point deadline);

}  // namespace hondana::rpc
