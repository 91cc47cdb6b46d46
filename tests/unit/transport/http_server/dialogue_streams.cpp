/// The HTTP/1 state machine, event by event: answers that are pulled while they are sent.
#include <algorithm>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include "base/bytes/digest.hpp"
#include "base/bytes/prepared_content.hpp"
#include "base/executor/thread_pool.hpp"
#include "protocol/rpc/message_body.hpp"
#include "unit/transport/http_server/script.hpp"

namespace {

using hondana_test::bare_post;
using hondana_test::first_line;
using hondana_test::script;
namespace rpc = hondana::rpc;

/// Gives `size` times 'x', or fails after `fails_after` bytes.
class letters final : public hondana::byte_reader {
 public:
  explicit letters(std::uint64_t size, std::uint64_t fails_after = ~0ull) : size_(size), fails_after_(fails_after) {}
  std::uint64_t size() const noexcept override { return size_; }
  hondana::result<std::size_t> read(std::span<char> into) override {
    if (at_ >= fails_after_)
      return hondana::fail(hondana::errc::source_unavailable, "The source has gone. Ask again later.", "EIO");
    const auto count = static_cast<std::size_t>(std::min<std::uint64_t>(into.size(), size_ - at_));
    std::fill_n(into.begin(), count, 'x');
    at_ += count;
    return count;
  }
  hondana::result<void> rewind() override {
    at_ = 0;
    return {};
  }

 private:
  std::uint64_t size_;
  std::uint64_t fails_after_;
  std::uint64_t at_ = 0;
};

/// `["xxxx…"]` with the inside streamed.
rpc::outgoing_response streamed(std::uint64_t size, std::uint64_t fails_after = ~0ull) {
  hondana::bytes::digester digest;
  digest.update(std::string(size, 'x'));
  hondana::bytes::prepared_content content;
  content.is_text = true;
  content.data = hondana::bytes::verified_stream{std::make_shared<letters>(size, fails_after), digest.value()};
  rpc::body body("[\"");
  body.append(std::move(content), std::make_shared<hondana::executor::inline_executor>());
  body.text() += "\"]";
  return {200, std::move(body)};
}

/// Does what a lane would.
void pull(script& with) {
  const auto what = std::exchange(with.asked.pulling, nullptr);
  with.talk.on_pulled(with.asked.last, what->content.pull(what->piece));
}

TEST(dialogue, streams_in_chunks_and_pulls_only_when_the_output_has_drained) {
  script with;
  with.talk.receive(bare_post("{}"));
  with.talk.send_response(with.asked.last, streamed(600'000));
  std::string all;
  int pieces = 0;
  while (with.asked.pulling) {
    EXPECT_TRUE(with.talk.output().empty());
    pull(with);
    ++pieces;
    EXPECT_FALSE(with.asked.pulling) << "pulled before the output had drained";
    EXPECT_LE(with.talk.output().size(), 300'000u);
    all += with.taken();
  }
  EXPECT_EQ(pieces, 4);
  EXPECT_NE(all.find("Transfer-Encoding: chunked\r\n"), std::string::npos);
  EXPECT_EQ(all.find("Content-Length"), std::string::npos);
  // 196608 = 0x30000 bytes a piece; the ready text goes with its neighbours, "[\"" and "\"]".
  auto body = all.substr(all.find("\r\n\r\n") + 4);
  const std::string full(196'608, 'x');
  const std::string rest(600'000 - 3 * 196'608, 'x');
  EXPECT_TRUE(body.starts_with("30002\r\n[\"" + full + "\r\n30000\r\n" + full + "\r\n"));
  EXPECT_TRUE(body.ends_with("\r\n0\r\n\r\n"));
  EXPECT_TRUE(with.talk.wants_input());
  EXPECT_FALSE(with.talk.has_sent_all());
}

TEST(dialogue, streams_to_old_clients_until_the_connection_closes) {
  script with;
  with.talk.receive("POST /mcp HTTP/1.0\r\nHost: localhost\r\nContent-Type: application/json\r\nContent-Length: 2\r\n\r\n{}");
  with.talk.send_response(with.asked.last, streamed(5));
  std::string all;
  while (with.asked.pulling) {
    pull(with);
    all += with.taken();
  }
  EXPECT_EQ(all.find("Transfer-Encoding"), std::string::npos);
  EXPECT_EQ(all.find("Content-Length"), std::string::npos);
  EXPECT_TRUE(all.ends_with("\r\n\r\n[\"xxxxx\"]")) << all;
  EXPECT_TRUE(with.talk.has_sent_all());
}

TEST(dialogue, cuts_off_a_stream_that_fails_without_a_final_chunk) {
  script with;
  with.talk.receive(bare_post("{}"));
  with.talk.send_response(with.asked.last, streamed(600'000, 300'000));
  std::string all;
  while (with.asked.pulling) {
    pull(with);
    all += with.taken();
  }
  EXPECT_TRUE(with.talk.is_closed());
  EXPECT_TRUE(with.talk.was_truncated());
  EXPECT_EQ(all.find("0\r\n\r\n", all.find("\r\n\r\n") + 4), std::string::npos);
  EXPECT_EQ(with.asked.lines, std::vector<std::string>{"an answer was cut off: The source has gone. Ask again later. (EIO)"});
}

TEST(dialogue, answers_with_an_error_when_a_stream_fails_before_its_first_byte) {
  script with;
  with.talk.receive(bare_post("{}"));
  with.talk.send_response(with.asked.last, streamed(600'000, 0));
  pull(with);
  auto answer = with.taken();
  EXPECT_EQ(first_line(answer), "HTTP/1.1 500 Internal Server Error");
  EXPECT_TRUE(
      answer.ends_with(R"({"jsonrpc":"2.0","error":{"code":-32603,"message":"The source has gone. Ask again later."}})"))
      << answer;
  EXPECT_FALSE(with.talk.is_closed());

  script full;
  full.asked.lane_is_full = true;
  full.talk.receive(bare_post("{}"));
  full.talk.send_response(full.asked.last, streamed(600'000));
  EXPECT_EQ(first_line(full.taken()), "HTTP/1.1 503 Service Unavailable");
}

TEST(dialogue, gives_up_on_a_piece_that_does_not_come) {
  script with;
  with.talk.receive(bare_post("{}"));
  with.talk.send_response(with.asked.last, streamed(600'000));
  pull(with);
  with.taken();
  ASSERT_TRUE(with.asked.pulling);
  with.talk.expire();
  EXPECT_TRUE(with.talk.is_closed());
  EXPECT_TRUE(with.talk.was_truncated());
  pull(with);
  EXPECT_TRUE(with.talk.output().empty());
}

}  // namespace
