/// Reads through a catalog that keeps what it read.
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include <gtest/gtest.h>

#include "server/catalog/read_cache.hpp"
#include "unit/server/catalog/kept_texts.hpp"
#include "unit/server/catalog/scripted_provider.hpp"
#include "unit/server/catalog/switched.hpp"

namespace {

using namespace hondana;
using catalog::read_answer;
using catalog::read_cache;
using test::answer;
using test::big;
using test::by;
using test::escaped;
using test::hiding_view;
using test::scripted_provider;
using test::text_in;

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
    source->on_read = [this](const read_request& request) -> result<read_result> {
      if (request.cached_version == version && !is_racy) return read_result{{}, version};
      ++readings;
      auto found = text_read_result(text);
      found.version = version;
      found.is_racy = is_racy;
      return found;
    };
    arrange(limits);
  }
  void arrange(catalog::limits limits) {
    auto arranged = catalog::catalog::make({std::make_shared<catalog::source>(source, 100)}, limits,
                                           std::make_shared<executor::timers>(), cache);
    if (arranged) made = *arranged;
  }
  [[nodiscard]] read_answer read(std::optional<std::string> if_version = {}, const request_context& caller = {}) const {
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
  EXPECT_EQ(one.cache->statistics().hits, 2);
  EXPECT_EQ(one.cache->statistics().misses, 2);
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
  one.cache->set_limit(8u << 20);
  one.text = big('a');
  EXPECT_EQ(text_in(one.read().reading), one.text);
  const auto second = one.read().reading;
  ASSERT_TRUE(std::holds_alternative<bytes::encoded_content>(second.contents.front().data));
  EXPECT_EQ(*std::get<bytes::encoded_content>(second.contents.front().data).json_text, escaped(one.text));
  EXPECT_EQ(one.readings, 2);
  const auto third = one.read().reading;
  EXPECT_EQ(std::get<bytes::encoded_content>(third.contents.front().data).json_text,
            std::get<bytes::encoded_content>(second.contents.front().data).json_text);
  EXPECT_EQ(one.readings, 2);
  EXPECT_TRUE(one.read("v1").is_unmodified);

  const answer<read_answer> found;
  one.made->read({}, "memo:///a", "memo:///a", {{}, false, true}, found.taker());
  EXPECT_EQ(text_in(found.wait()->reading), one.text) << "who looks at it gets bytes";

  catalog::limits low;
  low.max_read_bytes = 99'999;
  one.arrange(low);
  EXPECT_TRUE(one.read().reading.contents.empty()) << "counted unencoded, and refused";
}

TEST(cached_reads, keep_nothing_racy) {
  one_text one;
  one.is_racy = true;
  (void)one.read();
  one.text = "won";  // under the same version
  EXPECT_EQ(text_in(one.read().reading), "won");
  EXPECT_EQ(one.cache->statistics().entries, 0);
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
  low.max_read_bytes = 99;
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
  EXPECT_EQ(one.cache->statistics().entries, 0);
}

/// A source whose readings are vouched for.
struct vouched_text : one_text {
  std::shared_ptr<test::switched> valid = std::make_shared<test::switched>();

  explicit vouched_text(catalog::limits limits = {}) : one_text(limits) {
    source->on_read = [this, reads = source->on_read](const read_request& request) {
      auto found = reads(request);
      if (found) found->validator = valid;
      return found;
    };
  }
  [[nodiscard]] std::optional<catalog::cached_answer> at_hand(const caller_info& who = {},
                                                              const std::string& asked = "memo:///a") const {
    return made->read_cached(who, "memo:///a", asked);
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
  EXPECT_EQ(one.cache->statistics().hits, 1);
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
  caller_info some;
  some.access_filter = std::make_shared<hiding_view>(7, [is_hidden](std::string_view) { return *is_hidden; });
  (void)one.read();
  EXPECT_FALSE(one.at_hand(some));
  request_context as_some;
  as_some.caller = some;
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
  low.max_read_bytes = 99;
  one.arrange(low);  // as another source, whose readings are its own
  EXPECT_FALSE(one.at_hand());
}

TEST(reads_at_hand, have_one_content_which_is_what_was_asked_for) {
  vouched_text one;
  one.source->on_read = [&one](const read_request&) -> result<read_result> {
    auto found = text_read_result("one");
    found.version = "v1";
    found.validator = one.valid;
    found.contents.front().uri = "memo:///other";
    return found;
  };
  (void)one.read();
  EXPECT_FALSE(one.at_hand());
  one.source->on_read = [&one](const read_request&) -> result<read_result> {
    auto found = text_read_result("one");
    found.contents.push_back(found.contents.front());
    found.version = "v2";
    found.validator = one.valid;
    return found;
  };
  (void)one.read();
  EXPECT_FALSE(one.at_hand());
}

}  // namespace
