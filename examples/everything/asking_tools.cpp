/// Tools that need an answer of the client before they can return a result.
#include "everything.hpp"

namespace everything {
namespace {

using hondana::form_builder;
using hondana::form_request;
using hondana::input_request;
using hondana::input_required;
using hondana::tool_call;
using hondana::tool_outcome;

form_request name_form() {
  form_builder fields;
  fields.text("name", {.is_required = true});
  return {"What is your name?", fields.schema()};
}

hondana::sampling_request ask_model(std::string text, std::int64_t max_tokens) {
  return {.messages = {{.content = hondana::text_block{.text = std::move(text)}}}, .max_tokens = max_tokens};
}

input_required require_input(std::string key, input_request request) {
  return {.requests = {{std::move(key), std::move(request)}}};
}

result<tool_outcome> greet(const tool_call& call) {
  if (const auto name = call.responses.text("user_name", "name")) return hondana::text_result("Hello, " + *name + "!");
  return require_input("user_name", name_form());
}

result<tool_outcome> ask_capital(const tool_call& call) {
  if (const auto answer = call.responses.sampling("sample_request"))
    return hondana::text_result("Sampling result: " + answer->text());
  return require_input("sample_request", ask_model("What is the capital of France?", 100));
}

result<tool_outcome> count_roots(const tool_call& call) {
  if (const auto roots = call.responses.roots("roots_request")) {
    return hondana::text_result("Found " + std::to_string(roots->size()) + " root(s)");
  }
  return require_input("roots_request", hondana::roots_request{});
}

/// Requests one input of each kind that the client supports.
result<tool_outcome> ask_supported(const tool_call& call) {
  if (!call.responses.empty()) {
    std::string keys;
    for (const auto& [key, answer] : call.responses.raw()) keys += (keys.empty() ? "" : ",") + key;
    return hondana::text_result("capabilities-ok: received " + keys);
  }
  input_required input;
  if (call.capabilities.form_elicitation) input.requests.emplace_back("elicit_input", name_form());
  if (call.capabilities.sampling) input.requests.emplace_back("sample_input", ask_model("Sample request", 50));
  if (input.requests.empty()) return hondana::text_result("This client can be asked for nothing.");
  return input;
}

}  // namespace

result<void> add_input_tools(server& target) {
  auto added = target.add_tool(simple_tool("test_input_required_result_elicitation", "Needs the user's name"), greet);
  if (!added) return added;
  added = target.add_tool(simple_tool("test_input_required_result_sampling", "Needs the client's model"), ask_capital);
  if (!added) return added;
  added = target.add_tool(simple_tool("test_input_required_result_list_roots", "Needs the client's folders"), count_roots);
  if (!added) return added;
  added = target.add_tool(simple_tool("test_input_required_result_capabilities", "Needs whatever can be had"), ask_supported);
  if (!added) return added;
  return target.add_tool(simple_tool("test_missing_capability", "Needs sampling, and fails without"), ask_capital);
}

}  // namespace everything
