/// The table of tools and prompts: lists them, and calls their handlers on a thread pool.
#pragma once

#include <cstddef>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <hondana/prompt.hpp>
#include <hondana/tool.hpp>

#include "base/executor/thread_pool.hpp"
#include "base/executor/timers.hpp"
#include "protocol/model/operations.hpp"
#include "protocol/schema/schema.hpp"

namespace hondana::handlers {

/// What handlers run on. All tables of a server share it.
struct handler_runtime {
  std::shared_ptr<executor::thread_pool> pool;  ///< Runs the handlers.
  std::shared_ptr<executor::timers> timers;     ///< Enforce the deadlines.
};

/// Options of a tool. The defaults are those of the application's tools.
struct tool_options {
  std::shared_ptr<executor::thread_pool> pool{};  ///< Where the tool runs. Null: the pool of `handler_runtime`.
  /// The server's own tool. It writes no log messages. The application can neither remove nor replace it.
  bool is_built_in = false;
  /// A tool of a source: as a built-in one, but access rules apply to it as to the application's tools.
  bool is_from_source = false;
  /// Returns the canonical URIs in the arguments of a call, for the audit log; may be empty.
  std::function<std::vector<std::string>(const value& arguments)> uris_of{};

  /// Whether the application added the tool, and may remove it.
  [[nodiscard]] bool is_from_application() const noexcept { return !is_built_in && !is_from_source; }
};

/// A tool in the table, with compiled schemas.
struct offered_tool {
  std::shared_ptr<const tool> entry;
  tool_handler handler;
  tool_options options;
  std::vector<model::mirrored_argument> mirrored;  ///< Arguments that clients repeat in HTTP headers.
  schema::schema input;
  std::optional<schema::schema> output;
};

/// A prompt in the table.
struct offered_prompt {
  std::shared_ptr<const prompt> entry;
  prompt_handler handler;
};

/// Receives the answer to an asynchronous call; called exactly once.
template <class T>
using completion = std::function<void(result<T>)>;

/// An immutable set of tools and prompts, in order of their names. Threads: any.
///
/// `call`, `get` and `complete` call their completion exactly once. That happens on a thread of the pool, on the timer thread
/// if the deadline passes first, or before the function returns.
class table : public std::enable_shared_from_this<table> {
 public:
  /// A table without tools and prompts. `page_size`: entries per page, at least 1.
  [[nodiscard]] static std::shared_ptr<const table> empty(handler_runtime runtime, std::size_t page_size);

  /// Returns a copy with the tool, which replaces one of the same name and owner (server or application). Errors:
  /// invalid_argument for an invalid name, handler, schema, `_meta` or `x-mcp-header`. Also for the name of another owner's
  /// tool, and for any name in use if a source is involved. The text names the tool and what to change.
  [[nodiscard]] result<std::shared_ptr<const table>> with_tool(tool entry, tool_handler handler,
                                                               tool_options options = {}) const;
  /// Returns a copy with the prompt, which replaces one of the same name. Errors: invalid_argument for an invalid name,
  /// handler, argument or `_meta`.
  [[nodiscard]] result<std::shared_ptr<const table>> with_prompt(prompt entry, prompt_handler handler) const;
  /// Returns a copy without the application's tool of this name; null if there is none.
  [[nodiscard]] std::shared_ptr<const table> without_tool(std::string_view name) const;
  /// Returns a copy without the server's own tools.
  [[nodiscard]] std::shared_ptr<const table> without_built_in_tools() const;
  /// Returns a copy without the tools of sources.
  [[nodiscard]] std::shared_ptr<const table> without_source_tools() const;
  /// Returns a copy without the prompt of this name; null if there is none.
  [[nodiscard]] std::shared_ptr<const table> without_prompt(std::string_view name) const;
  /// Returns a copy with this number of entries per page, at least 1.
  [[nodiscard]] std::shared_ptr<const table> with_page_size(std::size_t entries) const;

