/// Callers that come all at once.
#include <gtest/gtest.h>

#include <atomic>
#include <condition_variable>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

#include "auth/oauth/session.hpp"
#include "deadline.hpp"
#include "unit/auth/oauth/scripted_places.hpp"

namespace {

using namespace hondana_test;

/// Lets a number of callers go once all are there.
class gate {
 public:
  void open() {
    const std::scoped_lock lock(mutex_);
    is_open_ = true;
    changed_.notify_all();
  }
  [[nodiscard]] bool pass(const std::stop_token& stop = {}) {
    std::unique_lock lock(mutex_);
    return changed_.wait_for(lock, stop, event_deadline, [this] { return is_open_; });
  }

 private:
  std::mutex mutex_;
  std::condition_variable_any changed_;
  bool is_open_ = false;
};

TEST(oauth_threads, many_calls_refused_at_once_lead_to_one_login) {
  scripted_world world;
  gate begun;
  gate done;
  world.user->plays = [&](const std::string& page, const std::stop_token&) -> result<std::string> {
    begun.open();
    EXPECT_TRUE(done.pass());
    return world.user->agreed(page);
  };
  auto& session = world.session();
  std::vector<std::jthread> callers;
  callers.reserve(16);
  std::atomic<int> good = 0;
  for (int i = 0; i < 16; ++i)
    callers.emplace_back([&] { good += session.obtain({server_url, 401, {"Bearer"}, {}, 1}, {}).has_value() ? 1 : 0; });
  ASSERT_TRUE(begun.pass());
  EXPECT_EQ(session.token(), "");  // at once, whatever is under way
  done.open();
  callers.clear();
  EXPECT_EQ(good, 16);
  EXPECT_EQ(world.user->pages.size(), 1u);
  EXPECT_EQ(world.places.asked("https://as.example/token").size(), 1u);
}

/// Waits until the session has said that `count` callers wait.
void wait_for_waiting(const scripted_world& world, int count) {
  const auto waiting = [&world] {
    const auto said = world.said();
    int out = 0;
    for (auto at = said.find("waiting"); at != std::string::npos; at = said.find("waiting", at + 1)) ++out;
    return out;
  };
  ASSERT_TRUE(eventually([&] { return waiting() >= count; }));
}

TEST(oauth_threads, whoever_waited_for_a_login_that_failed_does_not_bother_the_user_again) {
  scripted_world world;
  gate begun;
  gate done;
  world.user->plays = [&](const std::string&, const std::stop_token&) -> result<std::string> {
    begun.open();
    EXPECT_TRUE(done.pass());
    return hondana::fail(errc::timed_out, "nobody came back");
  };
  auto& session = world.session();
  std::atomic<int> told = 0;
  const auto call = [&] {
    const auto got = session.obtain({server_url, 401, {"Bearer"}, {}, 1}, {});
    told += !got && got.error().public_text == "nobody came back" ? 1 : 0;
  };
  std::vector<std::jthread> callers;
  callers.reserve(4);
  callers.emplace_back(call);
  ASSERT_TRUE(begun.pass());
  for (int i = 0; i < 3; ++i) callers.emplace_back(call);
  wait_for_waiting(world, 3);
  done.open();
  callers.clear();
  EXPECT_EQ(told, 4);
  EXPECT_EQ(world.user->pages.size(), 1u);
  // Who comes later may try again.
  call();
  EXPECT_EQ(world.user->pages.size(), 2u);
}

TEST(oauth_threads, whoever_waited_for_a_login_that_was_cancelled_logs_in) {
  scripted_world world;
  gate begun;
  gate never;
  std::atomic<int> visits = 0;
  world.user->plays = [&](const std::string& page, const std::stop_token& stop) -> result<std::string> {
    if (++visits > 1) return world.user->agreed(page);
    begun.open();
    EXPECT_FALSE(never.pass(stop));
    return hondana::fail(errc::cancelled, "closed");
  };
  auto& session = world.session();
  std::stop_source stop;
  std::jthread first([&] { EXPECT_FALSE(session.obtain({server_url, 401, {"Bearer"}, {}, 1}, stop.get_token())); });
  ASSERT_TRUE(begun.pass());
  std::jthread second([&] { EXPECT_TRUE(session.obtain({server_url, 401, {"Bearer"}, {}, 1}, {})); });
  wait_for_waiting(world, 1);
  stop.request_stop();
  first.join();
  second.join();
  EXPECT_EQ(session.token(), "token-1");
}

TEST(oauth_threads, whoever_waits_for_a_login_is_stopped_by_its_own_token_alone) {
  scripted_world world;
  gate begun;
  gate done;
  world.user->plays = [&](const std::string& page, const std::stop_token&) -> result<std::string> {
    begun.open();
    EXPECT_TRUE(done.pass());
    return world.user->agreed(page);
  };
  auto& session = world.session();
  std::jthread first([&] { EXPECT_TRUE(session.obtain({server_url, 401, {"Bearer"}, {}, 1}, {})); });
  ASSERT_TRUE(begun.pass());
  std::stop_source stop;
  std::jthread second([&] {
    const auto got = session.obtain({server_url, 401, {"Bearer"}, {}, 1}, stop.get_token());
    ASSERT_FALSE(got);
    EXPECT_EQ(got.error().code, errc::cancelled);
  });
  stop.request_stop();
  second.join();
  done.open();
  first.join();
  EXPECT_EQ(session.token(), "token-1");
}

TEST(oauth_threads, a_stop_reaches_the_login_page) {
  scripted_world world;
  gate begun;
  gate never;
  world.user->plays = [&](const std::string&, const std::stop_token& stop) -> result<std::string> {
    begun.open();
    EXPECT_FALSE(never.pass(stop));
    return hondana::fail(errc::cancelled, "closed");
  };
  auto& session = world.session();
  std::stop_source stop;
  std::jthread caller([&] {
    const auto got = session.obtain({server_url, 401, {"Bearer"}, {}, 1}, stop.get_token());
    ASSERT_FALSE(got);
    EXPECT_EQ(got.error().code, errc::cancelled);
  });
  ASSERT_TRUE(begun.pass());
  stop.request_stop();
}

}  // namespace
