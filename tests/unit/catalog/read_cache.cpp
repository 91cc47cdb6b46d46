/// What is kept of reads, when it is sent again, and what goes first.
#include "catalog/read_cache.hpp"

#include <atomic>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include <gtest/gtest.h>

#include "json/base64.hpp"
#include "json/escape.hpp"
#include "unit/catalog/scripted_provider.hpp"
#include "unit/catalog/switched.hpp"

namespace {

using namespace hondana;
using catalog::read_answer;
using catalog::read_cache;
using test::answer;
using test::by;
using test::hiding_view;
using test::scripted_provider;

bytes::prepared_reading text_of(std::string text, std::string version = "v") {
  bytes::prepared one;
  one.uri = "memo:///a";
  one.is_text = true;
  one.data = std::make_shared<const std::string>(std::move(text));
  return {{std::move(one)}, std::move(version)};
}

read_cache::key key_of(std::string uri, std::shared_ptr<const view> through = nullptr, std::uint64_t source = 1) {
  return {source, uri, uri, std::move(through)};
}

const std::string& text_in(const bytes::prepared_reading& found) {
  return *std::get<shared_bytes>(found.contents.front().data);
}

TEST(a_read_cache, drops_what_was_used_longest_ago_and_counts_it) {
  read_cache cache(64 * 1024);
  const std::string text(6000, 'x');
  for (int i = 0; i < 8; ++i) cache.keep(key_of("memo:///" + std::to_string(i)), text_of(text));
  EXPECT_EQ(cache.counts().entries, 8);
  ASSERT_TRUE(cache.find(key_of("memo:///0")));
  for (int i = 8; i < 12; ++i) cache.keep(key_of("memo:///" + std::to_string(i)), text_of(text));
  EXPECT_TRUE(cache.find(key_of("memo:///0")));
  EXPECT_FALSE(cache.find(key_of("memo:///1")));
  const auto counts = cache.counts();
  EXPECT_LE(counts.bytes, 64 * 1024);
  EXPECT_GE(counts.bytes, counts.entries * text.size());
  EXPECT_EQ(counts.evictions + counts.entries, 12);
  cache.limit_to(8 * 1024);
  EXPECT_LE(cache.counts().bytes, 8 * 1024);
  EXPECT_TRUE(cache.find(key_of("memo:///0")));
  cache.limit_to(0);
  EXPECT_EQ(cache.counts().bytes, 0);
  EXPECT_EQ(cache.counts().entries, 0);
}

TEST(a_read_cache, drops_what_is_read_again_and_again_after_what_is_not) {
  read_cache cache(64 * 1024);
  const std::string text(6000, 'x');
  const auto put = [&](int i) { cache.keep(key_of("memo:///" + std::to_string(i)), text_of(text)); };
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
  cache.keep(key, text_of(text));
  for (int i = 1; i < 60; ++i) {
    cache.keep(key_of("memo:///" + std::to_string(i)), text_of(text));
    const auto kept = cache.find(key);
    ASSERT_TRUE(kept) << i;
    cache.vouch(key, kept, std::chrono::milliseconds(i), nullptr);
  }
}

TEST(a_read_cache, tells_what_it_keeps_now_however_often_it_was_asked) {
  read_cache cache(64 * 1024);
  const auto key = key_of("memo:///a");
  cache.keep(key, text_of("old", "1"));
  for (int i = 0; i < 3; ++i) ASSERT_EQ(text_in(*cache.find(key)), "old");
  cache.keep(key, text_of("new", "2"));
  const auto kept = cache.find(key);
  ASSERT_EQ(text_in(*kept), "new");
  cache.vouch(key, kept, std::chrono::milliseconds(7), nullptr);
  const read_cache::key_view seen{key.source, key.uri, key.asked_uri, nullptr, false};
  for (int i = 0; i < 3; ++i) EXPECT_EQ(cache.find_vouched(seen).ttl, std::chrono::milliseconds(7));
  cache.limit_to(0);
  EXPECT_FALSE(cache.find(key));
}

TEST(a_read_cache, holds_nothing_without_a_version_nothing_pulled_and_nothing_too_long) {
  read_cache cache(64 * 1024);
  cache.keep(key_of("memo:///a"), text_of("text", ""));
  auto pulled = text_of("text");
  pulled.contents.front().data = bytes::stream{};
  cache.keep(key_of("memo:///b"), pulled);
  cache.keep(key_of("memo:///c"), text_of(std::string(8 * 1024, 'x')));
  EXPECT_EQ(cache.counts().entries, 0);
  cache.keep(key_of("memo:///c"), text_of(std::string(7 * 1024, 'x')));
  EXPECT_EQ(cache.counts().entries, 1);
}

TEST(a_read_cache, has_bytes_of_its_own) {
  read_cache cache(64 * 1024);
  const auto lent = text_of("lent");
  cache.keep(key_of("memo:///a"), lent);
  EXPECT_EQ(std::get<shared_bytes>(lent.contents.front().data).use_count(), 1);
  EXPECT_EQ(text_in(*cache.find(key_of("memo:///a"))), "lent");
  cache.keep(key_of("memo:///a"), text_of("newer", "w"));
  EXPECT_EQ(text_in(*cache.find(key_of("memo:///a"))), "newer");
  EXPECT_EQ(cache.counts().entries, 1);
}

TEST(a_read_cache, keeps_and_counts_the_facts_about_contents) {
  read_cache cache(64 * 1024);
  auto marked = text_of("text");
  marked.contents.front().metadata = {{"dev.example/why", std::string(500, 'x')}};
  cache.keep(key_of("memo:///a"), text_of("text"));
  const auto plain = cache.counts().bytes;
  cache.keep(key_of("memo:///a"), marked);
  EXPECT_EQ(cache.find(key_of("memo:///a"))->contents.front().metadata, marked.contents.front().metadata);
  EXPECT_GT(cache.counts().bytes, plain + 500);
}

TEST(a_read_cache, keeps_views_sources_and_spellings_apart) {
  read_cache cache(64 * 1024);
  const auto some = std::make_shared<hiding_view>(7, [](std::string_view) { return false; });
  cache.keep(key_of("memo:///a"), text_of("everything"));
  cache.keep(key_of("memo:///a", some), text_of("some"));
  cache.keep(key_of("memo:///a", nullptr, 2), text_of("elsewhere"));
  cache.keep({1, "memo:///a", "MEMO:///a", nullptr}, text_of("loud"));
  EXPECT_EQ(text_in(*cache.find(key_of("memo:///a"))), "everything");
  EXPECT_EQ(text_in(*cache.find(key_of("memo:///a", some))), "some");
  EXPECT_EQ(text_in(*cache.find(key_of("memo:///a", nullptr, 2))), "elsewhere");
  EXPECT_EQ(text_in(*cache.find({1, "memo:///a", "MEMO:///a", nullptr})), "loud");
  EXPECT_FALSE(cache.find(key_of("memo:///a?x=1")));
}

/// More than is copied into answers.
std::string big(char first, std::size_t size = 100'000) { return first + std::string(size - 1, '"'); }

std::string escaped(const std::string& text) {
  std::string out;
  hondana::json::append_escaped(out, text);
  return out;
}

shared_bytes inside_of(const read_cache::kept& found) {
  const auto* form = found ? std::get_if<bytes::encoded>(&found->contents.front().data) : nullptr;
  return form != nullptr ? form->inside : nullptr;
}

TEST(a_read_cache, keeps_big_contents_encoded_from_the_second_reading_of_a_version_on) {
  read_cache cache(8u << 20);
  const auto here = key_of("memo:///a");
  EXPECT_EQ(cache.keep(here, text_of(big('a'))), nullptr);
  EXPECT_EQ(cache.counts().entries, 0) << "what is read once takes no room";
  EXPECT_EQ(cache.keep(here, text_of(big('b'), "w")), nullptr) << "another version";
  const auto kept = cache.keep(here, text_of(big('b'), "w"));
  ASSERT_TRUE(inside_of(kept));
  EXPECT_EQ(*inside_of(kept), escaped(big('b')));
  EXPECT_EQ(std::get<bytes::encoded>(kept->contents.front().data).size, 100'000u);
  EXPECT_EQ(cache.find(here), kept);
  EXPECT_GE(cache.counts().bytes, escaped(big('b')).size());

  auto blob = text_of(big('c'));
  blob.contents.front().is_text = false;
  const auto there = key_of("memo:///b");
  (void)cache.keep(there, blob);
  (void)cache.keep(there, blob);
  ASSERT_TRUE(inside_of(cache.find(there)));
  EXPECT_EQ(hondana::json::decode_base64(*inside_of(cache.find(there))), big('c'));
}

TEST(a_read_cache, keeps_as_it_is_what_is_too_long_only_when_it_is_encoded) {
  read_cache cache(8u * 150'000);  // 100 000 quotes are 200 000 bytes escaped
  const auto here = key_of("memo:///a");
  for (int i = 0; i < 2; ++i) (void)cache.keep(here, text_of(big('a')));
  ASSERT_TRUE(cache.find(here));
  EXPECT_EQ(text_in(*cache.find(here)), big('a'));
}

TEST(a_read_cache, keeps_bytes_for_those_who_look_at_them) {
  read_cache cache(8u << 20);
  auto here = key_of("memo:///a");
  here.as_bytes = true;
  for (int i = 0; i < 2; ++i) (void)cache.keep(here, text_of(big('a')));
  ASSERT_TRUE(cache.find(here));
  EXPECT_EQ(text_in(*cache.find(here)), big('a'));
  EXPECT_FALSE(cache.find(key_of("memo:///a"))) << "each its own";
}

TEST(a_read_cache, counts_what_it_let_go_while_somebody_is_sent_it_and_keeps_room_for_the_others) {
  constexpr std::size_t most = 2u << 20;
  read_cache cache(most);
  const auto small = [](int number) { return key_of("memo:///small/" + std::to_string(number)); };
  for (int i = 0; i < 100; ++i) (void)cache.keep(small(i), text_of("small"));
  std::vector<shared_bytes> sent;
  const auto is_kept = [&](int number) {
    for (int i = 0; i < 100; ++i) (void)cache.find(small(i));  // they are in use
    const auto here = key_of("memo:///" + std::to_string(number));
    (void)cache.keep(here, text_of(big('a')));
    const auto kept = cache.keep(here, text_of(big('a')));
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
  for (int i = 100; i < 200; ++i) EXPECT_TRUE(cache.keep(small(i), text_of("small"))) << i;
  sent.clear();
  EXPECT_TRUE(is_kept(201));
  cache.limit_to(0);
  EXPECT_EQ(cache.counts().bytes, 0);
}

/// A source with one text, that says when the caller has its version.
struct one_text {
  std::string text = "one";
  std::string version = "v1";
  bool is_racy = false;
  int readings = 0;  // with contents
  std::shared_ptr<read_cache> cache = std::make_shared<read_cache>(64 * 1024);
  std::shared_ptr<scripted_provider> source = std::make_shared<scripted_provider>("memo", std::vector<std::string>{"memo:///"});
  std::shared_ptr<const catalog::catalog> made;

  explicit one_text(catalog::limits limits = {}) {
    source->on_read = [this](const read_request& request) -> result<reading> {
      if (request.if_version == version && !is_racy) return reading{{}, version};
      ++readings;
      auto found = text_reading(text);
      found.version = version;
      found.is_racy = is_racy;
      return found;
    };
    arrange(limits);
  }
  void arrange(catalog::limits limits) {
    auto arranged = catalog::catalog::make({std::make_shared<catalog::source>(source, 100)}, limits,
                                           std::make_shared<work::timers>(), cache);
    if (arranged) made = *arranged;
  }
  [[nodiscard]] read_answer read(std::optional<std::string> if_version = {}, const call& caller = {}) const {
    const answer<read_answer> found;
    made->read(caller, "memo:///a", "memo:///a", {std::move(if_version), false}, found.taker());
    auto got = found.wait();
    return got ? std::move(*got) : read_answer{};
  }
};

TEST(cached_reads, are_sent_again_only_while_the_source_says_that_the_version_holds) {
  one_text one;
  EXPECT_EQ(text_in(one.read().reading), "one");
  EXPECT_EQ(text_in(one.read().reading), "one");
  EXPECT_EQ(one.readings, 1);
  one.text = "two";
  one.version = "v2";
  EXPECT_EQ(text_in(one.read().reading), "two");
  EXPECT_EQ(text_in(one.read().reading), "two");
  EXPECT_EQ(one.readings, 2);
  EXPECT_EQ(one.cache->counts().hits, 2);
  EXPECT_EQ(one.cache->counts().misses, 2);
}

TEST(cached_reads, leave_a_caller_its_own_version) {
  one_text one;
  EXPECT_TRUE(one.read("v1").is_unmodified);  // nothing kept
  EXPECT_FALSE(one.read("v0").is_unmodified);
  const auto again = one.read("v0");  // kept, and what the caller has is not it
  EXPECT_FALSE(again.is_unmodified);
  EXPECT_EQ(text_in(again.reading), "one");
  EXPECT_TRUE(one.read("v1").is_unmodified);
  one.text = "two";
  one.version = "v2";
  EXPECT_TRUE(one.read("v2").is_unmodified);  // what is kept is older than what the caller has
  EXPECT_EQ(text_in(one.read("v1").reading), "two");
}

TEST(cached_reads, of_what_is_big_are_lent_from_the_second_on) {
  one_text one;
  one.cache->limit_to(8u << 20);
  one.text = big('a');
  EXPECT_EQ(text_in(one.read().reading), one.text);
  const auto second = one.read().reading;
  ASSERT_TRUE(std::holds_alternative<bytes::encoded>(second.contents.front().data));
  EXPECT_EQ(*std::get<bytes::encoded>(second.contents.front().data).inside, escaped(one.text));
  EXPECT_EQ(one.readings, 2);
  const auto third = one.read().reading;
  EXPECT_EQ(std::get<bytes::encoded>(third.contents.front().data).inside,
            std::get<bytes::encoded>(second.contents.front().data).inside);
  EXPECT_EQ(one.readings, 2);
  EXPECT_TRUE(one.read("v1").is_unmodified);

  const answer<read_answer> found;
  one.made->read({}, "memo:///a", "memo:///a", {{}, false, true}, found.taker());
  EXPECT_EQ(text_in(found.wait()->reading), one.text) << "who looks at it gets bytes";

  catalog::limits low;
  low.read_limit = 99'999;
  one.arrange(low);
  EXPECT_TRUE(one.read().reading.contents.empty()) << "counted unencoded, and refused";
}

TEST(cached_reads, keep_nothing_racy) {
  one_text one;
  one.is_racy = true;
  (void)one.read();
  one.text = "won";  // under the same version
  EXPECT_EQ(text_in(one.read().reading), "won");
  EXPECT_EQ(one.cache->counts().entries, 0);
}

TEST(cached_reads, of_one_view_are_not_those_of_another) {
  one_text one;
  const auto some = std::make_shared<hiding_view>(7, [](std::string_view) { return false; });
  (void)one.read();
  (void)one.read({}, by(some));
  EXPECT_EQ(one.readings, 2);
  const auto none = std::make_shared<hiding_view>(8, [](std::string_view) { return true; });
  EXPECT_TRUE(one.read({}, by(none)).reading.contents.empty());
}

TEST(cached_reads, obey_a_lower_limit) {
  one_text one;
  one.text = std::string(100, 'x');
  EXPECT_FALSE(one.read().reading.contents.empty());
  catalog::limits low;
  low.read_limit = 99;
  one.arrange(low);
  EXPECT_TRUE(one.read().reading.contents.empty());
}

TEST(cached_reads, of_a_source_in_memory_are_not_kept_twice) {
  one_text one;
  one.source->is_inline = true;
  one.arrange({});
  (void)one.read();
  (void)one.read();
  EXPECT_EQ(one.readings, 2);
  EXPECT_EQ(one.cache->counts().entries, 0);
}

/// A source whose readings are vouched for.
struct vouched_text : one_text {
  std::shared_ptr<test::switched> valid = std::make_shared<test::switched>();

  explicit vouched_text(catalog::limits limits = {}) : one_text(limits) {
    source->on_read = [this, reads = source->on_read](const read_request& request) {
      auto found = reads(request);
      if (found) found->valid = valid;
      return found;
    };
  }
  [[nodiscard]] std::optional<catalog::held_answer> at_hand(const caller& who = {},
                                                            const std::string& asked = "memo:///a") const {
    return made->read_at_hand(who, "memo:///a", asked);
  }
};

TEST(reads_at_hand, are_those_that_something_vouches_for) {
  vouched_text one;
  EXPECT_FALSE(one.at_hand());
  EXPECT_EQ(one.valid->asked, 0);
  (void)one.read();
  const auto found = one.at_hand();
  ASSERT_TRUE(found);
  EXPECT_EQ(text_in(*found->reading), "one");
  EXPECT_EQ(found->reading->version, "v1");
  EXPECT_FALSE(found->cache.is_private);
  EXPECT_EQ(one.readings, 1);
  EXPECT_EQ(one.cache->counts().hits, 1);
  EXPECT_FALSE(one.at_hand({}, "memo:///%61"));
}

TEST(reads_at_hand, need_somebody_who_vouches_now) {
  vouched_text one;
  (void)one.read();
  one.valid->is_on = false;
  EXPECT_FALSE(one.at_hand());
  // The source confirms the version, and something else vouches from now on.
  one.valid = std::make_shared<test::switched>();
  (void)one.read();
  EXPECT_EQ(one.readings, 1);
  EXPECT_TRUE(one.at_hand());
  one.valid = nullptr;
  one.text = "two";
  one.version = "v2";
  (void)one.read();
  EXPECT_FALSE(one.at_hand());
}

TEST(reads_at_hand, of_what_is_racy_do_not_exist) {
  vouched_text one;
  one.is_racy = true;
  (void)one.read();
  EXPECT_FALSE(one.at_hand());
}

TEST(reads_at_hand, are_told_apart_by_view_and_by_what_it_shows_now) {
  vouched_text one;
  auto is_hidden = std::make_shared<bool>(false);
  caller some;
  some.view = std::make_shared<hiding_view>(7, [is_hidden](std::string_view) { return *is_hidden; });
  (void)one.read();
  EXPECT_FALSE(one.at_hand(some));
  call as_some;
  as_some.who = some;
  (void)one.read({}, as_some);
  const auto found = one.at_hand(some);
  ASSERT_TRUE(found);
  EXPECT_TRUE(found->cache.is_private);
  *is_hidden = true;
  EXPECT_FALSE(one.at_hand(some));
  EXPECT_TRUE(one.at_hand());
}

TEST(reads_at_hand, obey_a_lower_limit) {
  vouched_text one;
  one.text = std::string(100, 'x');
  (void)one.read();
  EXPECT_TRUE(one.at_hand());
  catalog::limits low;
  low.read_limit = 99;
  one.arrange(low);  // as another source, whose readings are its own
  EXPECT_FALSE(one.at_hand());
}

TEST(reads_at_hand, have_one_content_which_is_what_was_asked_for) {
  vouched_text one;
  one.source->on_read = [&one](const read_request&) -> result<reading> {
    auto found = text_reading("one");
    found.version = "v1";
    found.valid = one.valid;
    found.contents.front().uri = "memo:///other";
    return found;
  };
  (void)one.read();
  EXPECT_FALSE(one.at_hand());
  one.source->on_read = [&one](const read_request&) -> result<reading> {
    auto found = text_reading("one");
    found.contents.push_back(found.contents.front());
    found.version = "v2";
    found.valid = one.valid;
    return found;
  };
  (void)one.read();
  EXPECT_FALSE(one.at_hand());
}

}  // namespace
