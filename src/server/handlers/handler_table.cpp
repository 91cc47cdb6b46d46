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

constexpr std::size_t longest_name = 128;

tl::unexpected<failure> refuse(std::string_view what, const std::string& name, const std::string& why) {
  return fail(errc::invalid_argument, "The " + std::string(what) + " \"" + name + "\" cannot be added: " + why);
}

bool is_tool_name(std::string_view name) {
  return !name.empty() && name.size() <= longest_name && std::all_of(name.begin(), name.end(), [](char c) {
    return (c >= '0' && c <= '9') || (c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z') || c == '_' || c == '-' || c == '.' ||
           c == '/';
  });
}

bool is_prompt_name(std::string_view name) {
  return !name.empty() && name.size() <= longest_name &&
         std::none_of(name.begin(), name.end(), [](char c) { return static_cast<unsigned char>(c) < ' ' || c == 0x7F; });
}

bool is_meta(const value& meta) { return meta.is_null() || meta.as_object() != nullptr; }

/// One page of a map of entries. The cursor has the last name, in base64url, because cursor keys are plain ASCII.
template <class Page, class Entries, class Sight>
result<Page> page_of(std::string_view list, const Entries& entries, std::size_t size,
                     std::vector<typename Entries::mapped_type>& out, const std::optional<std::string>& cursor,
                     const Sight& is_shown) {
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
  const auto is_hidden = [&is_shown](const auto& one) { return is_shown && !is_shown(*one.second); };
  const auto skip_hidden = [&] { next = std::find_if_not(next, entries.end(), is_hidden); };
  for (skip_hidden(); next != entries.end() && out.size() < size; skip_hidden()) {
    last = next->first;
    out.push_back(next->second);
    ++next;
  }
  if (next != entries.end()) page.next_cursor = catalog::write_cursor(scope, json::base64url(last));
  return page;
}

}  // namespace

std::shared_ptr<const table> table::empty(workshop where, std::size_t page_size) {
  return std::shared_ptr<const table>(new table(std::move(where), std::max<std::size_t>(page_size, 1)));
}

result<std::shared_ptr<const table>> table::with(tool entry, tool_handler handler, tool_manners how) const {
  const auto name = entry.name;
  const auto* present = find_tool(name);
  if (present != nullptr && (present->manners.is_of_source || how.is_of_source)) {
    return refuse("tool", name, "a source already has a tool of that name. Rename one of the two, or remove one.");
  }
  if (present != nullptr && present->manners.is_built_in != how.is_built_in) {
    return refuse("tool", name,
                  "the server's own tool \"" + name +
                      "\" for resources (server_options::resource_tools) and the application's \"" + name +
                      "\" have the same name. Rename the application's tool, or turn off the server's.");
  }
  if (!is_tool_name(name)) {
    return refuse("tool", name, "its name must be 1 to 128 characters of A-Z, a-z, 0-9, '_', '-', '.' and '/'.");
  }
  if (!handler) return refuse("tool", name, "it has no handler.");
  if (!is_meta(entry.meta)) return refuse("tool", name, "meta must be an object.");
  const auto type = entry.inputSchema.string_at("type");
  if (!type || *type != "object") return refuse("tool", name, "the root of inputSchema must say \"type\": \"object\".");
  if (entry.outputSchema && entry.outputSchema->as_object() == nullptr) {
    return refuse("tool", name, "outputSchema must be an object.");
  }
  auto mirrored = mirrored_arguments(entry.inputSchema);
  if (!mirrored) return refuse("tool", name, mirrored.error().public_text);
  auto input = schema::schema::compile(entry.inputSchema);
  if (!input) return refuse("tool", name, "inputSchema: " + input.error().public_text);
  std::optional<schema::schema> output;
  if (entry.outputSchema) {
    auto compiled = schema::schema::compile(*entry.outputSchema);
    if (!compiled) return refuse("tool", name, "outputSchema: " + compiled.error().public_text);
    output = std::move(*compiled);
  }
  auto shown = std::make_shared<const tool>(std::move(entry));
  auto offered = std::make_shared<offered_tool>(offered_tool{std::move(shown), std::move(handler), std::move(how),
                                                             std::move(*mirrored), std::move(*input), std::move(output)});
  const std::shared_ptr<table> made(new table(*this));
  made->may_log_ = may_log_ || offered->manners.is_of_application();
  made->tools_[name] = std::move(offered);
  made->has_tools_ = true;
  return std::shared_ptr<const table>(made);
}

