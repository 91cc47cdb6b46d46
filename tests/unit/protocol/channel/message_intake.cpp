/// The intake: content goes to the sink and the rest is kept, however a message is cut; what it refuses; the id.
#include "protocol/channel/message_reader.hpp"

#include <algorithm>
#include <initializer_list>
#include <map>
#include <string>
#include <string_view>

#include <gtest/gtest.h>

#include "base/json/base64.hpp"
#include "base/json/escape.hpp"

namespace {

using namespace std::string_view_literals;
using namespace std::string_literals;
using hondana::errc;
using hondana::channel::content_sink;
using hondana::channel::limits;
using hondana::channel::message_reader;

using contents = std::map<std::size_t, std::string>;

content_sink into(contents& all) {
  return [&all](std::size_t item, std::string_view bytes) -> hondana::result<void> {
    all[item] += bytes;
    return {};
  };
}

hondana::result<void> feed_cut(message_reader& intake, std::string_view text, std::size_t width) {
  hondana::result<void> last;
  for (; !text.empty(); text.remove_prefix(std::min(width, text.size()))) last = intake.feed(text.substr(0, width));
  return last;
}

std::string name_of_failure(errc code) {
  if (code == errc::protocol_error) return "protocol_error";
  return code == errc::response_too_large ? "response_too_large" : "another failure";
}

/// What is kept, or the failure's name.
std::string take(std::string_view text, contents& all, std::size_t width, const limits& most = {}) {
  message_reader intake(most, into(all));
  (void)feed_cut(intake, text, width);
  auto whole = intake.finish();
  return whole ? *whole : name_of_failure(whole.error().code);
}

TEST(message_intake, refuses_an_item_with_both_text_and_blob) {
  std::string taken;
  message_reader intake({}, [&taken](std::size_t, std::string_view bytes) -> hondana::result<void> {
    taken += bytes;
    return {};
  });
  EXPECT_FALSE(intake.feed(R"({"id":1,"result":{"contents":[{"text":"hi","blob":"eA=="}]}})"));
  EXPECT_EQ(intake.finish().error().code, errc::protocol_error);
}

TEST(message_intake, gives_content_to_the_sink_and_keeps_the_rest_however_the_message_is_cut) {
  const auto text =
      R"({"jsonrpc":"2.0","id":7,"result":{"contents":[{"uri":"a:b","text":"h\u00e9\n\ud83d\ude00 é"},{"blob":"Zm9v\/w==","uri":"a:c"}]}} )"sv;
  for (std::size_t width = 1; width <= text.size(); ++width) {
    contents all;
    EXPECT_EQ(take(text, all, width),
              R"({"jsonrpc":"2.0","id":7,"result":{"contents":[{"uri":"a:b","text":""},{"blob":"","uri":"a:c"}]}} )")
        << width;
    EXPECT_EQ(all, (contents{{0, "hé\n😀 é"}, {1, "foo\xFF"}})) << width;
  }
}

TEST(message_intake, keeps_everything_without_a_sink) {
  const auto text = R"({"id":7,"result":{"contents":[{"text":"abc"}]}})"s;
  message_reader intake({}, {});
  ASSERT_TRUE(intake.feed(text));
  EXPECT_EQ(intake.finish(), text);
}

TEST(message_intake, takes_nothing_for_content_that_lies_elsewhere) {
  for (const auto text :
       {R"({"result":{"contents":{"text":"a"}}})"sv, R"({"result":{"contents":[["text","a"]]}})"sv,
        R"({"result":{"contents":[{"text":{"text":"a"}}]}})"sv, R"([{"result":{"contents":[{"text":"a"}]}}])"sv,
        R"({"params":{"contents":[{"text":"a"}]}})"sv, R"({"result":{"contents":[{"name":"text"}]}})"sv,
        R"({"result":{"contents":[{"text":7,"blob":null}]}})"sv, R"({"result":{"contents":[[{"text":"a"}]]}})"sv}) {
    contents all;
    EXPECT_EQ(take(text, all, 3), text);
    EXPECT_TRUE(all.empty()) << text;
  }
}

TEST(message_intake, gives_big_text_and_blobs_in_bounded_well_formed_pieces) {
  std::string bytes;
  for (int i = 0; bytes.size() < 700'000; ++i) bytes += "line " + std::to_string(i) + " 本棚 \"quoted\"\n";
  std::string text = R"({"result":{"contents":[{"text":")";
  hondana::json::append_escaped(text, bytes);
  text += R"("},{"blob":")";
  hondana::json::append_base64(text, bytes);
  text += R"("}]}})";
  for (const std::size_t width : {std::size_t{1000}, std::size_t{65536}, text.size()}) {
    contents all;
    std::size_t longest = 0;
    message_reader intake({}, [&](std::size_t item, std::string_view piece) -> hondana::result<void> {
      all[item] += piece;
      longest = std::max(longest, piece.size());
      return {};
    });
    ASSERT_TRUE(feed_cut(intake, text, width));
    ASSERT_TRUE(intake.finish());
    EXPECT_TRUE(all[0] == bytes && all[1] == bytes) << width;
    EXPECT_LE(longest, 70'000U);
  }
}

