/// Tests of the transcript runner itself: what it must not let pass.
#include <initializer_list>
#include <string>
#include <string_view>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "transcripts/envelope_headers.hpp"
#include "transcripts/pattern.hpp"
#include "transcripts/player.hpp"
#include "transcripts/transcript.hpp"

namespace transcripts {
namespace {

using testing::HasSubstr;

std::string fault_of(std::string_view name, std::string_view text) {
  const auto read = parse_transcript(name, text);
  return read ? "" : read.error();
}

std::string difference_of(std::string_view expected, std::string_view got) {
  bindings known;
  return difference(*read_json(expected), *read_json(got), known).value_or("");
}

std::string fault_of_play(std::string_view transport, std::string_view lines) {
  const auto script = parse_transcript("area/case.2025-11-25.txt", std::string("# spec: 2025-11-25 a/b#c\n").append(lines));
  if (!script) return script.error();
  return play(*script, "2025-11-25", {std::string(transport), false}, "/nowhere").fault.value_or("");
}

std::string joined(std::initializer_list<std::string_view> lines) {
  std::string text;
  for (const auto line : lines) text.append(line).append("\n");
  return text;
}

constexpr std::string_view ping = R"(-> {"jsonrpc":"2.0","id":1,"method":"ping"})";
constexpr std::string_view other_ping = R"(-> {"jsonrpc":"2.0","id":2,"method":"ping"})";

TEST(transcript, needs_a_citation_for_each_of_its_revisions) {
  EXPECT_EQ(fault_of("a.2025-11-25.txt", "# spec: 2025-11-25 server/resources#error-handling (-32002)\n-> {}\n"), "");
  EXPECT_THAT(fault_of("a.2025-11-25.txt", "-> {}\n"), HasSubstr("no `# spec: 2025-11-25 PAGE#ANCHOR` line"));
  EXPECT_THAT(fault_of("a.2025-11-25.txt", "# spec: 2025-06-18 a/b#c\n-> {}\n"), HasSubstr("not a transcript of revision"));
  EXPECT_THAT(fault_of("a.2025-11-25.txt", "# spec: 2025-11-25 server/resources\n-> {}\n"), HasSubstr("a citation reads"));
  EXPECT_THAT(fault_of("a.legacy.txt", "# spec: 2024-11-05 a#b\n# spec: 2025-03-26 a#b\n# spec: 2025-06-18 a#b\n-> {}\n"),
              HasSubstr("no `# spec: 2025-11-25"));
}

TEST(transcript, refuses_what_it_does_not_know) {
  EXPECT_THAT(fault_of("a.txt", "-> {}\n"), HasSubstr("CASE.REVISION.txt"));
  EXPECT_THAT(fault_of("a.2025-11-26.txt", "-> {}\n"), HasSubstr("CASE.REVISION.txt"));
  EXPECT_THAT(fault_of("a.2025-11-25.txt", "# spec: 2025-11-25 a#b\n=> {}\n"), HasSubstr(":2: expected #, ->, <- or <~"));
  EXPECT_THAT(fault_of("a.2025-11-25.txt", "# spec: 2025-11-25 a#b\n# transports: pigeon\n-> {}\n"),
              HasSubstr("no transport pigeon"));
  EXPECT_THAT(fault_of("a.2025-11-25.txt", "# spec: 2025-11-25 a#b\n"), HasSubstr("nobody says anything"));
}

TEST(transcript, spells_bytes_with_escapes) {
  EXPECT_EQ(unescape(R"(a\n\\\x00\xff\{3*[x})"), (std::string("a\n\\\0\xff[x[x[x", 11)));
  EXPECT_FALSE(unescape(R"(\q)").has_value());
  EXPECT_FALSE(unescape(R"(\{x*y})").has_value());
}

TEST(pattern, names_the_path_of_the_first_difference) {
  EXPECT_EQ(difference_of(R"({"a":[1,{"b":"*"}]})", R"({"a":[1.0,{"b":{"deep":1}}]})"), "");
  EXPECT_EQ(difference_of(R"({"a":{"b":1}})", R"({"a":{"b":2}})"), "a.b: expected 1, got 2");
  EXPECT_EQ(difference_of(R"({"a":1})", R"({"a":1,"b":2})"), "b: not expected, but is 2");
  EXPECT_EQ(difference_of(R"({"a":null})", R"({})"), "a: missing in {}");
  EXPECT_THAT(difference_of(R"([1,2])", R"([1])"), HasSubstr("expected [1,2], got [1]"));
  EXPECT_THAT(difference_of(R"({"a":"1"})", R"({"a":1})"), HasSubstr("a: expected"));
}

TEST(pattern, a_name_is_the_same_everywhere) {
  EXPECT_EQ(difference_of(R"(["$x","$x"])", "[7,7]"), "");
  EXPECT_EQ(difference_of(R"(["$x","$x"])", "[7,8]"), "[1]: expected 7, got 8");
}

TEST(post_headers, encode_what_is_no_field_value) {
  EXPECT_EQ(field_value("us-west1"), "us-west1");
  EXPECT_EQ(field_value("Hello, \xE4\xB8\x96\xE7\x95\x8C"), "=?base64?SGVsbG8sIOS4lueVjA==?=");
  EXPECT_EQ(field_value(" padded "), "=?base64?IHBhZGRlZCA=?=");
  EXPECT_EQ(field_value("line1\nline2"), "=?base64?bGluZTEKbGluZTI=?=");
  EXPECT_EQ(field_value("=?base64?literal?="), "=?base64?PT9iYXNlNjQ/bGl0ZXJhbD89?=");
}

TEST(player, accepts_what_is_expected) {
  for (const auto* transport : {"memory", "http"}) {
    EXPECT_EQ(fault_of_play(transport, joined({ping, R"(<- {"jsonrpc":"2.0","id":1,"result":{}})"})), "");
  }
}

TEST(player, tells_file_and_line_of_another_answer) {
  for (const auto* transport : {"memory", "http"}) {
    EXPECT_THAT(fault_of_play(transport, joined({ping, R"(<- {"jsonrpc":"2.0","id":2,"result":{}})"})),
                HasSubstr("case.2025-11-25.txt:3: id: expected 2, got 1"));
  }
}

TEST(player, finds_an_answer_that_nobody_expects) {
  EXPECT_THAT(fault_of_play("memory", ping), HasSubstr("at the end"));
  EXPECT_THAT(fault_of_play("http", ping), HasSubstr("a message too many"));
}

TEST(player, finds_a_status_that_nobody_expects) {
  constexpr std::string_view broken = "-> raw {";
  constexpr std::string_view refused = R"(<- {"jsonrpc":"2.0","error":"*"})";
  EXPECT_THAT(fault_of_play("http", joined({broken, refused})), HasSubstr("HTTP status 400"));
  EXPECT_EQ(fault_of_play("http", joined({broken, refused, "<- status 400"})), "");
  EXPECT_THAT(fault_of_play("http", joined({broken, refused, "<- status 404"})),
              HasSubstr("expected HTTP status 404, got 400"));
}

TEST(player, takes_adjacent_lines_in_any_order) {
  constexpr std::string_view second = R"(<~ {"jsonrpc":"2.0","id":2,"result":{}})";
  EXPECT_EQ(fault_of_play("memory", joined({ping, other_ping, second, R"(<~ {"jsonrpc":"2.0","id":1,"result":{}})"})), "");
  EXPECT_THAT(fault_of_play("memory", joined({ping, other_ping, second, R"(<~ {"jsonrpc":"2.0","id":3,"result":{}})"})),
              HasSubstr("none of the expected lines"));
}

TEST(player, says_that_a_server_could_not_be_started) {
  EXPECT_THAT(fault_of_play("stdio", ping), HasSubstr("cannot start /nowhere"));
}

}  // namespace
}  // namespace transcripts
