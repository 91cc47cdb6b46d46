/// Work stops when the peer of standard input and output goes.
#include <chrono>
#include <memory>
#include <thread>

#include <gtest/gtest.h>

#include <hondana/server.hpp>

#include "support/must.hpp"
#include "unit/transport/stdio/standard_streams.hpp"

namespace hondana {
namespace {

TEST(leaving, by_ending_the_input_stops_what_is_under_way) {
  const auto source = std::make_shared<patient>();
  // A deadline stops it, too: that is far away.
  server with = must(server::create({.call_timeout = std::chrono::minutes(10)}));
  ASSERT_TRUE(with.add(source));
  other_standard_streams streams;
  std::thread serving([&] { (void)serve_stdio(with); });
  streams.say(handshake);
  streams.say(R"({"jsonrpc":"2.0","id":1,"method":"resources/read","params":{"uri":"memo:///a"}})"
              "\n");
  EXPECT_TRUE(source->has_begun());
  streams.end_input();
  EXPECT_TRUE(source->has_stopped());
  serving.join();
}

}  // namespace
}  // namespace hondana
