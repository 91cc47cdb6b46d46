/// Pulling from a thread that waits: whatever a reader does ends its own answer and nothing else.
#include "protocol/rpc/message_body.hpp"

#include <stdexcept>

#include <gtest/gtest.h>

#include "deadline.hpp"
#include "unit/base/bytes/scripted_reader.hpp"

namespace {

using namespace hondana;

class throwing_reader final : public byte_reader {
 public:
  std::uint64_t size() const noexcept override { return 100; }
  result<std::size_t> read(std::span<char>) override { throw std::runtime_error("private details"); }
  result<void> rewind() override { return {}; }
};

std::shared_ptr<rpc::body> streaming(std::shared_ptr<byte_reader> from, std::shared_ptr<executor::executor> home) {
  auto message = std::make_shared<rpc::body>("\"");
  message->append({"memo:///a", "", "", "", true, bytes::verified_stream{std::move(from), {}}}, home);
  std::string text;
  (void)message->pull(text);
  return message;
}

TEST(blocking_pull, gives_what_the_lane_pulled) {
  const auto reader = std::make_shared<test::scripted_reader>("abc");
  auto message = std::make_shared<rpc::body>("\"");
  message->append({"memo:///a", "", "", "", true, bytes::verified_stream{reader, bytes::digest_of("abc")}},
                  std::make_shared<executor::thread_pool>("test", 1, 10));
  message->text() += '"';
  std::string text;
  for (;;) {
    const auto more = rpc::pull_until(message, text, executor::clock::now() + hondana_test::event_deadline);
    ASSERT_TRUE(more.has_value()) << more.error().private_text;
    if (!*more) break;
  }
  EXPECT_EQ(text, "\"abc\"");
}

TEST(blocking_pull, makes_an_error_of_what_a_reader_throws_on_a_pool) {
  const auto message = streaming(std::make_shared<throwing_reader>(), std::make_shared<executor::thread_pool>("test", 1, 10));
  std::string text;
  const auto more = rpc::pull_until(message, text, executor::clock::now() + hondana_test::event_deadline);
  ASSERT_FALSE(more.has_value());
  EXPECT_EQ(more.error().code, errc::internal);
  EXPECT_EQ(more.error().public_text, "Internal error");
  EXPECT_NE(more.error().private_text.find("private details"), std::string::npos);
}

TEST(blocking_pull, makes_an_error_of_what_a_reader_throws_inline) {
  const auto message = streaming(std::make_shared<throwing_reader>(), std::make_shared<executor::inline_executor>());
  std::string text;
  const auto more = rpc::pull_until(message, text, executor::clock::now() + hondana_test::event_deadline);
  ASSERT_FALSE(more.has_value());
  EXPECT_EQ(more.error().code, errc::internal);
}

}  // namespace
