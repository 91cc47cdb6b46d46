/// A client of a server in the same process, through the memory channel.
#include <gtest/gtest.h>

#include <future>
#include <thread>
#include <vector>

#include <hondana/memory_provider.hpp>
#include <hondana/server.hpp>
#include <hondana/value.hpp>

#include "deadline.hpp"
#include "support/must.hpp"
#include "transport/memory/memory_channel.hpp"
#include "unit/protocol/channel/kept_words.hpp"

namespace hondana::test {
namespace {

/// Content in pieces, as files have it.
class counting_reader final : public byte_reader {
 public:
  explicit counting_reader(std::uint64_t size) : size_(size) {}
  [[nodiscard]] std::uint64_t size() const noexcept override { return size_; }
  [[nodiscard]] result<std::size_t> read(std::span<char> into) override {
    const auto count = static_cast<std::size_t>(std::min<std::uint64_t>(into.size(), size_ - at_));
    for (std::size_t i = 0; i < count; ++i) into[i] = static_cast<char>('a' + (at_ + i) % 23);
    at_ += count;
    return count;
  }
  [[nodiscard]] result<void> rewind() override {
    at_ = 0;
    return {};
  }
  /// Set when the reader stops.
  std::shared_ptr<std::promise<void>> over{};
  ~counting_reader() override {
    if (over) over->set_value();
  }

 private:
  std::uint64_t size_;
  std::uint64_t at_ = 0;
};

constexpr std::uint64_t large = 5u << 20;

struct shelf {
  shelf() {
    const auto memos = std::make_shared<memory_provider>("memos", "memo:///");
    EXPECT_TRUE(memos->add({.uri = "memo:///a", .name = "a"}, "hello"));
    EXPECT_TRUE(memos->add({.uri = "memo:///large", .name = "large"}, [](const read_request&) -> result<read_result> {
      read_result out;
      resource_content one;
      one.data = std::shared_ptr<byte_reader>(std::make_shared<counting_reader>(large));
      out.contents.push_back(std::move(one));
      return out;
    }));
    EXPECT_TRUE(memos->add({.uri = "memo:///held", .name = "held"}, [this](const read_request&) -> result<read_result> {
      may_answer.get_future().wait();
      read_result out;
      resource_content one;
      const auto reader = std::make_shared<counting_reader>(large);
      reader->over = is_over;
      one.data = std::shared_ptr<byte_reader>(reader);
      out.contents.push_back(std::move(one));
      return out;
    }));
    EXPECT_TRUE(here.add(memos));
  }
  /// Of "memo:///held", which is read once.
  std::promise<void> may_answer;
  std::shared_ptr<std::promise<void>> is_over = std::make_shared<std::promise<void>>();
  server here = must(server::create());
};

std::string read_of(std::int64_t id, const std::string& uri) {
  return R"({"jsonrpc":"2.0","id":)" + std::to_string(id) + R"(,"method":"resources/read","params":{"uri":")" + uri +
         R"(","_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientCapabilities":{}}}})";
}

TEST(memory_channel, carries_requests_and_answers) {
  shelf one;
  hondana_test::kept_words hears;
  auto channel = transport::make_memory_channel(one.here, hears, {});
  ASSERT_TRUE(channel);
  EXPECT_EQ((*channel)->kind(), "memory");
  (*channel)->send({.text = read_of(7, "memo:///a"), .call = 7});
  const auto got = hears.answer_to(7);
  ASSERT_TRUE(got);
  EXPECT_EQ(got->at("/result/contents/0/text").value_or(value()), value("hello"));
  (*channel)->close({});
  EXPECT_TRUE(hears.breaks(0).empty());  // a server in this process cannot be lost
}

TEST(memory_channel, gives_content_to_its_sink_in_pieces) {
  shelf one;
  hondana_test::kept_words hears;
  auto channel = transport::make_memory_channel(one.here, hears, {});
  ASSERT_TRUE(channel);
  std::uint64_t size = 0;
  std::size_t pieces = 0;
  bool is_right = true;
  channel::content_sink sink = [&](std::size_t item, std::string_view bytes) -> result<void> {
    EXPECT_EQ(item, 0u);
    for (const char c : bytes) is_right = is_right && c == static_cast<char>('a' + size++ % 23);
    ++pieces;
    return {};
  };
  (*channel)->send({.text = read_of(8, "memo:///large"), .call = 8, .content = sink});
  const auto got = hears.answer_to(8);
  ASSERT_TRUE(got);
  EXPECT_EQ(got->at("/result/contents/0/text").value_or(value()), value(""));
  EXPECT_EQ(size, large);
  EXPECT_GT(pieces, 10u);
  EXPECT_TRUE(is_right);
  EXPECT_GT(hears.progress_of(8), 1u);
}

