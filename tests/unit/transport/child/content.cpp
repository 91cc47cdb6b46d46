/// What child processes send: content of any size, for whom it is, and what is nobody's.
#include "transport/child/child_channel.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <vector>

#include <hondana/value.hpp>

#include "unit/protocol/channel/open_descriptors.hpp"
#include "unit/transport/child/talk.hpp"

namespace hondana::test {
namespace {

using hondana_test::entries_of;
using hondana_test::into;
using hondana_test::peak_kilobytes;
using hondana_test::talk;

TEST(child_channel, gives_content_of_any_size_to_its_sink_in_constant_memory) {
#ifdef HONDANA_IS_SANITIZED
  constexpr std::uint64_t size = 64u << 20;
#else
  constexpr std::uint64_t size = 256u << 20;
#endif
  for (const auto* mode : {"large", "large-late"}) {
    talk with(mode, std::to_string(size));
    std::uint64_t got = 0;
    const auto before = peak_kilobytes();
    with.ask(1, [&got](std::size_t, std::string_view bytes) -> result<void> {
      got += bytes.size();
      return {};
    });
    EXPECT_TRUE(with.heard.answer_to(1)) << mode;
    EXPECT_EQ(got, size) << mode;
    EXPECT_LT(peak_kilobytes() - before, 16u << 10) << mode;
  }
}

TEST(child_channel, tells_that_content_comes_whether_its_id_came_first_or_not) {
  for (const auto* mode : {"large", "large-late"}) {
    talk with(mode, std::to_string(5u << 20));
    with.ask(1, [](std::size_t, std::string_view) { return result<void>(); });
    EXPECT_TRUE(with.heard.answer_to(1)) << mode;
    EXPECT_GE(with.heard.progress_of(1), 10u) << mode;
  }
}

TEST(child_channel, takes_no_question_of_the_server_for_an_answer) {
  talk with("asks");
  with.ask(1);
  EXPECT_TRUE(with.heard.message_with("ping"));
  EXPECT_TRUE(with.heard.answer_to(1));
  with.ask(7);
  EXPECT_TRUE(with.heard.answer_to(7));
  EXPECT_EQ(with.heard.messages(0).size(), 4u);
}

TEST(child_channel, does_not_end_a_call_for_a_question_that_is_too_long) {
  channel::limits most;
  most.max_message_bytes = 1u << 20;
  talk with("asks-at-length", {}, most);
  with.ask(1);
  EXPECT_TRUE(with.heard.answer_to(1));
  EXPECT_TRUE(with.heard.endings(0).empty());
  ASSERT_EQ(with.lines().size(), 1u);
  EXPECT_NE(with.lines().front().find("longer than the 1048576 bytes"), std::string::npos) << with.lines().front();
}

TEST(child_channel, does_not_end_a_call_for_a_long_notification) {
  talk with("notes");
  with.ask(1, [](std::size_t, std::string_view) { return result<void>(); });
  EXPECT_TRUE(with.heard.message_with("notifications/message"));
  EXPECT_TRUE(with.heard.answer_to(1));
  EXPECT_TRUE(with.heard.endings(0).empty());
}

TEST(child_channel, skips_a_line_that_is_too_long_and_goes_on) {
  channel::limits most;
  most.max_message_bytes = 1u << 20;
  for (const auto* mode : {"large", "large-late"}) {
    talk with(mode, std::to_string(64u << 20), most);
    const auto before = peak_kilobytes();
    with.ask(1);
    EXPECT_EQ(with.heard.failure_of(1).code, errc::response_too_large) << mode;
    EXPECT_LT(peak_kilobytes() - before, 16u << 10) << mode;
    with.ask(2);
    EXPECT_EQ(with.heard.failure_of(2).code, errc::response_too_large) << mode;
  }
}

TEST(child_channel, does_not_put_content_where_it_does_not_belong) {
  // Two calls under way, and the id comes last: whose content it is cannot be known before.
  talk with("large-late", std::to_string(300'000));
  std::uint64_t first = 0;
  std::uint64_t second = 0;
  const auto counting = [](std::uint64_t& into) -> channel::content_sink {
    return [&into](std::size_t, std::string_view bytes) -> result<void> {
      into += bytes.size();
      return {};
    };
  };
  with.ask(1, counting(first));
  with.ask(2, counting(second));
  EXPECT_TRUE(with.heard.answer_to(1));
  EXPECT_TRUE(with.heard.answer_to(2));
  EXPECT_EQ(first, 300'000u);
  EXPECT_EQ(second, 300'000u);
}

TEST(child_channel, streams_content_whose_id_comes_last_in_constant_memory_among_other_calls) {
#ifdef HONDANA_IS_SANITIZED
  constexpr std::uint64_t size = 80u << 20;
#else
  constexpr std::uint64_t size = 256u << 20;
#endif
  talk with("large-late", std::to_string(size));
  std::uint64_t first = 0;
  std::uint64_t second = 0;
  std::size_t most_files = 0;
  const auto counting = [&most_files](std::uint64_t& into) -> channel::content_sink {
    return [&into, &most_files](std::size_t, std::string_view bytes) -> result<void> {
      if (into == 0) most_files = std::max(most_files, entries_of("/proc/self/fd"));
      into += bytes.size();
      return {};
    };
  };
  const auto before = peak_kilobytes();
  const auto files = entries_of("/proc/self/fd");
  with.ask(1, counting(first));
  with.ask(2, counting(second));
  EXPECT_TRUE(with.heard.answer_to(1));
  EXPECT_TRUE(with.heard.answer_to(2));
  EXPECT_EQ(first, size);
  EXPECT_EQ(second, size);
  EXPECT_LT(peak_kilobytes() - before, 16u << 10);
  EXPECT_LE(most_files, files + 1);
  EXPECT_EQ(entries_of("/proc/self/fd"), files);
  // The second may be alone by then, and is told of as it comes; the first was held back.
  EXPECT_GE(with.heard.progress_of(1), 100u);
  EXPECT_GE(with.heard.progress_of(2), 100u);
}

TEST(child_channel, takes_answers_that_come_together_as_an_array) {
  talk with("grouping");
  std::string first;
  std::string second;
  with.ask(1, into(first));
  with.ask(2, into(second));
  EXPECT_TRUE(with.heard.answer_to(2));
  EXPECT_TRUE(with.heard.answer_to(1));
  EXPECT_TRUE(with.heard.message_with("notifications/message"));
  EXPECT_EQ(first, "one");
  EXPECT_EQ(second, "two");
  ASSERT_EQ(with.lines().size(), 1u);
  EXPECT_NE(with.lines().front().find("[]"), std::string::npos);
}

TEST(child_channel, tells_nothing_of_what_was_abandoned) {
  talk with("large", std::to_string(5u << 20));
  // While its answer comes.
  with.ask(1, [&with](std::size_t, std::string_view) -> result<void> {
    with.channel->abandon(1);
    return {};
  });
  with.ask(2);
  EXPECT_TRUE(with.heard.answer_to(2));
  EXPECT_EQ(with.heard.messages(0).size(), 1u);
  EXPECT_TRUE(with.heard.endings(0).empty());
}

}  // namespace
}  // namespace hondana::test
