/// Where what the commands that ask a server print goes, and what they do when nobody reads it or waits for it.
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "program/folder.hpp"
#include "program/process.hpp"
#include "program/served.hpp"

namespace {

using program_test::departure;
using program_test::folder;
using program_test::output_to;
using program_test::patience;
using program_test::process;
using program_test::run;
using program_test::within;

constexpr departure broken_pipe{141, 0};

TEST(program_output, is_silent_when_its_reader_stops) {
  const folder what;
  for (int i = 0; i < 3000; ++i) what.put("some-name-that-is-long-enough-to-fill-a-pipe-" + std::to_string(i), "");
  process command({"ls", "--on", what.path()});
  EXPECT_TRUE(command.read_line(within(patience)));
  command.end_output();
  EXPECT_EQ(command.leaves(within(patience)), broken_pipe);
  EXPECT_EQ(command.errors(), "");
}

#ifndef HONDANA_IS_SANITIZED
// Sanitizers refuse what is loaded before them.
TEST(program_output, stops_when_its_reader_does_also_where_each_line_is_sent) {
  const folder what;
  for (int i = 0; i < 3000; ++i) what.put("some-name-that-is-long-enough-to-fill-a-pipe-" + std::to_string(i), "");
  process command({"-oL", HONDANA_PROGRAM, "ls", "--on", what.path()}, output_to::pipe, "/usr/bin/stdbuf");
  EXPECT_TRUE(command.read_line(within(patience)));
  command.end_output();
  EXPECT_EQ(command.leaves(within(patience)), broken_pipe);
  EXPECT_EQ(command.errors(), "");
}
#endif

TEST(program_output, ends_at_an_interrupt_before_the_first_answer) {
  process asking({"ls", "--trace", "-", "--", "sleep", "600"});
  ASSERT_TRUE(asking.error_line_with("server/discover", within(patience))) << asking.errors();
  asking.signal(SIGINT);
  const auto how = asking.leaves(within(patience));
  ASSERT_TRUE(how);
  EXPECT_EQ(how->exit_code, 130) << asking.errors();
}

TEST(program_output, goes_to_one_place_only) {
  const folder what;
  what.put("a.txt", "one");
  EXPECT_EQ(run({"read", "a.txt", "--on", what.path(), "-o", "-"}).output, "one");
  const auto both = run({"read", "a.txt", "--on", what.path(), "-o", what.path() + "/b", "--json"});
  EXPECT_EQ(both.how, (departure{1, 0}));
  EXPECT_EQ(both.output, "");
  EXPECT_NE(both.errors.find("give one of them"), std::string::npos) << both.errors;
}

TEST(program_output, says_that_secrets_were_masked) {
  // Put together here, so that it stands in no file.
  const auto token = std::string("ghp_") + "a1B2c3D4e5F6g7H8i9J0k1L2m3N4o5P6q7R8";
  const auto note = "masked: 2 secrets; to show them, set `redact = false` in the server's [[source]]\n";
  const folder what;
  what.put("a.txt", token + "\n" + token + "\n");
  what.put("b.txt", "none\n");
  const auto shown = run({"read", "a.txt", "--on", what.path()});
  EXPECT_EQ(shown.output, "ghp_" + std::string(36, '*') + "\nghp_" + std::string(36, '*') + "\n");
  EXPECT_NE(shown.errors.find(note), std::string::npos) << shown.errors;
  EXPECT_EQ(run({"read", "a.txt", "--on", what.path(), "-q"}).errors, "");
  EXPECT_EQ(run({"read", "b.txt", "--on", what.path()}).errors.find("masked"), std::string::npos);
  const auto listed = run({"read", "a.txt", "--on", what.path(), "--json"});
  EXPECT_NE(listed.output.find(R"("dev.hondana/redacted":2)"), std::string::npos) << listed.output;
  EXPECT_NE(listed.errors.find(note), std::string::npos);
}

TEST(program_output, says_that_what_was_read_is_what_the_server_has_kept) {
  const std::string serves =
      R"(while read -r line; do)"
      R"( id=$(printf '%s' "$line" | sed 's/.*"id":\([0-9]*\).*/\1/');)"
      R"( case "$line" in)"
      R"( *'"initialize"'*) told='"protocolVersion":"2025-06-18","capabilities":{"resources":{}},"serverInfo":{"name":"a","version":"1"}';;)"
      R"( *'"resources/read"'*) told='"contents":[{"uri":"x:a","text":"one","_meta":{"dev.hondana/offline":true,"dev.hondana/ageSeconds":200}}]';;)"
      R"( *) continue;; esac;)"
      R"( printf '{"jsonrpc":"2.0","id":%s,"result":{%s}}\n' "$id" "$told"; done)";
  const auto said = [&serves](std::vector<std::string> words) {
    words.insert(words.end(), {"--revision", "2025-06-18", "--", "/bin/sh", "-c", serves});
    return run(words);
  };
  const auto got = said({"read", "x:a"});
  EXPECT_EQ(got.output, "one");
  EXPECT_EQ(got.errors,
            "hondana: offline: the server cannot reach the source now; this is its cached copy, last confirmed 3 min ago\n");
  EXPECT_EQ(said({"read", "x:a", "--json"}).errors, got.errors);
  EXPECT_EQ(said({"read", "x:a", "--quiet"}).errors, "");
}

}  // namespace
