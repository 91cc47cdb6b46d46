/// Messages that are none, or not what they seem, over every way in: each gets an error, and the next request its answer.
#include <chrono>
#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include <gtest/gtest.h>

#include "red_team/lines.hpp"

namespace {

using red_team::another_peer;
using red_team::name_of;
using red_team::shelf;
using red_team::target;
using red_team::way;

std::string times(std::size_t count, std::string_view text) {
  std::string out;
  out.reserve(count * text.size());
  for (std::size_t i = 0; i < count; ++i) out += text;
  return out;
}

const std::string list_tail = R"(,"params":{"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28",)"
                              R"("io.modelcontextprotocol/clientCapabilities":{}}}})";

/// Bytes that are to be answered by an error.
const std::vector<std::string>& hostile_messages() {
  static const std::vector<std::string> all{
      "[1]",
      "[]",
      "[[]]",
      "7",
      "null",
      "\"resources/list\"",
      "{}",
      "nonsense",
      R"({"jsonrpc":"2.0","id":1,"method":7})",
      R"({"jsonrpc":"2.0","id":1,"method":{}})",
      R"({"jsonrpc":"2.0","id":1,"method":null})",
      R"({"jsonrpc":"2.0","id":null,"method":"resources/list")" + list_tail,
      R"({"jsonrpc":"2.0","id":1.5,"method":"resources/list")" + list_tail,
      R"({"jsonrpc":"2.0","id":{},"method":"resources/list")" + list_tail,
      R"({"jsonrpc":"2.0","id":[1],"method":"resources/list")" + list_tail,
      R"({"jsonrpc":"2.0","id":true,"method":"resources/list")" + list_tail,
      R"({"jsonrpc":"2.0","id":9223372036854775808,"method":"resources/list")" + list_tail,
      R"({"jsonrpc":"2.0","id":1e400,"method":"resources/list")" + list_tail,
      R"({"id":1,"method":"resources/list")" + list_tail,
      R"({"jsonrpc":"1.0","id":1,"method":"resources/list")" + list_tail,
      R"({"jsonrpc":2,"id":1,"method":"resources/list")" + list_tail,
      R"({"jsonrpc":"2.0","id":1,"METHOD":"resources/list")" + list_tail,
      R"({"jsonrpc":"2.0","id":1,"Method":"resources/list")" + list_tail,
      R"({"JSONRPC":"2.0","id":1,"method":"resources/list")" + list_tail,
      R"({"jsonrpc":"2.0","id":1,"method":"RESOURCES/LIST")" + list_tail,
      R"({"jsonrpc":"2.0","id":1,"method":"resources/list","method":"resources/read")" + list_tail,
      R"({"jsonrpc":"2.0","id":1,"id":2,"method":"resources/list")" + list_tail,
      R"({"jsonrpc":"2.0","id":1,"method":"resources/read","params":{"URI":"file:///etc/passwd"}})",
      R"({"jsonrpc":"2.0","id":1,"method":"resources/read","params":{"uri":"file:///a","uri":"file:///etc/passwd"}})",
      R"({"jsonrpc":"2.0","id":1,"method":"resources/read","params":[]})",
      R"({"jsonrpc":"2.0","id":1,"method":"resources/read","params":{"uri":7}})",
      R"({"jsonrpc":"2.0","id":1,"method":"resources/list")",
      R"({"jsonrpc":"2.0","id":1,"method":"resour)",
      R"({"jsonrpc":"2.0","id":1,"method":"resources/list"}})",
      times(10'000, "["),
      times(10'000, "[") + times(10'000, "]"),
      R"({"jsonrpc":"2.0","id":1,"method":"resources/list","params":)" + times(10'000, "{\"a\":") + "1" + times(10'001, "}"),
      "{\"a\":\"\xff\xfe\"}",
      "\xff\xfe{\0}\0",
      "\xef\xbb\xbf{}",
      "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"\xc0\xaf\"}",
      "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"\xed\xa0\x80\"}",
      R"({"jsonrpc":"2.0","id":1,"method":"\ud800"})",
      R"({"jsonrpc":"2.0","id":1,"method":"resources/read","params":{"uri":"file:///\udc00"}})",
      std::string("{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"a\0b\"}", 39),
      std::string("\0", 1),
      R"x({"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"$(touch /tmp/x)","arguments":{}}})x",
      R"({"jsonrpc":"2.0","id":1,"method":"__proto__","params":{"constructor":{}}})",
      R"({"jsonrpc":"2.0","id":")" + times(200'000, "i") + R"(","method":"nowhere"})",
      R"({"jsonrpc":"2.0","id":1,"method":")" + times(100'000, "m") + R"("})",
  };
  return all;
}

class red_team_messages : public testing::TestWithParam<way> {};
INSTANTIATE_TEST_SUITE_P(over, red_team_messages, testing::ValuesIn(red_team::ways),
                         [](const auto& one) { return name_of(one.param); });

