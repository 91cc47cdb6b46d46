/// Servers of other hosts taken over: their files as they are, and the tables made of them as the configuration reads them.
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include "app/cli/known_servers.hpp"
#include "sources/config/settings.hpp"
#include "sources/mcp/settings.hpp"

namespace hondana::cli {
namespace {

constexpr std::string_view claude_desktop = R"({
  "globalShortcut": "Ctrl+Space",
  "mcpServers": {
    "filesystem": {
      "command": "npx",
      "args": ["-y", "@modelcontextprotocol/server-filesystem", "/home/me/Desktop"]
    },
    "GitHub (work) 2": {
      "command": "docker",
      "args": ["run", "-i", "--rm", "-e", "TOKEN", "ghcr.io/github/github-mcp-server"],
      "env": {"TOKEN": "ghp_secret", "LEVEL": 3}
    }
  }
})";

constexpr std::string_view claude_code = R"({
  "numStartups": 12,
  "mcpServers": {"sentry": {"type": "http", "url": "https://mcp.sentry.dev/mcp", "headers": {"Authorization": "Bearer ${SENTRY_TOKEN}"}}},
  "projects": {
    "/home/me/one": {"allowedTools": [], "mcpServers": {"db": {"type": "stdio", "command": "db-server", "args": [], "env": {}}}},
    "/home/me/two": {"mcpServers": {}},
    "/home/me/three": {"history": []}
  }
})";

constexpr std::string_view vs_code = R"({
  // The servers of this workspace
  "inputs": [
    {"type": "promptString", "id": "key", "description": "An // API key", "password": true},
  ],
  "servers": {
    "perplexity": {
      "type": "stdio",
      "command": "npx",
      "args": ["-y", "server-perplexity", "${workspaceFolder}"],
      "env": {"KEY": "${input:key}"},
      "envFile": "${workspaceFolder}/.env", /* not for us */
    },
    "remote": {"type": "http", "url": "http://localhost:3000/mcp",},
  },
})";

constexpr std::string_view cursor = R"({
  "mcpServers": {
    "local": {"command": "python", "args": ["${userHome}/server.py"], "env": {"API_KEY": "${env:API_KEY}"}},
    "remote": {"url": "https://example.com/mcp", "headers": {"X-Key": "k\"1\\2"}},
    "off": {"command": "x", "disabled": true},
    "empty": {}
  }
})";

std::vector<known_server> known_in(std::string_view text) {
  auto all = parse_servers(text);
  EXPECT_TRUE(all) << (all ? "" : all.error().public_text);
  return all ? std::move(*all) : std::vector<known_server>();
}

std::string fault_in(std::string_view text) {
  const auto all = parse_servers(text);
  return all ? "nothing is wrong" : all.error().public_text;
}

/// The tables as the program would read them, by name.
std::map<std::string, mcp::mcp_settings> read_back(const std::string& tables) {
  std::string path = (std::filesystem::temp_directory_path() / "hondana-import-XXXXXX").string();
  const int file = ::mkstemp(path.data());
  EXPECT_GE(file, 0);
  ::close(file);
  std::ofstream(path) << tables;
  auto loaded = config::load(path);
  std::filesystem::remove(path);
  std::map<std::string, mcp::mcp_settings> out;
  EXPECT_TRUE(loaded) << loaded.error().public_text << tables;
  if (!loaded) return out;
  for (auto& source : loaded->sources) {
    EXPECT_EQ(source.type, "mcp");
    auto settings = mcp::read_settings(source.options, [](const std::string& name) { return std::optional("<" + name + ">"); });
    EXPECT_TRUE(settings) << settings.error().public_text << tables;
    if (settings) out.emplace(settings->name, std::move(*settings));
  }
  return out;
}

std::map<std::string, mcp::mcp_settings> imported(std::string_view text, std::vector<std::string> taken = {}) {
  const auto tables = make_tables(known_in(text), std::move(taken));
  auto all = read_back(tables.text);
  EXPECT_EQ(all.size(), tables.count) << tables.text;
  return all;
}

TEST(plain_json, comments_and_trailing_commas_become_spaces) {
  EXPECT_EQ(strip_json_comments("[1, // one\n 2,\n]"), "[1,       \n 2 \n]");
  EXPECT_EQ(strip_json_comments("{\"a\":/* b\nc */1,}"), "{\"a\":    \n    1 }");
  EXPECT_EQ(strip_json_comments("[1,/*x*/]"), "[1      ]");
  EXPECT_EQ(strip_json_comments("// only"), "       ");
}

