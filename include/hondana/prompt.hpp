/// Prompts: prepared messages that a user starts a conversation with.
#pragma once

#include <functional>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include <hondana/error.hpp>
#include <hondana/input.hpp>
#include <hondana/message.hpp>
#include <hondana/provider.hpp>
#include <hondana/resource.hpp>
#include <hondana/value.hpp>

namespace hondana::inline v0 {

/// A request for completions of one prompt argument.
struct complete_argument_request : request_context {
  std::string prompt;
  std::string argument;
  std::string value;                                         ///< Typed so far.
  std::vector<std::pair<std::string, std::string>> context;  ///< Arguments that the user has already chosen.
};

/// One argument of a prompt.
struct prompt_argument {
  std::string name{};
  std::string title{};
  std::string description{};
  bool required = false;
  /// Returns values for the typed text; empty: no completion. Runs on the same threads as handlers.
  std::function<result<complete_result>(const complete_argument_request&)> complete{};
};

/// One entry of `prompts/list`. Empty strings are sent as absent members. Spec: server/prompts.
struct prompt {
  std::string name{};
  std::string title{};
  std::string description{};
  std::vector<prompt_argument> arguments{};
  std::vector<icon> icons{};
  value meta{};  ///< `_meta`: an object, or null for none. Sent from revision 2025-06-18 on.
};

/// The messages of a prompt.
struct prompt_result {
  std::string description{};
  std::vector<message> messages{};
};

/// One call of a prompt.
struct prompt_call : handler_call {
  std::string name{};
  std::vector<std::pair<std::string, std::string>> arguments{};  ///< All required arguments are present.

  /// The argument's value, or `default_value` if it is absent.
  [[nodiscard]] std::string argument(std::string_view name, std::string_view default_value = {}) const;
};

/// A result, or questions to the client.
using prompt_outcome = std::variant<prompt_result, input_required>;

/// Makes a prompt's messages. See `tool_handler` for threads and deadlines. A failure is answered as an error.
using prompt_handler = std::function<result<prompt_outcome>(const prompt_call&)>;

}  // namespace hondana::inline v0
