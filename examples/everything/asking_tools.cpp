/// Tools that need one answer of the client before they can give theirs.
#include "everything.hpp"

namespace everything {
namespace {

using hondana::form;
using hondana::form_request;
using hondana::input_request;
using hondana::input_required;
using hondana::tool_call;
using hondana::tool_outcome;

form_request name_form() {
  form fields;
  fields.text("name", {.is_required = true});
  return {"What is your name?", fields.schema()};
}

hondana::sampling_request ask_model(std::string text, std::int64_t most) {
  return {.messages = {{.content = hondana::text_block{.text = std::move(text)}}}, .maxTokens = most};
}

input_required one(std::string key, input_request what) { return {.requests = {{std::move(key), std::move(what)}}}; }

result<tool_outcome> greet(const tool_call& call) {
  if (const auto name = call.answers.text("user_name", "name")) return hondana::text_result("Hello, " + *name + "!");
  return one("user_name", name_form());
}

result<tool_outcome> ask_capital(const tool_call& call) {
  if (const auto answer = call.answers.sampled("sample_request"))
    return hondana::text_result("Sampling result: " + answer->text());
  return one("sample_request", ask_model("What is the capital of France?", 100));
}

result<tool_outcome> count_roots(const tool_call& call) {
  if (const auto found = call.answers.roots("roots_request")) {
    return hondana::text_result("Found " + std::to_string(found->size()) + " root(s)");
  }
  return one("roots_request", hondana::roots_request{});
}

/// Asks for what this client can be asked for.
result<tool_outcome> ask_possible(const tool_call& call) {
  if (!call.answers.empty()) {
    std::string keys;
    for (const auto& [key, answer] : call.answers.all()) keys += (keys.empty() ? "" : ",") + key;
    return hondana::text_result("capabilities-ok: received " + keys);
  }
  input_required all;
  if (call.client.forms) all.requests.emplace_back("elicit_input", name_form());
  if (call.client.sampling) all.requests.emplace_back("sample_input", ask_model("Sample request", 50));
  if (all.requests.empty()) return hondana::text_result("This client can be asked for nothing.");
  return all;
}

}  // namespace

result<void> add_asking_tools(server& to) {
  auto added = to.add_tool(plain_tool("test_input_required_result_elicitation", "Needs the user's name"), greet);
  if (!added) return added;
  added = to.add_tool(plain_tool("test_input_required_result_sampling", "Needs the client's model"), ask_capital);
  if (!added) return added;
  added = to.add_tool(plain_tool("test_input_required_result_list_roots", "Needs the client's folders"), count_roots);
  if (!added) return added;
  added = to.add_tool(plain_tool("test_input_required_result_capabilities", "Needs whatever can be had"), ask_possible);
  if (!added) return added;
  return to.add_tool(plain_tool("test_missing_capability", "Needs sampling, and fails without"), ask_capital);
}

}  // namespace everything