TEST(plain_json, strings_stay_what_they_are) {
  for (const auto* text : {R"({"a":"http://b","c":"/* d */"})", R"(["x\"//y",",]"])", R"(["\\"])", R"("never ends // here)"})
    EXPECT_EQ(strip_json_comments(text), text);
}

TEST(plain_json, what_is_no_json_stays_none) {
  EXPECT_EQ(strip_json_comments("[1,,]"), "[1, ]");
  EXPECT_EQ(strip_json_comments(",1"), ",1");
  EXPECT_EQ(strip_json_comments("/"), "/");
  EXPECT_EQ(strip_json_comments("/* never"), "        ");
  EXPECT_EQ(strip_json_comments(""), "");
}

TEST(import, reads_what_claude_desktop_keeps) {
  const auto all = imported(claude_desktop);
  ASSERT_EQ(all.size(), 2u);
  const auto& files = std::get<child_target>(all.at("filesystem").target);
  EXPECT_EQ(files.command,
            (std::vector<std::string>{"npx", "-y", "@modelcontextprotocol/server-filesystem", "/home/me/Desktop"}));
  const auto& hub = std::get<child_target>(all.at("github-work-2").target);
  EXPECT_EQ(hub.environment, (std::vector<std::pair<std::string, std::string>>{{"LEVEL", "3"}, {"TOKEN", "ghp_secret"}}));
}

TEST(import, reads_what_claude_code_keeps_for_all_and_for_each_project) {
  const auto all = imported(claude_code);
  ASSERT_EQ(all.size(), 2u);
  const auto& sentry = std::get<http_target>(all.at("sentry").target);
  EXPECT_EQ(sentry.url, "https://mcp.sentry.dev/mcp");
  EXPECT_EQ(sentry.headers, (std::vector<std::pair<std::string, std::string>>{{"Authorization", "Bearer <SENTRY_TOKEN>"}}));
  EXPECT_EQ(std::get<child_target>(all.at("db").target).command, std::vector<std::string>{"db-server"});
}

TEST(import, reads_what_vs_code_keeps_and_says_what_the_host_would_fill_in) {
  const auto made = make_tables(known_in(vs_code), {});
  const auto& tables = made.text;
  EXPECT_EQ(made.count, 2u);
  EXPECT_TRUE(made.skipped.empty());
  EXPECT_NE(
      tables.find("# ${input:key} is an input of the host: write its value, or ${env:NAME} for an environment variable\n"),
      std::string::npos)
      << tables;
  EXPECT_NE(tables.find("# ${workspaceFolder} is a variable of the host: write its value\n"), std::string::npos) << tables;
  EXPECT_NE(tables.find("# envFile is not supported: write its variables into environment\n"), std::string::npos) << tables;
  const auto all = read_back(tables);
  EXPECT_EQ(std::get<http_target>(all.at("remote").target).url, "http://localhost:3000/mcp");
  EXPECT_EQ(std::get<child_target>(all.at("perplexity").target).environment.front().second, "${input:key}");
}

TEST(import, reads_what_vs_code_keeps_in_its_settings) {
  const auto all = imported(R"({"editor.fontSize": 12, "mcp": {"inputs": [], "servers": {"a": {"command": "b"}}}})");
  EXPECT_TRUE(all.contains("a"));
}

TEST(import, reads_what_cursor_keeps_and_leaves_out_what_cannot_be_used) {
  const auto servers = known_in(cursor);
  const auto made = make_tables(servers, {});
  const auto& tables = made.text;
  EXPECT_EQ(made.count, 2u);
  EXPECT_EQ(made.skipped, (std::vector<std::string>{"off is skipped: it is disabled there",
                                                    "empty is skipped: it has no command and no url"}));
  EXPECT_NE(tables.find("# off is skipped: it is disabled there\n"), std::string::npos) << tables;
  EXPECT_NE(tables.find("# empty is skipped: it has no command and no url\n"), std::string::npos) << tables;
  const auto all = read_back(tables);
  EXPECT_EQ(std::get<child_target>(all.at("local").target).environment.front().second, "<API_KEY>");
  EXPECT_EQ(std::get<http_target>(all.at("remote").target).headers.front().second, "k\"1\\2");
}

TEST(import, every_text_reads_back_as_it_was) {
  const std::string odd = R"(tab\t quote\" back\\ nl\n del\u007f \u0001 \u672c ''' # x)";
  const auto all = imported(R"({"mcpServers":{"a":{"command":"x","args":[")" + odd + R"("],"env":{"WEIRD KEY.\"'":")" + odd +
                            R"("},"cwd":"/srv/\"q\""}}})");
  const auto& child = std::get<child_target>(all.at("a").target);
  const std::string text = "tab\t quote\" back\\ nl\n del\x7f \x01 \xE6\x9C\xAC ''' # x";
  EXPECT_EQ(child.command.back(), text);
  EXPECT_EQ(child.environment.front(), (std::pair<std::string, std::string>("WEIRD KEY.\"'", text)));
  EXPECT_EQ(child.working_directory, "/srv/\"q\"");
}