TEST(message_intake, refuses_content_that_is_none) {
  const auto message = [](std::string_view member) {
    return R"({"id":1,"result":{"contents":[{)" + std::string(member) + "}]}}";
  };
  const auto long_text = std::string(5000, 'a');
  for (const auto& member : std::initializer_list<std::string>{
           R"("text":"a)"s + "\xC3\"", "\"text\":\"\xE2\x82\\u00ac\"", "\"text\":\"" + long_text + "\xFF\"",
           "\"text\":\"\xC3" + long_text + "\"", "\"text\":\"\xED\xA0\x80\"", "\"text\":\"a\\x\""s, "\"text\":\"a\nb\""s,
           "\"text\":\"\\ud83d\""s, R"("blob":"Zg")"s, R"("blob":"Zg==Zg==")"s, R"("blob":"Z===")"s, R"("blob":"Zh==")"s,
           R"("blob":"Zm9v Zm9v")"s, R"("blob":"Zm9-")"s, R"("blob":"====")"s}) {
    for (const std::size_t width : {std::size_t{1}, std::size_t{7}, std::size_t{100'000}}) {
      contents all;
      EXPECT_EQ(take(message(member), all, width), "protocol_error") << member << width;
    }
  }
}

TEST(message_intake, refuses_a_message_that_is_cut_or_malformed) {
  contents all;
  EXPECT_EQ(take(R"({"id":1,"result":{"contents":[{"text":"a)", all, 2), "protocol_error");
  EXPECT_EQ(take("", all, 1), "protocol_error");
  EXPECT_EQ(take("Server listening on 3000", all, 1), "protocol_error");
  EXPECT_EQ(take(R"({"id":1} {"id":2})", all, 1), "protocol_error");
}

TEST(message_intake, names_the_limit_of_a_message_that_is_too_long_and_still_finds_its_id) {
  const auto text = R"({"result":{"items":[")" + std::string(100, 'a') + R"("]},"id":41})";
  for (const std::size_t width : {std::size_t{1}, std::size_t{10}, text.size()}) {
    limits most;
    most.max_message_bytes = 60;
    message_reader intake(most, {});
    const auto fed = feed_cut(intake, text, width);
    ASSERT_FALSE(fed);
    EXPECT_EQ(fed.error().code, errc::response_too_large);
    EXPECT_NE(fed.error().public_text.find("60 bytes"), std::string::npos);
    EXPECT_EQ(intake.finish().error().code, errc::response_too_large);
    EXPECT_EQ(intake.id(), "41");
  }
}

TEST(message_intake, does_not_count_content_as_part_of_the_message) {
  limits most;
  most.max_message_bytes = 60;
  most.max_content_bytes = 1000;
  const auto text = R"({"id":1,"result":{"contents":[{"text":")" + std::string(1000, 'a') + R"("}]}})";
  contents all;
  EXPECT_EQ(take(text, all, 100, most), R"({"id":1,"result":{"contents":[{"text":""}]}})");
  most.max_content_bytes = 999;
  all.clear();
  EXPECT_EQ(take(text, all, 100, most), "response_too_large");
  EXPECT_LE(all[0].size(), 999U);
}

TEST(message_intake, ends_with_the_failure_of_the_sink_and_still_finds_the_id) {
  int calls = 0;
  message_reader intake({}, [&](std::size_t, std::string_view) -> hondana::result<void> {
    ++calls;
    return hondana::fail(errc::cancelled, "enough");
  });
  EXPECT_FALSE(intake.feed(R"({"result":{"contents":[{"text":"ab)"));
  EXPECT_FALSE(intake.feed(R"(cd"},{"text":"more"}]},"id":"x\"y"})"));
  EXPECT_EQ(intake.finish().error().public_text, "enough");
  EXPECT_EQ(intake.id(), R"("x\"y")");
  EXPECT_EQ(calls, 1);
}

