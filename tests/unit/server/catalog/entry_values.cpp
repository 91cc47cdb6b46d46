/// Completing templates whose source does not do so itself, from its entries.
#include <chrono>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include "unit/server/catalog/scripted_provider.hpp"

namespace {

using namespace hondana;
using test::answer;
using test::arrange;
using test::by;
using test::hiding_view;
using test::scripted_provider;
using test::shelf;
using strings = std::vector<std::string>;

class entry_values : public testing::Test {
 protected:
  entry_values() {
    memo->is_inline = true;
    memo->on_list = [this](const list_request& request) { return books.page(request); };
    memo->on_complete = [](const complete_request&) -> result<complete_result> { return fail(errc::unsupported, "ours"); };
    for (const char* text : {"memo:///{year}/{title}", "memo:///tags{?tag*}", "memo:///fixed", "memo:///deep/{+path}"}) {
      resource_template one;
      one.uri_template = text;
      one.name = "t";
      memo->offered.push_back(one);
    }
    for (const char* uri : {"memo:///2024/spring", "memo:///2025/autumn", "memo:///2025/spring", "memo:///2025/spring/not-this",
                            "memo:///deep/a/b.txt", "memo:///deep/a/c%2Fd", "memo:///2025/two%20words", "memo:///other"}) {
      books.put(uri);
    }
  }

  result<complete_result> complete(const std::string& argument, const std::string& typed,
                                   std::vector<std::pair<std::string, std::string>> context = {},
                                   const std::string& text = "memo:///{year}/{title}") {
    const auto catalog = arrange({memo});
    const answer<complete_result> found;
    (*catalog)->complete(by(through), {text, argument, typed, std::move(context), {}}, found.taker());
    return found.wait();
  }

  manual_clock clock;  // stands still: entries are looked at for a quarter of a second at most
  std::shared_ptr<scripted_provider> memo = std::make_shared<scripted_provider>("m", strings{"memo:///"});
  shelf books;
  std::shared_ptr<const access_filter> through;
};

TEST_F(entry_values, are_those_the_variable_has_in_entries_each_once) {
  const auto years = complete("year", "");
  ASSERT_TRUE(years);
  EXPECT_EQ(years->values, (strings{"2024", "2025"}));
  EXPECT_EQ(years->total, 2);
  EXPECT_FALSE(years->has_more);
  EXPECT_EQ(complete("title", "")->values, (strings{"autumn", "spring", "two words"}));
  EXPECT_EQ(complete("title", "tw")->values, strings{"two words"});
  EXPECT_EQ(complete("title", "sg")->values, strings{"spring"});
  EXPECT_EQ(complete("path", "", {}, "memo:///deep/{+path}")->values, (strings{"a/b.txt", "a/c%2Fd"}));
}

TEST_F(entry_values, are_narrowed_by_what_was_chosen_before) {
  EXPECT_EQ(complete("title", "", {{"year", "2024"}})->values, strings{"spring"});
  EXPECT_EQ(complete("title", "", {{"year", "2023"}})->values, strings{});
  EXPECT_EQ(complete("title", "", {{"year", "2023"}})->total, 0);
  EXPECT_EQ(complete("year", "", {{"title", "autumn"}, {"year", "2024"}, {"stranger", "x"}})->values, strings{"2025"});
}

TEST_F(entry_values, of_lists_are_their_elements) {
  books.put("memo:///tags?tag=red&tag=blue");
  books.put("memo:///tags?tag=green");
  EXPECT_EQ(complete("tag", "", {}, "memo:///tags{?tag*}")->values, (strings{"blue", "green", "red"}));
}

// attacks: what the caller may not list
// requires: */completion.no_disclosure
TEST_F(entry_values, are_the_same_as_if_there_were_nothing_hidden) {
  const auto before = complete("title", "s");
  for (int i = 0; i < 2000; ++i) books.put("memo:///2025/secret" + std::to_string(i));
  books.put("memo:///1999/secret-year");
  through = std::make_shared<hiding_view>(1, [](std::string_view uri) { return uri.find("secret") != std::string_view::npos; });
  const auto found = complete("title", "s");
  ASSERT_TRUE(before && found);
  EXPECT_EQ(found->values, before->values);
  EXPECT_EQ(found->total, before->total);
  EXPECT_EQ(found->has_more, before->has_more);
  EXPECT_EQ(complete("year", "")->values, (strings{"2024", "2025"}));
}

TEST_F(entry_values, of_more_entries_than_are_looked_at_have_no_total) {
  int pages = 0;
  memo->on_list = [&pages](const list_request& request) {
    list_result page;
    for (std::size_t i = 0; i < request.limit; ++i) {
      auto text = std::to_string(1'000'000 + pages * 1000 + static_cast<int>(i));
      page.entries.push_back({.uri = "memo:///2025/a" + text, .name = text});
    }
    ++pages;
    page.next_key = page.entries.back().uri;
    return page;
  };
  const auto found = complete("year", "");
  ASSERT_TRUE(found);
  EXPECT_EQ(found->values, strings{"2025"});
  EXPECT_FALSE(found->total);
  EXPECT_TRUE(found->has_more);
  EXPECT_LE(pages, 200);
}

TEST_F(entry_values, prefer_what_matters_and_what_changed_lately) {
  const auto now = std::chrono::floor<std::chrono::milliseconds>(std::chrono::system_clock::now());
  memo->on_list = [now](const list_request& request) {
    list_result page;
    const auto put = [&](const char* title, double priority, std::chrono::hours ago) {
      resource one{.uri = std::string("memo:///2025/") + title, .name = title};
      one.annotations.priority = priority;
      one.annotations.last_modified = now - ago;
      if (compare_by_segment(one.uri, request.after_key) > 0) page.entries.push_back(one);
    };
    put("a1", 0.5, std::chrono::hours(2000));
    put("a2", 0.5, std::chrono::hours(0));
    put("a3", 0.9, std::chrono::hours(2000));
    return page;
  };
  EXPECT_EQ(complete("title", "a")->values, (strings{"a3", "a2", "a1"}));
}

TEST_F(entry_values, fail_as_the_list_does) {
  memo->on_list = [](const list_request&) -> result<list_result> {
    return fail(errc::source_unavailable, "The disk is gone.");
  };
  EXPECT_EQ(complete("year", "").error().code, errc::source_unavailable);
  memo->on_list = [](const list_request& request) {  // a page that does not go forward would never end
    list_result page;
    page.next_key = request.after_key;
    return page;
  };
  EXPECT_EQ(complete("year", "").error().code, errc::internal);
}

}  // namespace
