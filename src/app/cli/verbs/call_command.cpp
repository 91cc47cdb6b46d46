/// `hondana call`: lists tools and calls one.

#include <algorithm>
#include <cstdint>
#include <optional>
#include <utility>
#include <vector>

#include "app/cli/exit_codes.hpp"
#include "app/cli/flags/client_flags.hpp"
#include "app/cli/flags/command_line.hpp"
#include "app/cli/output.hpp"
#include "app/cli/target.hpp"
#include "app/cli/terminal/columns.hpp"
#include "app/cli/verbs/commands.hpp"
#include "app/cli/verbs/entry_output.hpp"
#include "app/cli/verbs/typed_words.hpp"
#include "base/json/writer.hpp"
#include "protocol/schema/schema.hpp"

namespace hondana::cli {
namespace {

constexpr std::size_t max_input_bytes = 16u << 20;
constexpr std::int64_t invalid_params_code = -32602;

std::string display_text(const command_context& context, const std::string& text) {
  return context.terminal.is_stdout_tty ? sanitize_lines(text) : text;
}

int list_tools(const command_context& context) {
  const auto tools = context.connection.mcp_client().tools(context.connection.make_call_options()).collect();
  if (!tools) return context.connection.report_failure(tools.error());
  if (context.line.has(json_flag)) {
    print_list("tools", *tools, [](json::writer& writer, const tool& tool) {
      writer.begin_object().member("name", tool.name).member_if("title", tool.title).member_if("description", tool.description);
      writer.key("inputSchema").raw(tool.input_schema.to_text());
      if (tool.output_schema) writer.key("outputSchema").raw(tool.output_schema->to_text());
      writer.end_object();
    });
    return exit_ok;
  }
  if (tools->empty()) report_empty(context, "the server has no tools");
  std::vector<std::vector<std::string>> rows;
  for (const auto& tool : *tools) {
    const auto& words = tool.description.empty() ? tool.title : tool.description;
    if (context.terminal.is_stdout_tty) {
      rows.push_back({sanitize(tool.name), sanitize(words.substr(0, words.find('\n')))});
    } else {
      print(sanitize(tool.name) + '\t' + sanitize_line(words) + '\n');
    }
  }
  if (!rows.empty())
    print(fit_table({{"TOOL"}, {"DESCRIPTION", column::alignment::left, column::truncation::at_end}}, rows,
                    context.terminal.width, context.terminal.has_colour)
              .text);
  return exit_ok;
}

result<value> collect_arguments(const command_context& context, const tool& tool) {
  const std::vector<std::string> words(context.line.words().begin() + 1, context.line.words().end());
  if (!context.line.has(arguments_flag)) return parse_tool_arguments(words, tool.input_schema);
  if (!words.empty()) return fail(errc::invalid_argument, "Give arguments with --arguments or as NAME=VALUE, not both.");
  auto text = context.line.text(arguments_flag);
  if (text == "-") {
    HONDANA_TRY(
        auto read,
        read_standard_input(max_input_bytes, {errc::invalid_argument, "more than 16 MiB of arguments on standard input", {}}));
    text = std::move(read);
  }
  auto parsed = value::parse(text);
  if (!parsed) return fail(errc::invalid_argument, "--arguments: " + parsed.error().public_text);
  if (parsed->as_object() == nullptr)
    return fail(errc::invalid_argument, "--arguments must be a JSON object, as in '{\"query\":\"shelf\"}'.");
  return parsed;
}

void print_block(const command_context& context, const content_block& block) {
  if (const auto* text = std::get_if<text_block>(&block)) {
    print(display_text(context, text->text) + (text->text.ends_with('\n') ? "" : "\n"));
  } else if (const auto* image = std::get_if<image_block>(&block)) {
    print("[image " + sanitize(image->mime_type) + ", " + std::to_string(image->bytes.size()) + " bytes; --json has it]\n");
  } else if (const auto* audio = std::get_if<audio_block>(&block)) {
    print("[audio " + sanitize(audio->mime_type) + ", " + std::to_string(audio->bytes.size()) + " bytes; --json has it]\n");
  } else if (const auto* link = std::get_if<link_block>(&block)) {
    print(sanitize(link->entry.uri) + '\n');
  } else if (const auto* embedded = std::get_if<embedded_block>(&block)) {
    if (embedded->kind == content_kind::text) {
      print(display_text(context, embedded->bytes) + (embedded->bytes.ends_with('\n') ? "" : "\n"));
    } else {
      print("[" + sanitize(embedded->uri) + ", " + std::to_string(embedded->bytes.size()) + " bytes; --json has it]\n");
    }
  }
}

/// The mismatch between the arguments and the tool's input schema; empty: none, or the schema is invalid. Only used after a
/// call has failed, because some tools accept more than their schema says.
std::string schema_mismatch(const tool& tool, const value& arguments) {
  const auto compiled = schema::schema::compile(tool.input_schema);
  if (!compiled) return {};
  const auto mismatch = compiled->validate(arguments);
  return mismatch ? mismatch->text() : std::string();
}

}  // namespace

int call_tool(const command_context& context) {
  const auto name = context.line.word(0);
  if (name.empty()) return list_tools(context);
  auto tools = context.connection.mcp_client().tools(context.connection.make_call_options()).collect();
  if (!tools) return context.connection.report_failure(tools.error());
  const auto match = std::find_if(tools->begin(), tools->end(), [&name](const tool& tool) { return tool.name == name; });
  if (match == tools->end()) {
    std::vector<std::string_view> names;
    for (const auto& tool : *tools) names.push_back(tool.name);
    const auto meant = did_you_mean(name, names);
    return context.connection.report_failure(
        {errc::resource_not_found,
         "the server has no tool \"" + name + '"' +
             (meant.empty() ? "; " + suggest_command(context.line, "call") + " lists them" : meant),
         {}});
  }
  const auto arguments = collect_arguments(context, *match);
  if (!arguments) return context.connection.report_failure(arguments.error());
  if (auto checked = check_required_arguments(*arguments, *match); !checked)
    return context.connection.report_failure(checked.error());
  const auto response = context.connection.mcp_client().call_tool(name, *arguments, context.connection.make_call_options());
  if (!response) {
    auto error = response.error();
    const bool is_argument_error =
        error.server_error && error.server_error->code == invalid_params_code && !schema_mismatch(*match, *arguments).empty();
    if (is_argument_error) error.code = errc::invalid_argument;
    return context.connection.report_failure(error);
  }
  if (context.line.has(json_flag)) {
    print_json(response->raw.to_text());
  } else {
    for (const auto& block : response->content) print_block(context, block);
    if (response->content.empty() && response->structured_content)
      print(display_text(context, response->structured_content->to_text()) + '\n');
  }
  if (!response->is_error) return exit_ok;
  const auto mismatch = schema_mismatch(*match, *arguments);
  print_message("the tool reported an error" +
                (mismatch.empty() ? "" : ", and its arguments do not fit its schema: " + sanitize_line(mismatch)));
  return mismatch.empty() ? exit_server : exit_usage;
}

}  // namespace hondana::cli
