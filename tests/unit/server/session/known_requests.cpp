/// Which messages are the same but for their ids, and what is found again of them.
#include "server/session/answer_cache.hpp"

#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include <gtest/gtest.h>

#include "protocol/wire/choose_codec.hpp"

namespace hondana::session {
namespace {

constexpr std::string_view first = R"({"jsonrpc":"2.0","id":17,"method":"resources/read","params":{"uri":"memo:///a"}})";
constexpr std::string_view last = R"({"method":"resources/read","params":{"uri":"memo:///a"},"jsonrpc":"2.0","id":17})";

TEST(a_message, is_cut_where_its_id_is_a_number_that_stands_second_or_last) {
  const auto one = split_id(first);
  ASSERT_TRUE(one);
  EXPECT_EQ(one->prefix, R"({"jsonrpc":"2.0","id":)");
  EXPECT_EQ(one->suffix, R"(,"method":"resources/read","params":{"uri":"memo:///a"}})");
  EXPECT_EQ(one->id, 17);
  const auto other = split_id(last);
  ASSERT_TRUE(other);
  EXPECT_EQ(other->prefix, R"({"method":"resources/read","params":{"uri":"memo:///a"},"jsonrpc":"2.0","id":)");
  EXPECT_EQ(other->suffix, "}");
  EXPECT_EQ(other->id, 17);
  EXPECT_EQ(split_id(R"({"jsonrpc": "2.0", "id": 0, "method": "ping"})")->id, 0);
  EXPECT_EQ(split_id(R"({"jsonrpc": "2.0", "method": "ping", "id": 999999999999999999})")->id, 999999999999999999);
}

TEST(a_message, is_not_cut_where_it_takes_a_parser) {
  for (const std::string_view text : {R"()",
                                      R"({)",
                                      R"(})",
                                      R"({"jsonrpc":"2.0","id":)",
                                      R"({"jsonrpc":"2.0","id":1)",
                                      R"({"jsonrpc":"2.0","id":01,"a":1})",
                                      R"({"jsonrpc":"2.0","id":-1,"a":1})",
                                      R"({"jsonrpc":"2.0","id":1.5,"a":1})",
                                      R"({"jsonrpc":"2.0","id":1e3,"a":1})",
                                      R"({"jsonrpc":"2.0","id":"1","a":1})",
                                      R"({"jsonrpc":"2.0","id":null,"a":1})",
                                      R"({"jsonrpc":"2.0","id":1000000000000000000,"a":1})",
                                      R"({"jsonrpc":"2.0","id":1 ,"a":1})",
                                      R"({"method":"ping","jsonrpc":"2.0","id":1.5})",
                                      R"({"method":"ping","jsonrpc":"2.0","id":-5})",
                                      R"({"method":"ping","jsonrpc":"2.0","id":007})",
                                      R"({"method":"ping","jsonrpc":"2.0","id":5} )",
                                      R"({"method":"ping","jsonrpc":"2.0","a\"id":5})",
                                      R"({"method":"ping","jsonrpc":"2.0","id":})",
                                      R"([{"method":"ping","jsonrpc":"2.0","id":5}])",
                                      R"({"id":5})"}) {
    EXPECT_FALSE(split_id(text)) << text;
  }
}

model::request read_of(std::string uri) {
  model::request out;
  out.operation = model::read_resource{uri, uri, {}};
  return out;
}

class known_messages : public testing::Test {
 protected:
  const wire::codec& codec_ = wire::choose_for_unreadable({}, {});
  request_cache known_;
  rpc::request_info plain_;
};

TEST_F(known_messages, are_found_by_all_that_decoding_looks_at) {
  rpc::request_info over_http;
  over_http.http.emplace();
  over_http.http->protocol_version = "2026-07-28";
  over_http.http->method = "resources/read";
  over_http.http->name = "memo:///a";
  EXPECT_FALSE(known_.find(*split_id(first), over_http, nullptr));
  known_.store(*split_id(first), over_http, nullptr, codec_, "resources/read", read_of("memo:///a"));
  const auto found = known_.find(*split_id(first), over_http, nullptr);
  ASSERT_TRUE(found);
  EXPECT_EQ(std::get<model::read_resource>(found->decoded->request.operation).uri, "memo:///a");
  EXPECT_EQ(found->decoded->codec, &codec_);
  EXPECT_FALSE(known_.find(*split_id(first), plain_, nullptr));
  EXPECT_FALSE(known_.find(*split_id(first), over_http, &codec_));
  EXPECT_FALSE(known_.find(*split_id(last), over_http, nullptr));
  for (auto* member : {&over_http.http->protocol_version, &over_http.http->method, &over_http.http->name}) {
    const auto before = std::exchange(*member, "other");
    EXPECT_FALSE(known_.find(*split_id(first), over_http, nullptr));
    member->reset();
    EXPECT_FALSE(known_.find(*split_id(first), over_http, nullptr));
    *member = before;
  }
  over_http.http->arguments.emplace_back("a", "b");
  EXPECT_FALSE(known_.find(*split_id(first), over_http, nullptr));
  over_http.http->arguments.clear();
  over_http.caller.identity = "somebody else";  // admitted and answered by who it is
  EXPECT_TRUE(known_.find(*split_id(first), over_http, nullptr));
}

TEST_F(known_messages, are_the_last_of_their_places_and_none_is_too_long) {
  const auto message = [](int number) {
    return R"({"jsonrpc":"2.0","id":1,"method":"resources/read","params":{"uri":"memo:///)" + std::to_string(number) + R"("}})";
  };
  for (int i = 0; i < 10'000; ++i)
    known_.store(*split_id(message(i)), plain_, nullptr, codec_, "resources/read", read_of("memo:///a"));
  std::size_t kept = 0;
  for (int i = 0; i < 10'000; ++i) kept += known_.find(*split_id(message(i)), plain_, nullptr) ? 1 : 0;
  EXPECT_LE(kept, request_cache::slot_count);
  EXPECT_GT(kept, request_cache::slot_count / 2);
  const auto text = R"({"jsonrpc":"2.0","id":1,"method":")" + std::string(request_cache::max_message_bytes, 'x') + R"("})";
  known_.store(*split_id(text), plain_, nullptr, codec_, "resources/read", read_of("memo:///a"));
  EXPECT_FALSE(known_.find(*split_id(text), plain_, nullptr));
  rpc::request_info named;
  named.http.emplace();
  named.http->name = std::string(request_cache::max_message_bytes, 'x');
  known_.store(*split_id(first), named, nullptr, codec_, "resources/read", read_of("memo:///a"));
  EXPECT_FALSE(known_.find(*split_id(first), named, nullptr)) << "nor are its headers";
}

TEST_F(known_messages, have_the_answer_that_was_written_last) {
  known_.store(*split_id(first), plain_, nullptr, codec_, "resources/read", read_of("memo:///a"));
  const auto before = known_.find(*split_id(first), plain_, nullptr);
  EXPECT_FALSE(before->answer);
  known_.store_answer(before, {nullptr, {}, {}, "{}"});
  const auto after = known_.find(*split_id(first), plain_, nullptr);
  ASSERT_TRUE(after->answer);
  EXPECT_EQ(after->answer->text, "{}");
  EXPECT_EQ(after->decoded, before->decoded);
  known_.store_answer(after, {nullptr, {}, {}, std::string(request_cache::max_result_bytes + 1, 'x')});
  EXPECT_EQ(known_.find(*split_id(first), plain_, nullptr)->answer->text, "{}");
}

}  // namespace
}  // namespace hondana::session