TEST(memory_channel, ends_a_call_whose_answer_is_too_long_or_whose_sink_has_enough) {
  shelf one;
  hondana_test::kept_words hears;
  channel::limits most;
  most.max_message_bytes = 100'000;
  auto channel = transport::make_memory_channel(one.here, hears, most);
  ASSERT_TRUE(channel);
  (*channel)->send({.text = read_of(1, "memo:///large"), .call = 1});
  EXPECT_EQ(hears.failure_of(1).code, errc::response_too_large);
  channel::content_sink enough = [](std::size_t, std::string_view) -> result<void> {
    return fail(errc::overloaded, "the disk is full");
  };
  (*channel)->send({.text = read_of(2, "memo:///large"), .call = 2, .content = enough});
  EXPECT_EQ(hears.failure_of(2).public_text, "the disk is full");
  // The next message is none the worse for it.
  (*channel)->send({.text = read_of(3, "memo:///a"), .call = 3});
  EXPECT_TRUE(hears.answer_to(3));
}

TEST(memory_channel, takes_calls_of_many_threads_at_once) {
  shelf one;
  EXPECT_TRUE(one.here.add_tool({.name = "t"}, [](const tool_call&) { return text_result("x"); }));
  hondana_test::kept_words hears;
  auto channel = transport::make_memory_channel(one.here, hears, {});
  ASSERT_TRUE(channel);
  constexpr channel::call_id opening = 1'000;
  (*channel)->send({.text = R"({"jsonrpc":"2.0","id":1000,"method":"initialize","params":{"protocolVersion":"2025-11-25",)"
                            R"("capabilities":{},"clientInfo":{"name":"c","version":"1"}}})",
                    .call = opening});
  ASSERT_TRUE(hears.answer_to(opening));
  (*channel)->send({.text = R"({"jsonrpc":"2.0","method":"notifications/initialized"})"});
  {
    // What changes the session itself, so that two at once would be seen.
    std::vector<std::jthread> callers;
    callers.reserve(4);
    for (channel::call_id caller = 0; caller < 4; ++caller) {
      callers.emplace_back([&, caller] {
        for (channel::call_id id = caller * 50 + 1; id <= caller * 50 + 50; ++id) {
          (*channel)->send({.text = R"({"jsonrpc":"2.0","id":)" + std::to_string(id) +
                                    R"(,"method":"logging/setLevel","params":{"level":"error"}})",
                            .call = id});
          if (id % 10 == 0) (*channel)->abandon(id);
        }
      });
    }
  }
  for (std::int64_t id = 1; id <= 200; ++id) {
    if (id % 10 == 0) continue;
    EXPECT_TRUE(hears.answer_to(id)) << id;
  }
}

TEST(memory_channel, keeps_no_content_of_an_answer_that_was_abandoned) {
  shelf one;
  hondana_test::kept_words hears;
  channel::limits most;
  most.max_message_bytes = 100'000;
  auto channel = transport::make_memory_channel(one.here, hears, most);
  ASSERT_TRUE(channel);
  (*channel)->send({.text = read_of(1, "memo:///held"), .call = 1});
  (*channel)->abandon(1);
  one.may_answer.set_value();
  ASSERT_EQ(one.is_over->get_future().wait_for(hondana_test::event_deadline), std::future_status::ready);
  (*channel)->send({.text = read_of(2, "memo:///a"), .call = 2});
  EXPECT_TRUE(hears.answer_to(2));
  EXPECT_TRUE(hears.endings(0).empty());
}

TEST(memory_channel, tells_nothing_of_what_was_abandoned) {
  shelf one;
  hondana_test::kept_words hears;
  auto channel = transport::make_memory_channel(one.here, hears, {});
  ASSERT_TRUE(channel);
  bool is_called = false;
  channel::content_sink sink = [&is_called](std::size_t, std::string_view) -> result<void> {
    is_called = true;
    return {};
  };
  (*channel)->send({.text = read_of(4, "memo:///held"), .call = 4, .content = sink});
  (*channel)->abandon(4);
  one.may_answer.set_value();
  ASSERT_EQ(one.is_over->get_future().wait_for(hondana_test::event_deadline), std::future_status::ready);
  (*channel)->send({.text = read_of(5, "memo:///a"), .call = 5});
  EXPECT_TRUE(hears.answer_to(5));
  EXPECT_EQ(hears.messages(0).size(), 1u);
  (*channel)->close({});
  EXPECT_FALSE(is_called);
}

}  // namespace
}  // namespace hondana::test