TEST(import, names_are_made_fit_and_taken_ones_are_left_alone) {
  const auto all =
      imported(R"({"servers":{"My Server!":{"url":"http://a/"},"my_server":{"url":"http://b/"},"-- ":{"url":"http://c/"},
      "known":{"url":"http://d/"},")" +
                   std::string(59, 'x') + R"(-y":{"url":"http://e/"}}})",
               {"known"});
  ASSERT_EQ(all.size(), 3u);
  EXPECT_EQ(std::get<http_target>(all.at("my-server").target).url, "http://a/");
  EXPECT_TRUE(all.contains("server"));
  EXPECT_TRUE(all.contains(std::string(59, 'x')));
}

TEST(import, a_name_that_would_end_a_comment_does_not) {
  const auto all = imported("{\"servers\":{\"a\\n[[source]]\\n\":{\"url\":\"http://a/\"},\"b\\nx = 1\":{}}}");
  EXPECT_EQ(all.size(), 1u);
}

TEST(import, what_is_no_such_file_is_named) {
  EXPECT_EQ(fault_in("{}"), "it has no \"mcpServers\" and no \"servers\"");
  EXPECT_EQ(fault_in(R"({"mcpServers":[]})"), "it has no \"mcpServers\" and no \"servers\"");
  EXPECT_EQ(fault_in("[]"), "it has no \"mcpServers\" and no \"servers\"");
  EXPECT_NE(fault_in("{"), "nothing is wrong");
  EXPECT_TRUE(known_in(R"({"mcpServers":{}})").empty());
  for (const auto* text :
       {R"({"servers":{"a":7}})", R"({"servers":{"a":{"command":["x"]}}})", R"({"servers":{"a":{"url":{}}}})"}) {
    const auto all = known_in(text);
    ASSERT_EQ(all.size(), 1u);
    EXPECT_FALSE(all.front().is_usable) << text;
  }
}

TEST(import, messages_never_repeat_a_secret) {
  for (const std::string end : {"", "}", "\"}}}", "\"}},,}", "\", \"TOKEN\": 1}}}"}) {
    const auto fault = fault_in(R"({"mcpServers":{"a":{"env":{"TOKEN":"ghp_secret)" + end);
    EXPECT_EQ(fault.find("ghp_secret"), std::string::npos) << fault;
  }
  for (
      const auto& one : known_in(
          R"({"servers":{"a":{"env":{"T":"ghp_secret"}},"b":{"command":"c","headers":{"H":"ghp_secret"},"disabled":true}}})")) {
    for (const auto& remark : one.notes) EXPECT_EQ(remark.find("ghp_secret"), std::string::npos) << remark;
  }
}

TEST(import, tells_the_same_as_json) {
  const auto all = value::parse(to_json(known_in(cursor)));
  ASSERT_TRUE(all);
  const auto& servers = *all->find("servers")->as_array();
  ASSERT_EQ(servers.size(), 4u);
  EXPECT_EQ(
      servers[0].to_text(),
      R"({"name":"local","originalName":"local","importable":true,"command":["python","${userHome}/server.py"],)"
      R"("environment":{"API_KEY":"${env:API_KEY}"},"warnings":["${userHome} is a variable of the host: write its value"]})");
  EXPECT_EQ(*servers[2].find("importable"), value(false));
}

TEST(import, looks_where_hosts_keep_their_files) {
  const auto all = host_config_files("/home/me", "/srv");
  const auto has = [&all](std::string_view path) {
    return std::any_of(all.begin(), all.end(), [path](const host_config_file& one) { return one.path == path; });
  };
  for (const auto* path : {"/srv/.mcp.json", "/srv/.vscode/mcp.json", "/srv/.cursor/mcp.json", "/home/me/.claude.json",
                           "/home/me/.cursor/mcp.json", "/home/me/.config/Claude/claude_desktop_config.json",
                           "/home/me/.config/Code/User/mcp.json"})
    EXPECT_TRUE(has(path)) << path;
  EXPECT_EQ(host_config_files("", "/srv").size(), 3u);
}

}  // namespace
}  // namespace hondana::cli
