/// The table of tools and prompts: lists them, and calls their handlers on a thread pool.
#include "server/handlers/handler_table.hpp"

#include <algorithm>
#include <exception>
#include <utility>

#include "base/json/base64.hpp"
#include "server/catalog/cursor.hpp"
#include "server/catalog/source_call.hpp"
#include "server/handlers/mirrored_arguments.hpp"

namespace hondana::handlers {
namespace {

constexpr std::size_t max_name_bytes = 128;

tl::unexpected<failure> reject(std::string_view kind, const std::string& name, const std::string& reason) {
  return fail(errc::invalid_argument, "The " + std::string(kind) + " \"" + name + "\" cannot be added: " + reason);
}

bool is_tool_name(std::string_view name) {
  return !name.empty() && name.size() <= max_name_bytes && std::all_of(name.begin(), name.end(), [](char c) {
    return (c >= '0' && c <= '9') || (c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z') || c == '_' || c == '-' || c == '.' ||
           c == '/';
  });
}

bool is_prompt_name(std::string_view name) {
  return !name.empty() && name.size() <= max_name_bytes &&
         std::none_of(name.begin(), name.end(), [](char c) { return static_cast<unsigned char>(c) < ' ' || c == 0x7F; });
}

bool is_meta(const std::optional<value>& meta) { return !meta || meta->as_object() != nullptr; }

/// One page of a map of entries. The cursor has the last name, in base64url, because cursor keys are plain ASCII.
template <class Page, class Entries, class Filter>
result<Page> page_of(std::string_view list, const Entries& entries, std::size_t size,
                     std::vector<typename Entries::mapped_type>& out, const std::optional<std::string>& cursor,
                     const Filter& is_visible) {
  const auto scope = catalog::cursor_scope(list, "", nullptr);
  auto next = entries.begin();
  if (cursor) {
    HONDANA_TRY(const auto key, catalog::read_cursor(*cursor, scope));
    const auto name = json::decode_base64url(key);
    if (!name) return fail(errc::invalid_argument, "cursor: not issued by this server for this list.");
    next = entries.upper_bound(*name);
  }
  Page page;
  std::string last;
  const auto is_hidden = [&is_visible](const auto& entry) { return is_visible && !is_visible(*entry.second); };
  const auto skip_hidden = [&] { next = std::find_if_not(next, entries.end(), is_hidden); };
  for (skip_hidden(); next != entries.end() && out.size() < size; skip_hidden()) {
    last = next->first;
    out.push_back(next->second);
    ++next;
  }
  if (next != entries.end()) page.next_cursor = catalog::write_cursor(scope, json::encode_base64url(last));
  return page;
}

}  // namespace

std::shared_ptr<const table> table::empty(handler_runtime runtime, std::size_t page_size) {
  return std::shared_ptr<const table>(new table(std::move(runtime), std::max<std::size_t>(page_size, 1)));
}

result<std::shared_ptr<const table>> table::with_tool(tool entry, tool_handler handler, tool_options options) const {
  const auto name = entry.name;
  const auto* existing = find_tool(name);
  if (existing != nullptr && (existing->options.is_from_source || options.is_from_source)) {
    return reject("tool", name, "a source already has a tool of that name. Rename one of the two, or remove one.");
  }
  if (existing != nullptr && existing->options.is_built_in != options.is_built_in) {
    return reject("tool", name,
                  "the server's own tool \"" + name +
                      "\" for resources (server_options::has_resource_tools) and the application's \"" + name +
                      "\" have the same name. Rename the application's tool, or turn off the server's.");
  }
  if (!is_tool_name(name)) {
    return reject("tool", name, "its name must be 1 to 128 characters of A-Z, a-z, 0-9, '_', '-', '.' and '/'.");
  }
  if (!handler) return reject("tool", name, "it has no handler.");
  if (!is_meta(entry.meta)) return reject("tool", name, "meta must be an object.");
  const auto type = entry.input_schema.string_at("type");
  if (!type || *type != "object") return reject("tool", name, "the root of inputSchema must say \"type\": \"object\".");
  if (entry.output_schema && entry.output_schema->as_object() == nullptr) {
    return reject("tool", name, "outputSchema must be an object.");
  }
  auto mirrored = mirrored_arguments(entry.input_schema);
  if (!mirrored) return reject("tool", name, mirrored.error().public_text);
  auto input = schema::schema::compile(entry.input_schema);
  if (!input) return reject("tool", name, "inputSchema: " + input.error().public_text);
  std::optional<schema::schema> output;
  if (entry.output_schema) {
    auto compiled = schema::schema::compile(*entry.output_schema);
    if (!compiled) return reject("tool", name, "outputSchema: " + compiled.error().public_text);
    output = std::move(*compiled);
  }
  auto shared_entry = std::make_shared<const tool>(std::move(entry));
  auto offered = std::make_shared<offered_tool>(offered_tool{std::move(shared_entry), std::move(handler), std::move(options),
                                                             std::move(*mirrored), std::move(*input), std::move(output)});
  const std::shared_ptr<table> copy(new table(*this));
  copy->may_log_ = may_log_ || offered->options.is_from_application();
  copy->tools_[name] = std::move(offered);
  copy->has_tools_ = true;
  return std::shared_ptr<const table>(copy);
}

result<std::shared_ptr<const table>> table::with_prompt(prompt entry, prompt_handler handler) const {
  const auto name = entry.name;
  if (!is_prompt_name(name)) return reject("prompt", name, "its name must be 1 to 128 bytes without control characters.");
  if (!handler) return reject("prompt", name, "it has no handler.");
  if (!is_meta(entry.meta)) return reject("prompt", name, "meta must be an object.");
  for (auto argument = entry.arguments.begin(); argument != entry.arguments.end(); ++argument) {
    const auto is_same = [argument](const prompt_argument& other) { return other.name == argument->name; };
    if (argument->name.empty()) return reject("prompt", name, "an argument has no name.");
    if (std::any_of(entry.arguments.begin(), argument, is_same)) {
      return reject("prompt", name, "two arguments are named \"" + argument->name + "\".");
    }
  }
  const std::shared_ptr<table> copy(new table(*this));
  copy->has_prompts_ = copy->may_log_ = true;
  copy->has_completions_ =
      has_completions_ || std::any_of(entry.arguments.begin(), entry.arguments.end(),
                                      [](const prompt_argument& declared) { return bool(declared.complete); });
  auto offered = std::make_shared<offered_prompt>();
  offered->entry = std::make_shared<const prompt>(std::move(entry));
  offered->handler = std::move(handler);
  copy->prompts_[name] = std::move(offered);
  return std::shared_ptr<const table>(copy);
}

std::shared_ptr<const table> table::without_tool(std::string_view name) const {
  const auto* existing = find_tool(name);
  if (existing == nullptr || !existing->options.is_from_application()) return nullptr;
  const std::shared_ptr<table> copy(new table(*this));
  copy->tools_.erase(std::string(name));
  return copy;
}

std::shared_ptr<const table> table::without_built_in_tools() const {
  const std::shared_ptr<table> copy(new table(*this));
  std::erase_if(copy->tools_, [](const auto& entry) { return entry.second->options.is_built_in; });
  return copy;
}

std::shared_ptr<const table> table::without_source_tools() const {
  const std::shared_ptr<table> copy(new table(*this));
  std::erase_if(copy->tools_, [](const auto& entry) { return entry.second->options.is_from_source; });
  return copy;
}

std::shared_ptr<const table> table::without_prompt(std::string_view name) const {
  if (find_prompt(name) == nullptr) return nullptr;
  const std::shared_ptr<table> copy(new table(*this));
  copy->prompts_.erase(std::string(name));
  return copy;
}

std::shared_ptr<const table> table::with_page_size(std::size_t entries) const {
  const std::shared_ptr<table> copy(new table(*this));
  copy->page_size_ = std::max<std::size_t>(entries, 1);
  return copy;
}

result<model::tool_page> table::tools(const std::optional<std::string>& cursor, const tool_filter& is_visible) const {
  std::vector<std::shared_ptr<const offered_tool>> offered;
  auto page = page_of<model::tool_page>("tools", tools_, page_size_, offered, cursor, is_visible);
  if (page) {
    for (const auto& tool : offered) page->tools.push_back(tool->entry);
  }
  return page;
}

result<model::prompt_page> table::prompts(const std::optional<std::string>& cursor, const prompt_filter& is_visible) const {
  std::vector<std::shared_ptr<const offered_prompt>> offered;
  auto page = page_of<model::prompt_page>("prompts", prompts_, page_size_, offered, cursor, is_visible);
  if (page) {
    for (const auto& prompt : offered) page->prompts.push_back(prompt->entry);
  }
  return page;
}

const offered_tool* table::find_tool(std::string_view name) const {
  const auto position = tools_.find(name);
  return position == tools_.end() ? nullptr : position->second.get();
}

const offered_prompt* table::find_prompt(std::string_view name) const {
  const auto position = prompts_.find(name);
  return position == prompts_.end() ? nullptr : position->second.get();
}

namespace {

constexpr std::size_t max_error_name_bytes = 128;
constexpr std::size_t max_sent_values = 100;

failure unknown(std::string_view message, std::string_view name) {
  return {errc::invalid_argument, std::string(message) + std::string(name.substr(0, max_error_name_bytes)), {}};
}

/// The result for a tool's failure, for the model.
tool_outcome to_result(const failure& error) {
  return error_result(error.public_text.empty() ? "The tool failed." : error.public_text);
}

/// Adds structured content as text, for clients that read only content blocks. Spec: server/tools#structured-content.
void add_text(tool_result& answer) {
  if (answer.structured_content && answer.content.empty())
    answer.content.emplace_back(text_block{answer.structured_content->to_text(), {}});
}

/// How a result violates the output schema of its tool; empty if it does not. Results with `is_error` need not match.
std::string output_violation(const offered_tool& tool, const tool_result& answer) {
  if (!tool.output || answer.is_error) return {};
  if (!answer.structured_content) return " is missing, but the tool has an outputSchema";
  const auto violation = tool.output->validate(*answer.structured_content);
  return violation ? ": " + violation->text() : std::string();
}

std::string names_of(const prompt& entry) {
  std::string names;
  for (const auto& argument : entry.arguments) names += (names.empty() ? "" : ", ") + argument.name;
  return names.empty() ? "none" : names;
}

result<void> check_arguments(const prompt& entry, const prompt_call& request) {
  for (const auto& declared : entry.arguments) {
    const auto has_name = [&declared](const auto& argument) { return argument.first == declared.name; };
    if (declared.required && std::none_of(request.arguments.begin(), request.arguments.end(), has_name)) {
      return fail(errc::invalid_argument, "Missing required argument of prompt " + entry.name + ": " + declared.name);
    }
  }
  for (const auto& [name, text] : request.arguments) {
    const auto is_declared = [&argument_name = name](const prompt_argument& parameter) {
      return parameter.name == argument_name;
    };
    if (std::none_of(entry.arguments.begin(), entry.arguments.end(), is_declared)) {
      return fail(errc::invalid_argument, "The prompt " + entry.name + " has no argument " +
                                              name.substr(0, max_error_name_bytes) + ". Its arguments: " + names_of(entry) +
                                              ".");
    }
  }
  return {};
}

}  // namespace

failure table::unknown_tool(std::string_view name) { return unknown("Unknown tool: ", name); }
failure table::unknown_prompt(std::string_view name) { return unknown("Unknown prompt: ", name); }
failure table::unknown_prompt_to_complete(std::string_view name) { return unknown("ref.name: unknown prompt: ", name); }

void table::call(tool_call request, call_options options, completion<tool_outcome> callback) const {
  const auto position = tools_.find(request.name);
  if (position == tools_.end()) return callback(tl::unexpected(unknown_tool(request.name)));
  const auto context = static_cast<const hondana::request_context&>(request);  // a slice without the arguments
  const auto name = request.name;
  auto& pool = position->second->options.pool ? *position->second->options.pool : *runtime_.pool;
  auto job = [tool = position->second, call = std::move(request), behavior = std::move(options)]() -> result<tool_outcome> {
    const auto log_reason = [&](const std::string& reason) {
      if (behavior.log && !reason.empty()) behavior.log("tool " + call.name + ": " + reason);
    };
    if (const auto violation = tool->input.validate(call.arguments)) {
      auto text = "Invalid arguments for tool " + call.name + ": " + violation->text();
      if (behavior.validation_errors_are_results) return error_result(std::move(text));
      return fail(errc::invalid_argument, std::move(text));
    }
    try {
      auto outcome = tool->handler(call);
      if (!outcome) {
        log_reason(outcome.error().private_text);
        // The client can get a token with these scopes; the model, which reads results, cannot.
        if (outcome.error().code == errc::insufficient_scope && outcome.error().scopes) return outcome;
        return to_result(outcome.error());
      }
      if (auto* answer = std::get_if<tool_result>(&*outcome)) {
        if (const auto mismatch = output_violation(*tool, *answer); !mismatch.empty()) {
          return fail(errc::internal, "The tool " + call.name + " returned a result that does not match its outputSchema.",
                      "tool " + call.name + ": structuredContent" + mismatch);
        }
        add_text(*answer);
      }
      return outcome;
    } catch (const std::exception& error) {
      log_reason(std::string("exception: ") + error.what());
    }
    return error_result("The tool failed; the reason is in the server's log.");
  };
  catalog::run_on<tool_outcome>(pool, name, context, runtime_.timers, std::move(job), std::move(callback), nullptr,
                                executor::make_job_kind(1, name));
}

void table::get(prompt_call request, completion<prompt_outcome> callback) const {
  const auto position = prompts_.find(request.name);
  if (position == prompts_.end()) return callback(tl::unexpected(unknown_prompt(request.name)));
  if (auto checked = check_arguments(*position->second->entry, request); !checked) {
    return callback(tl::unexpected(std::move(checked.error())));
  }
  const auto context = static_cast<const hondana::request_context&>(request);  // a slice without the arguments
  const auto name = request.name;
  auto job = [prompt = position->second, call = std::move(request)]() -> result<prompt_outcome> {
    return prompt->handler(call);
  };
  catalog::run_on<prompt_outcome>(*runtime_.pool, name, context, runtime_.timers, std::move(job), std::move(callback));
}

void table::complete(const hondana::request_context& context, const model::complete& params,
                     completion<complete_result> callback) const {
  const auto name = params.prompt.value_or(std::string());
  const auto position = prompts_.find(name);
  if (position == prompts_.end()) return callback(tl::unexpected(unknown_prompt_to_complete(name)));
  const auto& arguments = position->second->entry->arguments;
  const auto argument = std::find_if(arguments.begin(), arguments.end(),
                                     [&params](const prompt_argument& declared) { return declared.name == params.argument; });
  if (argument == arguments.end()) {
    return callback(
        fail(errc::invalid_argument, "argument.name: the prompt " + name +
                                         " has no such argument. Its arguments: " + names_of(*position->second->entry) + "."));
  }
  if (!argument->complete) return callback(complete_result{});
  auto job = [complete = argument->complete,
              request = complete_argument_request{context, name, params.argument, params.value, params.context}]() {
    return complete(request).map([](complete_result values) {
      const auto count = values.values.size();
      if (!values.total && !values.has_more && count > max_sent_values) values.total = count;
      return values;
    });
  };
  catalog::run_on<complete_result>(*runtime_.pool, name, context, runtime_.timers, std::move(job), std::move(callback));
}

}  // namespace hondana::handlers
