/// `hondana token`: tokens are made, shown and taken back.
#include <sys/stat.h>

#include <chrono>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <memory>
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

std::string first_word(const std::string& line) { return line.substr(0, line.find_first_of("\t\n ")); }

TEST(program_tokens, are_made_shown_and_taken_back) {
  const folder where;
  const auto file = where.path("kept/tokens");
  const auto made = run({"token", "new", "laptop", "--scope", "read", "--scope", "list", "--expires", "30d", "--file", file});
  ASSERT_EQ(made.how.exit_code, 0) << made.errors;
  EXPECT_EQ(made.output.size(), 8u + 43u + 1u) << made.output;
  EXPECT_TRUE(made.output.starts_with("hondana_"));
  EXPECT_EQ(made.errors.find(made.output.substr(0, 51)), std::string::npos);
  struct stat facts{};
  ASSERT_EQ(::stat(file.c_str(), &facts), 0);
  EXPECT_EQ(facts.st_mode & 0777, 0600u);
  std::ifstream kept(file);
  const std::string text((std::istreambuf_iterator<char>(kept)), std::istreambuf_iterator<char>());
  EXPECT_EQ(text.find(made.output.substr(8, 43)), std::string::npos);

  const auto shown = run({"token", "ls", "--file", file});
  ASSERT_EQ(shown.how.exit_code, 0) << shown.errors;
  EXPECT_NE(shown.output.find("\tlaptop\tread list\tuntil 20"), std::string::npos) << shown.output;
  const auto json = run({"token", "ls", "--json", "--file", file});
  EXPECT_NE(json.output.find(R"("name":"laptop","scopes":["read","list"],"created":")"), std::string::npos) << json.output;
  EXPECT_NE(json.output.find(R"("expired":false)"), std::string::npos) << json.output;
  EXPECT_EQ(json.output.find("sha256"), std::string::npos);

  const auto id = first_word(shown.output);
  const auto by_name = run({"token", "revoke", "laptop", "--file", file});
  EXPECT_EQ(by_name.how.exit_code, 2);
  EXPECT_NE(by_name.errors.find("laptop has " + id), std::string::npos) << by_name.errors;
  const auto gone = run({"token", "revoke", id, "--file", file});
  EXPECT_EQ(gone.how.exit_code, 0) << gone.errors;
  const auto again = run({"token", "revoke", id, "--file", file});
  EXPECT_EQ(again.how.exit_code, 2);
  EXPECT_NE(again.errors.find("hondana token ls"), std::string::npos) << again.errors;
  EXPECT_EQ(run({"token", "ls", "--file", file}).output, "");
}

TEST(program_tokens, are_printed_as_json_with_the_token) {
  const folder where;
  const auto made = run({"token", "new", "phone", "--json", "--file", where.path("tokens")});
  ASSERT_EQ(made.how.exit_code, 0) << made.errors;
  EXPECT_NE(made.output.find(R"("name":"phone","token":"hondana_)"), std::string::npos) << made.output;
}

TEST(program_tokens, that_cannot_be_made_say_why) {
  const folder where;
  const auto file = where.path("tokens");
  EXPECT_EQ(run({"token", "new", "--file", file}).how.exit_code, 1);
  EXPECT_NE(run({"token", "new", "two words", "--file", file}).errors.find("a token name must have"), std::string::npos);
  EXPECT_NE(run({"token", "new", "x", "--expires", "soon", "--file", file}).errors.find("30d"), std::string::npos);
  EXPECT_NE(run({"token", "new", "x", "--scope", "a b", "--file", file}).errors.find("not a scope"), std::string::npos);
  EXPECT_NE(run({"token", "new", "x", "--scope", "read,write", "--file", file}).errors.find("repeat --scope for each scope"),
            std::string::npos);
  EXPECT_FALSE(std::filesystem::exists(file));
  where.put("open", "");
  ASSERT_EQ(::chmod(where.path("open").c_str(), 0644), 0);
  for (const std::string verb : {"ls", "new", "revoke"}) {
    std::vector<std::string> line{"token", verb, "--file", where.path("open")};
    if (verb != "ls") line.emplace_back("x");
    const auto refused = run(line);
    EXPECT_EQ(refused.how.exit_code, 1) << verb;
    EXPECT_NE(refused.errors.find("chmod 600"), std::string::npos) << verb << refused.errors;
  }
}

TEST(program_tokens, hondana_check_says_how_callers_are_told_apart) {
  const folder where;
  where.put("shown/a.txt", "hello");
  ASSERT_EQ(run({"token", "new", "laptop", "--file", where.path("tokens")}).how.exit_code, 0);
  where.put("config.toml", "[auth]\ntokens = \"tokens\"\n[[source]]\ntype = \"files\"\npath = \"shown\"\n");
  const auto told = run({"check", "--config", where.path("config.toml")});
  EXPECT_EQ(told.how.exit_code, 0) << told.errors;
  EXPECT_NE(told.output.find("callers over HTTP  by tokens in " + where.path("tokens")), std::string::npos) << told.output;
  const auto json = run({"check", "--json", "--config", where.path("config.toml")});
  EXPECT_NE(json.output.find("{\"callers\":[\"tokens in "), std::string::npos) << json.output;
  std::filesystem::remove(where.path("tokens"));
  const auto broken = run({"check", "--config", where.path("config.toml")});
  EXPECT_EQ(broken.how.exit_code, 1);
  EXPECT_NE(broken.errors.find("hondana token new"), std::string::npos) << broken.errors;
}

TEST(program_tokens, let_their_bearer_ask_a_server_until_they_are_taken_back) {
  const folder where;
  const auto file = where.path("tokens");
  where.put("shown/a.txt", "hello");
  const auto token = run({"token", "new", "laptop", "--file", file}).output;
  const served shelf({"--tokens", file, where.path("shown")});
  const auto list = [&shelf](const std::string& with) {
    std::vector<std::string> line{"ls", "--on", shelf.url()};
    if (!with.empty()) line.insert(line.end(), {"-H", "Authorization: Bearer " + with});
    return run(line);
  };
  const auto good = list(first_word(token));
  EXPECT_EQ(good.how, well) << good.errors;
  EXPECT_NE(good.output.find("a.txt"), std::string::npos) << good.output;
  EXPECT_EQ(list("").how.exit_code, 3);
  EXPECT_EQ(list("hondana_guessed").how.exit_code, 3);
  EXPECT_EQ(run({"token", "revoke", first_word(run({"token", "ls", "--file", file}).output), "--file", file}).how, well);
  const auto late = list(first_word(token));
  EXPECT_EQ(late.how.exit_code, 3) << late.output;
  EXPECT_EQ(late.errors.find(first_word(token)), std::string::npos);
  // A new one needs no restart.
  EXPECT_EQ(list(first_word(run({"token", "new", "phone", "--file", file}).output)).how, well);
}

/// Writes a token where nobody else reads it.
void keep(const folder& where, const std::string& name, const std::string& token) {
  where.put(name + ".new", token + '\n');
  ASSERT_EQ(::chmod(where.path(name + ".new").c_str(), 0600), 0);
  std::filesystem::rename(where.path(name + ".new"), where.path(name));
}

// attacks: going on to listen with a token that has expired
TEST(program_tokens, end_what_they_have_opened_when_they_expire_and_a_new_one_goes_on) {
  for (const std::string revision : {"2026-07-28", "2025-11-25"}) {
    const folder where;
    const auto file = where.path("tokens");
    where.put("shown/a.txt", "one");
    ASSERT_EQ(run({"token", "new", "other", "--file", file}).how, well);
    const served shelf({"--tokens", file, where.path("shown")});
    const auto lasting = first_word(run({"token", "new", "laptop", "--file", file}).output);
    const auto watch = [&](const std::string& token) {
      return std::make_unique<process>(std::vector<std::string>{"watch", where.uri("shown/a.txt"), "--json", "--on",
                                                                shelf.url(), "--revision", revision, "--token-file",
                                                                where.path(token)});
    };
    std::unique_ptr<process> ended, renewed;
    std::string ending;
    bool is_in_time = false;
    // Two programs have to be started and to listen before the token expires; on a slow machine it gets more time.
    for (int lifetime = 2; !is_in_time; lifetime *= 2) {
      ASSERT_LE(lifetime, 128) << ended->errors() << renewed->errors();
      const auto expires = std::chrono::system_clock::now() + std::chrono::seconds(lifetime - 1);
      ending = first_word(run({"token", "new", "laptop", "--expires", std::to_string(lifetime) + "s", "--file", file}).output);
      keep(where, "kept", ending);
      keep(where, "renewed", ending);
      ended = watch("kept");
      renewed = watch("renewed");
      const bool both_watch = ended->error_line_with("watching", within(patience)).has_value() &&
                              renewed->error_line_with("watching", within(patience)).has_value();
      keep(where, "renewed", lasting);
      is_in_time = both_watch && std::chrono::system_clock::now() < expires;
    }
    EXPECT_TRUE(ended->error_line_with("rejects the token in " + where.path("kept"), within(patience)))
        << revision << ": the stream went on; " << ended->errors();
    EXPECT_EQ(ended->errors().find(ending), std::string::npos);
    where.put("shown/a.txt", "two");
    EXPECT_TRUE(renewed->read_line(within(patience))) << revision << renewed->errors();
  }
}

TEST(program_tokens, are_taken_from_a_file_from_standard_input_and_from_a_variable) {
  const folder where;
  const auto file = where.path("tokens");
  where.put("shown/a.txt", "one");
  const auto token = first_word(run({"token", "new", "laptop", "--file", file}).output);
  const served shelf({"--tokens", file, where.path("shown")});
  keep(where, "kept", token);
  EXPECT_EQ(run({"ls", "--on", shelf.url(), "--token-file", where.path("kept")}).how, well);
  process typed({"ls", "--on", shelf.url(), "--token-file", "-"});
  ASSERT_TRUE(typed.write(token + '\n', within(patience)));
  typed.end_input();
  EXPECT_EQ(typed.leaves(within(patience)), well) << typed.errors();
  ASSERT_EQ(::setenv("HONDANA_TEST_BEARER", token.c_str(), 1), 0);
  EXPECT_EQ(run({"ls", "--on", shelf.url(), "-H", "Authorization: Bearer ${env:HONDANA_TEST_BEARER}"}).how, well);
  ASSERT_EQ(::unsetenv("HONDANA_TEST_BEARER"), 0);
  const auto both = run({"ls", "--on", shelf.url(), "--token-file", where.path("kept"), "-H", "Authorization: Bearer x"});
  EXPECT_EQ(both.how.exit_code, 1) << both.errors;
  ASSERT_EQ(::chmod(where.path("kept").c_str(), 0644), 0);
  const auto open = run({"ls", "--on", shelf.url(), "--token-file", where.path("kept")});
  EXPECT_EQ(open.how.exit_code, 1) << open.errors;
  EXPECT_NE(open.errors.find("chmod 600"), std::string::npos) << open.errors;
}

TEST(program_tokens, need_the_scopes_that_rules_ask_for) {
  const folder where;
  const auto file = where.path("tokens");
  where.put("shown/a.txt", "hello");
  const auto plain = first_word(run({"token", "new", "laptop", "--scope", "list", "--file", file}).output);
  const auto admin = first_word(run({"token", "new", "boss", "--scope", "admin", "--file", file}).output);
  where.put("config.toml",
            "[auth]\ntokens = \"tokens\"\nscopes = [\"list\"]\n[[auth.rule]]\nmethods = [\"resources/read\"]\n"
            "scopes = [\"read\"]\n[auth.implied_scopes]\nadmin = [\"list\", \"read\"]\n[[source]]\ntype = \"files\"\npath = "
            "\"shown\"\n");
  const served shelf({"--config", where.path("config.toml")});
  const auto with = [&shelf](std::vector<std::string> line, const std::string& token) {
    line.insert(line.end(), {"--on", shelf.url(), "-H", "Authorization: Bearer " + token});
    return run(line);
  };
  EXPECT_EQ(with({"ls"}, plain).how, well);
  const auto refused = with({"read", where.uri("shown/a.txt")}, plain);
  EXPECT_EQ(refused.how.exit_code, 3) << refused.errors;
  EXPECT_NE(refused.errors.find("read"), std::string::npos) << refused.errors;
  EXPECT_EQ(with({"read", where.uri("shown/a.txt")}, admin).output, "hello");
}

TEST(program_tokens, a_server_whose_tokens_others_can_read_does_not_start) {
  const folder where;
  where.put("open", "");
  ASSERT_EQ(::chmod(where.path("open").c_str(), 0644), 0);
  const auto refused = run({"serve", "--port", "0", "--tokens", where.path("open"), where.path()});
  EXPECT_EQ(refused.how.exit_code, 1);
  EXPECT_NE(refused.errors.find("chmod 600"), std::string::npos) << refused.errors;
}

}  // namespace
