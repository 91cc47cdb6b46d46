/// Who waits for a log-in, and who ends it.
#include <chrono>
#include <functional>
#include <future>
#include <memory>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "transport/http_client/transfer.hpp"
#include "transport/http_client/transfer_loop.hpp"
#include "unit/transport/http_client/protected_talk.hpp"

namespace {

using hondana::errc;
using hondana::rejected_token;
using hondana::transport::http_client::token_worker;
using hondana::transport::http_client::transfer_loop;
using hondana_test::call;
using hondana_test::event_deadline;
using hondana_test::guarded_by;
using hondana_test::notice;
using hondana_test::protected_talk;
using hondana_test::scripted_tokens;
using hondana_test::waits_for;

TEST(http_tokens, calls_refused_together_wait_for_one_log_in) {
  std::promise<void> both;
  auto all = both.get_future().share();
  protected_talk with(guarded_by("second"), "first", [all](const rejected_token&, const std::stop_token&) {
    all.wait_for(event_deadline);
    return hondana::result<std::string>("second");
  });
  for (std::uint64_t id = 1; id <= 5; ++id) with.channel->send(call(id));
  EXPECT_EQ(with.server.requests(5).size(), 5u);
  both.set_value();
  for (std::uint64_t id = 1; id <= 5; ++id) ASSERT_TRUE(with.heard.ending_of(id));
  EXPECT_EQ(with.heard.messages(5).size(), 5u);
  EXPECT_EQ(with.tokens->asked(1).size(), 1u);
}

TEST(http_tokens, a_call_that_is_abandoned_stops_its_log_in) {
  std::promise<bool> stopped;
  protected_talk with(guarded_by("never"), "first", [&](const rejected_token&, const std::stop_token& stop) {
    stopped.set_value(waits_for(stop));
    return hondana::result<std::string>(hondana::fail(errc::cancelled, "stopped"));
  });
  with.channel->send(call(1));
  ASSERT_EQ(with.tokens->asked(1).size(), 1u);
  with.channel->abandon(1);
  EXPECT_TRUE(stopped.get_future().get());
}

TEST(http_tokens, a_log_in_goes_on_while_somebody_waits_for_it_and_stops_when_nobody_does) {
  std::promise<std::stop_token> begun;
  std::promise<bool> stopped;
  const auto tokens = std::make_shared<scripted_tokens>("first", [&](const rejected_token&, const std::stop_token& stop) {
    begun.set_value(stop);
    stopped.set_value(waits_for(stop));
    return hondana::result<std::string>(hondana::fail(errc::cancelled, "stopped"));
  });
  const auto thread = *transfer_loop::start();
  token_worker worker(*thread, tokens);
  // What is posted to the loop, once it is done.
  const auto in_loop = [&](std::function<void()> what) {
    std::promise<void> done;
    thread->post([&] {
      what();
      done.set_value();
    });
    done.get_future().wait();
  };
  const auto is_told = [](const hondana::result<void>&) { ADD_FAILURE() << "nobody waits any more"; };
  std::vector<token_worker::request_id> names;
  in_loop([&] {
    for (int i = 0; i < 3; ++i) names.push_back(worker.obtain({"http://a.example/", 401, {}, "first", 1}, is_told));
  });
  const auto stop = begun.get_future().get();
  in_loop([&] {
    worker.cancel(names[0]);
    worker.cancel(names[2]);
  });
  EXPECT_FALSE(stop.stop_requested());
  in_loop([&] { worker.cancel(names[1]); });
  EXPECT_TRUE(stop.stop_requested());
  EXPECT_TRUE(stopped.get_future().get());
  thread->stop();
  EXPECT_EQ(tokens->asked(1).size(), 1u);
}

TEST(http_tokens, closing_stops_a_log_in_at_once) {
  for (const auto time : {std::chrono::milliseconds(0), 2 * std::chrono::milliseconds(event_deadline)}) {
    std::promise<bool> stopped;
    protected_talk with(guarded_by("never"), "first", [&](const rejected_token&, const std::stop_token& stop) {
      stopped.set_value(waits_for(stop));
      return hondana::result<std::string>(hondana::fail(errc::cancelled, "stopped"));
    });
    auto has_stopped = stopped.get_future();
    // A notification is let out before the channel closes, but not for that.
    with.channel->send(notice());
    ASSERT_EQ(with.tokens->asked(1).size(), 1u);
    const auto begin = std::chrono::steady_clock::now();
    with.channel->close(time);
    with.channel.reset();
    // The source would wait for so long.
    EXPECT_LT(std::chrono::steady_clock::now() - begin, event_deadline);
    EXPECT_TRUE(has_stopped.get());
  }
}

TEST(http_tokens, what_a_source_says_is_for_now_stays_so_and_anything_else_takes_somebody) {
  for (const auto& [said, heard] :
       {std::pair(errc::source_unavailable, errc::source_unavailable), std::pair(errc::timed_out, errc::timed_out),
        std::pair(errc::access_denied, errc::unauthorized), std::pair(errc::protocol_error, errc::unauthorized)}) {
    protected_talk with(guarded_by("never"), "first", [code = said](const rejected_token&, const std::stop_token&) {
      return hondana::result<std::string>(hondana::fail(code, "not now"));
    });
    with.channel->send(call(1));
    const auto how = with.heard.ending_of(1);
    ASSERT_TRUE(how);
    EXPECT_EQ(how->reason.code, heard);
  }
}

}  // namespace
