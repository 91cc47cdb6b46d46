/// Prompts: with and without arguments, with a resource, with a picture, with a question.
#include "everything.hpp"

namespace everything {
namespace {

using hondana::complete_argument_request;
using hondana::complete_result;
using hondana::prompt_call;
using hondana::prompt_outcome;
using hondana::prompt_result;

prompt_result text_prompt(std::string text) {
  return {.messages = {{.content = hondana::text_block{.text = std::move(text)}}}};
}

/// Completes from a short list.
result<complete_result> complete(const complete_argument_request& request) {
  complete_result matches;
  for (const auto* candidate : {"paris", "park", "party"}) {
    if (std::string_view(candidate).starts_with(request.value)) matches.values.emplace_back(candidate);
  }
  return matches;
}

result<prompt_outcome> with_question(const prompt_call& call) {
  if (const auto context = call.responses.text("user_context", "context"))
    return text_prompt("Prompt with context: " + *context);
  hondana::form_builder fields;
  fields.text("context", {.is_required = true});
  return hondana::input_required{
      .requests = {{"user_context", hondana::form_request{"What context should the prompt use?", fields.schema()}}}};
}

}  // namespace

result<void> add_prompts(server& target) {
  auto added = target.add_prompt({.name = "test_simple_prompt", .title = "Simple", .description = "Has no arguments"},
                                 [](const prompt_call&) { return text_prompt("This is a simple prompt for testing."); });
  if (!added) return added;
  added = target.add_prompt(
      {.name = "test_prompt_with_arguments",
       .title = "With arguments",
       .description = "Has two arguments",
       .arguments = {{.name = "arg1", .description = "First test argument", .required = true, .complete = complete},
                     {.name = "arg2", .description = "Second test argument", .required = true, .complete = complete}}},
      [](const prompt_call& call) {
        return text_prompt("Prompt with arguments: arg1='" + call.argument("arg1") + "', arg2='" + call.argument("arg2") + "'");
      });
  if (!added) return added;
  added = target.add_prompt(
      {.name = "test_prompt_with_embedded_resource",
       .title = "With a resource",
       .description = "Carries a resource along",
       .arguments = {{.name = "resourceUri", .description = "URI of the resource to embed", .required = true}}},
      [](const prompt_call& call) {
        auto out = text_prompt("Please process the embedded resource above.");
        out.messages.insert(out.messages.begin(),
                            {.content = hondana::embedded_block{.uri = call.argument("resourceUri"),
                                                                .mime_type = "text/plain",
                                                                .bytes = "Embedded resource content for testing."}});
        return out;
      });
  if (!added) return added;
  added =
      target.add_prompt({.name = "test_prompt_with_image", .title = "With a picture", .description = "Carries a picture along"},
                        [](const prompt_call&) {
                          auto out = text_prompt("Please analyze the image above.");
                          out.messages.insert(out.messages.begin(),
                                              {.content = hondana::image_block{.bytes = picture(), .mime_type = "image/png"}});
                          return out;
                        });
  if (!added) return added;
  return target.add_prompt({.name = "test_input_required_result_prompt", .description = "Asks the user first"}, with_question);
}

}  // namespace everything
