/// What a client keeps, for how long and for whom.
#include <gtest/gtest.h>

#include <hondana/clock.hpp>

#include "client/composed_calls.hpp"
#include "deadline.hpp"
#include "unit/client/scripted_channel.hpp"

namespace hondana::test {
namespace {

using heard = scripted_server::heard;

/// Lists carry how often they were asked for.
scripted_server::answerer counting(std::string fresh) {
  return [fresh = std::move(fresh), count = std::make_shared<std::atomic<int>>(0)](scripted_server& of, const heard& one) {
    if (one.method == "server/discover") return of.result(one, modern_self);
    const auto number = std::to_string(++*count);
    if (one.method == "resources/list")
      return of.result(one, R"({"resources":[{"uri":"x:)" + number + R"(","name":"n"}],)" + fresh + "}");
    if (one.method == "resources/read")
      return of.result(one, R"({"contents":[{"uri":"x:a","text":")" + number + R"("}],)" + fresh + "}");
  };
}

std::string listed(outbound::engine& of, const call_options& how = {}) {
  const auto got = outbound::resource_page(of, {}, {}, how);
  return got && !got->items.empty() ? got->items[0].uri : "none";
}

TEST(caching, keeps_an_answer_for_the_time_it_says_unless_asked_afresh) {
  manual_clock clock;
  scripted_server server(counting(R"("ttlMs":60000,"cacheScope":"private")"));
  opened_engine engine(server);
  EXPECT_EQ(listed(*engine), "x:1");
  EXPECT_EQ(listed(*engine), "x:1");
  EXPECT_EQ(listed(*engine, {.bypass_cache = true}), "x:2");
  EXPECT_EQ(listed(*engine), "x:2");
  const auto page = outbound::resource_page(*engine, "other", {}, {});  // each page by itself
  EXPECT_EQ(page->items[0].uri, "x:3");
  EXPECT_EQ(page->ttl, std::chrono::minutes(1));
  clock.advance(std::chrono::milliseconds(59'999));
  EXPECT_EQ(listed(*engine), "x:2");
  clock.advance(std::chrono::milliseconds(1));
  EXPECT_EQ(listed(*engine), "x:4");
}

TEST(caching, keeps_nothing_that_says_nothing_or_nonsense) {
  for (const auto* fresh :
       {R"("cacheScope":"public")", R"("ttlMs":0,"cacheScope":"public")", R"("ttlMs":-5)", R"("ttlMs":"1000")"}) {
    scripted_server server(counting(fresh));
    opened_engine engine(server);
    EXPECT_EQ(listed(*engine), "x:1") << fresh;
    EXPECT_EQ(listed(*engine), "x:2") << fresh;
  }
}

TEST(caching, forgets_what_a_notification_says_has_changed) {
  scripted_server server(counting(R"("ttlMs":3600000,"cacheScope":"private")"));
  opened_engine engine(server);
  EXPECT_EQ(listed(*engine), "x:1");
  EXPECT_EQ(engine->read("x:a", {}, {}, {})->contents[0].bytes, "2");
  EXPECT_TRUE(engine->read("x:a", {}, {}, {})->is_from_cache);
  server.say(0, R"({"jsonrpc":"2.0","method":"notifications/resources/updated","params":{"uri":"x:a"}})");
  EXPECT_TRUE(hondana_test::eventually([&] { return !engine->read("x:a", {}, {}, {})->is_from_cache; }));
  EXPECT_EQ(engine->read("x:a", {}, {}, {})->contents[0].bytes, "3");
  EXPECT_EQ(listed(*engine), "x:1");  // the list is another matter
  server.say(0, R"({"jsonrpc":"2.0","method":"notifications/resources/list_changed"})");
  EXPECT_TRUE(hondana_test::eventually([&] { return listed(*engine) != "x:1"; }));
  EXPECT_EQ(listed(*engine), "x:4");
}

TEST(caching, forgets_what_a_server_says_has_changed_in_another_spelling_than_it_was_read_in) {
  const std::string canonical = "x:%E6%9C%AC";
  for (const auto& [read, told] : {std::pair<std::string, std::string>{"x:本", canonical},
                                   {"x:本", canonical + "/part"},
                                   {"X:本/part", canonical},
                                   {canonical, "x:本"},
                                   {"x:%zz", "x:%zz"}}) {
    client_cache cache;
    auto& store = cache.backend();
    const client_cache::store::request_key what{"server", "", "resources/read", read, read};
    store.insert(what, "{}", {std::chrono::hours(1), true}, store.generation());
    store.invalidate_resource("server", "x:%E6%9C%AC-more");
    EXPECT_TRUE(store.find(what)) << read;
    store.invalidate_resource("server", told);
    EXPECT_FALSE(store.find(what)) << read << " after " << told;
  }
}

TEST(caching, shares_public_answers_and_keeps_private_ones_to_whom_they_were_given) {
  for (const bool is_public : {true, false}) {
    scripted_server server(
        counting(is_public ? R"("ttlMs":3600000,"cacheScope":"public")" : R"("ttlMs":3600000,"cacheScope":"private")"));
    const auto shared = std::make_shared<client_cache>();
    const auto as = [&](const std::string& who) {
      client_options options;
      options.cache = shared;
      options.identity = who;
      return options;
    };
    opened_engine ada(server, as("ada"));
    EXPECT_EQ(listed(*ada), "x:1");
    opened_engine ada_again(server, as("ada"));
    EXPECT_EQ(listed(*ada_again), "x:1");
    opened_engine bob(server, as("bob"));
    EXPECT_EQ(listed(*bob), is_public ? "x:1" : "x:2");
    EXPECT_GT(shared->bytes(), 0u);
  }
}

/// Whoever it says is the one who asks.
class changing_token final : public token_source {
 public:
  std::optional<std::string> token() override {
    const std::lock_guard lock(mutex_);
    return now_;
  }
  result<void> obtain(const rejected_token&, const std::stop_token&) override { return fail(errc::unauthorized, "no other"); }
  void become(std::string next) {
    const std::lock_guard lock(mutex_);
    now_ = std::move(next);
  }

 private:
  std::mutex mutex_;
  std::string now_ = "of ada";
};

TEST(caching, gives_private_answers_to_the_token_they_came_with_only) {
  for (const bool is_public : {true, false}) {
    const auto tokens = std::make_shared<changing_token>();
    std::string while_asked;  // whose token is had meanwhile
    const auto counted =
        counting(is_public ? R"("ttlMs":3600000,"cacheScope":"public")" : R"("ttlMs":3600000,"cacheScope":"private")");
    scripted_server server([&](scripted_server& of, const heard& one) {
      if (const auto next = std::exchange(while_asked, ""); one.method == "resources/list" && !next.empty())
        tokens->become(next);
      counted(of, one);
    });
    http_target target;
    target.tokens = tokens;
    opened_engine engine(server, {}, target);
    EXPECT_EQ(listed(*engine), "x:1");
    EXPECT_EQ(listed(*engine), "x:1");
    tokens->become("of bob");
    EXPECT_EQ(listed(*engine), is_public ? "x:1" : "x:2");
    tokens->become("of ada");
    EXPECT_EQ(listed(*engine), "x:1");
    // Whose answer this is nobody can tell, so that it is given to neither.
    while_asked = "of carol";
    EXPECT_EQ(listed(*engine, {.bypass_cache = true}), is_public ? "x:2" : "x:3");
    if (is_public) continue;
    EXPECT_EQ(listed(*engine), "x:4");
    tokens->become("of ada");
    EXPECT_EQ(listed(*engine), "x:1");
  }
}

TEST(caching, stays_within_its_bytes) {
  client_cache cache(20'000);
  auto& store = cache.backend();
  const wire::asking::freshness fresh{std::chrono::hours(1), true};
  for (int i = 0; i < 1'000; ++i) {
    store.insert({"server", "", "resources/read", std::to_string(i), "x:" + std::to_string(i)}, std::string(500, 'x'), fresh,
                 store.generation());
    ASSERT_LE(cache.bytes(), 20'000u);
  }
  EXPECT_TRUE(store.find({"server", "", "resources/read", "999", "x:999"}));
  EXPECT_FALSE(store.find({"server", "", "resources/read", "0", "x:0"}));
  store.insert({"server", "", "resources/read", "big", "x:big"}, std::string(15'000, 'x'), fresh, store.generation());
  EXPECT_FALSE(store.find({"server", "", "resources/read", "big", "x:big"}));
}

TEST(caching, does_not_keep_what_changed_while_it_was_read) {
  client_cache cache;
  auto& store = cache.backend();
  const auto before = store.generation();
  store.invalidate_resource("server", "x:a");
  store.insert({"server", "", "resources/read", "p", "x:a"}, "{}", {std::chrono::hours(1), true}, before);
  EXPECT_FALSE(store.find({"server", "", "resources/read", "p", "x:a"}));
}

TEST(entries, are_filtered_and_sorted_as_people_ask) {
  std::vector<resource> all(4);
  const char* names[] = {"d.md", "b.txt", "a.md", "c.txt"};
  for (std::size_t i = 0; i < all.size(); ++i) {
    all[i].uri = std::string("x:/") + names[i];
    all[i].name = names[i];
  }
  all[1].annotations.priority = 0.9;
  all[2].annotations.priority = 0.1;
  all[3].annotations.last_modified = std::chrono::sys_time<std::chrono::milliseconds>(std::chrono::milliseconds(5));
  const auto order = [&all](entry_order how) {
    auto sorted = all;
    sort_entries(sorted, how);
    std::string out;
    for (const auto& one : sorted) out += one.name.substr(0, 1);
    return out;
  };
  EXPECT_EQ(order(entry_order::as_listed), "dbac");
  EXPECT_EQ(order(entry_order::name), "abcd");
  EXPECT_EQ(order(entry_order::priority), "badc");
  EXPECT_EQ(order(entry_order::recency), "cdba");
  EXPECT_TRUE(matches_filter(all[0], {.uri_pattern = "x:/*.md"}));
  EXPECT_FALSE(matches_filter(all[1], {.uri_pattern = "x:/*.md"}));
  EXPECT_TRUE(matches_filter(all[1], {.min_priority = 0.5}));
  EXPECT_FALSE(matches_filter(all[0], {.min_priority = 0.5}));
  EXPECT_TRUE(matches_filter(all[0], {.text = "D.MD"}));
}

}  // namespace
}  // namespace hondana::test
