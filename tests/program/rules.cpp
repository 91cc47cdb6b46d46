/// Rules about scopes, as whoever runs a server is told of them.
#include <csignal>
#include <filesystem>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "program/folder.hpp"
#include "program/process.hpp"
#include "program/served.hpp"

namespace {

using program_test::folder;
using program_test::patience;
using program_test::process;
using program_test::run;
using program_test::served;
using program_test::well;
using program_test::within;

/// A shelf with a private folder, the link to it, and a configuration with a rule about `uri`.
class ruled : public folder {
 public:
  ruled() {
    put("shelf/private/diary.md", "secret");
    put("shelf/open.md", "open");
    std::filesystem::create_directory_symlink(path("shelf"), path("link"));
    run({"token", "new", "laptop", "--file", path("tokens")});
  }
  [[nodiscard]] std::string config(const std::string& uri) const {
    put("config.toml", "[auth]\ntokens = \"tokens\"\n[[auth.rule]]\nmethods = [\"resources/read\"]\nuris = [\"" + uri +
                           "\"]\nscopes = [\"private\"]\n[[source]]\ntype = \"files\"\npath = \"link\"\n");
    return path("config.toml");
  }
};

TEST(program_rules, about_a_link_to_what_is_served_are_refused_with_their_line) {
  const ruled where;
  const auto config = where.config(where.uri("link/private/"));
  for (const std::string command : {"check", "serve", "stdio"}) {
    const auto refused = run({command, "--config", config});
    EXPECT_EQ(refused.how.exit_code, 1) << command;
    EXPECT_NE(refused.errors.find(config + ":5: auth.rule.uris: " + where.uri("link/private/") + " is not below any source"),
              std::string::npos)
        << refused.errors;
    EXPECT_NE(refused.errors.find(where.uri("shelf")), std::string::npos) << refused.errors;
  }
}

TEST(program_rules, that_protect_nothing_are_not_taken_over_on_reload) {
  const ruled where;
  served shelf({"--config", where.config(where.uri("shelf/private/"))});
  static_cast<void>(where.config(where.uri("shelv/private/")));
  shelf.program().signal(SIGHUP);
  const auto line = shelf.program().error_line_with("kept the old configuration", within(patience));
  ASSERT_TRUE(line) << shelf.program().errors();
  EXPECT_NE(line->find("is not below any source"), std::string::npos) << *line;
}

TEST(program_rules, hondana_check_lists_them_and_what_reading_needs) {
  const ruled where;
  const auto config = where.config(where.uri("shelf/private/"));
  const auto told = run({"check", "--config", config});
  EXPECT_EQ(told.how, well) << told.errors;
  EXPECT_NE(told.output.find("resources/read of " + where.uri("shelf/private/") + " needs the scopes  private\n"),
            std::string::npos)
      << told.output;
  EXPECT_NE(told.output.find("private/diary.md  (reading needs private)\n"), std::string::npos) << told.output;
  EXPECT_NE(told.output.find("open.md\n"), std::string::npos) << told.output;
  EXPECT_EQ(told.errors, "");
  const auto json = run({"check", "--json", "--config", config});
  EXPECT_NE(json.output.find(R"({"rule":{"methods":["resources/read"],"uris":[")"), std::string::npos) << json.output;
  EXPECT_NE(json.output.find(R"("served":true,"scopes":["private"]})"), std::string::npos) << json.output;
}

TEST(program_rules, hondana_check_warns_of_those_that_are_about_nothing_listed) {
  const ruled where;
  const auto config = where.config(where.uri("shelf/nosuch/"));
  const auto told = run({"check", "--config", config});
  EXPECT_EQ(told.how, well) << told.errors;
  EXPECT_NE(told.errors.find(config + ":5: auth.rule.uris: " + where.uri("shelf/nosuch/") +
                             " matches no resource that is listed now"),
            std::string::npos)
      << told.errors;
}

TEST(program_rules, about_callers_that_never_come_are_warned_of_over_stdio_too) {
  const folder what;
  what.put("a.txt", "hello");
  what.put("shelf.toml",
           "[[access.rule]]\nallow = [\"list\", \"read\"]\n[[access.rule]]\nidentities = [\"bob\"]\ndeny = true\n"
           "[[source]]\ntype = \"files\"\npath = \".\"\n");
  const auto got = run({"stdio", "--config", what.path("shelf.toml")});
  EXPECT_EQ(got.how, well) << got.errors;
  EXPECT_NE(got.errors.find("shelf.toml:4: access.rule.identities: no caller over standard input is ever named \"bob\""),
            std::string::npos)
      << got.errors;
}

/// Two callers with tokens, of whom access rules may deny one a file.
class watched_by_two : public folder {
 public:
  watched_by_two() {
    put("shelf/secret.md", "secret");
    put("shelf/open.md", "open");
    for (const std::string name : {"laptop", "desk"}) {
      const auto made = run({"token", "new", name, "--json", "--file", path("tokens")}).output;
      const auto from = made.find("hondana_");
      put(name, made.substr(from, made.find('"', from) - from) + "\n");
      std::filesystem::permissions(path(name), std::filesystem::perms::owner_read | std::filesystem::perms::owner_write);
    }
  }
  [[nodiscard]] std::string config(const std::string& denied_to) const {
    std::string text = "[auth]\ntokens = \"tokens\"\n[[access.rule]]\nallow = [\"list\", \"read\"]\n";
    if (!denied_to.empty())
      text +=
          "[[access.rule]]\nidentities = [\"" + denied_to + "\"]\nuris = [\"" + uri("shelf/secret.md") + "\"]\ndeny = true\n";
    put("config.toml", text + "[[source]]\ntype = \"files\"\npath = \"shelf\"\n");
    return path("config.toml");
  }
};

/// The changes that are told up to that of `last`.
std::string told_until(process& watching, const std::string& last) {
  std::string all;
  while (auto line = watching.read_line(within(patience))) {
    all += *line + '\n';
    if (line->ends_with(last)) return all;
  }
  ADD_FAILURE() << "nothing of " << last << ": " << watching.errors();
  return all;
}

TEST(program_rules, about_access_that_are_reloaded_end_what_one_watcher_hears_and_not_another) {
  const watched_by_two where;
  served shelf({"--config", where.config("")});
  const auto secret = where.uri("shelf/secret.md");
  const auto open = where.uri("shelf/open.md");
  const auto watched_with = [&](const std::string& token) {
    return std::vector<std::string>{"watch", secret, open, "--on", shelf.url(), "--token-file", where.path(token)};
  };
  process laptop(watched_with("laptop"));
  process desk(watched_with("desk"));
  for (auto* one : {&laptop, &desk}) ASSERT_TRUE(one->error_line_with("watching ", within(patience))) << one->errors();
  where.put("shelf/secret.md", "changed");
  for (auto* one : {&laptop, &desk}) EXPECT_NE(told_until(*one, secret).find("  changed  "), std::string::npos);
  // A change may be told twice. When the second of these is told, what may still be told of the one before has been.
  for (const char* text : {"one", "two"}) {
    where.put("shelf/open.md", text);
    for (auto* one : {&laptop, &desk}) static_cast<void>(told_until(*one, open));
  }

  static_cast<void>(where.config("token:desk"));
  shelf.program().signal(SIGHUP);
  ASSERT_TRUE(shelf.program().error_line_with("reloaded the configuration", within(patience))) << shelf.program().errors();
  where.put("shelf/secret.md", "changed again");
  EXPECT_NE(told_until(laptop, secret).find("  changed  "), std::string::npos);
  where.put("shelf/open.md", "changed");
  const auto told = told_until(desk, open);
  EXPECT_EQ(told.find("secret.md"), std::string::npos) << told;
}

}  // namespace
