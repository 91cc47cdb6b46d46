/// The table of a mounted server: what it says, and what is wrong with it in words.
#include "sources/mcp/settings.hpp"

#include <map>

#include <gtest/gtest.h>

#include "protocol/wire/choose_codec.hpp"
#include "sources/config/section.hpp"

namespace hondana::mcp {
namespace {

std::optional<std::string> variable(const std::string& name) {
  static const std::map<std::string, std::string> set{{"TOKEN", "s3cret"}, {"EMPTY", ""}};
  const auto found = set.find(name);
  return found == set.end() ? std::nullopt : std::optional(found->second);
}

result<mcp_settings> read(std::string_view text) {
  auto table = config::parse_toml(text, "/etc/h/t.toml");
  EXPECT_TRUE(table) << (table ? "" : table.error().public_text);
  return read_settings(*table, variable);
}

std::string wrong(std::string_view text) {
  const auto made = read(text);
  return made ? "nothing is wrong" : made.error().public_text;
}

TEST(mcp_settings, has_a_command_with_everything_that_belongs_to_it) {
  const auto made = read(
      "name = \"every-1\"\ncommand = [\"npx\", \"--token=${env:TOKEN}\"]\nworking_directory = \"work\"\n"
      "environment = { A = \"x${env:TOKEN}y${env:EMPTY}\" }\nrevision = \"2025-06-18\"\neager = true\nskills = false\nredact = "
      "false\n");
  ASSERT_TRUE(made) << made.error().public_text;
  EXPECT_EQ(made->name, "every-1");
  EXPECT_EQ(made->prefix, "mcp://every-1/");
  const auto& child = std::get<child_target>(made->target);
  EXPECT_EQ(child.command, (std::vector<std::string>{"npx", "--token=s3cret"}));
  EXPECT_EQ(child.working_directory, "/etc/h/work");
  EXPECT_EQ(child.environment, (std::vector<std::pair<std::string, std::string>>{{"A", "xs3crety"}}));
  EXPECT_EQ(made->revision, "2025-06-18");
  EXPECT_TRUE(made->eager);
  EXPECT_FALSE(made->serves_skills);
  EXPECT_FALSE(made->redact);
}

TEST(mcp_settings, has_a_url_with_headers_and_a_prefix_of_its_own) {
  const auto made = read(
      "name = \"team\"\nurl = \"https://h.example/mcp\"\nsocket = \"run/x.sock\"\nprefix = \"shelf://team/docs/\"\n"
      "headers = { Authorization = \"Bearer ${env:TOKEN}\" }\n");
  ASSERT_TRUE(made) << made.error().public_text;
  EXPECT_EQ(made->prefix, "shelf://team/docs/");
  EXPECT_TRUE(made->redact);
  const auto& target = std::get<http_target>(made->target);
  EXPECT_EQ(target.url, "https://h.example/mcp");
  EXPECT_EQ(target.socket_path, "/etc/h/run/x.sock");
  EXPECT_EQ(target.headers, (std::vector<std::pair<std::string, std::string>>{{"Authorization", "Bearer s3cret"}}));
}

TEST(mcp_settings, has_certificates_relative_to_the_file) {
  const auto made = read(
      "name = \"team\"\nurl = \"https://h.example/mcp\"\nca_file = \"ca.pem\"\ncertificate_file = \"/c.pem\"\n"
      "key_file = \"k.pem\"\n");
  ASSERT_TRUE(made) << made.error().public_text;
  const auto& target = std::get<http_target>(made->target);
  EXPECT_EQ(target.ca_file, "/etc/h/ca.pem");
  EXPECT_EQ(target.certificate_file, "/c.pem");
  EXPECT_EQ(target.key_file, "/etc/h/k.pem");
  EXPECT_NE(wrong("name = \"a\"\ncommand = [\"x\"]\nca_file = \"ca.pem\"\n").find("ca_file: is only for a server with"),
            std::string::npos);
  EXPECT_NE(wrong("name = \"a\"\nurl = \"https://h/mcp\"\nkey_file = \"k.pem\"\n").find("certificate_file: missing"),
            std::string::npos);
  EXPECT_NE(wrong("name = \"a\"\nurl = \"https://h/mcp\"\nca_file = \"\"\n").find("ca_file: expected the path"),
            std::string::npos);
}

TEST(mcp_settings, takes_a_program_with_a_slash_relative_to_the_file) {
  const auto made = read("name = \"a\"\ncommand = [\"bin/server\", \"x/y\"]\n");
  ASSERT_TRUE(made) << made.error().public_text;
  EXPECT_EQ(std::get<child_target>(made->target).command, (std::vector<std::string>{"/etc/h/bin/server", "x/y"}));
}

TEST(mcp_settings, keeps_limits_and_patterns) {
  const auto made = read(
      "name = \"a\"\ncommand = [\"s\"]\ntimeout_ms = 5\nlist_timeout_ms = 6\nlist_ttl_ms = 7\nmax_entries = 8\nmax_templates = "
      "9\n"
      "max_read_bytes = \"1KiB\"\ninclude = [\"demo://a/**\"]\nexclude = [\"**/*.key\"]\n");
  ASSERT_TRUE(made) << made.error().public_text;
  EXPECT_EQ(made->call_timeout.count(), 5);
  EXPECT_EQ(made->list_timeout.count(), 6);
  EXPECT_EQ(made->list_ttl.count(), 7);
  EXPECT_EQ(made->max_entries, 8u);
  EXPECT_EQ(made->max_templates, 9u);
  EXPECT_EQ(made->max_read_bytes, 1024u);
  EXPECT_EQ(made->include, std::vector<std::string>{"demo://a/**"});
  EXPECT_EQ(made->exclude, std::vector<std::string>{"**/*.key"});
}

TEST(mcp_settings, names_what_is_missing) {
  EXPECT_EQ(wrong("command = [\"s\"]\n"), "/etc/h/t.toml:1: name: missing; write a name of a-z, 0-9 and -");
  EXPECT_EQ(
      wrong("name = \"a\"\n"),
      "/etc/h/t.toml:1: command: missing; set how to start the server (command = [\"npx\", …]) or where it is (url = \"…\")");
}

TEST(mcp_settings, refuses_a_name_that_is_no_slug) {
  for (const auto* name : {"", "A", "a_b", "-a", "a/b", "é"})
    EXPECT_EQ(wrong("name = \"" + std::string(name) + "\"\ncommand = [\"s\"]\n"),
              "/etc/h/t.toml:1: name: expected at most 64 characters of a-z, 0-9 and -, and no - at the start")
        << name;
}

TEST(mcp_settings, refuses_both_a_command_and_a_url) {
  EXPECT_EQ(wrong("name = \"a\"\ncommand = [\"s\"]\nurl = \"http://h/mcp\"\n"),
            "/etc/h/t.toml:3: url: a server has a command or a url, not both");
}

TEST(mcp_settings, refuses_what_belongs_to_the_other_kind) {
  EXPECT_EQ(wrong("name = \"a\"\ncommand = [\"s\"]\nheaders = { X = \"1\" }\n"),
            "/etc/h/t.toml:3: headers: is only for a server with a url");
  EXPECT_EQ(wrong("name = \"a\"\nurl = \"http://h/\"\nworking_directory = \"x\"\n"),
            "/etc/h/t.toml:3: working_directory: is only for a server with a command");
}

TEST(mcp_settings, refuses_addresses_that_are_none_or_hold_a_password) {
  EXPECT_EQ(wrong("name = \"a\"\nurl = \"ftp://h/\"\n"),
            "/etc/h/t.toml:2: url: expected an address such as \"https://host/mcp\"");
  const auto text = wrong("name = \"a\"\nurl = \"https://u:hunter2@h/\"\n");
  EXPECT_EQ(text, "/etc/h/t.toml:2: url: contains a user name or password; put credentials into headers");
}

TEST(mcp_settings, refuses_headers_that_would_break_a_line_and_does_not_repeat_them) {
  const auto text = wrong("name = \"a\"\nurl = \"http://h/\"\nheaders = { X = \"a\\r\\nSecret: 1\" }\n");
  EXPECT_EQ(text, "/etc/h/t.toml:3: headers: \"X\" is not a header name, or its value has a control character");
}

TEST(mcp_settings, names_a_variable_that_is_not_set_or_not_closed) {
  EXPECT_EQ(wrong("name = \"a\"\ncommand = [\"${env:NONE}\"]\n"),
            "/etc/h/t.toml:2: command: the environment variable \"NONE\" is not set");
  EXPECT_EQ(wrong("name = \"a\"\ncommand = [\"x${env:TOKEN\"]\n"), "/etc/h/t.toml:2: command: has ${env: without a closing }");
}

TEST(mcp_settings, says_how_to_write_a_prefix) {
  EXPECT_EQ(wrong("name = \"a\"\ncommand = [\"s\"]\nprefix = \"MCP://a\"\n"),
            "/etc/h/t.toml:3: prefix: write it as \"mcp://a/\"");
  EXPECT_EQ(wrong("name = \"a\"\ncommand = [\"s\"]\nprefix = \"mcp://a/?x/\"\n"),
            "/etc/h/t.toml:3: prefix: expected a URI without ? and #, ending in /, such as \"mcp://team/\"");
  EXPECT_NE(wrong("name = \"a\"\ncommand = [\"s\"]\nprefix = \"a b\"\n").find("prefix: expected a URI such as"),
            std::string::npos);
}

TEST(mcp_settings, accept_every_revision_that_the_codecs_support) {
  for (const auto revisions : {wire::modern_revisions(), wire::session_revisions()}) {
    for (const auto revision : revisions) {
      const auto parsed = read("name = \"a\"\ncommand = [\"s\"]\nrevision = \"" + std::string(revision) + "\"\n");
      ASSERT_TRUE(parsed) << revision;
      EXPECT_EQ(parsed->revision, revision);
    }
  }
}

TEST(mcp_settings, reject_an_unknown_revision_with_the_known_ones) {
  EXPECT_EQ(
      wrong("name = \"a\"\ncommand = [\"s\"]\nrevision = \"2025-06-19\"\n"),
      "/etc/h/t.toml:3: revision: expected \"2026-07-28\", \"2025-11-25\", \"2025-06-18\", \"2025-03-26\" or \"2024-11-05\", "
      "not \"2025-06-19\"; did you mean \"2025-06-18\"?");
}

TEST(mcp_settings, refuses_patterns_that_fit_nothing_and_keys_it_does_not_know) {
  EXPECT_NE(wrong("name = \"a\"\ncommand = [\"s\"]\nexclude = [\"a[\"]\n").find("exclude: \"a[\" matches nothing: it has "),
            std::string::npos);
  EXPECT_NE(wrong("name = \"a\"\ncommand = [\"s\"]\ncomand = 1\n")
                .find("t.toml:3: comand: unknown key; did you mean \"command\"? Known here: ca_file, "),
            std::string::npos);
}

}  // namespace
}  // namespace hondana::mcp
