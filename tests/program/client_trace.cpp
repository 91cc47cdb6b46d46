/// `--trace`: what went over the wire, as transcripts that can be played.
#include <sys/stat.h>

#include <filesystem>
#include <fstream>
#include <iterator>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include <gtest/gtest.h>

#include "deadline.hpp"
#include "program/folder.hpp"
#include "program/messages.hpp"
#include "program/served.hpp"
#include "transcripts/pattern.hpp"
#include "transcripts/transcript.hpp"

namespace {

using program_test::departure;
using program_test::folder;
using program_test::patience;
using program_test::process;
using program_test::run;
using program_test::served;
using program_test::settles;
using program_test::well;
using program_test::within;

std::string trace_in(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
}

/// A trace as the transcripts' reader sees it, with the citation that only people can give.
transcripts::transcript read_back(const std::string& trace, const std::string& revision) {
  const auto read = transcripts::parse_transcript("trace." + revision + ".txt",
                                                  "# spec: " + revision + " server/resources#reading-resources\n" + trace);
  EXPECT_TRUE(read) << (read ? std::string() : read.error());
  return read ? *read : transcripts::transcript();
}

/// Plays a trace with a server of the same folder: what differs from what it records; empty: nothing.
std::string play(const transcripts::transcript& trace, const std::string& served_folder) {
  EXPECT_FALSE(trace.handshake || trace.adds_meta);
  process server({"stdio", served_folder});
  transcripts::bindings known;
  for (const auto& one : trace.steps) {
    if (one.what == transcripts::step::kind::send) {
      if (!server.write(one.text + '\n', within(patience))) return "it takes nothing: " + server.errors();
      continue;
    }
    if (one.what != transcripts::step::kind::expect) return "a step that is no message: " + one.text;
    const auto got = server.read_line(within(patience));
    if (!got) return "no message for " + one.text.substr(0, 1000);
    const auto expected = transcripts::read_json(one.text);
    const auto message = transcripts::read_json(*got);
    if (!expected || !message) return "no JSON: " + one.text.substr(0, 1000);
    if (auto differs = transcripts::difference(*expected, *message, known)) return *differs;
  }
  return {};
}

TEST(program_trace, records_every_message_for_its_owner_alone) {
  const folder what;
  what.put("shown/a.txt", "hello");
  what.put("trace", "what was there");
  std::filesystem::permissions(what.path("trace"), std::filesystem::perms(0644));
  const served server({what.path("shown")});
  for (const auto& where :
       {std::vector<std::string>{"--on", server.url()}, std::vector<std::string>{"--on", what.path("shown")},
        std::vector<std::string>{"--", HONDANA_PROGRAM, "stdio", what.path("shown")}}) {
    std::vector<std::string> words{"read", what.uri("shown/a.txt"), "--trace", what.path("trace")};
    words.insert(words.end(), where.begin(), where.end());
    const auto got = run(words);
    EXPECT_EQ(got.output, "hello") << got.errors;
    struct stat known{};
    ASSERT_EQ(::stat(what.path("trace").c_str(), &known), 0);
    EXPECT_EQ(known.st_mode & 0777u, 0600u);
    std::ifstream trace(what.path("trace"));
    int asked = 0;
    int answered = 0;
    for (std::string line; std::getline(trace, line);) {
      if (line == "# open: none" || line == "# meta: as written") continue;
      ASSERT_TRUE(line.starts_with("-> ") || line.starts_with("<- ")) << line;
      const auto message = program_test::message(std::string_view(line).substr(3));
      if (line.starts_with("-> ") && message.contains("method") && message.at("method") == "resources/read") ++asked;
      if (line.starts_with("<- ") && message.contains("result") && line.find("hello") != std::string::npos) ++answered;
    }
    EXPECT_EQ(asked, 1);
    EXPECT_EQ(answered, 1);
  }
  EXPECT_EQ(run({"ls", "--on", what.path("shown"), "--trace", what.path("no/such/trace")}).how, (departure{1, 0}));
}

TEST(program_trace, is_a_transcript_that_can_be_played) {
  const folder what;
  what.put("shown/a.txt", "one\ntwo\n");
  what.put("shown/b.bin", std::string("\0\1\2\xff", 4));
  ASSERT_TRUE(settles(what.path("shown")));
  const auto trace = what.path("trace");
  const auto name = what.uri("shown/b.bin");
  for (const auto* revision : {"2026-07-28", "2025-11-25", "2024-11-05"}) {
    for (const auto& words : {std::vector<std::string>{"read", what.uri("shown/a.txt")},
                              {"read", name},
                              {"ls", "--long"},
                              {"read", what.uri("shown/a.txt"), "--lines", "2"},
                              {"read", what.uri("shown/none")}}) {
      auto line = words;
      line.insert(line.end(), {"--trace", trace, "--revision", revision, "--", HONDANA_PROGRAM, "stdio", what.path("shown")});
      // A server waits 30 ms for what a file says of itself: on a busy machine one of two lists may lack that, and only that.
      std::string difference;
      EXPECT_TRUE(hondana_test::eventually([&] {
        EXPECT_EQ(run(line).how.signal, 0);
        const auto recorded = read_back(trace_in(trace), revision);
        EXPECT_GE(recorded.steps.size(), 4u);
        difference = play(recorded, what.path("shown"));
        return difference.find(".description: ") == std::string::npos;
      }));
      EXPECT_EQ(difference, "") << words[0] << ' ' << revision << '\n' << trace_in(trace);
    }
  }
  // That a play can fail at all.
  const auto changed = read_back(trace_in(trace), "2024-11-05");
  what.put("shown/none", "there now");
  EXPECT_NE(play(changed, what.path("shown")), "");
}

TEST(program_trace, tells_the_size_and_digest_of_content_that_is_too_long_for_it) {
  const folder what;
  what.put("shown/big.txt", std::string(3'000'000, 'a'));
  what.put("shown/zero.bin", std::string(1'500'000, '\0'));
  ASSERT_TRUE(settles(what.path("shown")));
  const auto trace = what.path("trace");
  const std::map<std::string, std::string> expected{
      {"big.txt",
       "# /result/contents/0/text: 3000000 bytes, "
       "sha256:2a152c894398719c0570f83fac34ac03a0f6e8e474b995c2403aa5434f7b9dd4\n"},
      {"zero.bin",
       "# /result/contents/0/blob: 1500000 bytes, "
       "sha256:3fb3661f659e89fea0d325bc25ae17d9410cd6c85867e55ed641ed062650a55e\n"}};
  for (const auto& [name, remark] : expected) {
    for (const auto& how : {std::vector<std::string>{}, {"--json"}}) {
      std::vector<std::string> words{"read", name, "--trace", trace, "--on", what.path("shown")};
      words.insert(words.end(), how.begin(), how.end());
      EXPECT_EQ(run(words).how, well);
      const auto recorded = trace_in(trace);
      EXPECT_NE(recorded.find(remark + "<- {"), std::string::npos) << recorded.substr(0, 5000);
      EXPECT_LT(recorded.size(), 10'000u);
      EXPECT_EQ(play(read_back(recorded, "2026-07-28"), what.path("shown")), "");
    }
  }
}

TEST(program_trace, holds_whole_what_is_less_than_a_megabyte) {
  const folder what;
  const std::string text(900'000, 'b');
  what.put("shown/a.txt", text);
  const auto trace = what.path("trace");
  EXPECT_EQ(run({"read", "a.txt", "--trace", trace, "--on", what.path("shown")}).output, text);
  EXPECT_NE(trace_in(trace).find("\"text\":\"" + text + '"'), std::string::npos);
}

TEST(program_trace, goes_to_standard_error_when_asked_to) {
  const folder what;
  what.put("a.txt", "hello");
  const auto got = run({"read", "a.txt", "--trace", "-", "--on", what.path()});
  EXPECT_EQ(got.output, "hello");
  EXPECT_TRUE(got.errors.starts_with("# open: none\n# meta: as written\n-> {")) << got.errors;
  EXPECT_NE(got.errors.find("\"text\":\"hello\""), std::string::npos) << got.errors;
}

TEST(program_trace, that_cannot_be_written_ends_and_says_so_once) {
  const folder what;
  what.put("a.txt", "hello");
  const auto got = run({"read", "a.txt", "--trace", "/dev/full", "--on", what.path()});
  EXPECT_EQ(got.how, well);
  EXPECT_EQ(got.output, "hello");
  EXPECT_EQ(got.errors, "hondana: the trace ends here, because it cannot be written: No space left on device\n");
}

}  // namespace
