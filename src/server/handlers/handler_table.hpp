/// The tools and prompts of a server: listed, found, and called on a pool of their own.
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

/// Where handlers run; one for a server, shared by all its tables.
struct workshop {
  std::shared_ptr<executor::pool> pool;
  std::shared_ptr<executor::timers> timers;
};

/// What sets tools of the server's own apart from those of the application.
struct tool_manners {
  std::shared_ptr<executor::pool> pool{};  ///< Where it runs; null: in the workshop.
  bool is_built_in = false;                ///< It writes no log messages, and cannot be taken away or replaced by name.
  bool is_of_source = false;               ///< The same, and rules and their absence are about it as about the application's.
  /// The canonical URIs that the arguments of a call name, for the record of requests; may be empty.
  std::function<std::vector<std::string>(const value& arguments)> uris_of{};

  /// Whether the application brought it, and may take it away.
  [[nodiscard]] bool is_of_application() const noexcept { return !is_built_in && !is_of_source; }
};

struct offered_tool {
  std::shared_ptr<const tool> entry;
  tool_handler handler;
  tool_manners manners;
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

/// One immutable set of tools and prompts, in the order of their names. Threads: any.
///
/// Calls answer through their completion exactly once: on a thread of the workshop, on the timer thread when the deadline
/// passes first, or before the call returns.
class table : public std::enable_shared_from_this<table> {
 public:
  [[nodiscard]] static std::shared_ptr<const table> empty(workshop where, std::size_t page_size);

  /// A copy with a tool more, or with it instead of the one of its name. Errors: invalid_argument for a bad name, schema,
  /// `_meta` or `x-mcp-header`; the text names the tool and what to change.
  /// Tools of the server's own, of sources and of the application never take each other's place, nor those of two sources:
  /// that is refused, too.
  [[nodiscard]] result<std::shared_ptr<const table>> with(tool entry, tool_handler handler, tool_manners how = {}) const;
  [[nodiscard]] result<std::shared_ptr<const table>> with(prompt entry, prompt_handler handler) const;
  /// A copy without; null when there is none of that name.
  [[nodiscard]] std::shared_ptr<const table> without_tool(std::string_view name) const;
  /// A copy without the server's own tools.
  [[nodiscard]] std::shared_ptr<const table> without_built_in_tools() const;
  /// A copy without those that sources have brought.
  [[nodiscard]] std::shared_ptr<const table> without_tools_of_sources() const;
  [[nodiscard]] std::shared_ptr<const table> without_prompt(std::string_view name) const;
  [[nodiscard]] std::shared_ptr<const table> with_page_size(std::size_t entries) const;

  /// Whether there is a tool, a prompt, an argument with completion; or has been one in a table that this is a copy of.
  [[nodiscard]] bool has_tools() const noexcept { return has_tools_; }
  [[nodiscard]] bool has_prompts() const noexcept { return has_prompts_; }
  /// The same of tools and prompts of the application, which are what writes log messages.
  [[nodiscard]] bool may_log() const noexcept { return may_log_; }
  [[nodiscard]] bool has_completions() const noexcept { return has_completions_; }

  /// Which of them a caller is shown; empty: all.
  using tool_sight = std::function<bool(const offered_tool&)>;
  using prompt_sight = std::function<bool(const offered_prompt&)>;
  /// One page. Errors: invalid_argument for a cursor that is not ours.
  [[nodiscard]] result<model::tool_page> tools(const std::optional<std::string>& cursor, const tool_sight& is_shown = {}) const;
  [[nodiscard]] result<model::prompt_page> prompts(const std::optional<std::string>& cursor,
                                                   const prompt_sight& is_shown = {}) const;

  /// Null when there is none.
  [[nodiscard]] const offered_tool* find_tool(std::string_view name) const;
  [[nodiscard]] const offered_prompt* find_prompt(std::string_view name) const;

  /// What asking for one that there is not, or not for this caller, is answered with.
  [[nodiscard]] static failure unknown_tool(std::string_view name);
  [[nodiscard]] static failure unknown_prompt(std::string_view name);
  [[nodiscard]] static failure unknown_prompt_to_complete(std::string_view name);

  /// What a caller decides about a call.
  struct call_manners {
    bool misfits_are_results = true;  ///< Arguments that do not fit the schema are for the model to mend, and no error.
    std::function<void(std::string_view)> complain{};  ///< Gets what only the log may see; may be empty.
  };
  /// Calls a tool, once its arguments fit its schema. Its own failures and exceptions are results with `isError`.
  /// Errors: invalid_argument for an unknown name and, where that is no result, misfitting arguments; internal for a result
  /// that does not fit `outputSchema`; timed_out, cancelled, overloaded, source_unavailable.
  void call(tool_call what, call_manners how, completion<tool_outcome> done) const;
  /// Errors: the same, invalid_argument for missing and unknown arguments, and the handler's own.
  void get(prompt_call what, completion<prompt_outcome> done) const;
  /// Values for a prompt's argument. Errors: invalid_argument for an unknown prompt or argument; the completer's own.
  void complete(const hondana::call& by, const model::complete& what, completion<complete_result> done) const;

 private:
  table(workshop where, std::size_t page_size) : where_(std::move(where)), page_size_(page_size) {}
  table(const table&) = default;

  workshop where_;
  std::size_t page_size_;
  std::map<std::string, std::shared_ptr<const offered_tool>, std::less<>> tools_;
  std::map<std::string, std::shared_ptr<const offered_prompt>, std::less<>> prompts_;
  bool has_tools_ = false;
  bool has_prompts_ = false;
  bool may_log_ = false;
  bool has_completions_ = false;
};

}  // namespace hondana::handlers
