/// Tools: functions that a client's model calls.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include <hondana/error.hpp>
#include <hondana/input.hpp>
#include <hondana/message.hpp>
#include <hondana/resource.hpp>
#include <hondana/value.hpp>

namespace hondana::inline v0 {

/// Hints about a tool's behavior. Clients must not rely on them. Sent from revision 2025-03-26 on.
struct tool_annotations {
  std::string title{};
  std::optional<bool> read_only_hint{};
  std::optional<bool> destructive_hint{};
  std::optional<bool> idempotent_hint{};
  std::optional<bool> open_world_hint{};
};

/// One entry of `tools/list`. Empty strings are sent as absent members. Spec: server/tools.
struct tool {
  std::string name{};  ///< 1 to 128 of A-Z, a-z, 0-9, '_', '-', '.' and '/'.
  std::string title{};
  std::string description{};
  /// JSON Schema 2020-12 of the arguments; the root has "type": "object". Sent unchanged, with all keywords.
  value input_schema = value::object{{"type", "object"}};
  std::optional<value> output_schema{};  ///< Schema of `structured_content`. Sent from revision 2025-06-18 on.
  tool_annotations annotations{};
  std::vector<icon> icons{};
  value meta{};  ///< `_meta`: an object, or null for none. Sent from revision 2025-06-18 on.
};

/// The result of a tool.
struct tool_result {
  std::vector<content_block> content{};
  /// Validated against the tool's `output_schema`. If `content` is empty, its JSON text is also sent as content.
  std::optional<value> structured_content{};
  bool is_error = false;  ///< The call failed in a way that a model can correct.
  value meta{};
};

/// A result with one text.
[[nodiscard]] tool_result text_result(std::string text);
/// A result with `is_error` and one text, which tells the model what to change.
[[nodiscard]] tool_result error_result(std::string text);

/// One call of a tool.
struct tool_call : handler_call {
  std::string name{};
  value arguments = value::object{};  ///< Validated against the tool's `input_schema`.
};

/// A result, or questions to the client.
using tool_outcome = std::variant<tool_result, input_required>;

/// Executes a tool. It may block: it runs on a bounded thread pool of the server, several calls at once. It must return by
/// `deadline`, or when `stop` is requested.
///
/// A returned failure becomes a result with `is_error`. So does an exception, but its text is only logged. `insufficient_scope`
/// with scopes is instead sent to the client as a challenge, so that it can get a better token.
using tool_handler = std::function<result<tool_outcome>(const tool_call&)>;

}  // namespace hondana::inline v0
