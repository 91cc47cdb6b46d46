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

/// Hints about a tool, on which clients must not rely. Sent from revision 2025-03-26 on. Spec: server/tools, ToolAnnotations.
struct tool_annotations {
  std::string title{};
  std::optional<bool> read_only_hint{};
  std::optional<bool> destructive_hint{};
  std::optional<bool> idempotent_hint{};
  std::optional<bool> open_world_hint{};
};

/// One entry of `tools/list`. Empty members are not sent. Spec: server/tools.
struct tool {
  std::string name{};  ///< 1 to 128 of A-Z, a-z, 0-9, '_', '-', '.' and '/'.
  std::string title{};
  std::string description{};
  /// JSON Schema 2020-12 of the arguments; the root has "type": "object". Sent unchanged, with all keywords.
  value input_schema = value::object{{"type", "object"}};
  std::optional<value> output_schema{};  ///< Schema of `tool_result::structured_content`. Sent from revision 2025-06-18 on.
  tool_annotations annotations{};
  std::vector<icon> icons{};
  std::optional<value> meta{};  ///< `_meta`: an object. Sent from revision 2025-06-18 on.
};

/// The result of a tool.
struct tool_result {
  std::vector<content_block> content{};
  /// Must match `tool::output_schema` if that is set, unless `is_error`; the server checks it. If `content` is empty, the
  /// server also sends this value as a text block with JSON.
  std::optional<value> structured_content{};
  bool is_error = false;        ///< The call failed; `content` tells the model why.
  std::optional<value> meta{};  ///< `_meta`: an object.
};

/// Makes a result with one text.
[[nodiscard]] tool_result text_result(std::string text);
/// Makes a result with `is_error` and one text, which tells the model what to change.
[[nodiscard]] tool_result error_result(std::string text);

/// One call of a tool.
struct tool_call : handler_call {
  std::string name{};
  value arguments = value::object{};  ///< The server has validated them against `tool::input_schema`.
};

/// A result, or questions to the client.
using tool_outcome = std::variant<tool_result, input_required>;

/// Executes a tool. May block: it runs on a bounded thread pool of the server, several calls at once. Must return before
/// `request_context::deadline`, and soon after `request_context::stop`.
///
/// The client gets a failure as a result with `is_error` and the public text. An exception is logged, and the client gets a
/// result with `is_error`. A failure `insufficient_scope` with scopes becomes an error that tells the client which scopes to
/// request.
using tool_handler = std::function<result<tool_outcome>(const tool_call&)>;

}  // namespace hondana::inline v0
