/// Messages whose sink is found by their id, wherever in the message that stands, and however long it takes to come.
#include "protocol/channel/message_reader.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "base/json/base64.hpp"
#include "unit/protocol/channel/open_descriptors.hpp"

namespace {

using hondana::errc;
using hondana::channel::content_sink;
using hondana::channel::id_wait_limits;
using hondana::channel::limits;
using hondana::channel::routing_reader;
using hondana_test::open_descriptors;

/// Content by the id it was routed to.
class shelves {
 public:
  [[nodiscard]] routing_reader::sink_selector route() {
    return [this](const std::string& id) -> content_sink {
      if (id == "9") return {};
      return [this, id](std::size_t, std::string_view bytes) {
        all_[id] += bytes;
        return hondana::result<void>();
      };
    };
  }
  [[nodiscard]] const std::map<std::string, std::string>& all() const { return all_; }

 private:
  std::map<std::string, std::string> all_;
};

hondana::result<std::string> take(routing_reader& intake, std::string_view text, std::size_t width = 64u << 10) {
  for (; !text.empty(); text.remove_prefix(std::min(width, text.size()))) static_cast<void>(intake.feed(text.substr(0, width)));
  auto whole = intake.finish();
  return whole;
}

std::string id_last(std::string_view id, std::string_view member) {
  return R"({"result":{"contents":[{"uri":"a:b",)" + std::string(member) + R"(}]},"jsonrpc":"2.0","id":)" + std::string(id) +
         "}";
}

std::string empty_of(std::string_view id, std::string_view name) { return id_last(id, '"' + std::string(name) + R"(":"")"); }

TEST(routed_intake, gives_content_of_any_length_to_the_call_that_is_named_behind_it) {
  for (const std::size_t size : {std::size_t{100}, std::size_t{100'000}, std::size_t{3'000'000}}) {
    std::string bytes;
    while (bytes.size() < size) bytes += std::to_string(bytes.size()) + " 本棚 ";
    std::string encoded;
    hondana::json::append_base64(encoded, bytes);
    for (const std::size_t width : {std::size_t{4099}, std::size_t{64u << 10}}) {
      shelves to;
      limits most;
      most.max_message_bytes = 200u << 10;  // what is held back is not kept in memory
      routing_reader intake(most, to.route());
      EXPECT_EQ(take(intake, id_last("7", R"("text":")" + bytes + '"'), width), empty_of("7", "text"));
      EXPECT_EQ(intake.id(), "7");
      intake.reset();
      EXPECT_EQ(take(intake, id_last("8", R"("blob":")" + encoded + '"'), width), empty_of("8", "blob"));
      EXPECT_TRUE(to.all() == (std::map<std::string, std::string>{{"7", bytes}, {"8", bytes}})) << size;
    }
  }
}

TEST(routed_intake, holds_one_file_open_at_most_and_none_afterwards) {
  shelves to;
  routing_reader intake({}, to.route());
  const auto before = open_descriptors();
  const auto message = id_last("7", R"("text":")" + std::string(3u << 20, 'x') + '"');
  ASSERT_TRUE(intake.feed(std::string_view(message).substr(0, 64u << 10)));
  ASSERT_TRUE(intake.feed(std::string_view(message).substr(64u << 10, 2u << 20)));
  EXPECT_TRUE(intake.is_buffering());
  EXPECT_EQ(open_descriptors(), before + 1);
  ASSERT_TRUE(intake.feed(std::string_view(message).substr((64u << 10) + (2u << 20))));
  EXPECT_FALSE(intake.is_buffering());
  EXPECT_EQ(open_descriptors(), before);
  EXPECT_TRUE(intake.finish());
  intake.reset();
  ASSERT_TRUE(take(intake, message.substr(0, 2u << 20)).error().code == errc::protocol_error);
  intake.reset();
  EXPECT_EQ(open_descriptors(), before);
}

TEST(routed_intake, keeps_what_was_held_back_when_nobody_takes_its_content) {
  const auto text = R"("text":")" + std::string(2u << 20, 'x') + '"';
  shelves to;
  routing_reader intake({}, to.route());
  for (const auto& message :
       {id_last("9", text), R"({"result":{"contents":[{)" + text + "}]}}",
        R"({"params":{"data":")" + std::string(200'000, 'y') + R"("},"method":"notifications/message"})"}) {
    const auto kept = take(intake, message);
    EXPECT_TRUE(kept && *kept == message);
    intake.reset();
  }
  EXPECT_TRUE(to.all().empty());
  limits most;
  most.max_message_bytes = 1u << 20;
  routing_reader small(most, to.route());
  const auto kept = take(small, id_last("9", text));
  ASSERT_FALSE(kept);
  EXPECT_EQ(kept.error().code, errc::response_too_large);
  EXPECT_EQ(small.id(), "9");
}

TEST(routed_intake, refuses_what_it_held_back_for_the_same_reasons_and_still_names_its_call) {
  const std::string start(200'000, 'x');
  for (const auto& member : {"\"text\":\"" + start + "\xC3(\"", R"("blob":")" + start + R"(Zg=Zg=")",
                             "\"text\":\"" + start + R"(","blob":"eA==")"}) {
    shelves to;
    routing_reader intake({}, to.route());
    const auto got = take(intake, id_last("7", member));
    ASSERT_FALSE(got) << member.substr(start.size());
    EXPECT_EQ(got.error().code, errc::protocol_error);
    EXPECT_EQ(intake.id(), "7");
    EXPECT_FALSE(intake.has_method());
  }
}

TEST(routed_intake, asks_what_to_do_with_a_message_that_says_late_whose_it_is) {
  const auto message = id_last("7", R"("text":")" + std::string(200'000, 'x') + '"');
  std::string guessed;
  shelves to;
  routing_reader guessing({}, to.route(), [&guessed] {
    return std::optional<content_sink>([&guessed](std::size_t, std::string_view bytes) {
      guessed += bytes;
      return hondana::result<void>();
    });
  });
  EXPECT_EQ(take(guessing, message), empty_of("7", "text"));
  EXPECT_EQ(guessed.size(), 200'000u);
  EXPECT_EQ(guessing.id(), "7");
  routing_reader keeping({}, to.route(), [] { return std::optional(content_sink()); });
  const auto kept = take(keeping, message);
  EXPECT_TRUE(kept && *kept == message);
  EXPECT_TRUE(to.all().empty());
}

TEST(routed_intake, names_the_bound_of_what_is_held_back_and_still_finds_the_id) {
  shelves to;
  routing_reader intake({}, to.route(), {}, {.max_buffered_bytes = 2u << 20});
  const auto before = open_descriptors();
  const auto message = id_last("7", R"("text":")" + std::string(3u << 20, 'x') + '"');
  const auto got = take(intake, message);
  ASSERT_FALSE(got);
  EXPECT_EQ(got.error().code, errc::response_too_large);
  EXPECT_NE(got.error().public_text.find("2097152 bytes"), std::string::npos) << got.error().public_text;
  EXPECT_EQ(intake.id(), "7");
  EXPECT_EQ(open_descriptors(), before);
  intake.reset();
  EXPECT_EQ(take(intake, id_last("8", R"("text":"ab")")), empty_of("8", "text"));
}

TEST(routed_intake, says_where_there_is_no_room_to_hold_an_answer_back) {
  const char* before = std::getenv("TMPDIR");
  const std::string kept = before == nullptr ? "" : before;
  ASSERT_EQ(::setenv("TMPDIR", "/nowhere/at/all", 1), 0);
  shelves to;
  routing_reader intake({}, to.route());
  const auto got = take(intake, id_last("7", R"("text":")" + std::string(3u << 20, 'x') + '"'));
  if (before == nullptr) {
    ::unsetenv("TMPDIR");
  } else {
    ::setenv("TMPDIR", kept.c_str(), 1);
  }
  ASSERT_FALSE(got);
  EXPECT_EQ(got.error().code, errc::source_unavailable);
  EXPECT_NE(got.error().public_text.find("No such file"), std::string::npos) << got.error().public_text;
  EXPECT_NE(got.error().public_text.find("TMPDIR"), std::string::npos);
  EXPECT_EQ(intake.id(), "7");
}

/// What an array becomes: messages and failures, in turn.
std::vector<std::string> split(routing_reader& intake, std::string_view text, std::size_t width = 64u << 10) {
  for (; !text.empty(); text.remove_prefix(std::min(width, text.size()))) static_cast<void>(intake.feed(text.substr(0, width)));
  std::vector<std::string> out;
  intake.finish_each([&](const hondana::result<std::string>& one) {
    out.push_back(intake.id().value_or("-") + ": " + (one ? *one : one.error().public_text));
  });
  return out;
}

TEST(routed_intake, takes_an_array_of_messages_apart_and_gives_each_content_to_its_call) {
  const std::string_view text =
      R"( [ {"jsonrpc":"2.0","method":"a","params":{"b":["],[",{}]}} ,{"result":{"contents":[{"text":"one"}]},"id":1},)"
      R"({"id":2,"result":{"contents":[{"blob":"dHdv"}]}},{"id":9,"result":{"contents":[{"text":"kept"}]}}] )";
  for (std::size_t width = 1; width <= text.size(); ++width) {
    shelves to;
    routing_reader intake({}, to.route(), {}, {.max_bytes_without_id = 50});
    EXPECT_EQ(split(intake, text, width),
              (std::vector<std::string>{R"(-: {"jsonrpc":"2.0","method":"a","params":{"b":["],[",{}]}})",
                                        R"(1: {"result":{"contents":[{"text":""}]},"id":1})",
                                        R"(2: {"id":2,"result":{"contents":[{"blob":""}]}})",
                                        R"(9: {"id":9,"result":{"contents":[{"text":"kept"}]}})"}))
        << width;
    EXPECT_EQ(to.all(), (std::map<std::string, std::string>{{"1", "one"}, {"2", "two"}})) << width;
  }
}

TEST(routed_intake, names_what_is_wrong_with_an_array_and_takes_the_rest_of_it) {
  shelves to;
  limits most;
  most.max_message_bytes = 40'000;
  most.max_content_bytes = 5;
  const auto split_of = [&](const std::string& text) {
    routing_reader intake(most, to.route());
    return split(intake, text);
  };
  EXPECT_EQ(split_of(" [ ] "), (std::vector<std::string>{"-: an empty array is not a message"}));
  EXPECT_EQ(split_of(R"([7,[{"id":1}],"x",{"id":5}])"),
            (std::vector<std::string>{"-: 7", R"(-: [{"id":1}])", "-: \"x\"", R"(5: {"id":5})"}));
  EXPECT_EQ(
      split_of(
          R"([{"id":1,"result":{"contents":[{"blob":"!"}]}},{"id":2},{"id":3,"result":{"contents":[{"text":"123456"}]}}])"),
      (std::vector<std::string>{"1: the blob of an item is not padded base64", R"(2: {"id":2})",
                                "3: the content is longer than the 5 bytes that one read may return"}));
  EXPECT_EQ(split_of(R"([{"id":1},{"id":2})").size(), 1u);
  EXPECT_EQ(split_of("[" + std::string(50'000, ' ') + "{}]").at(0).substr(0, 41), "-: the message is longer than the 40000 b");
  std::string many = "[{}";
  for (int i = 1; i < 1000; ++i) many += ",{}";
  EXPECT_EQ(split_of(many + "]").size(), 1000u);
  EXPECT_EQ(split_of(many + ",{}]"),
            (std::vector<std::string>{"-: an array of 1001 messages is longer than the limit of 1000"}));
}

}  // namespace
