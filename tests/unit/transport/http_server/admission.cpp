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
using welcome = admission::decision;

counted_address from(const char* literal) { return peer_address::parse(literal, 1)->counted(); }
const counted_address unix_peer{};

TEST(admission, beyond_the_cap_some_are_told_and_the_rest_closed) {
  admission door({3, 2});
  std::vector<admission::admission_result> inside;
  std::vector<welcome> seen;
  for (int i = 0; i < 6; ++i) {
    inside.push_back(door.admit(from("127.0.0.1")));
    seen.push_back(inside.back().status);
  }
  EXPECT_EQ(seen, (std::vector<welcome>{welcome::accept, welcome::accept, welcome::accept, welcome::reject, welcome::reject,
                                        welcome::drop}));
  inside.clear();
  EXPECT_EQ(door.open_connections(), 0u);
  EXPECT_EQ(door.admit(from("127.0.0.1")).status, welcome::accept);
}

TEST(admission, one_address_of_another_machine_takes_a_quarter_at_most) {
  admission door({8, 8});
  const auto first = door.admit(from("192.0.2.1"));
  const auto second = door.admit(from("192.0.2.1"));
  EXPECT_EQ(second.status, welcome::accept);
  EXPECT_EQ(door.admit(from("192.0.2.1")).status, welcome::reject);
  EXPECT_EQ(door.admit(from("192.0.2.2")).status, welcome::accept);
}

TEST(admission, of_ipv6_a_network_counts_as_one_address) {
  admission door({4, 4});
  const auto first = door.admit(from("2001:db8:1:1::1"));
  EXPECT_EQ(first.status, welcome::accept);
  EXPECT_EQ(door.admit(from("2001:db8:1:1:ffff::2")).status, welcome::reject);
  EXPECT_EQ(door.admit(from("2001:db8:1:2::1")).status, welcome::accept);
  const auto mapped = door.admit(from("::ffff:192.0.2.1"));
  EXPECT_EQ(door.admit(from("192.0.2.1")).status, welcome::reject);
}

TEST(admission, loopback_and_unix_sockets_take_all_unless_a_cap_is_given) {
  admission open_door({4, 0});
  std::vector<admission::admission_result> inside;
  for (int i = 0; i < 4; ++i) {
    inside.push_back(open_door.admit(i % 2 == 0 ? from("127.0.0.1") : unix_peer));
    EXPECT_EQ(inside.back().status, welcome::accept);
  }
  admission narrow({4, 4, 1});
  const auto first = narrow.admit(from("127.0.0.1"));
  EXPECT_EQ(narrow.admit(from("127.0.0.1")).status, welcome::reject);
  EXPECT_EQ(narrow.admit(from("127.0.0.2")).status, welcome::accept);
  const auto by_unix = narrow.admit(unix_peer);
  EXPECT_EQ(narrow.admit(unix_peer).status, welcome::accept);
}

TEST(admission, an_address_cannot_take_the_room_for_telling_others_either) {
  admission door({100, 8, 1});
  std::vector<admission::admission_result> inside;
  for (int i = 0; i < 3; ++i) inside.push_back(door.admit(from("192.0.2.1")));
  EXPECT_EQ(inside[2].status, welcome::reject);
  EXPECT_EQ(door.admit(from("192.0.2.1")).status, welcome::drop);
}

TEST(admission, waits_until_everybody_has_left) {
  admission door({2, 0});
  std::optional<admission::admission_result> inside = door.admit(from("127.0.0.1"));
  EXPECT_FALSE(door.wait_until_empty(std::chrono::steady_clock::now()));
  inside.reset();
  EXPECT_TRUE(door.wait_until_empty(std::chrono::steady_clock::now()));
}

TEST(admission, a_place_outlives_its_door) {
  admission::admission_result inside;
  {
    admission door({2, 0});
    inside = door.admit(from("127.0.0.1"));
  }
  inside.slot.reset();
  EXPECT_EQ(inside.status, welcome::accept);
}

TEST(descriptors, leave_a_reserve_for_files) {
  const auto room = hondana::transport::http_server::max_connections_by_descriptors();
  rlimit now{};
  ASSERT_EQ(::getrlimit(RLIMIT_NOFILE, &now), 0);
  EXPECT_GE(room, 16u);
  if (now.rlim_cur >= 1024 && now.rlim_cur < 100'000) {
    EXPECT_EQ(room, now.rlim_cur - now.rlim_cur / 4);
  }
}

TEST(descriptors, that_are_among_the_last_are_not_for_connections) {
  using hondana::transport::http_server::leaves_descriptor_reserve;
  const auto all = static_cast<int>(hondana::disk::descriptor_limit());
  EXPECT_TRUE(leaves_descriptor_reserve(0));
  EXPECT_TRUE(leaves_descriptor_reserve(all - 129));
  EXPECT_FALSE(leaves_descriptor_reserve(all - 1));
  const hondana_test::descriptors_left few(20);
  EXPECT_FALSE(leaves_descriptor_reserve(static_cast<int>(hondana::disk::descriptor_limit()) - 2));
}

}  // namespace
