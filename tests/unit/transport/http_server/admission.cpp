/// Caps on connections, in all and from one address.
#include "transport/http_server/connection_limits.hpp"

#include <sys/resource.h>

#include <chrono>
#include <optional>
#include <vector>

#include <gtest/gtest.h>

#include "os/disk/descriptor_limit.hpp"
#include "transport/http_server/peer_address.hpp"
#include "unit/descriptors_left.hpp"

namespace {

using hondana::transport::http_server::admission;
using hondana::transport::http_server::counted_address;
using hondana::transport::http_server::peer_address;
using welcome = admission::welcome;

counted_address from(const char* literal) { return peer_address::parse(literal, 1)->counted(); }
const counted_address unix_peer{};

TEST(admission, beyond_the_cap_some_are_told_and_the_rest_closed) {
  admission door({3, 2});
  std::vector<admission::entry> inside;
  std::vector<welcome> seen;
  for (int i = 0; i < 6; ++i) {
    inside.push_back(door.enter(from("127.0.0.1")));
    seen.push_back(inside.back().how);
  }
  EXPECT_EQ(seen, (std::vector<welcome>{welcome::served, welcome::served, welcome::served, welcome::told, welcome::told,
                                        welcome::closed}));
  inside.clear();
  EXPECT_EQ(door.open(), 0u);
  EXPECT_EQ(door.enter(from("127.0.0.1")).how, welcome::served);
}

TEST(admission, one_address_of_another_machine_takes_a_quarter_at_most) {
  admission door({8, 8});
  const auto first = door.enter(from("192.0.2.1"));
  const auto second = door.enter(from("192.0.2.1"));
  EXPECT_EQ(second.how, welcome::served);
  EXPECT_EQ(door.enter(from("192.0.2.1")).how, welcome::told);
  EXPECT_EQ(door.enter(from("192.0.2.2")).how, welcome::served);
}

TEST(admission, of_ipv6_a_network_counts_as_one_address) {
  admission door({4, 4});
  const auto first = door.enter(from("2001:db8:1:1::1"));
  EXPECT_EQ(first.how, welcome::served);
  EXPECT_EQ(door.enter(from("2001:db8:1:1:ffff::2")).how, welcome::told);
  EXPECT_EQ(door.enter(from("2001:db8:1:2::1")).how, welcome::served);
  const auto mapped = door.enter(from("::ffff:192.0.2.1"));
  EXPECT_EQ(door.enter(from("192.0.2.1")).how, welcome::told);
}

TEST(admission, loopback_and_unix_sockets_take_all_unless_a_cap_is_given) {
  admission open_door({4, 0});
  std::vector<admission::entry> inside;
  for (int i = 0; i < 4; ++i) {
    inside.push_back(open_door.enter(i % 2 == 0 ? from("127.0.0.1") : unix_peer));
    EXPECT_EQ(inside.back().how, welcome::served);
  }
  admission narrow({4, 4, 1});
  const auto first = narrow.enter(from("127.0.0.1"));
  EXPECT_EQ(narrow.enter(from("127.0.0.1")).how, welcome::told);
  EXPECT_EQ(narrow.enter(from("127.0.0.2")).how, welcome::served);
  const auto by_unix = narrow.enter(unix_peer);
  EXPECT_EQ(narrow.enter(unix_peer).how, welcome::served);
}

TEST(admission, an_address_cannot_take_the_room_for_telling_others_either) {
  admission door({100, 8, 1});
  std::vector<admission::entry> inside;
  for (int i = 0; i < 3; ++i) inside.push_back(door.enter(from("192.0.2.1")));
  EXPECT_EQ(inside[2].how, welcome::told);
  EXPECT_EQ(door.enter(from("192.0.2.1")).how, welcome::closed);
}

TEST(admission, waits_until_everybody_has_left) {
  admission door({2, 0});
  std::optional<admission::entry> inside = door.enter(from("127.0.0.1"));
  EXPECT_FALSE(door.wait_until_empty(std::chrono::steady_clock::now()));
  inside.reset();
  EXPECT_TRUE(door.wait_until_empty(std::chrono::steady_clock::now()));
}

TEST(admission, a_place_outlives_its_door) {
  admission::entry inside;
  {
    admission door({2, 0});
    inside = door.enter(from("127.0.0.1"));
  }
  inside.place.reset();
  EXPECT_EQ(inside.how, welcome::served);
}

TEST(descriptors, leave_a_reserve_for_files) {
  const auto room = hondana::transport::http_server::connections_within_descriptors();
  rlimit now{};
  ASSERT_EQ(::getrlimit(RLIMIT_NOFILE, &now), 0);
  EXPECT_GE(room, 16u);
  if (now.rlim_cur >= 1024 && now.rlim_cur < 100'000) {
    EXPECT_EQ(room, now.rlim_cur - now.rlim_cur / 4);
  }
}

TEST(descriptors, that_are_among_the_last_are_not_for_connections) {
  using hondana::transport::http_server::leaves_enough;
  const auto all = static_cast<int>(hondana::disk::descriptor_limit());
  EXPECT_TRUE(leaves_enough(0));
  EXPECT_TRUE(leaves_enough(all - 129));
  EXPECT_FALSE(leaves_enough(all - 1));
  const hondana_test::descriptors_left few(20);
  EXPECT_FALSE(leaves_enough(static_cast<int>(hondana::disk::descriptor_limit()) - 2));
}

}  // namespace
