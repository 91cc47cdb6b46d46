/// What arrives together is answered together: what has to be found out for the answers is found out once.
#include <atomic>
#include <cstdint>
#include <future>
#include <memory>
#include <mutex>
#include <set>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "base/executor/batching.hpp"
#include "unit/transport/http_server/client.hpp"
#include "unit/transport/http_server/shelf.hpp"

namespace {

using hondana_test::client;
using hondana_test::event_deadline;
using hondana_test::library;
using hondana_test::post;

/// Vouches always, says in which rounds it was asked to, and holds up whom it is told to.
class rounds final : public hondana::cache_validator {
 public:
  [[nodiscard]] bool is_valid() const noexcept override {
    if (holds_up_.exchange(false)) {
      is_held_.set_value();
      (void)let_go_.get_future().wait_for(event_deadline);
    }
    const std::lock_guard lock(mutex_);
    seen_.insert(hondana::executor::message_batch::current_id());
    return true;
  }
  /// The next who asks waits.
  void hold_up() { holds_up_ = true; }
  [[nodiscard]] bool holds_one() const { return is_held_.get_future().wait_for(event_deadline) == std::future_status::ready; }
  void let_go() const { let_go_.set_value(); }
  std::set<std::uint64_t> taken() const {
    const std::lock_guard lock(mutex_);
    return std::exchange(seen_, {});
  }

 private:
  mutable std::atomic<bool> holds_up_{false};
  mutable std::promise<void> is_held_, let_go_;
  mutable std::mutex mutex_;
  mutable std::set<std::uint64_t> seen_;
};

struct crowd {
  explicit crowd(std::size_t many) {
    with.source->entries["memo:///a"] = [valid = valid](const auto&) {
      auto found = hondana::text_read_result("hello");
      found.version = "v1";
      found.validator = valid;
      return found;
    };
    for (std::size_t i = 0; i < many; ++i) {
      all.push_back(std::make_unique<client>(with.port()));
      // Each has been accepted when the next comes, and hands are shaken where it is TLS.
      all.back()->send(post(library::read("memo:///a")));
      EXPECT_NE(all.back()->receive().body.find("hello"), std::string::npos);
    }
    (void)valid->taken();
  }
  std::shared_ptr<rounds> valid = std::make_shared<rounds>();
  library with;
  std::vector<std::unique_ptr<client>> all;
};

/// Has the loop of every second connection wait while all of these send something; `what` makes it.
template <class What>
void send_together(crowd& who, What what) {
  who.valid->hold_up();
  who.all[0]->send(post(library::read("memo:///a")));
  ASSERT_TRUE(who.valid->holds_one());
  for (std::size_t i = 2; i < who.all.size(); i += 2) who.all[i]->send(what(i));
  who.valid->let_go();
  EXPECT_NE(who.all[0]->receive().body.find("hello"), std::string::npos);
}

TEST(http_arrivals, of_one_turn_are_one_round) {
  crowd who(24);
  send_together(who, [](std::size_t) { return post(library::read("memo:///a")); });
  for (std::size_t i = 2; i < who.all.size(); i += 2)
    EXPECT_NE(who.all[i]->receive().body.find("hello"), std::string::npos) << i;
  const auto seen = who.valid->taken();
  EXPECT_EQ(seen.size(), 2u) << "that of the one that was held up, and that of all others";
  EXPECT_FALSE(seen.contains(0));
}

TEST(http_arrivals, that_are_more_than_there_is_room_for_are_all_answered) {
  crowd who(40);
  // Each of its own, with spaces between the tokens: 20 times 9 KiB or so.
  send_together(who, [](std::size_t i) {
    auto message = library::read("memo:///a", std::to_string(1000 + i));
    message.insert(message.find(',') + 1, std::string(9000 + 7 * i, ' '));
    return post(message);
  });
  for (std::size_t i = 2; i < who.all.size(); i += 2) {
    const auto body = who.all[i]->receive().body;
    EXPECT_NE(body.find("hello"), std::string::npos) << body;
    EXPECT_NE(body.find("\"id\":" + std::to_string(1000 + i)), std::string::npos) << body;
  }
}

TEST(http_arrivals, of_which_each_fills_the_room_are_all_answered) {
  crowd who(12);
  send_together(who, [](std::size_t i) {
    auto message = library::read("memo:///a", std::to_string(1000 + i));
    message.insert(message.find(',') + 1, std::string(300'000 + 7 * i, ' '));
    return post(message);
  });
  for (std::size_t i = 2; i < who.all.size(); i += 2) {
    const auto body = who.all[i]->receive().body;
    EXPECT_NE(body.find("\"id\":" + std::to_string(1000 + i)), std::string::npos) << body;
  }
}

TEST(http_arrivals, that_end_early_do_not_hold_up_others) {
  crowd who(24);
  const auto request = post(library::read("memo:///a"));
  who.valid->hold_up();
  who.all[0]->send(request);
  ASSERT_TRUE(who.valid->holds_one());
  for (std::size_t i = 2; i < who.all.size(); i += 2) {
    // Every fourth sends half of it, or hangs up behind it.
    who.all[i]->send(i % 8 == 2 ? request.substr(0, request.size() / 2) : request);
    if (i % 8 == 4) who.all[i].reset();
  }
  who.valid->let_go();
  for (std::size_t i = 2; i < who.all.size(); i += 2) {
    if (i % 8 == 4) continue;
    if (i % 8 == 2) who.all[i]->send(request.substr(request.size() / 2));
    EXPECT_NE(who.all[i]->receive().body.find("hello"), std::string::npos) << i;
  }
}

}  // namespace