result<std::shared_ptr<const table>> table::with(prompt entry, prompt_handler handler) const {
  const auto name = entry.name;
  if (!is_prompt_name(name)) return refuse("prompt", name, "its name must be 1 to 128 bytes without control characters.");
  if (!handler) return refuse("prompt", name, "it has no handler.");
  if (!is_meta(entry.meta)) return refuse("prompt", name, "meta must be an object.");
  for (auto one = entry.arguments.begin(); one != entry.arguments.end(); ++one) {
    const auto is_same = [one](const prompt_argument& other) { return other.name == one->name; };
    if (one->name.empty()) return refuse("prompt", name, "an argument has no name.");
    if (std::any_of(entry.arguments.begin(), one, is_same)) {
      return refuse("prompt", name, "two arguments are named \"" + one->name + "\".");
    }
  }
  const std::shared_ptr<table> made(new table(*this));
  made->has_prompts_ = made->may_log_ = true;
  made->has_completions_ = has_completions_ || std::any_of(entry.arguments.begin(), entry.arguments.end(),
                                                           [](const prompt_argument& one) { return bool(one.complete); });
  auto offered = std::make_shared<offered_prompt>();
  offered->entry = std::make_shared<const prompt>(std::move(entry));
  offered->handler = std::move(handler);
  made->prompts_[name] = std::move(offered);
  return std::shared_ptr<const table>(made);
}

std::shared_ptr<const table> table::without_tool(std::string_view name) const {
  const auto* present = find_tool(name);
  if (present == nullptr || !present->manners.is_of_application()) return nullptr;
  const std::shared_ptr<table> made(new table(*this));
  made->tools_.erase(std::string(name));
  return made;
}

std::shared_ptr<const table> table::without_built_in_tools() const {
  const std::shared_ptr<table> made(new table(*this));
  std::erase_if(made->tools_, [](const auto& one) { return one.second->manners.is_built_in; });
  return made;
}

std::shared_ptr<const table> table::without_tools_of_sources() const {
  const std::shared_ptr<table> made(new table(*this));
  std::erase_if(made->tools_, [](const auto& one) { return one.second->manners.is_of_source; });
  return made;
}

std::shared_ptr<const table> table::without_prompt(std::string_view name) const {
  if (find_prompt(name) == nullptr) return nullptr;
  const std::shared_ptr<table> made(new table(*this));
  made->prompts_.erase(std::string(name));
  return made;
}

std::shared_ptr<const table> table::with_page_size(std::size_t entries) const {
  const std::shared_ptr<table> made(new table(*this));
  made->page_size_ = std::max<std::size_t>(entries, 1);
  return made;
}

result<model::tool_page> table::tools(const std::optional<std::string>& cursor, const tool_sight& is_shown) const {
  std::vector<std::shared_ptr<const offered_tool>> found;
  auto page = page_of<model::tool_page>("tools", tools_, page_size_, found, cursor, is_shown);
  if (page) {
    for (const auto& one : found) page->tools.push_back(one->entry);
  }
  return page;
}

result<model::prompt_page> table::prompts(const std::optional<std::string>& cursor, const prompt_sight& is_shown) const {
  std::vector<std::shared_ptr<const offered_prompt>> found;
  auto page = page_of<model::prompt_page>("prompts", prompts_, page_size_, found, cursor, is_shown);
  if (page) {
    for (const auto& one : found) page->prompts.push_back(one->entry);
  }
  return page;
}

const offered_tool* table::find_tool(std::string_view name) const {
  const auto found = tools_.find(name);
  return found == tools_.end() ? nullptr : found->second.get();
}

const offered_prompt* table::find_prompt(std::string_view name) const {
  const auto found = prompts_.find(name);
  return found == prompts_.end() ? nullptr : found->second.get();
}

namespace {

constexpr std::size_t shown_name = 128;
constexpr std::size_t values_sent = 100;

failure unknown(std::string_view what, std::string_view name) {
  return {errc::invalid_argument, std::string(what) + std::string(name.substr(0, shown_name)), {}};
}

/// The result for a tool's failure, for the model.
tool_outcome as_result(const failure& why) {
  return error_result(why.public_text.empty() ? "The tool failed." : why.public_text);
}

/// Adds structured content as text, for clients that read only content blocks. Spec: server/tools#structured-content.
void add_text(tool_result& to) {
  if (to.structuredContent && to.content.empty()) to.content.emplace_back(text_block{to.structuredContent->to_text(), {}});
}

/// How a result violates the output schema of its tool; empty if it does not. Results with `isError` need not match.
std::string misfit_of(const offered_tool& by, const tool_result& answer) {
  if (!by.output || answer.isError) return {};
  if (!answer.structuredContent) return " is missing, but the tool has an outputSchema";
  const auto misfit = by.output->check(*answer.structuredContent);
  return misfit ? ": " + misfit->text() : std::string();
}

std::string names_of(const prompt& entry) {
  std::string all;
  for (const auto& one : entry.arguments) all += (all.empty() ? "" : ", ") + one.name;
  return all.empty() ? "none" : all;
}

result<void> check_arguments(const prompt& entry, const prompt_call& what) {
  for (const auto& one : entry.arguments) {
    const auto is_it = [&one](const auto& given) { return given.first == one.name; };
    if (one.required && std::none_of(what.arguments.begin(), what.arguments.end(), is_it)) {
      return fail(errc::invalid_argument, "Missing required argument of prompt " + entry.name + ": " + one.name);
    }
  }
  for (const auto& [name, given] : what.arguments) {
    const auto is_it = [&wanted = name](const prompt_argument& one) { return one.name == wanted; };
    if (std::none_of(entry.arguments.begin(), entry.arguments.end(), is_it)) {
      return fail(errc::invalid_argument, "The prompt " + entry.name + " has no argument " + name.substr(0, shown_name) +
                                              ". Its arguments: " + names_of(entry) + ".");
    }
  }
  return {};
}

}  // namespace

