/// info and complete.
#include <utility>

#include "cli/exit_codes.hpp"
#include "cli/flags/client_flags.hpp"
#include "cli/output.hpp"
#include "cli/verbs/verbs.hpp"
#include "cli/visible.hpp"
#include "json/writer.hpp"

namespace hondana::cli {
namespace {

std::string json_of(const server_description& of) {
  std::string text;
  json::writer to(text);
  to.begin_object().member("name", of.name).member_if("title", of.title).member("version", of.version);
  to.member("revision", of.revision).member("transport", of.transport);
  to.key("supportedVersions").begin_array();
  for (const auto& one : of.revisions) to.string(one);
  to.end_array();
  to.key("capabilities").raw(of.capabilities.to_text());
  to.member_if("instructions", of.instructions).end_object();
  return visible_json(text) + '\n';
}

std::string words_of(const server_description& of) {
  std::string out;
  const auto add = [&out](std::string_view what, const std::string& text) {
    if (!text.empty()) out += std::string(what) + std::string(14 - what.size(), ' ') + visible(text) + '\n';
  };
  add("name", of.name + (of.title.empty() || of.title == of.name ? "" : " (" + of.title + ')'));
  add("version", of.version);
  add("protocol", of.revision + " over " + of.transport);
  std::string offers;
  const auto offer = [&offers](bool has, std::string_view what) {
    if (has) offers += (offers.empty() ? "" : ", ") + std::string(what);
  };
  offer(of.has_resources, "resources");
  offer(of.has_subscriptions, "subscriptions");
  offer(of.has_list_changes, "list changes");
  offer(of.has_folders, "folders");
  offer(of.has_completion, "completion");
  offer(of.has_tools, "tools");
  offer(of.has_prompts, "prompts");
  offer(of.has_skills, "skills");
  offer(of.has_versions, "versions");
  add("offers", offers.empty() ? "nothing that it declares" : offers);
  if (of.instructions.empty()) return out;
  out += "\n";
  for (std::string_view rest = of.instructions; !rest.empty();) {
    const auto end = rest.find('\n');
    out += visible(rest.substr(0, end)) + '\n';
    rest = end == std::string_view::npos ? std::string_view() : rest.substr(end + 1);
  }
  return out;
}

}  // namespace

int show_server(const task& what) {
  const auto known = what.with.server().server();
  print(what.line.has(json_flag) ? json_of(known) : words_of(known));
  return exit_ok;
}

int complete_variable(const task& what) {
  std::vector<std::pair<std::string, std::string>> chosen;
  for (const auto& one : what.line.all(with_flag)) {
    const auto equals = one.find('=');
    if (equals == std::string::npos)
      return what.with.explain({errc::invalid_argument, "--with is NAME=VALUE, not \"" + one + '"', {}});
    chosen.emplace_back(one.substr(0, equals), one.substr(equals + 1));
  }
  const auto got =
      what.with.server().complete(what.line.word(0), what.line.word(1), what.line.word(2), chosen, what.with.how());
  if (!got) return what.with.explain(got.error());
  if (what.line.has(json_flag)) {
    std::string text;
    json::writer to(text);
    to.begin_object().key("values").begin_array();
    for (const auto& one : got->values) to.string(one);
    to.end_array();
    if (got->total) to.key("total").unsigned_integer(*got->total);
    to.key("hasMore").boolean(got->has_more).end_object();
    print(visible_json(text) + '\n');
    return exit_ok;
  }
  for (const auto& one : got->values) print(visible(one) + '\n');
  if (got->has_more && !what.line.has(quiet_flag)) say("there are more; type more of the value");
  return exit_ok;
}

}  // namespace hondana::cli
