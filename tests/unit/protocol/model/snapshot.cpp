/// Snapshots: exact round trips, order, pages, and what views see.
#include <hondana/entry_snapshot.hpp>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <compare>
#include <cstdint>
#include <functional>
#include <memory>
#include <random>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include <hondana/uri.hpp>

#include "protocol/model/entry_snapshot.hpp"

namespace {

using namespace hondana;
using strings = std::vector<std::string>;

resource entry(std::string uri, std::string name = "n") {
  resource made;
  made.uri = std::move(uri);
  made.name = std::move(name);
  return made;
}

resource full_entry() {
  auto made = entry("file:///r/%E6%9C%AC", "本");
  made.title = "A \"title\"";
  made.description = std::string("NUL \0 inside", 12);
  made.mime_type = "text/markdown";
  made.size = 18'446'744'073'709'551'615u;
  made.annotations.audience = {chat_role::assistant, chat_role::user};
  made.annotations.priority = 0.1;
  made.annotations.last_modified = std::chrono::sys_time<std::chrono::milliseconds>(std::chrono::milliseconds(-1));
  made.icons = {{"https://h/i.png", "image/png", {"48x48", "any"}, "dark"}, {"data:,x", "", {}, ""}};
  made.kind = "file";
  made.version = std::string(300, 'v');
  made.metadata = {
      {"yes", true},      {"no", false}, {"count", std::int64_t{-7}}, {"share", 0.25}, {"author", std::string("x")},
      {"", std::string()}};
  return made;
}

std::vector<resource> numbered(int count) {
  std::vector<resource> made;
  for (int index = 0; index < count; ++index) {
    auto digits = std::to_string(index);
    made.push_back(entry("memo:///" + std::string(7 - digits.size(), '0') + digits));
  }
  return made;
}

strings uris_of(const list_result& page) {
  strings uris;
  for (const auto& one : page.entries) uris.push_back(one.uri);
  return uris;
}

list_request asking(std::string after, std::size_t limit, std::shared_ptr<const access_filter> through = {}) {
  list_request made;
  made.after_key = std::move(after);
  made.limit = limit;
  made.caller.access_filter = std::move(through);
  return made;
}

/// Counts the decisions it is asked for.
class counting_view : public access_filter {
 public:
  explicit counting_view(std::uint64_t id, std::function<bool(std::string_view)> shows) : id_(id), shows_(std::move(shows)) {}
  [[nodiscard]] std::uint64_t id() const noexcept override { return id_; }
  [[nodiscard]] bool may_see(std::string_view uri) const override {
    ++asked;
    return shows_(uri);
  }
  mutable std::atomic<int> asked{0};

