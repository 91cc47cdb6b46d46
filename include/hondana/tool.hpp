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

/// Hints about what a tool does; nobody may rely on them. Sent from 2025-03-26.
struct tool_annotations {
  std::string title{};
  std::optional<bool> readOnlyHint{};
  std::optional<bool> destructiveHint{};
  std::optional<bool> idempotentHint{};
  std::optional<bool> openWorldHint{};
};

/// One entry of `tools/list`. Empty strings are absent members. Spec: server/tools.
struct tool {
  std::string name{};  ///< 1 to 128 of A-Z, a-z, 0-9, '_', '-', '.' and '/'.
  std::string title{};
  std::string description{};
  /// JSON Schema 2020-12 of the arguments; its root says "type": "object". Sent as it is, with all its keywords.
  value inputSchema = value::object{{"type", "object"}};
  std::optional<value> outputSchema{};  ///< Of `structuredContent`. Sent from 2025-06-18.
  tool_annotations annotations{};
  std::vector<icon> icons{};
  value meta{};  ///< `_meta`: an object, or null for none. Sent from 2025-06-18.
};

/// The answer of a tool.
struct tool_result {
  std::vector<content_block> content{};
  /// Checked against the tool's `outputSchema`. When `content` is empty, its JSON text is sent as content too.
  std::optional<value> structuredContent{};
  bool isError = false;  ///< The call went wrong in a way that a model can do something about.
  value meta{};
};

/// A result of one text.
[[nodiscard]] tool_result text_result(std::string text);
/// A result that says what went wrong, for a model to try again better.
[[nodiscard]] tool_result error_result(std::string text);

/// One call of a tool.
struct tool_call : handler_call {
  std::string name{};
  value arguments = value::object{};  ///< Fits the tool's `inputSchema`.
};

using tool_outcome = std::variant<tool_result, input_required>;

/// Does a tool's work. It may block: it runs on a bounded pool of the server's, several calls at once. It gives up at
/// `deadline` or when `stop` is requested. A failure it returns becomes a result with `isError`; what it throws too, with the
/// reason in the log only. `scope_missing` with scopes is told to the client instead, which can get a token that is enough.
using tool_handler = std::function<result<tool_outcome>(const tool_call&)>;

}  // namespace hondana::inline v0
