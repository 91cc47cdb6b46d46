/// Calling tools and prompts, and what becomes of their failures.
#include <algorithm>
#include <exception>
#include <utility>

#include "server/catalog/owed.hpp"
#include "server/handlers/table.hpp"

namespace hondana::handlers {
namespace {

constexpr std::size_t shown_name = 128;
constexpr std::size_t values_sent = 100;

failure unknown(std::string_view what, std::string_view name) {
  return {errc::invalid_argument, std::string(what) + std::string(name.substr(0, shown_name)), {}};
}

/// What a tool's failure says to a model.
tool_outcome as_result(const failure& why) {
  return error_result(why.public_text.empty() ? "The tool failed." : why.public_text);
}

/// The text of structured content, for clients that only read blocks. Spec: server/tools#structured-content.
void add_text(tool_result& to) {
  if (to.structuredContent && to.content.empty()) to.content.emplace_back(text_block{to.structuredContent->to_text(), {}});
}

/// What is wrong with a result by its tool's output schema; empty when nothing is. Errors need not fit.
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
  const auto by = static_cast<const hondana::call&>(what);  // all of it but the arguments
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
        // The client can get a token that is enough; the model, who reads results, cannot.
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
  const auto by = static_cast<const hondana::call&>(what);  // all of it but the arguments
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