  /// Whether this table, or one that it was copied from, has or had tools.
  [[nodiscard]] bool has_tools() const noexcept { return has_tools_; }
  /// As `has_tools`, for prompts.
  [[nodiscard]] bool has_prompts() const noexcept { return has_prompts_; }
  /// As `has_tools`, for tools and prompts of the application, which may write log messages.
  [[nodiscard]] bool may_log() const noexcept { return may_log_; }
  /// As `has_tools`, for prompt arguments with completion.
  [[nodiscard]] bool has_completions() const noexcept { return has_completions_; }

  /// Whether a caller may see a tool. Empty: every tool.
  using tool_filter = std::function<bool(const offered_tool&)>;
  /// Whether a caller may see a prompt. Empty: every prompt.
  using prompt_filter = std::function<bool(const offered_prompt&)>;
  /// One page of the visible tools. Errors: invalid_argument for a cursor that this server did not issue.
  [[nodiscard]] result<model::tool_page> tools(const std::optional<std::string>& cursor,
                                               const tool_filter& is_visible = {}) const;
  /// One page of the visible prompts. Errors: as `tools`.
  [[nodiscard]] result<model::prompt_page> prompts(const std::optional<std::string>& cursor,
                                                   const prompt_filter& is_visible = {}) const;

  /// The tool of this name; null if there is none. Valid while this table exists.
  [[nodiscard]] const offered_tool* find_tool(std::string_view name) const;
  /// The prompt of this name; null if there is none. Valid while this table exists.
  [[nodiscard]] const offered_prompt* find_prompt(std::string_view name) const;

  /// The error for a tool that does not exist, or is hidden from the caller.
  [[nodiscard]] static failure unknown_tool(std::string_view name);
  /// The error for a prompt that does not exist, or is hidden from the caller.
  [[nodiscard]] static failure unknown_prompt(std::string_view name);
  /// As `unknown_prompt`, for a completion request.
  [[nodiscard]] static failure unknown_prompt_to_complete(std::string_view name);

  /// Options of a call.
  struct call_options {
    /// Whether invalid arguments become a result with `is_error`, so that the model can correct them. False: they are an error.
    bool validation_errors_are_results = true;
    std::function<void(std::string_view)> log{};  ///< Receives reasons of failures that only the log may contain; may be empty.
  };
  /// Calls the handler of a tool if the arguments match its input schema. Failures and exceptions of the handler become results
  /// with `is_error`, except insufficient_scope with scopes. Errors: invalid_argument for an unknown name, and for invalid
  /// arguments without `validation_errors_are_results`. Also internal if the result does not match `output_schema`,
  /// insufficient_scope, timed_out, cancelled, overloaded and source_unavailable.
  void call(tool_call request, call_options options, completion<tool_outcome> callback) const;
  /// Gets a prompt from its handler. Errors: invalid_argument for an unknown name, and for missing or unknown arguments; those
  /// of the handler; internal for an exception. Also timed_out, cancelled, overloaded and source_unavailable.
  void get(prompt_call request, completion<prompt_outcome> callback) const;
  /// Completes an argument of a prompt; an argument without completion has no values. Errors: invalid_argument for an unknown
  /// prompt or argument; those of its completion. Also those of `get` for its execution.
  void complete(const hondana::request_context& context, const model::complete& params,
                completion<complete_result> callback) const;

 private:
  table(handler_runtime runtime, std::size_t page_size) : runtime_(std::move(runtime)), page_size_(page_size) {}
  table(const table&) = default;

  handler_runtime runtime_;
  std::size_t page_size_;
  std::map<std::string, std::shared_ptr<const offered_tool>, std::less<>> tools_;
  std::map<std::string, std::shared_ptr<const offered_prompt>, std::less<>> prompts_;
  bool has_tools_ = false;
  bool has_prompts_ = false;
  bool may_log_ = false;
  bool has_completions_ = false;
};

}  // namespace hondana::handlers
