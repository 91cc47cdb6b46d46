/// What is kept of reads, when it is sent again, and what goes first.
#include "server/catalog/read_cache.hpp"

#include <atomic>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include <gtest/gtest.h>

#include "base/json/base64.hpp"
#include "base/json/escape.hpp"
#include "unit/server/catalog/kept_texts.hpp"
#include "unit/server/catalog/scripted_provider.hpp"
#include "unit/server/catalog/switched.hpp"

namespace {

using namespace hondana;
using catalog::read_cache;
using test::big;
using test::escaped;
using test::hiding_view;
using test::scripted_provider;
using test::text_in;

bytes::prepared_read_result text_of(std::string text, std::string version = "v") {
  bytes::prepared_content one;
  one.uri = "memo:///a";
  one.is_text = true;
  one.data = std::make_shared<const std::string>(std::move(text));
  return {{std::move(one)}, std::move(version)};
}

read_cache::cache_key key_of(std::string uri, std::shared_ptr<const access_filter> through = nullptr,
                             std::uint64_t source = 1) {
  return {source, uri, uri, std::move(through)};
}

TEST(a_read_cache, drops_what_was_used_longest_ago_and_counts_it) {
  read_cache cache(64 * 1024);
  const std::string text(6000, 'x');
  for (int i = 0; i < 8; ++i) cache.store(key_of("memo:///" + std::to_string(i)), text_of(text));
  EXPECT_EQ(cache.statistics().entries, 8);
  ASSERT_TRUE(cache.find(key_of("memo:///0")));
  for (int i = 8; i < 12; ++i) cache.store(key_of("memo:///" + std::to_string(i)), text_of(text));
  EXPECT_TRUE(cache.find(key_of("memo:///0")));
  EXPECT_FALSE(cache.find(key_of("memo:///1")));
  const auto counts = cache.statistics();
  EXPECT_LE(counts.bytes, 64 * 1024);
  EXPECT_GE(counts.bytes, counts.entries * text.size());
  EXPECT_EQ(counts.evictions + counts.entries, 12);
  cache.set_limit(8 * 1024);
  EXPECT_LE(cache.statistics().bytes, 8 * 1024);
  EXPECT_TRUE(cache.find(key_of("memo:///0")));
  cache.set_limit(0);
  EXPECT_EQ(cache.statistics().bytes, 0);
  EXPECT_EQ(cache.statistics().entries, 0);
}

TEST(a_read_cache, drops_what_is_read_again_and_again_after_what_is_not) {
  read_cache cache(64 * 1024);
  const std::string text(6000, 'x');
  const auto put = [&](int i) { cache.store(key_of("memo:///" + std::to_string(i)), text_of(text)); };
  put(0);
  // The second time, and those that follow, no lock is taken and the order stays.
  for (int i = 0; i < 3; ++i) ASSERT_TRUE(cache.find(key_of("memo:///0")));
  for (int i = 1; i < 60; ++i) {
    put(i);
    ASSERT_TRUE(cache.find(key_of("memo:///0"))) << i;
    ASSERT_TRUE(cache.find(key_of("memo:///0"))) << i;
  }
  EXPECT_FALSE(cache.find(key_of("memo:///1")));
  for (int i = 60; i < 90; ++i) put(i);
  EXPECT_FALSE(cache.find(key_of("memo:///0"))) << "one more turn, and no more";
}

TEST(a_read_cache, drops_what_is_vouched_for_again_and_again_after_what_is_not) {
  read_cache cache(64 * 1024);
  const std::string text(6000, 'x');
  const auto key = key_of("memo:///0");
  cache.store(key, text_of(text));
  for (int i = 1; i < 60; ++i) {
    cache.store(key_of("memo:///" + std::to_string(i)), text_of(text));
    const auto kept = cache.find(key);
    ASSERT_TRUE(kept) << i;
    cache.revalidate(key, kept, std::chrono::milliseconds(i), nullptr);
  }
}

TEST(a_read_cache, tells_what_it_keeps_now_however_often_it_was_asked) {
  read_cache cache(64 * 1024);
  const auto key = key_of("memo:///a");
  cache.store(key, text_of("old", "1"));
  for (int i = 0; i < 3; ++i) ASSERT_EQ(text_in(*cache.find(key)), "old");
  cache.store(key, text_of("new", "2"));
  const auto kept = cache.find(key);
  ASSERT_EQ(text_in(*kept), "new");
  cache.revalidate(key, kept, std::chrono::milliseconds(7), nullptr);
  const read_cache::key_view seen{key.source_id, key.uri, key.requested_uri, nullptr, false};
  for (int i = 0; i < 3; ++i) EXPECT_EQ(cache.find_validated(seen).ttl, std::chrono::milliseconds(7));
  cache.set_limit(0);
  EXPECT_FALSE(cache.find(key));
}

TEST(a_read_cache, holds_nothing_without_a_version_nothing_pulled_and_nothing_too_long) {
  read_cache cache(64 * 1024);
  cache.store(key_of("memo:///a"), text_of("text", ""));
  auto pulled = text_of("text");
  pulled.contents.front().data = bytes::verified_stream{};
  cache.store(key_of("memo:///b"), pulled);
  cache.store(key_of("memo:///c"), text_of(std::string(8 * 1024, 'x')));
  EXPECT_EQ(cache.statistics().entries, 0);
  cache.store(key_of("memo:///c"), text_of(std::string(7 * 1024, 'x')));
  EXPECT_EQ(cache.statistics().entries, 1);
}

TEST(a_read_cache, has_bytes_of_its_own) {
  read_cache cache(64 * 1024);
  const auto lent = text_of("lent");
  cache.store(key_of("memo:///a"), lent);
  EXPECT_EQ(std::get<shared_bytes>(lent.contents.front().data).use_count(), 1);
  EXPECT_EQ(text_in(*cache.find(key_of("memo:///a"))), "lent");
  cache.store(key_of("memo:///a"), text_of("newer", "w"));
  EXPECT_EQ(text_in(*cache.find(key_of("memo:///a"))), "newer");
  EXPECT_EQ(cache.statistics().entries, 1);
}

TEST(a_read_cache, keeps_and_counts_the_facts_about_contents) {
  read_cache cache(64 * 1024);
  auto marked = text_of("text");
  marked.contents.front().metadata = {{"dev.example/why", std::string(500, 'x')}};
  cache.store(key_of("memo:///a"), text_of("text"));
  const auto plain = cache.statistics().bytes;
  cache.store(key_of("memo:///a"), marked);
  EXPECT_EQ(cache.find(key_of("memo:///a"))->contents.front().metadata, marked.contents.front().metadata);
  EXPECT_GT(cache.statistics().bytes, plain + 500);
}

TEST(a_read_cache, keeps_views_sources_and_spellings_apart) {
  read_cache cache(64 * 1024);
  const auto some = std::make_shared<hiding_view>(7, [](std::string_view) { return false; });
  cache.store(key_of("memo:///a"), text_of("everything"));
  cache.store(key_of("memo:///a", some), text_of("some"));
  cache.store(key_of("memo:///a", nullptr, 2), text_of("elsewhere"));
  cache.store({1, "memo:///a", "MEMO:///a", nullptr}, text_of("loud"));
  EXPECT_EQ(text_in(*cache.find(key_of("memo:///a"))), "everything");
  EXPECT_EQ(text_in(*cache.find(key_of("memo:///a", some))), "some");
  EXPECT_EQ(text_in(*cache.find(key_of("memo:///a", nullptr, 2))), "elsewhere");
  EXPECT_EQ(text_in(*cache.find({1, "memo:///a", "MEMO:///a", nullptr})), "loud");
  EXPECT_FALSE(cache.find(key_of("memo:///a?x=1")));
}

shared_bytes inside_of(const read_cache::cached_reading& found) {
  const auto* form = found ? std::get_if<bytes::encoded_content>(&found->contents.front().data) : nullptr;
  return form != nullptr ? form->json_text : nullptr;
}

TEST(a_read_cache, keeps_big_contents_encoded_from_the_second_reading_of_a_version_on) {
  read_cache cache(8u << 20);
  const auto here = key_of("memo:///a");
  EXPECT_EQ(cache.store(here, text_of(big('a'))), nullptr);
  EXPECT_EQ(cache.statistics().entries, 0) << "what is read once takes no room";
  EXPECT_EQ(cache.store(here, text_of(big('b'), "w")), nullptr) << "another version";
  const auto kept = cache.store(here, text_of(big('b'), "w"));
  ASSERT_TRUE(inside_of(kept));
  EXPECT_EQ(*inside_of(kept), escaped(big('b')));
  EXPECT_EQ(std::get<bytes::encoded_content>(kept->contents.front().data).size, 100'000u);
  EXPECT_EQ(cache.find(here), kept);
  EXPECT_GE(cache.statistics().bytes, escaped(big('b')).size());

  auto blob = text_of(big('c'));
  blob.contents.front().is_text = false;
  const auto there = key_of("memo:///b");
  (void)cache.store(there, blob);
  (void)cache.store(there, blob);
  ASSERT_TRUE(inside_of(cache.find(there)));
  EXPECT_EQ(hondana::json::decode_base64(*inside_of(cache.find(there))), big('c'));
}

TEST(a_read_cache, keeps_as_it_is_what_is_too_long_only_when_it_is_encoded) {
  read_cache cache(8u * 150'000);  // 100 000 quotes are 200 000 bytes escaped
  const auto here = key_of("memo:///a");
  for (int i = 0; i < 2; ++i) (void)cache.store(here, text_of(big('a')));
  ASSERT_TRUE(cache.find(here));
  EXPECT_EQ(text_in(*cache.find(here)), big('a'));
}

TEST(a_read_cache, keeps_bytes_for_those_who_look_at_them) {
  read_cache cache(8u << 20);
  auto here = key_of("memo:///a");
  here.as_bytes = true;
  for (int i = 0; i < 2; ++i) (void)cache.store(here, text_of(big('a')));
  ASSERT_TRUE(cache.find(here));
  EXPECT_EQ(text_in(*cache.find(here)), big('a'));
  EXPECT_FALSE(cache.find(key_of("memo:///a"))) << "each its own";
}

TEST(a_read_cache, counts_what_it_let_go_while_somebody_is_sent_it_and_keeps_room_for_the_others) {
  constexpr std::size_t most = 2u << 20;
  read_cache cache(most);
  const auto small = [](int number) { return key_of("memo:///small/" + std::to_string(number)); };
  for (int i = 0; i < 100; ++i) (void)cache.store(small(i), text_of("small"));
  std::vector<shared_bytes> sent;
  const auto is_kept = [&](int number) {
    for (int i = 0; i < 100; ++i) (void)cache.find(small(i));  // they are in use
    const auto here = key_of("memo:///" + std::to_string(number));
    (void)cache.store(here, text_of(big('a')));
    const auto kept = cache.store(here, text_of(big('a')));
    if (kept) sent.push_back(inside_of(kept));
    return kept != nullptr;
  };
  int number = 0;
  while (number < 100 && is_kept(number)) ++number;
  EXPECT_LT(number, 100) << "slow peers would hold any amount";
  std::size_t held = 0;
  for (const auto& one : sent) held += one->size();
  EXPECT_LE(held, most + most / 2);
  EXPECT_GT(held, most / 2);
  EXPECT_FALSE(is_kept(200));
  for (int i = 0; i < 100; ++i) EXPECT_TRUE(cache.find(small(i))) << i;
  for (int i = 100; i < 200; ++i) EXPECT_TRUE(cache.store(small(i), text_of("small"))) << i;
  sent.clear();
  EXPECT_TRUE(is_kept(201));
  cache.set_limit(0);
  EXPECT_EQ(cache.statistics().bytes, 0);
}

}  // namespace
