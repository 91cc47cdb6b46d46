/// Tools and prompts of the transcripts' server.
#include "transcripts/handler_server.hpp"

#include <stdexcept>
#include <string>
#include <utility>

#include "transcripts/entries.hpp"

namespace transcripts {
namespace {

using hondana::result;
using hondana::tool_call;
using hondana::tool_outcome;
using hondana::value;

struct echo_arguments {
  std::string text;
  int times = 0;
};

hondana::tool tool_named(std::string name, std::string description) {
  hondana::tool entry;
  entry.name = std::move(name);
  entry.description = std::move(description);
  return entry;
}

void add_echo(hondana::server& made) {
  auto echo = tool_named("echo", "Says it again");
  echo.title = "Echo";
  echo.annotations.read_only_hint = true;
  echo.icons.push_back({"https://example.com/echo.png", "image/png", {"48x48"}, {}});
  hondana::tool_arguments<echo_arguments> arguments;
  arguments.add("text", &echo_arguments::text, {.description = "What to say"})
      .add("times", &echo_arguments::times, {.default_value = 1, .min = 1, .max = 3});
  check(made.add_tool(std::move(echo), arguments, [](const tool_call&, const echo_arguments& given) -> result<tool_outcome> {
    std::string all;
    for (int time = 0; time < given.times; ++time) all += given.text;
    return hondana::text_result(std::move(all));
  }));
}

void add_weather(hondana::server& made) {
  auto weather = tool_named("weather", "Tells the temperature");
  weather.output_schema = value::object{{"type", "object"},
                                        {"properties", value::object{{"celsius", value::object{{"type", "number"}}}}},
                                        {"required", value::array{"celsius"}}};
  check(made.add_tool(std::move(weather), [](const tool_call& call) -> result<tool_outcome> {
    hondana::tool_result out;
    // A number where the caller asked for a lie: what does not fit the output schema must not go out.
    const bool lies = call.arguments.find("lie") != nullptr;
    out.structured_content = value::object{{"celsius", lies ? value("warm") : value(22.5)}};
    return out;
  }));
}

void add_blocks(hondana::server& made) {
  check(made.add_tool(tool_named("blocks", "One of every block"), [](const tool_call&) -> result<tool_outcome> {
    auto out = hondana::text_result("text");
    out.content.emplace_back(hondana::image_block{"image", "image/png", {{hondana::chat_role::user}, 0.9, {}}});
    out.content.emplace_back(hondana::audio_block{"audio", "audio/wav", {}});
    hondana::link_block link;
    link.entry.uri = "file:///project/src/main.rs";
    link.entry.name = "main.rs";
    out.content.emplace_back(std::move(link));
    out.content.emplace_back(hondana::embedded_block{"file:///a.txt", "text/plain", "A", {}, {}});
    out.content.emplace_back(
        hondana::embedded_block{"file:///a.bin", "application/octet-stream", std::string("\0", 1), {}, {}});
    return out;
  }));
}

void add_region(hondana::server& made) {
  auto region = tool_named("region", "Takes arguments that HTTP clients repeat in headers");
  region.input_schema = value::object{
      {"type", "object"},
      {"properties",
       value::object{
           {"region", value::object{{"type", "string"}, {"x-mcp-header", "Region"}}},
           {"limits", value::object{{"type", "object"},
                                    {"properties", value::object{{"rows", value::object{{"type", "integer"},
                                                                                        {"x-mcp-header", "Rows"}}}}}}}}}};
  check(made.add_tool(std::move(region), [](const tool_call& call) -> result<tool_outcome> {
    return hondana::text_result(call.arguments.to_text());
  }));
}

void add_others(hondana::server& made) {
  check(made.add_tool(tool_named("talk", "Logs and reports"), [](const tool_call& call) -> result<tool_outcome> {
    call.log(hondana::log_level::debug, "details", "talk");
    call.log(hondana::log_level::warning, value::object{{"text", "careful"}}, "talk");
    if (call.report_progress) call.report_progress({1, 2, "half way"});
    return hondana::text_result("done");
  }));
  check(made.add_tool(tool_named("fail", "Fails"), [](const tool_call& call) -> result<tool_outcome> {
    if (call.arguments.find("throw") != nullptr) throw std::runtime_error("a secret of the host");
    return hondana::fail(hondana::errc::source_unavailable, "The service behind this is away.", "a secret of the host");
  }));
  check(made.add_tool(tool_named("ask", "Needs a name"), [](const tool_call& call) -> result<tool_outcome> {
    if (const auto name = call.responses.text("name", "name")) return hondana::text_result("Hello, " + *name);
    hondana::form_builder fields;
    fields.text("name", {.is_required = true});
    return hondana::input_required{{{"name", hondana::form_request{"Your name?", fields.schema()}}}, {}};
  }));
}

}  // namespace

void add_handlers(hondana::server& made) {
  add_echo(made);
  add_weather(made);
  add_blocks(made);
  add_region(made);
  add_others(made);
  hondana::prompt review;
  review.name = "review";
  review.title = "Code review";
  review.description = "Asks for a review";
  hondana::prompt_argument code;
  code.name = "code";
  code.description = "What to review";
  code.required = true;
  hondana::prompt_argument language;
  language.name = "language";
  language.complete = [](const hondana::complete_argument_request& request) -> result<hondana::complete_result> {
    hondana::complete_result found;
    for (const auto* one : {"python", "pytorch", "rust"}) {
      if (std::string_view(one).starts_with(request.value)) found.values.emplace_back(one);
    }
    return found;
  };
  review.arguments = {std::move(code), std::move(language)};
  check(made.add_prompt(std::move(review), [](const hondana::prompt_call& call) -> result<hondana::prompt_outcome> {
    hondana::prompt_result out;
    out.description = "A review in " + call.argument("language", "any language");
    hondana::message question;
    question.content = hondana::text_block{"Please review: " + call.argument("code"), {}};
    out.messages.push_back(std::move(question));
    return out;
  }));
}

}  // namespace transcripts
