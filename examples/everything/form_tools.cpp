/// Tools that ask the client's user or model, and return the response as text.
#include "everything.hpp"

namespace everything {
namespace {

using hondana::form_builder;
using hondana::form_request;
using hondana::input_required;
using hondana::tool_call;
using hondana::tool_outcome;
using hondana::tool_result;
using hondana::value;

/// The first round requests the form; the second round returns the response as text.
template <class MakeForm>
hondana::tool_handler elicit(std::string prefix, MakeForm make_form) {
  return [opening = std::move(prefix), make_form](const tool_call& call) -> result<tool_outcome> {
    if (const auto* error = call.responses.error("form")) return hondana::error_result("The client refused: " + *error);
    const auto filled = call.responses.elicitation("form");
    if (!filled) return input_required{.requests = {{"form", make_form(call)}}};
    const auto content = filled->content.value_or(value::object{});
    return hondana::text_result(opening + ": action=" + filled->action + ", content=" + content.to_text());
  };
}

form_request defaults_form(const tool_call&) {
  form_builder fields;
  fields.text("name", {.description = "User name", .default_value = "John Doe"})
      .integer("age", {.description = "User age", .default_value = 30})
      .number("score", {.description = "User score", .default_value = 95.5})
      .single_select("status", {{"active"}, {"inactive"}, {"pending"}},
                     {.description = "User status", .default_value = "active"})
      .boolean("verified", {.description = "Verification status", .default_value = true});
  return {"Please review and update the form fields with defaults", fields.schema()};
}

form_request choices_form(const tool_call&) {
  const std::vector<hondana::form_choice> untitled{{"option1"}, {"option2"}, {"option3"}};
  const std::vector<hondana::form_choice> titled{{"value1", "First"}, {"value2", "Second"}, {"value3", "Third"}};
  form_builder fields;
  fields.single_select("untitledSingle", untitled, {.description = "Select one"})
      .single_select("titledSingle", titled, {.description = "Select one by its title"})
      .multi_select("untitledMulti", untitled, {.description = "Select some", .min = 1, .max = 3})
      .multi_select("titledMulti", titled, {.description = "Select some by their titles", .min = 1, .max = 3});
  auto schema = *fields.schema().as_object();
  // The notation of 2025-06-18 for titles. Clients still support it, but `form_builder` no longer produces it.
  auto properties = *schema[1].second.as_object();
  properties.emplace_back("legacyEnum", value::object{{"type", "string"},
                                                      {"description", "Select one, the old way"},
                                                      {"enum", value::array{"opt1", "opt2", "opt3"}},
                                                      {"enumNames", value::array{"Option One", "Option Two", "Option Three"}}});
  schema[1].second = std::move(properties);
  return {"Please select options from the enum fields", std::move(schema)};
}

hondana::tool with_argument(std::string name, std::string description, std::string argument) {
  auto out = simple_tool(std::move(name), std::move(description));
  out.input_schema = value::object{{"type", "object"},
                                   {"properties", value::object{{argument, value::object{{"type", "string"}}}}},
                                   {"required", value::array{argument}}};
  return out;
}

result<tool_outcome> sample(const tool_call& call) {
  if (const auto* error = call.responses.error("model")) return hondana::error_result("The client refused: " + *error);
  if (const auto answer = call.responses.sampling("model")) return hondana::text_result("LLM response: " + answer->text());
  auto prompt = call.arguments.string_at("prompt");
  if (!prompt) return tl::unexpected(prompt.error());
  return input_required{.requests = {{"model", hondana::sampling_request{
                                                   .messages = {{.content = hondana::text_block{.text = std::move(*prompt)}}},
                                                   .max_tokens = 100}}}};
}

}  // namespace

result<void> add_form_tools(server& target) {
  auto added = target.add_tool(with_argument("test_sampling", "Lets the client's model answer", "prompt"), sample);
  if (!added) return added;
  added = target.add_tool(with_argument("test_elicitation", "Lets the user answer", "message"),
                          elicit("User response", [](const tool_call& call) {
                            form_builder fields;
                            fields.text("response", {.description = "User's response", .is_required = true});
                            return form_request{call.arguments.string_at("message").value_or(std::string()), fields.schema()};
                          }));
  if (!added) return added;
  added = target.add_tool(simple_tool("test_elicitation_sep1034_defaults", "Asks with defaults"),
                          elicit("Elicitation completed", defaults_form));
  if (!added) return added;
  return target.add_tool(simple_tool("test_elicitation_sep1330_enums", "Asks with choices"),
                         elicit("Elicitation completed", choices_form));
}

}  // namespace everything
