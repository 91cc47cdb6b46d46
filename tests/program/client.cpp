/// The commands that ask a server: what they print, as text and as JSON, and their exit codes.
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <random>
#include <string>
#include <string_view>
#include <vector>

#include <gtest/gtest.h>

#include "program/folder.hpp"
#include "program/messages.hpp"
#include "program/refusing_server.hpp"
#include "program/served.hpp"

namespace {

using program_test::departure;
using program_test::failed;
using program_test::folder;
using program_test::misused;
using program_test::not_found;
using program_test::not_known;
using program_test::refusing_server;
using program_test::run;
using program_test::run_in;
using program_test::served;
using program_test::unreachable;
using program_test::well;

std::string content_of(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
}

/// Bytes of every value, the same each time.
std::string binary(std::size_t size) {
  std::mt19937 random(7);
  std::string bytes(size, '\0');
  for (auto& one : bytes) one = static_cast<char>(random() & 0xFFu);
  return bytes;
}

std::size_t files_in(const std::string& path) {
  return static_cast<std::size_t>(
      std::distance(std::filesystem::directory_iterator(path), std::filesystem::directory_iterator()));
}

/// A folder with a text, a binary and a skill.
struct shelf {
  shelf() {
    what.put("shown/a.txt", "one\ntwo\nthree\nfour\n");
    what.put("shown/sub/b.bin", binary(300'000));
    what.put("skills/good/SKILL.md", "---\nname: good\ndescription: Good at it.\n---\none\ntwo\n");
    what.put("skills/good/more.txt", "more");
    what.put("s.toml",
             "[[source]]\ntype = \"files\"\npath = \"shown\"\n[[source]]\ntype = \"skills\"\npath = \"skills\"\n"
             "[[source]]\ntype = \"mcp\"\nname = \"none\"\nurl = \"http://127.0.0.1:1/mcp\"\n");
    what.put("served.toml",
             "[[source]]\ntype = \"files\"\npath = \"shown\"\n[[source]]\ntype = \"skills\"\npath = \"skills\"\n");
  }
  [[nodiscard]] std::string shown() const { return what.path("shown"); }
  folder what;
};

TEST(program_client, lists_the_same_over_http_in_process_and_from_a_program) {
  const shelf all;
  const served server({all.shown()});
  const auto expected = all.what.uri("shown") + '\n' + all.what.uri("shown/a.txt") + '\n' + all.what.uri("shown/sub") + '\n' +
                        all.what.uri("shown/sub/b.bin") + '\n';
  for (const auto& got : {run({"ls", "--on", server.url()}), run({"ls", "--on", all.shown()}), run_in(all.shown(), {"ls"}),
                          run({"ls", "--", HONDANA_PROGRAM, "stdio", all.shown()})}) {
    EXPECT_EQ(got.how, well) << got.errors;
    EXPECT_EQ(got.output, expected);
    EXPECT_EQ(got.errors, "");
  }
}

TEST(program_client, narrows_and_sorts_lists) {
  const shelf all;
  EXPECT_EQ(run({"ls", "--on", all.shown(), "--filter", "*.bin"}).output, all.what.uri("shown/sub/b.bin") + '\n');
  EXPECT_EQ(run({"ls", "sub", "--on", all.shown()}).output, all.what.uri("shown/sub/b.bin") + '\n');
  EXPECT_EQ(run({"ls", "--audience", "user", "--min-priority", "1", "--on", all.shown()}).output, "");
  const auto sorted = run({"ls", "--sort", "name", "--long", "--on", all.shown()});
  EXPECT_TRUE(sorted.output.starts_with(all.what.uri("shown/a.txt") + "\ta.txt\tfile\t19\t")) << sorted.output;
  EXPECT_EQ(run({"tree", "--on", all.shown()}).output, "file://" + all.shown() +
                                                           "\n\xE2\x94\x9C\xE2\x94\x80\xE2\x94\x80 a.txt\n"
                                                           "\xE2\x94\x94\xE2\x94\x80\xE2\x94\x80 sub/\n"
                                                           "    \xE2\x94\x94\xE2\x94\x80\xE2\x94\x80 b.bin\n");
}

TEST(program_client, every_command_prints_one_json_value) {
  const shelf all;
  const served server({"--config", all.what.path("served.toml")});
  const auto pattern = "file://" + all.shown() + "/{+path}{?lines,bytes}";
  struct command {
    std::vector<std::string> words;
    std::string member;
  };
  for (const auto& [words, member] :
       {command{{"ls"}, "resources"}, command{{"tree"}, "tree"}, command{{"templates"}, "resourceTemplates"},
        command{{"read", all.what.uri("shown/a.txt")}, "contents"}, command{{"complete", pattern, "path", "a"}, "values"},
        command{{"info"}, "capabilities"}, command{{"skills"}, "skills"}, command{{"skills", "good", "--verify"}, "verified"},
        command{{"call"}, "tools"}, command{{"call", "search_resources", "q=two", "limit=3"}, "content"}}) {
    auto line = words;
    line.insert(line.end(), {"--json", "--on", server.url()});
    const auto got = run(line);
    EXPECT_EQ(got.how, well) << words.front() << got.errors;
    EXPECT_EQ(std::count(got.output.begin(), got.output.end(), '\n'), 1) << got.output;
    const auto parsed = boost::json::parse(got.output).as_object();
    EXPECT_TRUE(parsed.contains(member)) << words.front() << ": " << got.output;
  }
}

TEST(program_client, every_command_prints_text) {
  const shelf all;
  const served server({"--config", all.what.path("served.toml")});
  const auto pattern = "file://" + all.shown() + "/{+path}{?lines,bytes}";
  const auto said = [&](std::vector<std::string> words) {
    words.insert(words.end(), {"--on", server.url()});
    auto got = run(words);
    EXPECT_EQ(got.how, well) << words.front() << got.errors;
    return got.output;
  };
  EXPECT_EQ(said({"read", all.what.uri("shown/a.txt")}), "one\ntwo\nthree\nfour\n");
  EXPECT_EQ(said({"read", pattern, "--with", "path=a.txt", "--with", "lines=2-2"}), "two\n");
  EXPECT_EQ(said({"complete", pattern, "path", "b"}), "sub/b.bin\nsub/\n");
  EXPECT_TRUE(said({"templates"}).starts_with(pattern + '\t'));
  EXPECT_TRUE(said({"info"}).starts_with("name          hondana\nversion       "));
  EXPECT_EQ(said({"skills"}), "skill://good/SKILL.md\tgood\tGood at it.\n");
  EXPECT_EQ(said({"skills", "good", "--verify"}), "skill://good/SKILL.md\t52\tok\nskill://good/more.txt\t4\tok\n");
  EXPECT_NE(said({"call"}).find("read_resource\t"), std::string::npos);
  EXPECT_NE(said({"call", "read_resource", "uri=" + all.what.uri("shown/a.txt")}).find("three\n"), std::string::npos);
}

TEST(program_client, reads_bytes_exactly_to_its_output_and_into_a_file) {
  const shelf all;
  const served server({all.shown()});
  const folder target;
  for (const auto& where : {server.url(), all.shown()}) {
    const auto uri = all.what.uri("shown/sub/b.bin");
    const auto printed = run({"read", uri, "--on", where});
    EXPECT_EQ(printed.how, well) << printed.errors;
    EXPECT_TRUE(printed.output == binary(300'000)) << printed.output.size();
    target.put("out", "what was there");
    const auto written = run({"read", uri, "-o", target.path("out"), "--on", where});
    EXPECT_EQ(written.how, well) << written.errors;
    EXPECT_EQ(written.output, "");
    EXPECT_TRUE(content_of(target.path("out")) == binary(300'000));
    EXPECT_EQ(files_in(target.path()), 1u);
  }
}

TEST(program_client, a_read_that_fails_leaves_no_file_and_the_old_one_as_it_was) {
  const shelf all;
  const folder target;
  target.put("out", "what was there");
  EXPECT_EQ(run({"read", "missing", "-o", target.path("out"), "--on", all.shown()}).how, not_found);
  EXPECT_EQ(content_of(target.path("out")), "what was there");
  EXPECT_EQ(run({"read", "missing", "-o", target.path("new"), "--on", all.shown()}).how, not_found);
  EXPECT_EQ(files_in(target.path()), 1u);
  EXPECT_EQ(run({"read", "a.txt", "-o", target.path("no/such/folder"), "--on", all.shown()}).how, misused);
}

TEST(program_client, writes_into_a_pipe_that_has_a_name_and_does_not_replace_it) {
  const shelf all;
  const folder target;
  ASSERT_EQ(::mkfifo(target.path("pipe").c_str(), 0600), 0);
  const int reader = ::open(target.path("pipe").c_str(), O_RDWR | O_CLOEXEC | O_NONBLOCK);
  ASSERT_GE(reader, 0);
  EXPECT_EQ(run({"read", "a.txt", "-o", target.path("pipe"), "--on", all.shown()}).how, well);
  std::array<char, 100> got{};
  EXPECT_EQ(::read(reader, got.data(), got.size()), 19);
  EXPECT_TRUE(std::filesystem::is_fifo(target.path("pipe")));
  EXPECT_EQ(files_in(target.path()), 1u);
  ::close(reader);
}

TEST(program_client, takes_lines_through_a_template_or_cuts_them_itself) {
  const shelf all;
  const served server({"--config", all.what.path("served.toml")});
  const auto trace = all.what.path("trace");
  const auto asked = run({"read", all.what.uri("shown/a.txt"), "--lines", "2-3", "--on", server.url(), "--trace", trace});
  EXPECT_EQ(asked.output, "two\nthree\n") << asked.errors;
  EXPECT_NE(content_of(trace).find("a.txt?lines=2-3"), std::string::npos);
  const auto cut = run({"read", "skill://good/SKILL.md", "--lines", "5-", "--on", server.url(), "--trace", trace});
  EXPECT_EQ(cut.output, "one\ntwo\n") << cut.errors;
  EXPECT_EQ(content_of(trace).find("SKILL.md?lines"), std::string::npos);
  EXPECT_EQ(run({"read", "skill://good/SKILL.md", "--lines", "2", "--on", server.url()}).output, "name: good\n");
  EXPECT_EQ(run({"read", "skill://good/SKILL.md", "--lines", "3-2", "--on", server.url()}).how, misused);
}

TEST(program_client, says_that_config_names_targets_where_none_is_named) {
  const folder what;
  what.put("a.txt", "a\n");
  what.put("c.toml", "[[source]]\ntype = \"files\"\npath = \".\"\n");
  const auto got = run_in(what.path(), {"ls", "--config", what.path("c.toml")});
  EXPECT_EQ(got.how, well);
  EXPECT_NE(got.errors.find("-- hondana stdio --config " + what.path("c.toml")), std::string::npos) << got.errors;
  EXPECT_EQ(run_in(what.path(), {"ls", "--quiet", "--config", what.path("c.toml")}).errors, "");
}

TEST(program_client, leaves_with_the_exit_codes_of_its_help) {
  const shelf all;
  const refusing_server unauthorized("401 Unauthorized");
  const refusing_server forbidden("403 Forbidden");
  const refusing_server lacking("403 Forbidden", "Bearer error=\"insufficient_scope\", scope=\"files:write files:read\"");
  struct expectation {
    std::vector<std::string> words;
    departure how;
    std::string said;
  };
  const std::vector<expectation> expected{
      {{"ls", "--on", "nonsense"}, misused, "Unknown target \"nonsense\"."},
      {{"ls", "--on", "ftp://a/b"}, misused, "Only http: and https: URLs are supported"},
      {{"ls", "--on", "localhost:80"}, misused, "For a server over HTTP, write http://localhost:80"},
      {{"read", "a.txt", "--on", unauthorized.url()}, not_known, ""},
      {{"ls", "--header", "no colon", "--on", unauthorized.url()}, misused, "is not one line of the form 'NAME: VALUE'"},
      {{"ls", "--header", "A: b", "--on", all.shown()}, misused, "--header is for servers behind a URL"},
      {{"read", "missing", "--on", all.shown()}, not_found, "Resource not found"},
      {{"read", all.what.uri("shown/a.txt") + "?lines=9-2", "--on", all.shown()}, misused, "lines=9-2: expected"},
      {{"read", all.what.uri("shown/a.txt") + "?bytes=999-", "--on", all.shown()}, misused, "begins beyond the end"},
      {{"complete", "file:///{nothing}", "nothing", "--on", all.shown()}, not_found, "unknown template"},
      {{"search", "x", "--on", all.shown(), "--since", "nonsense"}, misused, "modifiedSince: expected"},
      {{"ls", "missing", "--on", all.shown()}, not_found, "lists no resources at or below"},
      {{"call", "read_resourc", "--on", all.shown()}, not_found, "did you mean \"read_resource\"?\n"},
      {{"skills", "none", "--on", all.shown()}, not_found, "no skill named \"none\""},
      {{"call", "search_resources", "query=x", "--on", all.shown()}, misused, "The tool has no argument \"query\""},
      {{"ls", "--on", unauthorized.url()}, not_known, "--token-file FILE"},
      {{"ls", "--on", forbidden.url()}, not_known, ""},
      {{"read", "a:b", "--header", "Authorization: Bearer any", "--on", lacking.url()},
       not_known,
       "it requires the scopes files:read files:write"},
      {{"ls", "--on", "http://127.0.0.1:1/mcp"}, unreachable, "cannot reach http://127.0.0.1:1"},
      {{"ls", "--on", "none", "--config", all.what.path("s.toml")}, unreachable, "cannot reach http://127.0.0.1:1"},
      {{"ls", "--", "/bin/false"}, unreachable, "ended with code 1"},
      {{"ls", "--", "/no/such/program"}, unreachable, "/no/such/program"},
      {{"ls", "--timeout", "0.2", "--", "/bin/sh", "-c", "cat >/dev/null"}, unreachable, "--timeout SECONDS waits longer"},
      {{"call", "read_resource", "uri=file:///missing", "--on", all.shown()}, failed, "the tool reported an error"}};
  for (const auto& [words, how, said] : expected) {
    const auto got = run(words);
    EXPECT_EQ(got.how, how) << words[0] << ' ' << words[2] << ": " << got.errors;
    EXPECT_NE(got.errors.find(said), std::string::npos) << got.errors;
    EXPECT_TRUE(got.errors.starts_with("hondana: ")) << got.errors;
  }
}

TEST(program_client, asks_a_name_of_the_configuration) {
  const shelf all;
  all.what.put("names.toml", "[[source]]\ntype = \"mcp\"\nname = \"shelf\"\ncommand = [\"" + std::string(HONDANA_PROGRAM) +
                                 "\", \"stdio\", \"" + all.shown() + "\"]\n");
  const auto config = all.what.path("names.toml");
  const auto got = run({"read", all.what.uri("shown/a.txt"), "--on", "shelf", "--config", config});
  EXPECT_EQ(got.output, "one\ntwo\nthree\nfour\n") << got.errors;
  EXPECT_EQ(run({"complete-words", "target", "sh", "--config", config}).output, "shelf\n");
  EXPECT_EQ(run({"complete-words", "uri", all.what.uri("shown/a"), "--on", "shelf", "--config", config}).output,
            all.what.uri("shown/a.txt") + '\n');
  const auto wrong = run({"ls", "--on", "shlef", "--config", config});
  EXPECT_EQ(wrong.how, misused);
  EXPECT_NE(wrong.errors.find("did you mean \"shelf\"? A target is"), std::string::npos) << wrong.errors;
}

TEST(program_client, takes_servers_over_into_a_configuration_that_it_then_asks) {
  const shelf all;
  all.what.put("mcp.json", "{ // mine\n \"mcpServers\": {\"My Shelf\": {\"command\": \"" + std::string(HONDANA_PROGRAM) +
                               "\", \"args\": [\"stdio\", \"" + all.shown() + "\"], \"env\": {\"TOKEN\": \"secret\"},},}}");
  const auto config = all.what.path("new/config.toml");
  const auto printed = run({"config", "import", all.what.path("mcp.json"), "--config", config});
  EXPECT_EQ(printed.how, well) << printed.errors;
  EXPECT_NE(printed.output.find("name = \"my-shelf\"\n"), std::string::npos) << printed.output;
  const auto written = run({"config", "import", "--write", all.what.path("mcp.json"), "--config", config});
  EXPECT_EQ(written.how, well);
  EXPECT_EQ(written.errors,
            "hondana: 1 server written to " + config + "; 'hondana ls --on NAME --config " + config + "' uses one\n");
  struct stat known{};
  ASSERT_EQ(::stat(config.c_str(), &known), 0);
  EXPECT_EQ(known.st_mode & 0777u, 0600u);
  EXPECT_EQ(run({"read", all.what.uri("shown/a.txt"), "--on", "my-shelf", "--config", config}).output,
            "one\ntwo\nthree\nfour\n");
  const auto again = run({"config", "import", "--write", all.what.path("mcp.json"), "--config", config});
  EXPECT_EQ(again.errors,
            "hondana: My Shelf is skipped: a server named \"my-shelf\" exists already\nhondana: nothing new to write to " +
                config + '\n');
  EXPECT_EQ(run({"config", "import", all.what.path("shown/a.txt")}).how, misused);
  EXPECT_EQ(run({"config", "import", all.what.path("none.json")}).how, misused);
}

}  // namespace
