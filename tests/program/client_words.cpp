/// What words of a line mean, and what is said where there is nothing or a mistake.
#include <fstream>
#include <string>
#include <string_view>
#include <vector>

#include <gtest/gtest.h>

#include "deadline.hpp"
#include "program/folder.hpp"
#include "program/messages.hpp"
#include "program/refusing_server.hpp"
#include "program/served.hpp"

namespace {

using program_test::departure;
using program_test::folder;
using program_test::misused;
using program_test::not_found;
using program_test::output_to;
using program_test::refusing_server;
using program_test::run;
using program_test::run_in;
using program_test::served;
using program_test::settles;
using program_test::unreachable;
using program_test::well;

bool holds(std::string_view text, std::string_view part) { return text.find(part) != std::string_view::npos; }

/// Two folders that have a name in common.
struct two_shelves {
  two_shelves() {
    all.put("one/a.txt", "of one");
    all.put("one/sub/x y.md", "with a space");
    all.put("one/sub/{x}.md", "with braces");
    all.put("two/a.txt", "of two");
    all.put("two/sub/b.txt", "b of two");
  }
  folder all;
};

TEST(program_words, names_mean_the_same_over_http_from_a_program_and_in_process) {
  const two_shelves shelves;
  const auto one = shelves.all.path("one");
  const served server({one});
  for (const auto& where : {std::vector<std::string>{"--on", server.url()}, std::vector<std::string>{"--on", one},
                            std::vector<std::string>{"--", HONDANA_PROGRAM, "stdio", one}}) {
    const auto said = [&where](std::vector<std::string> words) {
      words.insert(words.end(), where.begin(), where.end());
      return run(words);
    };
    for (const auto* name : {"a.txt", "./a.txt", "one/a.txt"}) EXPECT_EQ(said({"read", name}).output, "of one") << name;
    for (const auto* name : {"sub/x y.md", "x y.md", "x%20y.md"})
      EXPECT_EQ(said({"read", name}).output, "with a space") << name;
    EXPECT_EQ(said({"read", one + "/a.txt"}).output, "of one");
    for (const auto* name : {"sub/{x}.md", "{x}.md"}) EXPECT_EQ(said({"read", name}).output, "with braces") << name;
    EXPECT_EQ(said({"ls", "sub/"}).output,
              shelves.all.uri("one/sub/%7Bx%7D.md") + '\n' + shelves.all.uri("one/sub/x%20y.md") + '\n');
    EXPECT_EQ(said({"complete", "one", "path", "a"}).output, "a.txt\n");
    EXPECT_EQ(said({"read", "one", "--with", "path=a.txt"}).output, "of one");
    EXPECT_TRUE(holds(said({"watch", "a.txt", "--for", "0.01"}).errors, "watching " + shelves.all.uri("one/a.txt") + '\n'));
    const auto missing = said({"read", "none.txt"});
    EXPECT_EQ(missing.how, not_found);
    EXPECT_TRUE(holds(missing.errors, "'hondana ls " + where[0] + ' ' + where[1])) << missing.errors;
  }
}

TEST(program_words, a_name_of_several_resources_is_told_with_all_of_them) {
  const two_shelves shelves;
  const served server({shelves.all.path("one"), shelves.all.path("two")});
  const auto got = run({"read", "a.txt", "--on", server.url()});
  EXPECT_EQ(got.how, misused);
  EXPECT_EQ(got.errors, "hondana: \"a.txt\" is the name of 2: " + shelves.all.uri("one/a.txt") + ", " +
                            shelves.all.uri("two/a.txt") + ". Give the whole URI or name.\n");
  EXPECT_EQ(run({"read", "two/a.txt", "--on", server.url()}).output, "of two");
  EXPECT_EQ(run({"read", "b.txt", "--on", server.url()}).output, "b of two");
  const auto missing = run({"read", "c.txt", "--on", server.url()});
  EXPECT_EQ(missing.how, not_found);
  EXPECT_EQ(missing.errors,
            "hondana: the server lists no resource named \"c.txt\", and none whose URI ends in it. 'hondana ls --on " +
                server.url() + "' and 'hondana templates --on " + server.url() + "' list all.\n");
}

TEST(program_words, advice_repeats_the_target_as_a_shell_takes_it) {
  const folder what;
  what.put("a shelf/a.txt", "one");
  what.put("names.toml", "[[source]]\ntype = \"mcp\"\nname = \"shelf\"\ncommand = [\"" + std::string(HONDANA_PROGRAM) +
                             "\", \"stdio\", \"" + what.path("a shelf") + "\"]\n");
  EXPECT_TRUE(holds(run_in(what.path("a shelf"), {"read", "none"}).errors, "'hondana ls' and 'hondana templates' list"));
  EXPECT_TRUE(holds(run({"read", "none", "--on", what.path("a shelf")}).errors,
                    "`hondana ls --on '" + what.path("a shelf") + "'` and"));
  const auto named = run({"skills", "none", "--on", "shelf", "--config", what.path("names.toml")});
  EXPECT_TRUE(holds(named.errors, "'hondana skills --config " + what.path("names.toml") + " --on shelf' lists"))
      << named.errors;
  const auto tool = run({"call", "zzz", "--", HONDANA_PROGRAM, "stdio", what.path("a shelf")});
  EXPECT_TRUE(holds(tool.errors, "`hondana call -- " HONDANA_PROGRAM " stdio '")) << tool.errors;
}

TEST(program_words, a_malformed_uri_is_a_mistake_of_the_line) {
  const two_shelves shelves;
  const served server({shelves.all.path("one")});
  for (const auto* verb : {"read", "ls", "watch"}) {
    const auto got = run({verb, "file:///a%zz", "--on", server.url()});
    EXPECT_EQ(got.how, misused) << verb;
    EXPECT_TRUE(holds(got.errors, "the URI has a broken percent-escape at byte 9")) << got.errors;
  }
}

TEST(program_words, a_url_without_an_endpoint_is_unreachable_and_told_once) {
  for (const auto* status : {"404 Not Found", "405 Method Not Allowed", "501 Not Implemented"}) {
    const refusing_server elsewhere(status);
    const auto got = run({"ls", "--on", elsewhere.url()});
    EXPECT_EQ(got.how, unreachable);
    EXPECT_EQ(got.errors, "hondana: " + elsewhere.url() + " answers, but has no MCP endpoint at /mcp: HTTP " +
                              std::string(status).substr(0, 3) + ". Look up the path in its documentation.\n");
    const auto host = elsewhere.url().substr(0, elsewhere.url().size() - 4);
    const auto hinted = run({"ls", "--on", host + "/api"});
    EXPECT_EQ(hinted.how, unreachable);
    EXPECT_EQ(hinted.errors, "hondana: " + host + "/api answers, but has no MCP endpoint at /api: HTTP " +
                                 std::string(status).substr(0, 3) + ". The usual path is /mcp. Did you mean --on " +
                                 elsewhere.url() + "?\n");
  }
}

TEST(program_words, what_a_tool_requires_is_asked_for_before_it_is_called) {
  const two_shelves shelves;
  const auto trace = shelves.all.path("trace");
  for (const auto& given : {std::vector<std::string>{}, {"--arguments", "{}"}, {"limit=3"}}) {
    std::vector<std::string> words{"call", "search_resources", "--on", shelves.all.path("one"), "--trace", trace};
    words.insert(words.end(), given.begin(), given.end());
    const auto got = run(words);
    EXPECT_EQ(got.how, misused);
    EXPECT_TRUE(holds(got.errors,
                      "The tool search_resources needs q (Words to search for, e.g. deploy rollback). Give it as q=STRING, or"))
        << got.errors;
    std::ifstream file(trace);
    const std::string seen((std::istreambuf_iterator<char>(file)), std::istreambuf_iterator<char>());
    EXPECT_FALSE(holds(seen, "tools/call")) << seen;
  }
}

TEST(program_words, a_long_list_has_everything_in_columns) {
  const two_shelves shelves;
  shelves.all.put("one/t.md", "# Title\n\nWhat it\tsays.\n");
  ASSERT_TRUE(settles(shelves.all.path("one")));
  // A server waits 30 ms for what a file says of itself: a list of a busy machine may lack it.
  std::vector<std::string> cells;
  EXPECT_TRUE(hondana_test::eventually([&] {
    const auto got = run({"ls", "t.md", "--long", "--on", shelves.all.path("one")});
    cells.assign(1, {});
    for (const char c : got.output) {
      if (c == '\t') cells.emplace_back();
      if (c != '\t') cells.back() += c;
    }
    return cells.size() != 11 || !cells[7].empty();
  }));
  ASSERT_EQ(cells.size(), 11u);
  boost::json::value json;
  EXPECT_TRUE(hondana_test::eventually([&] {
    json = boost::json::parse(run({"ls", "t.md", "--json", "--on", shelves.all.path("one")}).output);
    return json.at("resources").at(0).as_object().contains("title");
  }));
  const auto& entry = json.at("resources").at(0);
  const auto stated = [&entry](const char* name) { return std::string(entry.at(name).as_string()); };
  EXPECT_EQ(cells[0], shelves.all.uri("one/t.md"));
  EXPECT_EQ(cells[1], stated("name"));
  EXPECT_EQ(cells[2], "file");
  EXPECT_EQ(cells[3], "23");
  EXPECT_EQ(cells[7], stated("title"));
  EXPECT_EQ(cells[8], "text/markdown");
  EXPECT_EQ(cells[9], stated("version"));
  EXPECT_EQ(cells[10], stated("description") + '\n');
}

TEST(program_words, an_empty_list_is_told_to_people_and_not_to_programs) {
  const two_shelves shelves;
  const auto one = shelves.all.path("one");
  const auto said = [&one](std::vector<std::string> words, output_to out) {
    words.insert(words.end(), {"--on", one});
    const auto got = run(words, out);
    EXPECT_EQ(got.how, well) << got.errors;
    EXPECT_EQ(got.output, "") << words[0];
    return got.errors;
  };
  EXPECT_EQ(said({"ls", "--filter", "*.zip", "--min-priority", "1"}, output_to::terminal),
            "hondana: nothing is listed that matches --min-priority 1 and --filter '*.zip'\n");
  EXPECT_EQ(said({"tree", "--audience", "user"}, output_to::terminal),
            "hondana: nothing is listed that matches --audience user\n");
  EXPECT_EQ(said({"skills"}, output_to::terminal), "hondana: the server lists no skills\n");
  EXPECT_EQ(said({"complete", "one", "path", "zzz"}, output_to::terminal), "hondana: no value for \"zzz\"\n");
  EXPECT_EQ(said({"ls", "--filter", "*.zip", "--quiet"}, output_to::terminal), "");
  EXPECT_EQ(said({"ls", "--filter", "*.zip"}, output_to::pipe), "");
  EXPECT_EQ(said({"complete", "one", "path", "zzz"}, output_to::pipe), "");
  EXPECT_TRUE(run({"ls", "--on", one}, output_to::terminal).output.find("NAME") != std::string::npos);
}

TEST(program_words, a_tree_as_json_is_one_of_objects) {
  const two_shelves shelves;
  const auto got = boost::json::parse(run({"tree", "--json", "--on", shelves.all.path("one")}).output);
  const auto expected =
      R"({"tree":[{"name":")" + shelves.all.uri("one") + R"(","uri":")" + shelves.all.uri("one") +
      R"(","children":[{"name":"a.txt","uri":")" + shelves.all.uri("one/a.txt") + R"(","children":[]},{"name":"sub","uri":")" +
      shelves.all.uri("one/sub") + R"(","children":[{"name":"{x}.md","uri":")" + shelves.all.uri("one/sub/%7Bx%7D.md") +
      R"(","children":[]},{"name":"x y.md","uri":")" + shelves.all.uri("one/sub/x%20y.md") + R"(","children":[]}]}]}]})";
  EXPECT_EQ(got, boost::json::parse(expected)) << got;
}

