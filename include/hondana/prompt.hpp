/// Prompts: prepared messages with which a user starts a conversation.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include <hondana/capabilities.hpp>
#include <hondana/error.hpp>
#include <hondana/input.hpp>
#include <hondana/message.hpp>
#include <hondana/provider.hpp>
#include <hondana/resource.hpp>
#include <hondana/value.hpp>

namespace hondana::inline v0 {

/// A request for completions of one prompt argument.
struct complete_argument_request : request_context {
  std::string prompt;                                        ///< Name of the prompt.
  std::string argument;                                      ///< Name of the argument.
  std::string value;                                         ///< The text typed so far.
  std::vector<std::pair<std::string, std::string>> context;  ///< Names and values of arguments that are already chosen.
};

/// One argument of a prompt.
struct prompt_argument {
  std::string name{};
  std::string title{};
  std::string description{};
  bool required = false;
  /// Returns values for the typed text (see `complete_from`). Empty: no completion. Runs on the same threads as handlers.
  std::function<result<complete_result>(const complete_argument_request&)> complete{};
};

/// One entry of `prompts/list`. Empty members are not sent. Spec: server/prompts.
struct prompt {
  std::string name{};
  std::string title{};
  std::string description{};
  std::vector<prompt_argument> arguments{};
  std::vector<icon> icons{};
  std::optional<value> meta{};  ///< `_meta`: an object. Sent from revision 2025-06-18 on.
};

/// The messages of a prompt.
struct prompt_result {
  std::string description{};
  std::vector<message> messages{};
};

/// One call of a prompt.
struct prompt_call : handler_call {
  std::string name{};
  std::vector<std::pair<std::string, std::string>> arguments{};  ///< Names and values, with all required arguments.

  /// Returns the argument's value, or `default_value` if it is absent.
  [[nodiscard]] std::string argument(std::string_view name, std::string_view default_value = {}) const;
};

/// The messages, or questions to the client.
using prompt_outcome = std::variant<prompt_result, input_required>;

/// Makes a prompt's messages. Threads and deadlines: as `tool_handler`. The client gets a failure as an error.
using prompt_handler = std::function<result<prompt_outcome>(const prompt_call&)>;

}  // namespace hondana::inline v0