TEST(message_intake, tells_the_id_as_soon_as_it_has_come_whole) {
  message_reader intake({}, {});
  ASSERT_TRUE(intake.feed(R"({"a":{"id":1},"id":2)"));
  EXPECT_EQ(intake.id(), std::nullopt);
  ASSERT_TRUE(intake.feed("3,"));
  EXPECT_EQ(intake.id(), "23");
  ASSERT_TRUE(intake.feed(R"("id":4,"result":{"id":5)"));
  EXPECT_EQ(intake.id(), "23");
}

TEST(message_intake, has_no_id_of_a_message_without_one) {
  for (const auto& text :
       {R"({"method":"x"})"s, R"([{"id":1}])"s, R"({"id":{"id":1}})"s, R"({"id":")" + std::string(300, 'i') + "\"}"}) {
    message_reader intake({}, {});
    ASSERT_TRUE(intake.feed(text));
    EXPECT_TRUE(intake.finish());
    EXPECT_EQ(intake.id(), std::nullopt) << text;
  }
}

TEST(message_intake, knows_what_names_a_method_even_when_it_failed) {
  limits most;
  most.max_message_bytes = 20;
  for (const auto& [text, has] : {std::pair(R"({"id":1,"params":{"a":"b"},"method":"x"})"sv, true),
                                  std::pair(R"({"id":1,"result":{"method":"x"},"jsonrpc":"2.0"})"sv, false),
                                  std::pair(R"([{"id":1,"method":"x"},{"id":2}])"sv, false)}) {
    message_reader intake(most, {});
    EXPECT_FALSE(feed_cut(intake, text, 5));
    EXPECT_EQ(intake.has_method(), has) << text;
    intake.reset();
    EXPECT_FALSE(intake.has_method());
  }
}

TEST(message_intake, keeps_and_gives_nothing_once_it_only_looks) {
  contents all;
  limits most;
  most.max_message_bytes = 60;
  message_reader intake(most, into(all));
  ASSERT_TRUE(intake.feed(R"({"result":{"contents":[{"text":"ab)"));
  intake.scan_only();
  ASSERT_TRUE(intake.feed("cd" + std::string(1000, 'x') + R"("},{"blob":"!"}]},"id":7)"));
  EXPECT_EQ(intake.id(), std::nullopt);
  ASSERT_TRUE(intake.feed(R"(,"method":"x"})"));
  EXPECT_EQ(intake.id(), "7");
  EXPECT_TRUE(intake.has_method());
  EXPECT_EQ(all, (contents{{0, "ab"}}));
  EXPECT_FALSE(intake.feed("}"));  // that it is no JSON is still seen
  intake.reset();
  EXPECT_EQ(take(R"({"id":1})", all, 3), R"({"id":1})");
}

TEST(message_intake, begins_anew_after_a_reset) {
  contents all;
  message_reader intake({}, into(all));
  EXPECT_FALSE(intake.feed(R"({"id":1,"result":{"contents":[{"blob":"!!!!)"));
  intake.reset();
  EXPECT_EQ(intake.id(), std::nullopt);
  ASSERT_TRUE(intake.feed(R"({"id":2,"result":{"contents":[{"blob":"Zm9v"}]}})"));
  EXPECT_EQ(intake.finish(), R"({"id":2,"result":{"contents":[{"blob":""}]}})");
  EXPECT_EQ(all, (contents{{0, "foo"}}));
}

}  // namespace
