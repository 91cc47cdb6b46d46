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

/// Where handlers run. One for each server, shared by all its tables.
struct handler_runtime {
  std::shared_ptr<executor::thread_pool> pool;
  std::shared_ptr<executor::timers> timers;
};

/// How tools of the server or of a source differ from those of the application.
struct tool_options {
  std::shared_ptr<executor::thread_pool> pool{};  ///< Where it runs. Null: the pool of `handler_runtime`.
  bool is_built_in = false;  ///< A tool of the server: it writes no log messages, and cannot be removed or replaced by name.
  /// A tool of a source: the same, but access rules apply to it as to the application's tools.
  bool is_from_source = false;
  /// Returns the canonical URIs that a call's arguments name, for the audit log; may be empty.
  std::function<std::vector<std::string>(const value& arguments)> uris_of{};

  /// Whether the application added it, and may remove it.
  [[nodiscard]] bool is_from_application() const noexcept { return !is_built_in && !is_from_source; }
};

/// A tool in the table, with compiled schemas.
struct offered_tool {
  std::shared_ptr<const tool> entry;
  tool_handler handler;
  tool_options options;
  std::vector<model::mirrored_argument> mirrored;
  schema::schema input;
  std::optional<schema::schema> output;
};

struct offered_prompt {
  std::shared_ptr<const prompt> entry;
  prompt_handler handler;
};

template <class T>
using completion = std::function<void(result<T>)>;

/// An immutable set of tools and prompts, in order of their names. Threads: any.
///
/// Calls answer through their completion exactly once: on a thread of the pool, on the timer thread if the deadline passes
/// first, or before the call returns.
class table : public std::enable_shared_from_this<table> {
 public:
  [[nodiscard]] static std::shared_ptr<const table> empty(handler_runtime runtime, std::size_t page_size);

  /// A copy in which the tool is added, or replaces the one with the same name. Errors: invalid_argument for an invalid name,
  /// schema, `_meta` or `x-mcp-header`; the text names the tool and what to change. A tool of the server, of a source or of the
  /// application cannot replace one of another owner.
  [[nodiscard]] result<std::shared_ptr<const table>> with_tool(tool entry, tool_handler handler,
                                                               tool_options options = {}) const;
  [[nodiscard]] result<std::shared_ptr<const table>> with_prompt(prompt entry, prompt_handler handler) const;
  /// A copy without the application's tool of this name. Null if there is none.
  [[nodiscard]] std::shared_ptr<const table> without_tool(std::string_view name) const;
  /// A copy without the server's own tools.
  [[nodiscard]] std::shared_ptr<const table> without_built_in_tools() const;
  /// A copy without the tools of sources.
  [[nodiscard]] std::shared_ptr<const table> without_source_tools() const;
  [[nodiscard]] std::shared_ptr<const table> without_prompt(std::string_view name) const;
  [[nodiscard]] std::shared_ptr<const table> with_page_size(std::size_t entries) const;

  /// Whether the table, or one that it was copied from, has or had tools, prompts, or arguments with completion.
  [[nodiscard]] bool has_tools() const noexcept { return has_tools_; }
  [[nodiscard]] bool has_prompts() const noexcept { return has_prompts_; }
  /// The same for tools and prompts of the application, which may write log messages.
  [[nodiscard]] bool may_log() const noexcept { return may_log_; }
  [[nodiscard]] bool has_completions() const noexcept { return has_completions_; }

  /// Whether a caller may see a tool or prompt; empty: all.
  using tool_filter = std::function<bool(const offered_tool&)>;
  using prompt_filter = std::function<bool(const offered_prompt&)>;
  /// One page. Errors: invalid_argument for a cursor that this server did not issue.
  [[nodiscard]] result<model::tool_page> tools(const std::optional<std::string>& cursor,
                                               const tool_filter& is_visible = {}) const;
  [[nodiscard]] result<model::prompt_page> prompts(const std::optional<std::string>& cursor,
                                                   const prompt_filter& is_visible = {}) const;

  /// Null if there is none.
  [[nodiscard]] const offered_tool* find_tool(std::string_view name) const;
  [[nodiscard]] const offered_prompt* find_prompt(std::string_view name) const;

  /// The error for a tool or prompt that does not exist, or is hidden from the caller.
  [[nodiscard]] static failure unknown_tool(std::string_view name);
  [[nodiscard]] static failure unknown_prompt(std::string_view name);
  [[nodiscard]] static failure unknown_prompt_to_complete(std::string_view name);

  /// Options of a call.
  struct call_options {
    /// Invalid arguments become a result with `is_error`, so that the model can correct them; otherwise an error.
    bool validation_errors_are_results = true;
    std::function<void(std::string_view)> log{};  ///< Receives texts that only the log may contain; may be empty.
  };
  /// Calls a tool if its arguments match its schema. Failures and exceptions of the handler become results with `is_error`.
  /// Errors: invalid_argument for an unknown name, and for invalid arguments without `validation_errors_are_results`. Also
  /// internal if the result does not match `output_schema`, and insufficient_scope of the handler. Also timed_out, cancelled,
  /// overloaded and source_unavailable.
  void call(tool_call request, call_options options, completion<tool_outcome> callback) const;
  /// Gets a prompt. Errors: invalid_argument for an unknown name, and for missing or unknown arguments; those of the handler;
  /// timed_out, cancelled, overloaded, source_unavailable.
  void get(prompt_call request, completion<prompt_outcome> callback) const;
  /// Completes an argument of a prompt. Errors: invalid_argument for an unknown prompt or argument; those of its completion.
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