TEST(program_words, info_calls_a_transport_what_people_call_it) {
  const two_shelves shelves;
  const auto one = shelves.all.path("one");
  // Without a revision, a program that starts slowly could be taken for an older server.
  const std::vector<std::string> by_stdio{"--revision", "2026-07-28", "--", HONDANA_PROGRAM, "stdio", one};
  auto words = by_stdio;
  words.insert(words.begin(), "info");
  EXPECT_TRUE(holds(run(words).output, "protocol      2026-07-28 over stdio\n"));
  EXPECT_TRUE(holds(run({"info", "--on", one}).output, "protocol      2026-07-28, in this process\n"));
  EXPECT_TRUE(holds(run({"info", "--json", "--", HONDANA_PROGRAM, "stdio", one}).output, "\"transport\":\"stdio\""));
}

TEST(program_words, a_uri_in_letters_of_any_language_means_what_lists_spell_with_escapes) {
  const folder what;
  what.put("棚/こころ.md", "one");
  what.put("棚/こころ.md.bak", "two");
  const served server({what.path()});
  const auto listed = what.uri("%E6%A3%9A/%E3%81%93%E3%81%93%E3%82%8D.md");
  for (const auto* revision : {"2026-07-28", "2025-06-18"}) {
    for (const auto& uri : {what.uri("棚/こころ.md"), listed}) {
      const auto got = run({"ls", uri, "--on", server.url(), "--revision", revision});
      EXPECT_EQ(got.output, listed + '\n') << got.errors;
      const auto tree = run({"tree", uri, "--on", server.url(), "--revision", revision});
      EXPECT_TRUE(holds(tree.output, "/棚/こころ.md\n")) << tree.output << tree.errors;
      EXPECT_EQ(run({"read", uri, "--on", server.url(), "--revision", revision}).output, "one");
    }
    const auto folder = run({"tree", what.uri("棚"), "--on", server.url(), "--revision", revision});
    EXPECT_TRUE(holds(folder.output, "── こころ.md\n")) << folder.output << folder.errors;
  }
}

