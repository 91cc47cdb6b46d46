/// `hondana skills`: lists the skills of a server, or prints one.

#include <algorithm>
#include <utility>

#include "app/cli/exit_codes.hpp"
#include "app/cli/flags/client_flags.hpp"
#include "app/cli/output.hpp"
#include "app/cli/target.hpp"
#include "app/cli/terminal/columns.hpp"
#include "app/cli/terminal/quantities.hpp"
#include "app/cli/verbs/commands.hpp"
#include "app/cli/verbs/entry_output.hpp"
#include "app/cli/verbs/typed_words.hpp"
#include "base/json/writer.hpp"

namespace hondana::cli {
namespace {

void write(json::writer& writer, const skill& skill) {
  writer.begin_object().member("uri", skill.uri).key("frontmatter").raw(skill.frontmatter.to_text());
  writer.key("resources");
  if (!skill.files) {
    writer.string("dynamic").end_object();
    return;
  }
  writer.begin_array();
  for (const auto& file : *skill.files)
    writer.begin_object()
        .member("uri", file.uri)
        .member("digest", file.digest)
        .key("size")
        .unsigned_integer(file.size)
        .end_object();
  writer.end_array().end_object();
}

/// Finds a skill by its URI, or by its name in the list.
result<skill> find_skill(const command_context& context, const std::string& word) {
  auto& client = context.connection.mcp_client();
  if (word.find("://") != std::string::npos)
    return client.find_skill(word, context.connection.make_call_options()).map_error([&word](const failure& error) {
      return explain_uri_error(word, error);
    });
  for (const auto& skill : client.skills(context.connection.make_call_options())) {
    if (!skill) return tl::unexpected(skill.error());
    if (skill->frontmatter.string_at("name").value_or("") == word) return *skill;
  }
  return fail(errc::resource_not_found,
              "the server lists no skill named \"" + word + "\"; " + suggest_command(context.line, "skills") + " lists them");
}

int show_skill(const command_context& context, const skill& skill) {
  const bool verifies = context.line.has(verify_flag);
  const bool as_json = context.line.has(json_flag);
  std::vector<std::pair<skill_file, std::string>> checked;
  auto files = skill.files.value_or(std::vector<skill_file>{{skill.uri, {}, 0}});
  int code = exit_ok;
  for (auto& entry : files) {
    std::string state;
    if (verifies) {
      const auto content =
          context.connection.mcp_client().read_skill_file(skill, entry.uri, context.connection.make_call_options());
      if (!content && content.error().code == errc::cancelled) return context.connection.report_failure(content.error());
      state = content ? "ok" : content.error().public_text;
      if (!content) code = exit_server;
    }
    checked.emplace_back(std::move(entry), std::move(state));
  }
  if (as_json) {
    std::string text;
    json::writer writer(text);
    writer.begin_object().key("skill");
    write(writer, skill);
    if (verifies) {
      writer.key("verified").begin_object();
      for (const auto& [file, state] : checked) writer.member(file.uri, state);
      writer.end_object();
    }
    writer.end_object();
    print_json(text);
    return code;
  }
  for (const auto& [file, state] : checked) {
    auto line = sanitize(file.uri) + '\t' + (skill.files ? std::to_string(file.size) : std::string());
    if (verifies) line += '\t' + sanitize(state);
    print(line + '\n');
  }
  if (code != exit_ok) print_message("do not use a skill that differs");
  return code;
}

}  // namespace

int show_skills(const command_context& context) {
  if (const auto word = context.line.word(0); !word.empty()) {
    const auto skill = find_skill(context, word);
    return skill ? show_skill(context, *skill) : context.connection.report_failure(skill.error());
  }
  if (context.line.has(verify_flag))
    return context.connection.report_failure({errc::invalid_argument, "--verify checks one skill: give its name or URI", {}});
  const auto skills = context.connection.mcp_client().skills(context.connection.make_call_options()).collect();
  if (!skills) return context.connection.report_failure(skills.error());
  if (context.line.has(json_flag)) {
    print_list("skills", *skills, [](json::writer& writer, const skill& skill) { write(writer, skill); });
    return exit_ok;
  }
  if (skills->empty()) report_empty(context, "the server lists no skills");
  std::vector<std::vector<std::string>> rows;
  for (const auto& skill : *skills) {
    std::uint64_t size = 0;
    for (const auto& file : skill.files.value_or(std::vector<skill_file>())) size += file.size;
    if (!context.terminal.is_stdout_tty) {
      print(sanitize(skill.uri) + '\t' + sanitize(skill.frontmatter.string_at("name").value_or("")) + '\t' +
            sanitize_line(skill.frontmatter.string_at("description").value_or("")) + '\n');
      continue;
    }
    rows.push_back({sanitize(skill.frontmatter.string_at("name").value_or("")),
                    skill.files ? std::to_string(skill.files->size()) : "", skill.files ? human_size(size) : "",
                    sanitize_line(skill.frontmatter.string_at("description").value_or("")), sanitize(skill.uri)});
  }
  if (!rows.empty()) {
    using enum column::alignment;
    using enum column::truncation;
    print(fit_table({{"NAME"}, {"FILES", right}, {"SIZE", right}, {"DESCRIPTION", left, at_end}, {"URI", left, in_middle}},
                    rows, context.terminal.width, context.terminal.has_colour)
              .text);
  }
  return exit_ok;
}

}  // namespace hondana::cli
