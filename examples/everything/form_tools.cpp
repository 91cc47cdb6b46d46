/// Tools that ask the client's user or model, and tell what came back.
#include "everything.hpp"

namespace everything {
namespace {

using hondana::form;
using hondana::form_request;
using hondana::input_required;
using hondana::tool_call;
using hondana::tool_outcome;
using hondana::tool_result;
using hondana::value;

/// The first round asks; the second tells.
template <class Ask>
hondana::tool_handler asking(std::string opening, Ask ask) {
  return [opening = std::move(opening), ask](const tool_call& call) -> result<tool_outcome> {
    if (const auto* why = call.answers.refusal("form")) return hondana::error_result("The client refused: " + *why);
    const auto filled = call.answers.filled_form("form");
    if (!filled) return input_required{.requests = {{"form", ask(call)}}};
    const auto content = filled->content.is_null() ? value(value::object{}) : filled->content;
    return hondana::text_result(opening + ": action=" + filled->action + ", content=" + content.to_text());
  };
}

form_request ask_for_defaults(const tool_call&) {
  form fields;
  fields.text("name", {.description = "User name", .preset = "John Doe"})
      .integer("age", {.description = "User age", .preset = 30})
      .number("score", {.description = "User score", .preset = 95.5})
      .one_of("status", {{"active"}, {"inactive"}, {"pending"}}, {.description = "User status", .preset = "active"})
      .boolean("verified", {.description = "Verification status", .preset = true});
  return {"Please review and update the form fields with defaults", fields.schema()};
}

form_request ask_for_choices(const tool_call&) {
  const std::vector<hondana::form_choice> plain{{"option1"}, {"option2"}, {"option3"}};
  const std::vector<hondana::form_choice> titled{{"value1", "First"}, {"value2", "Second"}, {"value3", "Third"}};
  form fields;
  fields.one_of("untitledSingle", plain, {.description = "Select one"})
      .one_of("titledSingle", titled, {.description = "Select one by its title"})
      .some_of("untitledMulti", plain, {.description = "Select some", .least = 1, .most = 3})
      .some_of("titledMulti", titled, {.description = "Select some by their titles", .least = 1, .most = 3});
  auto schema = *fields.schema().as_object();
  // The form that 2025-06-18 had for titles, which clients still know and `form` no longer makes.
  auto properties = *schema[1].second.as_object();
  properties.emplace_back("legacyEnum", value::object{{"type", "string"},
                                                      {"description", "Select one, the old way"},
                                                      {"enum", value::array{"opt1", "opt2", "opt3"}},
                                                      {"enumNames", value::array{"Option One", "Option Two", "Option Three"}}});
  schema[1].second = std::move(properties);
  return {"Please select options from the enum fields", std::move(schema)};
}

hondana::tool with_argument(std::string name, std::string description, std::string argument) {
  auto out = plain_tool(std::move(name), std::move(description));
  out.inputSchema = value::object{{"type", "object"},
                                  {"properties", value::object{{argument, value::object{{"type", "string"}}}}},
                                  {"required", value::array{argument}}};
  return out;
}

result<tool_outcome> sample(const tool_call& call) {
  if (const auto* why = call.answers.refusal("model")) return hondana::error_result("The client refused: " + *why);
  if (const auto answer = call.answers.sampled("model")) return hondana::text_result("LLM response: " + answer->text());
  auto prompt = call.arguments.string_at("prompt");
  if (!prompt) return tl::unexpected(prompt.error());
  return input_required{.requests = {{"model", hondana::sampling_request{
                                                   .messages = {{.content = hondana::text_block{.text = std::move(*prompt)}}},
                                                   .maxTokens = 100}}}};
}

}  // namespace

result<void> add_form_tools(server& to) {
  auto added = to.add_tool(with_argument("test_sampling", "Lets the client's model answer", "prompt"), sample);
  if (!added) return added;
  added = to.add_tool(with_argument("test_elicitation", "Lets the user answer", "message"),
                      asking("User response", [](const tool_call& call) {
                        form fields;
                        fields.text("response", {.description = "User's response", .is_required = true});
                        return form_request{call.arguments.string_at("message").value_or(std::string()), fields.schema()};
                      }));
  if (!added) return added;
  added = to.add_tool(plain_tool("test_elicitation_sep1034_defaults", "Asks with defaults"),
                      asking("Elicitation completed", ask_for_defaults));
  if (!added) return added;
  return to.add_tool(plain_tool("test_elicitation_sep1330_enums", "Asks with choices"),
                     asking("Elicitation completed", ask_for_choices));
}

}  // namespace everything