TEST(program_words, a_filter_is_typed_as_names_are_written_and_finds_what_uris_spell_with_escapes) {
  const folder what;
  what.put("棚/設計 カ\xE3\x82\x99イド.md", "one");  // one letter is not composed, as some systems write names
  what.put("棚/other.txt", "two");
  const served server({what.path()});
  const auto listed = run({"ls", "--filter", "*.md", "--on", server.url()}).output;
  EXPECT_TRUE(holds(listed, "%E8%A8%AD%E8%A8%88%20")) << listed;
  for (const auto* revision : {"2026-07-28", "2025-06-18"}) {
    for (const auto* typed : {"設計", "設計 ガイド", "ガイド", "設計*", "設計 ガ*.md", "*ガイド.md", "棚/設*"}) {
      const auto got = run({"ls", "--filter", typed, "--on", server.url(), "--revision", revision});
      EXPECT_EQ(got.output, listed) << typed << got.errors;
    }
    EXPECT_EQ(run({"ls", "--filter", "設備", "--on", server.url(), "--revision", revision}).output, "");
  }
  EXPECT_EQ(run({"ls", "棚", "--filter", "設計*", "--on", what.path()}).output, listed);
}

/// A log and a set of documents.
struct log_and_documents {
  log_and_documents() {
    all.put("app.log", "2026-01-31T08:00:00Z INFO started\n");
    all.put("manual/a.md", "# Birds\n");
    all.put("hondana.toml",
            "[[source]]\ntype = \"log\"\nname = \"app\"\npath = \"app.log\"\n[[source]]\ntype = \"docs\"\nname = \"d\"\npath "
            "= \"manual\"\n");
  }
  folder all;
};

