/// Serving over standard streams: what comes in one piece or in many, in order, and beside a peer that reads nothing.
#include <csignal>
#include <cstddef>
#include <memory>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

#include <gtest/gtest.h>

#include <hondana/server.hpp>

#include "support/must.hpp"
#include "unit/transport/stdio/standard_streams.hpp"

namespace hondana {
namespace {

std::string ping(int id) { return R"({"jsonrpc":"2.0","id":)" + std::to_string(id) + R"(,"method":"ping"})" + '\n'; }
std::string pong(int id) { return R"({"jsonrpc":"2.0","id":)" + std::to_string(id) + R"(,"result":{}})"; }

/// A server that has been greeted. Ends with its input.
class a_served_peer : public testing::Test {
 public:
  ~a_served_peer() override {
    end();
    (void)std::signal(SIGPIPE, before_);
  }
  a_served_peer(const a_served_peer&) = delete;
  a_served_peer& operator=(const a_served_peer&) = delete;

 protected:
  a_served_peer() : before_(std::signal(SIGPIPE, SIG_IGN)) {
    EXPECT_TRUE(server_.add(source_));
    serving_ = std::thread([this] { code_ = serve_stdio(server_); });
    streams_.say(handshake);
    EXPECT_EQ(streams_.hear(1).size(), 1u);
  }

  int end() {
    streams_.end_input();
    if (serving_.joinable()) serving_.join();
    return code_;
  }
  /// The answers to these, in order.
  void expect_pongs(int first, int last) {
    std::vector<std::string> expected;
    for (int i = first; i <= last; ++i) expected.push_back(pong(i));
    EXPECT_EQ(streams_.hear(expected.size()), expected);
  }

  std::shared_ptr<patient> source_ = std::make_shared<patient>();
  other_standard_streams streams_;

 private:
  server server_ = must(server::create());
  void (*before_)(int);
  std::thread serving_;
  int code_ = -1;
};

TEST_F(a_served_peer, gets_the_answers_to_one_piece_in_the_order_of_its_lines) {
  std::string piece;
  for (int i = 1; i <= 200; ++i) piece += ping(i);
  streams_.say(piece);
  expect_pongs(1, 200);
}

TEST_F(a_served_peer, gets_a_refusal_in_its_place_for_a_malformed_line) {
  streams_.say(ping(1) + "{\"jsonrpc\":\n\n" + ping(2) + "\xff\n" + ping(3));
  const auto heard = streams_.hear(5);
  ASSERT_EQ(heard.size(), 5u);
  EXPECT_EQ(heard[0], pong(1));
  EXPECT_NE(heard[1].find("-32700"), std::string::npos) << heard[1];
  EXPECT_EQ(heard[2], pong(2));
  EXPECT_NE(heard[3].find("-32700"), std::string::npos) << heard[3];
  EXPECT_EQ(heard[4], pong(3));
}

TEST_F(a_served_peer, may_write_one_byte_at_a_time) {
  for (const char one : ping(1) + ping(2)) streams_.say({&one, 1});
  expect_pongs(1, 2);
}

TEST_F(a_served_peer, gets_the_answers_to_what_came_before_the_end_of_its_input) {
  std::string piece;
  for (int i = 1; i <= 100; ++i) piece += ping(i);
  piece.pop_back();  // the last line ends with the input
  streams_.say(piece);
  EXPECT_EQ(end(), 0);
  expect_pongs(1, 100);
}

TEST_F(a_served_peer, can_cancel_while_it_reads_nothing) {
  streams_.say(R"({"jsonrpc":"2.0","id":"slow","method":"resources/read","params":{"uri":"memo:///a"}})"
               "\n");
  ASSERT_TRUE(source_->has_begun());
  // Refusals that quote what was asked, more of them than the pipe holds, and fewer than stop the reading of requests.
  const std::string long_uri = "memo:///" + std::string(500, 'x');
  std::string piece;
  for (int i = 1; i <= 100; ++i) {
    piece += R"({"jsonrpc":"2.0","id":)" + std::to_string(i) + R"(,"method":"resources/subscribe","params":{"uri":")" +
             long_uri + "\"}}\n";
  }
  for (int times = 0; times < 2; ++times) streams_.say(piece.substr(0, piece.size()));
  streams_.say(R"({"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":"slow"}})"
               "\n");
  EXPECT_TRUE(source_->has_stopped());
  EXPECT_EQ(streams_.hear(200).size(), 200u);
}

}  // namespace
}  // namespace hondana
