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

void write(json::writer& to, const skill& of) {
  to.begin_object().member("uri", of.uri).key("frontmatter").raw(of.frontmatter.to_text());
  to.key("resources");
  if (!of.files) {
    to.string("dynamic").end_object();
    return;
  }
  to.begin_array();
  for (const auto& one : *of.files)
    to.begin_object().member("uri", one.uri).member("digest", one.digest).key("size").unsigned_integer(one.size).end_object();
  to.end_array().end_object();
}

/// Finds a skill by its URI, or by its name in the list.
result<skill> find(const task& what, const std::string& word) {
  auto& server = what.with.server();
  if (word.find("://") != std::string::npos)
    return server.find_skill(word, what.with.how()).map_error([&word](const failure& why) { return blamed_on(word, why); });
  for (const auto& one : server.skills(what.with.how())) {
    if (!one) return tl::unexpected(one.error());
    if (one->frontmatter.string_at("name").value_or("") == word) return *one;
  }
  return fail(errc::resource_not_found,
              "the server lists no skill named \"" + word + "\"; " + asking_again(what.line, "skills") + " lists them");
}

int show_one(const task& what, const skill& of) {
  const bool verifies = what.line.has(verify_flag);
  const bool as_json = what.line.has(json_flag);
  std::vector<std::pair<skill_file, std::string>> checked;
  auto files = of.files.value_or(std::vector<skill_file>{{of.uri, {}, 0}});
  int code = exit_ok;
  for (auto& one : files) {
    std::string state;
    if (verifies) {
      const auto got = what.with.server().read_skill_file(of, one.uri, what.with.how());
      if (!got && got.error().code == errc::cancelled) return what.with.explain(got.error());
      state = got ? "ok" : got.error().public_text;
      if (!got) code = exit_server;
    }
    checked.emplace_back(std::move(one), std::move(state));
  }
  if (as_json) {
    std::string text;
    json::writer to(text);
    to.begin_object().key("skill");
    write(to, of);
    if (verifies) {
      to.key("verified").begin_object();
      for (const auto& [file, state] : checked) to.member(file.uri, state);
      to.end_object();
    }
    to.end_object();
    print_json(text);
    return code;
  }
  for (const auto& [file, state] : checked) {
    auto line = visible(file.uri) + '\t' + (of.files ? std::to_string(file.size) : std::string());
    if (verifies) line += '\t' + visible(state);
    print(line + '\n');
  }
  if (code != exit_ok) say("do not use a skill that differs");
  return code;
}

}  // namespace

int show_skills(const task& what) {
  if (const auto word = what.line.word(0); !word.empty()) {
    const auto one = find(what, word);
    return one ? show_one(what, *one) : what.with.explain(one.error());
  }
  if (what.line.has(verify_flag))
    return what.with.explain({errc::invalid_argument, "--verify checks one skill: give its name or URI", {}});
  const auto all = what.with.server().skills(what.with.how()).all();
  if (!all) return what.with.explain(all.error());
  if (what.line.has(json_flag)) {
    print_list("skills", *all, [](json::writer& to, const skill& one) { write(to, one); });
    return exit_ok;
  }
  if (all->empty()) tell_none(what, "the server lists no skills");
  std::vector<std::vector<std::string>> rows;
  for (const auto& one : *all) {
    std::uint64_t size = 0;
    for (const auto& file : one.files.value_or(std::vector<skill_file>())) size += file.size;
    if (!what.shown.shows_output) {
      print(visible(one.uri) + '\t' + visible(one.frontmatter.string_at("name").value_or("")) + '\t' +
            visible_in_line(one.frontmatter.string_at("description").value_or("")) + '\n');
      continue;
    }
    rows.push_back({visible(one.frontmatter.string_at("name").value_or("")), one.files ? std::to_string(one.files->size()) : "",
                    one.files ? human_size(size) : "", visible_in_line(one.frontmatter.string_at("description").value_or("")),
                    visible(one.uri)});
  }
  if (!rows.empty()) {
    using enum column::alignment;
    using enum column::cutting;
    print(fit_table({{"NAME"}, {"FILES", right}, {"SIZE", right}, {"DESCRIPTION", left, at_end}, {"URI", left, in_middle}},
                    rows, what.shown.width, what.shown.in_colour)
              .text);
  }
  return exit_ok;
}

}  // namespace hondana::cli
