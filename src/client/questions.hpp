/// What servers ask of the client's side, answered by its handlers.
#pragma once

#include <string_view>

#include <hondana/client.hpp>

#include "protocol/wire/asking/asked_back.hpp"

namespace hondana::outbound {

namespace asking = wire::asking;

/// Asks the handlers. Threads: one at a time; blocks.
class questions {
 public:
  explicit questions(const client_handlers& by) : by_(by) {}

  /// Errors in the reply: -32601 for what has no handler, -32602 for malformed parameters, -32603 for a handler that failed.
  [[nodiscard]] asking::reply answer(std::string_view method, const value& params);
  /// Whether anybody answers this. Threads: any.
  [[nodiscard]] bool has_handler(std::string_view method) const noexcept;
  /// Whether it is people who answer, so that it may take its time. Threads: any.
  [[nodiscard]] static bool takes_time(std::string_view method) noexcept;

 private:
  const client_handlers& by_;
};

}  // namespace hondana::outbound
