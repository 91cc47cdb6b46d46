/// A store that cannot be reached: lists go on without analyses, everything else says why, and its return is told.
#include <chrono>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "deadline.hpp"
#include "protocol/model/caller_checks.hpp"
#include "sources/analyses/cache/redis/redis_store.hpp"
#include "unit/sources/analyses/cache/redis_server.hpp"
#include "unit/sources/analyses/made.hpp"
#include "unit/sources/ear.hpp"

namespace hondana::analyses_source {
namespace {

using namespace std::chrono_literals;
using testing::HasSubstr;

class analyses_out_of_reach : public testing::Test {
 protected:
  std::shared_ptr<analyses::cache> opened() {
    auto kept = open_cache();
    EXPECT_TRUE(kept) << kept.error().public_text;
    return kept ? *kept : nullptr;
  }
  result<std::shared_ptr<analyses::cache>> open_cache() {
    auto how = server_.options();
    auto in = analyses::open_redis(std::move(how));
    if (!in) return tl::unexpected(std::move(in.error()));
    return analyses::cache::create(std::move(*in), {});
  }
  std::shared_ptr<analyses_provider> source() {
    provider_options how;
    how.open_cache = [this] { return open_cache(); };
    how.log = [this](std::string_view line) {
      const std::lock_guard lock(mutex_);
      said_ += std::string(line) + '\n';
    };
    return std::make_shared<analyses_provider>(std::move(how));
  }
  static result<list_result> list(analyses_provider& of, const caller_info& who = {}) {
    list_request request;
    request.caller = who;
    return of.list(request);
  }
  /// How many entries; -1: the list failed.
  static int listed(analyses_provider& of) {
    const auto page = list(of);
    return page ? static_cast<int>(page->entries.size()) : -1;
  }
  std::size_t said(const std::string& what) {
    const std::lock_guard lock(mutex_);
    std::size_t count = 0;
    for (auto at = said_.find(what); at != std::string::npos; at = said_.find(what, at + 1)) ++count;
    return count;
  }
  static bool is_seen_to_be_unwell(const analyses_provider& of) {
    return hondana_test::eventually([&of] { return !of.health().is_healthy; });
  }

  analyses::redis_server server_;
  std::mutex mutex_;
  std::string said_;
};

TEST_F(analyses_out_of_reach, are_left_out_of_lists_and_come_back_with_their_store) {
  const auto of = source();
  const auto hears = std::make_shared<ear>();
  of->set_listener(hears);
  ASSERT_TRUE(hears->hears_lists(1));
  const auto what = test::made_analysis("離れる");
  const auto id = test::put_into(*opened(), what);
  // This is told last of it: no list that is told from here on is told because of what was put.
  ASSERT_TRUE(hears->hears(by_prompt_uri(analyses::make_key(what.question).prompt_digest)));
  EXPECT_EQ(listed(*of), 3);
  EXPECT_TRUE(of->health().is_healthy);
  server_.kill();
  EXPECT_EQ(listed(*of), 0);
  ASSERT_TRUE(is_seen_to_be_unwell(*of));
  EXPECT_THAT(of->health().detail, HasSubstr("Redis at"));
  EXPECT_EQ(listed(*of), 0);
  const auto for_index = list(*of, model::index_caller());
  ASSERT_FALSE(for_index) << "it would forget what is not listed";
  EXPECT_EQ(for_index.error().code, errc::source_unavailable);
  const auto surveyed = of->inventory({}, [](const inventory_item&) {});
  ASSERT_FALSE(surveyed);
  EXPECT_THAT(surveyed.error().public_text, HasSubstr("Redis at"));
  read_request request;
  request.uri = request.requested_uri = "wallbounce://analyses/" + id;
  const auto unread = of->read(request);
  ASSERT_FALSE(unread);
  EXPECT_THAT(unread.error().public_text, HasSubstr("check that it runs"));
  const auto before = hears->lists();
  server_.start();
  EXPECT_TRUE(hears->hears_lists(before + 1));
  EXPECT_EQ(listed(*of), 3);
  EXPECT_TRUE(of->health().is_healthy);
  EXPECT_TRUE(of->read(request));
  of->set_listener(nullptr);
}

TEST_F(analyses_out_of_reach, from_the_start_are_told_of_once_and_listed_when_they_can_be_had) {
  server_.kill();
  const auto of = source();
  const auto hears = std::make_shared<ear>();
  of->set_listener(hears);
  EXPECT_EQ(listed(*of), 0);
  ASSERT_TRUE(is_seen_to_be_unwell(*of));
  for (int i = 0; i < 3; ++i) EXPECT_EQ(listed(*of), 0);
  complete_request asked;
  asked.uri_template = "wallbounce://analyses/{id}{?format}";
  asked.argument = "id";
  EXPECT_FALSE(of->complete(asked));
  server_.start();
  ASSERT_TRUE(hears->hears_lists(1));
  EXPECT_EQ(listed(*of), 2);
  EXPECT_LE(said("check that it runs"), 2u) << "once for each reason, and not for each list";
  EXPECT_EQ(said("they are available again"), 1u);
  of->set_listener(nullptr);
}

TEST_F(analyses_out_of_reach, by_a_fault_of_the_configuration_are_no_fault_of_who_asks) {
  provider_options how;
  how.open_cache = []() -> result<std::shared_ptr<analyses::cache>> {
    return fail(errc::access_denied, "the file can be read by others; chmod 600 it");
  };
  analyses_provider of(std::move(how));
  read_request request;
  request.uri = request.requested_uri = "wallbounce://statistics";
  const auto refused = of.read(request);
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code, errc::source_unavailable);
  EXPECT_THAT(refused.error().public_text, HasSubstr("The server's log has the details"));
  EXPECT_THAT(refused.error().private_text, HasSubstr("chmod 600")) << "no peer is told how the server's files stand";
  EXPECT_EQ(listed(of), 0);
}

}  // namespace
}  // namespace hondana::analyses_source
