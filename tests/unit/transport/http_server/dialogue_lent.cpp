/// The HTTP/1 state machine, event by event: answers with contents that are kept elsewhere and go out from there.
#include <cstddef>
#include <memory>
#include <string>
#include <string_view>
#include <utility>

#include <gtest/gtest.h>

#include <hondana/clock.hpp>

#include "base/bytes/prepared_content.hpp"
#include "base/executor/thread_pool.hpp"
#include "protocol/rpc/message_body.hpp"
#include "unit/transport/http_server/script.hpp"

namespace {

using namespace hondana_test;
using hondana::shared_bytes;

shared_bytes kept(std::size_t size) { return std::make_shared<const std::string>(size, 'x'); }

void lend(rpc::body& to, const shared_bytes& inside) {
  to.append({"memo:///a", "", "", "", true, hondana::bytes::encoded_content{inside, inside->size()}}, nullptr);
}

/// `["xxxx…"]` with the inside lent.
rpc::outgoing_response lending(const shared_bytes& inside) {
  rpc::body body("[\"");
  lend(body, inside);
  body.text() += "\"]";
  return {200, std::move(body)};
}

TEST(dialogue_lent, sends_an_answer_of_known_length_in_one_go_from_where_it_is_kept) {
  const auto inside = kept(300'000);
  script with;
  with.talk.receive(bare_post("{}"));
  with.talk.send_response(with.asked.last, lending(inside));
  const auto parts = with.talk.output().parts();
  EXPECT_EQ(parts[1], "[\"");
  EXPECT_EQ(parts[3].data(), inside->data()) << "not copied";
  EXPECT_EQ(parts[4], "\"]");
  EXPECT_EQ(with.talk.output().size(), parts[0].size() + 300'004);
  const auto all = with.taken();
  EXPECT_NE(all.find("Content-Length: 300004\r\n"), std::string::npos);
  EXPECT_EQ(all.find("Transfer-Encoding"), std::string::npos);
  EXPECT_TRUE(all.ends_with("\r\n\r\n[\"" + *inside + "\"]"));
  EXPECT_EQ(inside.use_count(), 1) << "given back";
  EXPECT_TRUE(with.talk.wants_input());
}

TEST(dialogue_lent, goes_on_with_the_next_request_of_the_same_connection) {
  const auto inside = kept(100'000);
  script with;
  for (int i = 0; i < 3; ++i) {
    with.talk.receive(bare_post("{}"));
    with.talk.send_response(with.asked.last, lending(inside));
    EXPECT_TRUE(with.taken().ends_with("x\"]"));
  }
  with.talk.receive(bare_post("{}"));
  with.answer("{}");
  EXPECT_TRUE(with.taken().ends_with("\r\n\r\n{}"));
}

TEST(dialogue_lent, sends_several_contents_one_after_the_other) {
  const auto first = kept(100'000);
  const auto second = kept(200'000);
  rpc::body body("<");
  lend(body, first);
  body.text() += ",";
  lend(body, second);
  script with;
  with.talk.receive(bare_post("{}"));
  with.talk.send_response(with.asked.last, {200, std::move(body)});
  const auto all = with.taken();
  EXPECT_NE(all.find("Content-Length: 300002\r\n"), std::string::npos);
  EXPECT_TRUE(all.ends_with("\r\n\r\n<" + *first + "," + *second));
  EXPECT_EQ(first.use_count() + second.use_count(), 2);
}

TEST(dialogue_lent, mixes_with_what_is_encoded_while_it_is_sent) {
  const auto inside = kept(100'000);
  rpc::body body("<");
  body.append({"memo:///b", "", "", "", true, std::make_shared<const std::string>(std::string(100'000, '"'))}, nullptr);
  lend(body, inside);
  body.text() += ">";
  script with;
  with.talk.receive(bare_post("{}"));
  with.talk.send_response(with.asked.last, {200, std::move(body)});
  const auto all = with.taken();
  EXPECT_NE(all.find("Transfer-Encoding: chunked\r\n"), std::string::npos);
  EXPECT_NE(all.find("\r\n186a1\r\n" + *inside + ">\r\n0\r\n\r\n"), std::string::npos);
}

TEST(dialogue_lent, is_a_chunk_of_an_event_stream) {
  const auto inside = kept(100'000);
  script with;
  with.talk.receive(bare_post("{}"));
  with.talk.send_portion(with.asked.last, {http::portion::kind::opening, {}, {}, {}, {}});
  (void)with.taken();
  with.talk.send_portion(with.asked.last, {http::portion::kind::answer, lending(inside), {}, {}, {}});
  const auto all = with.taken();
  // "data: " and two ends of lines besides.
  EXPECT_EQ(all, "186ac\r\ndata: [\"" + *inside + "\"]\n\n\r\n0\r\n\r\n");
  EXPECT_EQ(inside.use_count(), 1);
}

TEST(dialogue_lent, counts_nothing_of_it_against_what_answers_may_hold) {
  const hondana::manual_clock clock;
  http::limits tight;
  tight.max_unsent_bytes = 1000;
  script with(tight);
  with.talk.receive(bare_post("{}"));
  with.talk.send_response(with.asked.last, lending(kept(300'000)));
  EXPECT_EQ(with.talk.deadline(), http::http1_protocol::clock::now() + tight.stall_timeout);
}

TEST(dialogue_lent, is_given_back_when_the_peer_takes_nothing) {
  const auto inside = kept(300'000);
  script with;
  with.talk.receive(bare_post("{}"));
  with.talk.send_response(with.asked.last, lending(inside));
  with.talk.expire();
  EXPECT_TRUE(with.talk.was_truncated());
  EXPECT_EQ(inside.use_count(), 1);
}

}  // namespace