TEST(program_words, a_uri_that_is_nearly_that_of_a_source_is_told_as_it_is_listed) {
  const log_and_documents sources;
  const served server({"--config", sources.all.path("hondana.toml")});
  for (const auto* typed : {"log://app", "log://App/", "log://APP"}) {
    for (const auto* form : {"--quiet", "--json"}) {
      const auto got = run({"read", typed, form, "--on", server.url()});
      EXPECT_EQ(got.how, not_found) << typed << got.errors;
      EXPECT_TRUE(holds(got.errors, " Did you mean log://app/? ")) << got.errors;
    }
  }
  const auto foreign = run({"read", "log://other", "--on", server.url()});
  EXPECT_EQ(foreign.how, not_found);
  EXPECT_FALSE(holds(foreign.errors, "Did you mean")) << foreign.errors;
}

TEST(program_words, a_template_without_values_is_told_with_its_variables_and_the_command) {
  const log_and_documents sources;
  const served server({"--config", sources.all.path("hondana.toml")});
  const auto section = run({"read", "docs-d-section", "--on", server.url()});
  EXPECT_EQ(section.how, misused);
  EXPECT_EQ(section.errors,
            "hondana: \"docs-d-section\" is a URI template, docs://d/{+path}{?section}. It needs values for: path. Optional "
            "variables: section. Read it with 'hondana read docs-d-section --with path=VALUE --on " +
                server.url() + "'\n");
  const auto records = run({"read", "app-records", "--on", server.url()});
  EXPECT_EQ(records.how, misused);
  EXPECT_TRUE(holds(records.errors, ". Optional variables: since, until, level, ")) << records.errors;
  EXPECT_TRUE(holds(records.errors, "'hondana read app-records --with since=VALUE --on ")) << records.errors;
  const auto typed = run({"read", "docs://d/{+path}", "--on", server.url()});
  EXPECT_EQ(typed.how, misused);
  EXPECT_TRUE(holds(typed.errors, "\"docs://d/{+path}\" is a URI template. It needs values for: path. Read it with "))
      << typed.errors;
}

}  // namespace
