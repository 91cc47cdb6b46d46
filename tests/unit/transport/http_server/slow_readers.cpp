/// How long a peer may take for what it is sent, alone and in a crowd.
#include <chrono>
#include <memory>
#include <string>

#include <gtest/gtest.h>

#include <hondana/clock.hpp>

#include "unit/transport/http_server/script.hpp"

namespace {

using hondana_test::script;
using std::chrono::hours;
using std::chrono::minutes;

constexpr std::string_view nothing_much = "{}";

hondana_test::http::limits patient() {
  hondana_test::http::limits out;
  out.stall_timeout = hours(2);
  out.overload_stall_timeout = hours(1);
  out.max_unsent_bytes = 1000;
  out.min_accepted_bytes = 100;
  return out;
}

/// Whether the deadline is so far away.
bool is_in(const hondana_test::http::http1_protocol& what, hours time) {
  return what.deadline() == hondana_test::http::http1_protocol::clock::now() + time;
}

TEST(slow_reader, has_less_time_when_all_together_hold_too_much) {
  const hondana::manual_clock clock;
  script alone(patient());
  alone.talk.receive(hondana_test::bare_post(nothing_much));
  alone.answer(std::string(1000, 'x'));
  EXPECT_TRUE(is_in(alone.talk, hours(2)));
  script crowded(patient());
  crowded.talk.receive(hondana_test::bare_post(nothing_much));
  crowded.answer(std::string(1001, 'x'));
  EXPECT_TRUE(is_in(crowded.talk, hours(1)));
}

TEST(slow_reader, gives_its_room_back_with_the_answer) {
  const hondana::manual_clock clock;
  script peer(patient());
  for (int i = 0; i < 3; ++i) {
    peer.talk.receive(hondana_test::bare_post(nothing_much));
    peer.answer(std::string(900, 'x'));
    EXPECT_TRUE(is_in(peer.talk, hours(2))) << i;
    (void)peer.taken();
  }
}

TEST(slow_reader, that_takes_bytes_one_by_one_gains_no_time) {
  hondana::manual_clock clock;
  script peer(patient());
  peer.talk.receive(hondana_test::bare_post(nothing_much));
  peer.answer(std::string(900, 'x'));
  const auto before = peer.talk.deadline();
  clock.advance(minutes(1));
  for (int i = 0; i < 99; ++i) peer.talk.on_written(1);
  EXPECT_EQ(peer.talk.deadline(), before);
  peer.talk.on_written(1);
  EXPECT_EQ(peer.talk.deadline(), before + minutes(1));
}

}  // namespace
