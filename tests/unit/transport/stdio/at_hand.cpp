/// What an answer from memory costs the thread that gives it over standard streams: no allocation.
#include <algorithm>
#include <csignal>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include <gtest/gtest.h>

#include <hondana/server.hpp>

#include "unit/server/catalog/switched.hpp"
#include "unit/transport/stdio/standard_streams.hpp"

#ifndef HONDANA_IS_SANITIZED
#include "support/must.hpp"
#include "unit/transport/counted_costs.hpp"

namespace hondana {
namespace {

using hondana_test::allocations_of_server;
using hondana_test::is_the_clients;

/// Vouches for what it gave.
class vouched final : public provider {
 public:
  std::string name() const override { return "vouched"; }
  std::vector<std::string> claims() const override { return {"memo:///"}; }
  scheme_documentation documentation() const override { return {"memo", "Texts of the test.", {}, {}}; }
  result<list_result> list(const list_request&) override { return list_result{}; }
  result<read_result> read(const read_request&) override {
    auto found = text_read_result("hello");
    found.version = "v1";
    found.validator = valid_;
    return found;
  }

 private:
  std::shared_ptr<test::switched> valid_ = std::make_shared<test::switched>();
};

/// What twenty reads that are asked together allocate, in the half of many rounds that allocates least: in some the kernel cuts
/// what is said, and the rest of a line is kept for what follows.
long allocations_of_a_round() {
  const auto signal_before = std::signal(SIGPIPE, SIG_IGN);  // as the program does
  server serving = must(server::create());
  EXPECT_TRUE(serving.add(std::make_shared<vouched>()));
  other_standard_streams streams;
  std::thread thread([&serving] { EXPECT_EQ(serve_stdio(serving), 0); });
  is_the_clients = true;
  streams.say(handshake);
  EXPECT_EQ(streams.hear(1).size(), 1u);
  constexpr int together = 20, times = 100;
  std::string requests;
  for (int i = 1; i <= together; ++i)
    requests +=
        R"({"jsonrpc":"2.0","id":)" + std::to_string(i) + R"(,"method":"resources/read","params":{"uri":"memo:///a"}})" + '\n';
  const auto ask = [&] {
    streams.say(requests);
    for (const auto& heard : streams.hear(together)) EXPECT_NE(heard.find("hello"), std::string::npos);
  };
  // The first are read and decoded, and buffers grow.
  for (int i = 0; i < 10; ++i) ask();
  EXPECT_GT(allocations_of_server.load(), 0) << "they are counted";
  std::vector<long> rounds;
  rounds.reserve(times);
  for (int i = 0; i < times; ++i) {
    const auto before = allocations_of_server.load();
    ask();
    rounds.push_back(allocations_of_server - before);
  }
  streams.end_input();
  thread.join();
  is_the_clients = false;
  (void)std::signal(SIGPIPE, signal_before);
  std::sort(rounds.begin(), rounds.end());
  return rounds.at(times / 2);
}

TEST(reads_at_hand_over_stdio, allocate_nothing) {
  // What fails while streams are exchanged is not seen.
  EXPECT_EQ(allocations_of_a_round(), 0);
}

}  // namespace
}  // namespace hondana

#endif
