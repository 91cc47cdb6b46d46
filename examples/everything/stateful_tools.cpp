/// Tools with state between rounds, which the client stores.
#include "everything.hpp"

namespace everything {
namespace {

using hondana::form_builder;
using hondana::form_request;
using hondana::input_required;
using hondana::tool_call;
using hondana::tool_outcome;
using hondana::value;

form_request ask_text(std::string message, std::string field) {
  form_builder fields;
  fields.text(std::move(field), {.is_required = true});
  return {std::move(message), fields.schema()};
}

form_request ask_confirmation() {
  form_builder fields;
  fields.boolean("ok", {.is_required = true});
  return {"Please confirm", fields.schema()};
}

/// Whether the previous round stored `stage` in its state.
bool is_after_stage(const tool_call& call, std::string_view stage) {
  return call.state && call.state->string_at("stage").value_or(std::string()) == stage;
}

hondana::tool_handler confirm_handler(std::string success) {
  return [success = std::move(success)](const tool_call& call) -> result<tool_outcome> {
    const auto filled = call.responses.elicitation("confirm");
    if (is_after_stage(call, "confirming") && filled && filled->action == "accept") return hondana::text_result(success);
    return input_required{.requests = {{"confirm", ask_confirmation()}}, .state = value::object{{"stage", "confirming"}}};
  };
}

result<tool_outcome> collect_inputs(const tool_call& call) {
  const auto name = call.responses.text("user_name", "name");
  const auto greeting = call.responses.sampling("greeting");
  const auto roots = call.responses.roots("client_roots");
  if (is_after_stage(call, "gathering") && name && greeting && roots) {
    return hondana::text_result("Name: " + *name + "; Greeting: " + greeting->text() +
                                "; Roots: " + std::to_string(roots->size()));
  }
  return input_required{
      .requests = {{"user_name", ask_text("What is your name?", "name")},
                   {"greeting",
                    hondana::sampling_request{.messages = {{.content = hondana::text_block{.text = "Generate a greeting"}}},
                                              .max_tokens = 50}},
                   {"client_roots", hondana::roots_request{}}},
      .state = value::object{{"stage", "gathering"}}};
}

result<tool_outcome> two_steps(const tool_call& call) {
  if (is_after_stage(call, "colour")) {
    if (const auto colour = call.responses.text("step2", "color")) {
      return hondana::text_result("Multi-round complete for " + call.state->string_at("name").value_or("somebody") +
                                  " who likes " + *colour);
    }
    return input_required{.requests = {{"step2", ask_text("Step 2: What is your favorite color?", "color")}},
                          .state = call.state};
  }
  if (is_after_stage(call, "name")) {
    if (const auto name = call.responses.text("step1", "name")) {
      return input_required{.requests = {{"step2", ask_text("Step 2: What is your favorite color?", "color")}},
                            .state = value::object{{"stage", "colour"}, {"name", *name}}};
    }
  }
  return input_required{.requests = {{"step1", ask_text("Step 1: What is your name?", "name")}},
                        .state = value::object{{"stage", "name"}}};
}

}  // namespace

result<void> add_stateful_tools(server& target) {
  auto added = target.add_tool(simple_tool("test_input_required_result_request_state", "Remembers that it asked"),
                               confirm_handler("state-ok: requestState validated"));
  if (!added) return added;
  added = target.add_tool(simple_tool("test_input_required_result_tampered_state", "Remembers, and cannot be lied to"),
                          confirm_handler("integrity-ok: state verified"));
  if (!added) return added;
  added =
      target.add_tool(simple_tool("test_input_required_result_multiple_inputs", "Asks three things at once"), collect_inputs);
  if (!added) return added;
  return target.add_tool(simple_tool("test_input_required_result_multi_round", "Asks twice"), two_steps);
}

}  // namespace everything
