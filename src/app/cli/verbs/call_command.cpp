/// `hondana call`: lists tools and calls one.

#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdint>
#include <cstring>
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

constexpr std::size_t most_input = 16u << 20;
constexpr std::int64_t code_of_misfits = -32602;

std::string shown(const task& what, const std::string& text) { return what.shown.shows_output ? visible_lines(text) : text; }

int list_tools(const task& what) {
  const auto all = what.with.server().tools(what.with.how()).all();
  if (!all) return what.with.explain(all.error());
  if (what.line.has(json_flag)) {
    print_list("tools", *all, [](json::writer& to, const tool& one) {
      to.begin_object().member("name", one.name).member_if("title", one.title).member_if("description", one.description);
      to.key("inputSchema").raw(one.inputSchema.to_text());
      if (one.outputSchema) to.key("outputSchema").raw(one.outputSchema->to_text());
      to.end_object();
    });
    return exit_ok;
  }
  if (all->empty()) tell_none(what, "the server has no tools");
  std::vector<std::vector<std::string>> rows;
  for (const auto& one : *all) {
    const auto& words = one.description.empty() ? one.title : one.description;
    if (what.shown.shows_output) {
      rows.push_back({visible(one.name), visible(words.substr(0, words.find('\n')))});
    } else {
      print(visible(one.name) + '\t' + visible_in_line(words) + '\n');
    }
  }
  if (!rows.empty())
    print(fit_table({{"TOOL"}, {"DESCRIPTION", column::alignment::left, column::cutting::at_end}}, rows, what.shown.width,
                    what.shown.in_colour)
              .text);
  return exit_ok;
}

result<std::string> standard_input() {
  std::string out;
  char piece[4096];
  for (;;) {
    const auto count = ::read(STDIN_FILENO, piece, sizeof piece);
    if (count < 0 && errno == EINTR) continue;
    if (count < 0) return fail(errc::invalid_argument, std::string("standard input cannot be read: ") + std::strerror(errno));
    if (count == 0) return out;
    out.append(piece, static_cast<std::size_t>(count));
    if (out.size() > most_input) return fail(errc::invalid_argument, "more than 16 MiB of arguments on standard input");
  }
}

result<value> arguments_of(const task& what, const tool& called) {
  const std::vector<std::string> words(what.line.words().begin() + 1, what.line.words().end());
  if (!what.line.has(arguments_flag)) return typed_arguments(words, called.inputSchema);
  if (!words.empty()) return fail(errc::invalid_argument, "Give arguments with --arguments or as NAME=VALUE, not both.");
  auto text = what.line.text(arguments_flag);
  if (text == "-") {
    HONDANA_TRY(auto read, standard_input());
    text = std::move(read);
  }
  auto parsed = value::parse(text);
  if (!parsed) return fail(errc::invalid_argument, "--arguments: " + parsed.error().public_text);
  if (parsed->as_object() == nullptr)
    return fail(errc::invalid_argument, "--arguments must be a JSON object, as in '{\"query\":\"shelf\"}'.");
  return parsed;
}

void print_block(const task& what, const content_block& one) {
  if (const auto* text = std::get_if<text_block>(&one)) {
    print(shown(what, text->text) + (text->text.ends_with('\n') ? "" : "\n"));
  } else if (const auto* image = std::get_if<image_block>(&one)) {
    print("[image " + visible(image->mimeType) + ", " + std::to_string(image->bytes.size()) + " bytes; --json has it]\n");
  } else if (const auto* audio = std::get_if<audio_block>(&one)) {
    print("[audio " + visible(audio->mimeType) + ", " + std::to_string(audio->bytes.size()) + " bytes; --json has it]\n");
  } else if (const auto* link = std::get_if<link_block>(&one)) {
    print(visible(link->entry.uri) + '\n');
  } else if (const auto* embedded = std::get_if<embedded_block>(&one)) {
    if (embedded->form == content_form::text) {
      print(shown(what, embedded->bytes) + (embedded->bytes.ends_with('\n') ? "" : "\n"));
    } else {
      print("[" + visible(embedded->uri) + ", " + std::to_string(embedded->bytes.size()) + " bytes; --json has it]\n");
    }
  }
}

/// The mismatch between the arguments and the tool's input schema; empty: none, or the schema is invalid. Only used after a
/// call has failed, because some tools accept more than their schema says.
std::string misfit_of(const tool& called, const value& arguments) {
  const auto wanted = schema::schema::compile(called.inputSchema);
  if (!wanted) return {};
  const auto misfit = wanted->check(arguments);
  return misfit ? misfit->text() : std::string();
}

}  // namespace

int call_tool(const task& what) {
  const auto name = what.line.word(0);
  if (name.empty()) return list_tools(what);
  auto all = what.with.server().tools(what.with.how()).all();
  if (!all) return what.with.explain(all.error());
  const auto found = std::find_if(all->begin(), all->end(), [&name](const tool& one) { return one.name == name; });
  if (found == all->end()) {
    std::vector<std::string_view> names;
    for (const auto& one : *all) names.push_back(one.name);
    const auto meant = did_you_mean(name, names);
    return what.with.explain({errc::resource_not_found,
                              "the server has no tool \"" + name + '"' +
                                  (meant.empty() ? "; " + asking_again(what.line, "call") + " lists them" : meant),
                              {}});
  }
  const auto arguments = arguments_of(what, *found);
  if (!arguments) return what.with.explain(arguments.error());
  if (auto whole = has_all_required(*arguments, *found); !whole) return what.with.explain(whole.error());
  const auto got = what.with.server().call_tool(name, *arguments, what.with.how());
  if (!got) {
    auto why = got.error();
    const bool is_of_arguments = why.answer && why.answer->code == code_of_misfits && !misfit_of(*found, *arguments).empty();
    if (is_of_arguments) why.code = errc::invalid_argument;
    return what.with.explain(why);
  }
  if (what.line.has(json_flag)) {
    print_json(got->raw.to_text());
  } else {
    for (const auto& one : got->content) print_block(what, one);
    if (got->content.empty() && got->structuredContent) print(shown(what, got->structuredContent->to_text()) + '\n');
  }
  if (!got->isError) return exit_ok;
  const auto misfit = misfit_of(*found, *arguments);
  say("the tool reported an error" +
      (misfit.empty() ? "" : ", and its arguments do not fit its schema: " + visible_in_line(misfit)));
  return misfit.empty() ? exit_server : exit_usage;
}

}  // namespace hondana::cli
