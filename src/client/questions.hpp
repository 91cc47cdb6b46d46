/// What servers ask of the client's side, answered by its handlers.
#pragma once

#include <string>
#include <string_view>

#include <hondana/client.hpp>

namespace hondana::outbound {

/// An answer to be sent: a result as JSON, or an error.
struct reply {
  std::string result{};
  int code = 0;  ///< Of the error; 0: it is a result.
  std::string text{};
};

/// Asks the handlers. Threads: one at a time; blocks.
class questions {
 public:
  explicit questions(const client_handlers& by) : by_(by) {}

  /// `method`: elicitation/create, sampling/createMessage or roots/list. Errors in the reply: -32601 for what has no handler,
  /// -32602 for malformed parameters, -32603 for a handler that failed.
  [[nodiscard]] reply answer(std::string_view method, const value& params);
  /// Whether anybody answers this. A method that nobody knows is answered by nobody.
  [[nodiscard]] bool has_handler(std::string_view method) const noexcept;
  /// Whether it is people who answer, so that it may take its time.
  [[nodiscard]] static bool takes_time(std::string_view method) noexcept { return method != "roots/list"; }

 private:
  [[nodiscard]] reply form(const value& params);
  [[nodiscard]] reply link(const value& params);
  [[nodiscard]] reply sample(const value& params);
  [[nodiscard]] reply list_roots();

  const client_handlers& by_;
};

/// The content of an accepted form with the defaults of the fields that it leaves out.
[[nodiscard]] value with_defaults(const value& content, const value& schema);

}  // namespace hondana::outbound
