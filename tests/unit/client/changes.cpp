/// What waits to be told, and what becomes of too much of it.
#include "client/watch_registry.hpp"

#include <gtest/gtest.h>

namespace hondana::test {
namespace {

using outbound::event_queue;

watch_event piece(watch_event_kind kind, std::string uri = {}, std::string text = {}) {
  watch_event out;
  out.kind = kind;
  out.uri = std::move(uri);
  out.reason = std::move(text);
  return out;
}

std::vector<watch_event> taken(event_queue& from) {
  std::vector<watch_event> out;
  while (!from.empty()) out.push_back(from.pop());
  return out;
}

TEST(changes, tell_the_same_news_once_where_it_is_newest) {
  event_queue waiting;
  const watch_request what{.uris = {"x:a", "x:b"}};
  for (int i = 0; i < 1'000; ++i) {
    waiting.add(piece(watch_event_kind::resource, "x:a", std::to_string(i)), what);
    waiting.add(piece(watch_event_kind::connection_lost), what);
    waiting.add(piece(watch_event_kind::connection_restored), what);
  }
  waiting.add(piece(watch_event_kind::resource, "x:b"), what);
  const auto all = taken(waiting);
  ASSERT_EQ(all.size(), 4u);
  EXPECT_EQ(all[0].reason, "999");
  EXPECT_EQ(all[1].kind, watch_event_kind::connection_lost);
  EXPECT_EQ(all[2].kind, watch_event_kind::connection_restored);
  EXPECT_EQ(all[3].uri, "x:b");
}

TEST(changes, that_are_too_many_bytes_become_everything_may_have_been_missed) {
  event_queue waiting;
  const watch_request what{.uris = {"x:a"}, .resource_list = true, .tool_list = true, .prompt_list = true};
  waiting.add(piece(watch_event_kind::connection_lost, {}, "gone"), what);
  const std::string long_name(1u << 20, 'n');
  for (int i = 0; i < 9; ++i) waiting.add(piece(watch_event_kind::resource, "x:a/" + std::to_string(i) + long_name), what);
  std::size_t bytes = 0;
  std::vector<watch_event_kind> missed;
  bool has_loss = false;
  for (const auto& one : taken(waiting)) {
    bytes += one.uri.size();
    has_loss = has_loss || one.kind == watch_event_kind::connection_lost;
    if (one.was_missed) missed.push_back(one.kind);
  }
  EXPECT_LT(bytes, 8u << 20);
  EXPECT_TRUE(has_loss);
  EXPECT_EQ(missed, (std::vector{watch_event_kind::resource, watch_event_kind::resource_list, watch_event_kind::tool_list,
                                 watch_event_kind::prompt_list}));
}

TEST(changes, count_what_their_entries_hold) {
  event_queue waiting;
  const watch_request what{.uris = {"x:a"}};
  for (int i = 0; i < 20; ++i) {
    auto one = piece(watch_event_kind::resource, "x:a/" + std::to_string(i));
    one.entry.emplace();
    one.entry->metadata.emplace_back("note", std::string(1u << 20, 'm'));
    waiting.add(std::move(one), what);
  }
  const auto all = taken(waiting);
  EXPECT_LT(all.size(), 10u);
  EXPECT_TRUE(std::any_of(all.begin(), all.end(), [](const watch_event& one) { return one.uri == "x:a" && one.was_missed; }));
}

}  // namespace
}  // namespace hondana::test