failure table::unknown_tool(std::string_view name) { return unknown("Unknown tool: ", name); }
failure table::unknown_prompt(std::string_view name) { return unknown("Unknown prompt: ", name); }
failure table::unknown_prompt_to_complete(std::string_view name) { return unknown("ref.name: unknown prompt: ", name); }

void table::call(tool_call what, call_manners how, completion<tool_outcome> done) const {
  const auto found = tools_.find(what.name);
  if (found == tools_.end()) return done(tl::unexpected(unknown_tool(what.name)));
  const auto by = static_cast<const hondana::call&>(what);  // a slice without the arguments
  const auto name = what.name;
  auto& pool = found->second->manners.pool ? *found->second->manners.pool : *where_.pool;
  auto job = [to = found->second, what = std::move(what), how = std::move(how)]() -> result<tool_outcome> {
    const auto note = [&](const std::string& why) {
      if (how.complain && !why.empty()) how.complain("tool " + what.name + ": " + why);
    };
    if (const auto misfit = to->input.check(what.arguments)) {
      auto text = "Invalid arguments for tool " + what.name + ": " + misfit->text();
      if (how.misfits_are_results) return error_result(std::move(text));
      return fail(errc::invalid_argument, std::move(text));
    }
    try {
      auto outcome = to->handler(what);
      if (!outcome) {
        note(outcome.error().private_text);
        // The client can get a token with these scopes; the model, which reads results, cannot.
        if (outcome.error().code == errc::scope_missing && outcome.error().scopes) return outcome;
        return as_result(outcome.error());
      }
      if (auto* answer = std::get_if<tool_result>(&*outcome)) {
        if (const auto why = misfit_of(*to, *answer); !why.empty()) {
          return fail(errc::internal, "The tool " + what.name + " returned a result that does not match its outputSchema.",
                      "tool " + what.name + ": structuredContent" + why);
        }
        add_text(*answer);
      }
      return outcome;
    } catch (const std::exception& error) {
      note(std::string("exception: ") + error.what());
    }
    return error_result("The tool failed; the reason is in the server's log.");
  };
  catalog::ask_on<tool_outcome>(pool, name, by, where_.timers, std::move(job), std::move(done), nullptr,
                                executor::kind_of(1, name));
}

void table::get(prompt_call what, completion<prompt_outcome> done) const {
  const auto found = prompts_.find(what.name);
  if (found == prompts_.end()) return done(tl::unexpected(unknown_prompt(what.name)));
  if (auto checked = check_arguments(*found->second->entry, what); !checked) {
    return done(tl::unexpected(std::move(checked.error())));
  }
  const auto by = static_cast<const hondana::call&>(what);  // a slice without the arguments
  const auto name = what.name;
  auto job = [to = found->second, what = std::move(what)]() -> result<prompt_outcome> { return to->handler(what); };
  catalog::ask_on<prompt_outcome>(*where_.pool, name, by, where_.timers, std::move(job), std::move(done));
}

void table::complete(const hondana::call& by, const model::complete& what, completion<complete_result> done) const {
  const auto name = what.prompt.value_or(std::string());
  const auto found = prompts_.find(name);
  if (found == prompts_.end()) return done(tl::unexpected(unknown_prompt_to_complete(name)));
  const auto& arguments = found->second->entry->arguments;
  const auto argument = std::find_if(arguments.begin(), arguments.end(),
                                     [&what](const prompt_argument& one) { return one.name == what.argument; });
  if (argument == arguments.end()) {
    return done(fail(errc::invalid_argument, "argument.name: the prompt " + name + " has no such argument. Its arguments: " +
                                                 names_of(*found->second->entry) + "."));
  }
  if (!argument->complete) return done(complete_result{});
  auto job = [complete = argument->complete,
              request = complete_argument_request{by, name, what.argument, what.value, what.context}]() {
    return complete(request).map([](complete_result values) {
      const auto count = values.values.size();
      if (!values.total && !values.has_more && count > values_sent) values.total = count;
      return values;
    });
  };
  catalog::ask_on<complete_result>(*where_.pool, name, by, where_.timers, std::move(job), std::move(done));
}

}  // namespace hondana::handlers