TEST_P(red_team_messages, that_are_malformed_get_an_error_each) {
  const shelf what;
  target under(what, GetParam().transport, GetParam().stateless);
  for (const auto& message : hostile_messages()) {
    const auto answer = under.peer().exchange(message);
    EXPECT_NE(answer.find("\"error\":{"), std::string::npos) << message.substr(0, 200) << " -> " << answer.substr(0, 500);
    EXPECT_EQ(answer.find("\"result\":"), std::string::npos) << message.substr(0, 200) << " -> " << answer.substr(0, 500);
    EXPECT_EQ(answer.find("root:x:"), std::string::npos) << message.substr(0, 200);
  }
  EXPECT_TRUE(under.serves(what));
}

TEST_P(red_team_messages, that_ask_nothing_get_no_answer_and_harm_nobody) {
  const shelf what;
  target under(what, GetParam().transport, GetParam().stateless);
  for (const std::string_view message :
       {R"({"jsonrpc":"2.0","id":4711,"result":{}})", R"({"jsonrpc":"2.0","id":4711,"error":{"code":-1,"message":"no"}})",
        R"({"jsonrpc":"2.0","method":"notifications/nothing"})",
        R"({"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":4711}})"}) {
    const auto answer = under.peer().exchange(message);
    EXPECT_EQ(answer.find("\"result\":"), std::string::npos) << message << " -> " << answer;
  }
  EXPECT_TRUE(under.serves(what));
}

TEST_P(red_team_messages, of_65_mb_are_refused_without_being_kept) {
  const shelf what;
  target under(what, GetParam().transport, GetParam().stateless);
  ASSERT_TRUE(under.serves(what));
  const auto before = under.program().peak_memory();
  const auto answer = under.peer().exchange(R"({"jsonrpc":"2.0","id":1,"method":"resources/list","params":{"a":")" +
                                            times(65'000'000, "x") + "\"}}");
  EXPECT_NE(answer.find("\"error\":{"), std::string::npos) << answer.substr(0, 500);
#ifndef HONDANA_IS_SANITIZED
  EXPECT_LT(under.program().peak_memory(), before + 40'000) << "KiB";
#else
  static_cast<void>(before);
#endif
  EXPECT_TRUE(under.serves(what));
}

TEST_P(red_team_messages, byte_by_byte_are_answered) {
  const shelf what;
  target under(what, GetParam().transport, GetParam().stateless);
  const auto asked =
      R"({"jsonrpc":"2.0","id":4711,"method":"resources/read","params":{"uri":")" + what.root_uri("/inside.txt") + "\"";
  const auto meta = list_tail.substr(list_tail.find("\"_meta\""));
  const auto message = GetParam().stateless ? asked + "," + meta : asked + "}}";
  const auto answer = under.peer().exchange(message, 4711, red_team::line::pace::byte_by_byte);
  EXPECT_NE(answer.find(red_team::inside), std::string::npos) << answer;
  EXPECT_TRUE(under.serves(what));
}

TEST_P(red_team_messages, cut_off_by_a_peer_that_leaves_stop_nobody) {
  const shelf what;
  target under(what, GetParam().transport, GetParam().stateless);
  if (under.where().empty()) {
    // On standard input the peer that leaves is the only one: the program ends, and well.
    ASSERT_TRUE(under.program().write("{\"jsonrpc\":\"2.0\",\"id\":1,\"met", program_test::within(program_test::patience)));
    under.program().end_input();
    EXPECT_EQ(under.program().leaves(program_test::within(program_test::patience)), program_test::well);
    return;
  }
  // Each I/O loop has descriptors of its own from its first connection on, and so has the watching of files.
  for (int i = 0; i < 2; ++i) ASSERT_TRUE(under.serves(what));
  const auto before = under.program().descriptors();
  for (int i = 0; i < 200; ++i) {
    red_team::connection gone(under.where());
    EXPECT_TRUE(
        gone.send(std::string_view("POST /mcp HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nContent-Length: "
                                   "100\r\n\r\n{\"jsonrpc\"")
                      .substr(0, static_cast<std::size_t>(i))));
  }
  EXPECT_TRUE(under.serves(what));
  const auto until = program_test::within(program_test::patience);
  while (under.program().descriptors() > before + 4 && std::chrono::steady_clock::now() < until)
    ASSERT_TRUE(under.serves(what));
  EXPECT_LE(under.program().descriptors(), before + 4);
}

TEST(red_team_peers, with_the_same_ids_at_once_get_their_own_answers) {
  for (const bool stateless : {true, false}) {
    const shelf what;
    what.put("project/one.txt", "content of one");
    what.put("project/two.txt", "content of two");
    target under(what, "http", stateless);
    const auto one = another_peer(under.where(), stateless);
    const auto two = another_peer(under.where(), stateless);
    for (int i = 0; i < 200; ++i) {
      // Both count their requests alike, so that ids are always the same.
      const auto first = one->ask("resources/read", "\"uri\":\"" + what.root_uri("/one.txt") + "\",");
      const auto second = two->ask("resources/read", "\"uri\":\"" + what.root_uri("/two.txt") + "\",");
      ASSERT_NE(first.find("content of one"), std::string::npos) << first;
      ASSERT_EQ(first.find("content of two"), std::string::npos) << first;
      ASSERT_NE(second.find("content of two"), std::string::npos) << second;
      ASSERT_EQ(second.find("content of one"), std::string::npos) << second;
    }
  }
}

}  // namespace
