/// Answers that are larger than memory should be.
#include <sys/resource.h>

#include <cstdint>
#include <fstream>
#include <memory>
#include <string>

#include <gtest/gtest.h>

#include "transport/http_client/http_channel.hpp"
#include "unit/transport/http_client/scripted_server.hpp"

namespace {

using hondana::errc;
using hondana_test::call;
using hondana_test::heard_request;
using hondana_test::kept_words;
using hondana_test::scripted_connection;
using hondana_test::scripted_server;

/// The most memory this process has had, in kilobytes.
std::int64_t peak_memory() {
  rusage used{};
  ::getrusage(RUSAGE_SELF, &used);
  return used.ru_maxrss;
}

/// Sends `total` times a letter as the text of one content; no more than it must is held here.
scripted_server::script sends_letters(std::uint64_t total, bool as_events) {
  return [=](const heard_request&, scripted_connection& to) {
    const std::string begin = R"({"jsonrpc":"2.0","id":1,"result":{"contents":[{"uri":"a:b","text":")";
    const std::string end = "\"}]}}";
    if (as_events) {
      to.open_stream();
      to.send("data: " + begin);
    } else {
      to.send("HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: " +
              std::to_string(begin.size() + total + end.size()) + "\r\n\r\n" + begin);
    }
    const std::string piece(1u << 18, 'x');
    for (std::uint64_t left = total; left > 0;) {
      const auto size = std::min<std::uint64_t>(left, piece.size());
      if (!to.send(std::string_view(piece).substr(0, size))) return false;
      left -= size;
    }
    return to.send(end + (as_events ? "\n\n" : "")) && !as_events;
  };
}

TEST(http_large_answers, go_through_the_sink_in_constant_memory) {
  constexpr std::uint64_t total = 256u << 20;
  for (const bool as_events : {false, true}) {
    kept_words heard;
    scripted_server server(sends_letters(total, as_events));
    hondana::http_target target;
    target.url = server.url();
    target.proxy = "none";
    auto channel = std::move(*hondana::transport::http_client::make_http(target, heard, {}, {}));
    const auto before = peak_memory();
    std::uint64_t taken = 0;
    auto reading = call(1);
    reading.content = [&](std::size_t, std::string_view bytes) {
      taken += bytes.size();
      return hondana::result<void>();
    };
    channel->send(std::move(reading));
    const auto how = heard.ending_of(1);
    ASSERT_TRUE(how);
    EXPECT_EQ(taken, total) << how->reason.public_text;
    const auto messages = heard.messages(1);
    ASSERT_EQ(messages.size(), 1u);
    EXPECT_EQ(messages[0].text, R"({"jsonrpc":"2.0","id":1,"result":{"contents":[{"uri":"a:b","text":""}]}})");
    EXPECT_LT(peak_memory() - before, 16 * 1024);
  }
}

TEST(http_large_answers, without_a_sink_the_limit_ends_the_call_before_memory_does) {
  for (const bool as_events : {false, true}) {
    kept_words heard;
    scripted_server server(sends_letters(1u << 30, as_events));
    hondana::http_target target;
    target.url = server.url();
    target.proxy = "none";
    hondana::channel::limits most;
    most.max_message_bytes = 4u << 20;
    auto channel = std::move(*hondana::transport::http_client::make_http(target, heard, most, {}));
    const auto before = peak_memory();
    channel->send(call(1));
    const auto how = heard.ending_of(1);
    ASSERT_TRUE(how);
    EXPECT_EQ(how->reason.code, errc::response_too_large);
    EXPECT_LT(peak_memory() - before, 32 * 1024);
  }
}

}  // namespace
