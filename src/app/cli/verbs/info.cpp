/// info: what a server says of itself.
#include <string>
#include <string_view>

#include "app/cli/exit_codes.hpp"
#include "app/cli/flags/client_flags.hpp"
#include "app/cli/output.hpp"
#include "app/cli/verbs/verbs.hpp"
#include "app/cli/visible.hpp"
#include "base/json/writer.hpp"

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
  return text;
}

std::string words_of(const server_description& of) {
  std::string out;
  const auto add = [&out](std::string_view what, const std::string& text) {
    if (!text.empty()) out += std::string(what) + std::string(14 - what.size(), ' ') + visible(text) + '\n';
  };
  add("name", of.name + (of.title.empty() || of.title == of.name ? "" : " (" + of.title + ')'));
  add("version", of.version);
  add("protocol", of.revision + (of.transport == "memory" ? ", in this process" : " over " + of.transport));
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
  add("offers", offers.empty() ? "no capabilities" : offers);
  if (!of.instructions.empty()) out += '\n' + visible_lines(of.instructions);
  if (!out.ends_with('\n')) out += '\n';
  return out;
}

}  // namespace

int show_server(const task& what) {
  const auto known = what.with.server().server();
  if (what.line.has(json_flag)) {
    print_json(json_of(known));
  } else {
    print(words_of(known));
  }
  return exit_ok;
}

}  // namespace hondana::cli