 private:
  std::uint64_t id_;
  std::function<bool(std::string_view)> shows_;
};

bool ends_in_seven(std::string_view uri) { return uri.back() == '7'; }

TEST(packed_entry, gives_every_field_back_exactly) {
  std::string arena = "before";
  model::pack(arena, full_entry());
  const auto second = arena.size();
  model::pack(arena, entry("x:y", ""));
  arena += "after";
  EXPECT_EQ(model::unpack(std::string_view(arena).substr(6)), full_entry());
  EXPECT_EQ(model::unpack(std::string_view(arena).substr(second)), entry("x:y", ""));
  EXPECT_EQ(model::packed_uri(std::string_view(arena).substr(6)), "file:///r/%E6%9C%AC");
}

TEST(packed_entry, gives_each_field_back_alone) {
  const auto all = full_entry();
  std::vector<resource> variants(11, entry("a:b"));
  variants[0].title = all.title;
  variants[1].description = all.description;
  variants[2].mime_type = all.mime_type;
  variants[3].size = 0;
  variants[4].annotations.audience = all.annotations.audience;
  variants[5].annotations.priority = 0.0;
  variants[6].annotations.last_modified = all.annotations.last_modified;
  variants[7].icons = all.icons;
  variants[8].kind = all.kind;
  variants[9].version = all.version;
  variants[10].metadata = all.metadata;
  for (const auto& one : variants) {
    std::string arena;
    model::pack(arena, one);
    EXPECT_EQ(model::unpack(arena), one);
  }
}

TEST(packed_entry, of_a_plain_file_costs_few_bytes_beyond_its_strings) {
  auto plain = entry("file:///r/src/main.cpp", "src/main.cpp");
  plain.mime_type = "text/x-c++";
  plain.size = 12'345;
  plain.kind = "file";
  plain.annotations.priority = 0.5;
  plain.annotations.last_modified =
      std::chrono::sys_time<std::chrono::milliseconds>(std::chrono::milliseconds(1'700'000'000'000));
  std::string arena;
  model::pack(arena, plain);
  const auto strings_alone = plain.uri.size() + plain.name.size() + plain.mime_type.size() + plain.kind.size();
  EXPECT_LT(arena.size() - strings_alone, 40);
}

TEST(snapshot, orders_by_segment_and_keeps_the_last_of_equal_uris) {
  const entry_snapshot made(
      {entry("f:/a-b"), entry("f:/a/b", "old"), entry("f:/a"), entry("f:/a/b", "new"), entry("f:/a/b/c")});
  ASSERT_EQ(made.size(), 4);
  EXPECT_EQ(uris_of(made.page(asking("", 10))), (strings{"f:/a", "f:/a/b", "f:/a/b/c", "f:/a-b"}));
  EXPECT_EQ(made.at(1).name, "new");
}

TEST(snapshot, finds_entries_and_places) {
  const entry_snapshot made({entry("f:/a"), entry("f:/b"), entry("f:/b/c")});
  EXPECT_EQ(made.find("f:/b")->uri, "f:/b");
  EXPECT_FALSE(made.find("f:/bb"));
  EXPECT_FALSE(made.find(""));
  EXPECT_EQ(made.upper_bound(""), 0);
  EXPECT_EQ(made.upper_bound("f:/a"), 1);
  EXPECT_EQ(made.upper_bound("f:/a/x"), 1);
  EXPECT_EQ(made.upper_bound("g"), 3);
}

TEST(snapshot, of_nothing_has_one_empty_page) {
  const entry_snapshot made({});
  EXPECT_EQ(made.size(), 0);
  EXPECT_FALSE(made.find("a:b"));
  const auto page = made.page(asking("", 10));
  EXPECT_TRUE(page.entries.empty());
  EXPECT_FALSE(page.next_key);
}

TEST(snapshot, pages_without_gap_or_repeat) {
  const entry_snapshot made(numbered(100));
  const auto first = made.page(asking("", 60));
  ASSERT_EQ(first.entries.size(), 60);
  EXPECT_EQ(first.next_key, "memo:///0000059");
  const auto second = made.page(asking(*first.next_key, 40));
  ASSERT_EQ(second.entries.size(), 40);
  EXPECT_EQ(second.entries.front().uri, "memo:///0000060");
  EXPECT_FALSE(second.next_key);
  EXPECT_EQ(made.page(asking("memo:///0000098x", 5)).entries.size(), 1);
  EXPECT_EQ(made.page(asking("memo:///0000007", 0)).next_key, "memo:///0000007");
}

TEST(snapshot, shows_a_view_only_what_it_may_see_and_asks_once) {
  const entry_snapshot made(numbered(1000));
  const auto sevens = std::make_shared<counting_view>(1, ends_in_seven);
  const auto page = made.page(asking("", 200, sevens));
  EXPECT_EQ(page.entries.size(), 100);
  EXPECT_FALSE(page.next_key);
  EXPECT_EQ(sevens->asked, 1000);
  EXPECT_EQ(uris_of(made.page(asking("memo:///0000500", 2, sevens))), (strings{"memo:///0000507", "memo:///0000517"}));
  EXPECT_EQ(sevens->asked, 1000);
}

TEST(snapshot, scans_ten_thousand_unknown_entries_and_then_returns_a_short_page) {
  const entry_snapshot made(numbered(25'000));
  const auto last = std::make_shared<counting_view>(1, [](std::string_view uri) { return uri == "memo:///0024999"; });
  const auto first = made.page(asking("", 500, last));
  EXPECT_TRUE(first.entries.empty());
  EXPECT_EQ(first.next_key, "memo:///0009999");
  EXPECT_EQ(last->asked, 10'000);
  const auto again = made.page(asking("", 500, last));
  EXPECT_EQ(again.next_key, "memo:///0019999");
  const auto third = made.page(asking(*again.next_key, 500, last));
  EXPECT_EQ(uris_of(third), (strings{"memo:///0024999"}));
  EXPECT_FALSE(third.next_key);
  EXPECT_EQ(last->asked, 25'000);
}

TEST(snapshot, keeps_sixteen_views_and_forgets_the_one_unused_longest) {
  const entry_snapshot made(numbered(10));
  std::vector<std::shared_ptr<counting_view>> views;
  for (std::uint64_t id = 0; id < 17; ++id) views.push_back(std::make_shared<counting_view>(id, ends_in_seven));
  for (int index = 0; index < 16; ++index) (void)made.page(asking("", 10, views[static_cast<std::size_t>(index)]));
  (void)made.page(asking("", 10, views[0]));
  EXPECT_EQ(views[0]->asked, 10);
  (void)made.page(asking("", 10, views[16]));
  (void)made.page(asking("", 10, views[0]));
  EXPECT_EQ(views[0]->asked, 10);
  (void)made.page(asking("", 10, views[1]));
  EXPECT_EQ(views[1]->asked, 20);
}

TEST(snapshot, never_takes_a_new_view_for_a_dead_one_with_its_number) {
  const entry_snapshot made(numbered(10));
  auto generous = std::make_shared<counting_view>(1, [](auto) { return true; });
  EXPECT_EQ(made.page(asking("", 10, generous)).entries.size(), 10);
  generous.reset();
  const auto strict = std::make_shared<counting_view>(1, [](auto) { return false; });
  EXPECT_TRUE(made.page(asking("", 10, strict)).entries.empty());
}

TEST(snapshot, pages_add_up_to_what_the_view_sees) {
  std::mt19937 random(7);
  for (int round = 0; round < 60; ++round) {
    std::vector<resource> entries;
    for (auto count = random() % 300; count != 0; --count) {
      std::string uri = "f:/";
      for (auto size = random() % 6; size != 0; --size) uri += "ab/-"[random() % 4];
      entries.push_back(entry(uri));
    }
    const entry_snapshot made(entries);
    const auto share = random() % 4;
    const auto through = std::make_shared<counting_view>(
        1, [share](std::string_view uri) { return std::hash<std::string_view>{}(uri) % 4 <= share; });
    strings expected;
    for (const auto& one : entries) {
      if (through->may_see(one.uri)) expected.push_back(one.uri);
    }
    std::sort(expected.begin(), expected.end(),
              [](const std::string& a, const std::string& b) { return std::is_lt(compare_by_segment(a, b)); });
    expected.erase(std::unique(expected.begin(), expected.end()), expected.end());
    strings all;
    auto next = asking("", 1 + random() % 40, through);
    for (;;) {
      const auto page = made.page(next);
      for (const auto& one : page.entries) all.push_back(one.uri);
      if (!page.next_key) break;
      next.after_key = *page.next_key;
    }
    EXPECT_EQ(all, expected);
  }
}

TEST(snapshot, children_are_the_entries_one_segment_below) {
  for (unsigned seed = 0; seed < 60; ++seed) {
    std::mt19937 random(seed);
    std::vector<resource> entries;
    for (auto count = random() % 300; count != 0; --count) {
      std::string uri = "f:/";
      for (auto depth = 1 + random() % 4; depth != 0; --depth) uri += "/" + std::string(1, "ab-%~"[random() % 5]);
      entries.push_back(entry(uri));
    }
    const entry_snapshot made(entries);
    const auto through = std::make_shared<counting_view>(1, [](std::string_view uri) { return !uri.ends_with("~"); });
    for (const std::string folder : {"f:/", "f://a", "f://a/b", "f://-", "f://none"}) {
      strings expected;
      for (const auto& one : entries) {
        const auto below = folder.ends_with('/') && one.uri.starts_with(folder) ? one.uri.substr(folder.size())
                           : one.uri.starts_with(folder + '/')                  ? one.uri.substr(folder.size() + 1)
                                                                                : "/";
        if (below.find('/') == std::string::npos && through->may_see(one.uri)) expected.push_back(one.uri);
      }
      std::sort(expected.begin(), expected.end(),
                [](const std::string& a, const std::string& b) { return std::is_lt(compare_by_segment(a, b)); });
      expected.erase(std::unique(expected.begin(), expected.end()), expected.end());
      children_request next;
      next.uri = folder;
      next.limit = 1 + random() % 5;
      next.caller.access_filter = through;
      strings all;
      for (;;) {
        const auto page = made.children(next);
        EXPECT_LE(page.entries.size(), next.limit);
        for (const auto& one : page.entries) all.push_back(one.uri);
        if (!page.next_key) break;
        next.after_key = *page.next_key;
      }
      EXPECT_EQ(all, expected) << seed << ' ' << folder;
    }
  }
}

TEST(snapshot, children_cost_no_look_at_what_lies_deeper) {
  std::vector<resource> entries;
  for (const std::string folder : {"a", "b", "c"}) {
    entries.push_back(entry("f:/" + folder));
    for (int i = 0; i < 20'000; ++i) entries.push_back(entry("f:/" + folder + '/' + std::to_string(i)));
  }
  const entry_snapshot made(entries);
  const auto through = std::make_shared<counting_view>(1, [](auto) { return true; });
  children_request request;
  request.uri = "f:/";
  request.caller.access_filter = through;
  const auto page = made.children(request);
  EXPECT_EQ(page.entries.size(), 3);
  EXPECT_FALSE(page.next_key);
  EXPECT_EQ(through->asked, 3);
}

}  // namespace
