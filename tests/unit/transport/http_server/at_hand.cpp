/// What an answer from memory costs the thread that gives it: no allocation, and no lock but those of the loop itself.
#include <algorithm>
#include <memory>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "unit/server/catalog/switched.hpp"
#include "unit/transport/http_server/client.hpp"
#include "unit/transport/http_server/shelf.hpp"

#ifndef HONDANA_IS_SANITIZED
#include "unit/transport/counted_costs.hpp"

namespace {

using hondana_test::allocations_of_server;
using hondana_test::is_the_clients;
using hondana_test::locks_of_server;

TEST(http_reads_at_hand, allocate_nothing_and_take_no_lock) {
  hondana_test::library with;
  with.source->entries["memo:///a"] = [valid = std::make_shared<hondana::test::switched>()](const auto&) {
    auto found = hondana::text_read_result("hello");
    found.version = "v1";
    found.validator = valid;
    return found;
  };
  is_the_clients = true;
  constexpr int together = 20, times = 100;
  hondana_test::client peer(with.port());
  const auto request = hondana_test::post(hondana_test::library::read("memo:///a", "1"));
  std::string requests;
  for (int i = 0; i < together; ++i) requests += request;
  const auto ask = [&] {
    peer.send(requests);
    for (int i = 0; i < together; ++i) EXPECT_NE(peer.receive().body.find("hello"), std::string::npos);
  };
  // The first are read and decoded, and buffers grow.
  for (int i = 0; i < 10; ++i) ask();
  ASSERT_GT(allocations_of_server.load(), 0) << "they are counted";
  ASSERT_GT(locks_of_server.load(), 0) << "they are counted";
  // The half of the rounds that costs least: in some the kernel cuts what is sent, and the rest is kept for what follows.
  std::vector<long> allocations, locks;
  allocations.reserve(times);
  locks.reserve(times);
  for (int i = 0; i < times; ++i) {
    const auto allocations_before = allocations_of_server.load(), locks_before = locks_of_server.load();
    ask();
    allocations.push_back(allocations_of_server - allocations_before);
    locks.push_back(locks_of_server - locks_before);
  }
  std::sort(allocations.begin(), allocations.end());
  std::sort(locks.begin(), locks.end());
  EXPECT_EQ(allocations.at(times / 2), 0);
  // The loop takes some each time that it has something to read or may write.
  EXPECT_LT(locks.at(times / 2), together);
  is_the_clients = false;
}

}  // namespace

#endif
