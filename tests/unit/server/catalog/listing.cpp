/// Pages over several sources: order, cursors, and sources that do not keep their word.
#include <algorithm>
#include <atomic>
#include <compare>
#include <functional>
#include <iterator>
#include <memory>
#include <optional>
#include <random>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include "unit/server/catalog/scripted_provider.hpp"
#include "unit/server/catalog/switched.hpp"

namespace {

using namespace hondana;
using test::answer;
using test::arrange;
using test::scripted_provider;
using test::shelf;

using strings = std::vector<std::string>;

struct shelved {
  std::shared_ptr<shelf> of = std::make_shared<shelf>();
  std::shared_ptr<std::atomic<int>> asked = std::make_shared<std::atomic<int>>(0);
  std::shared_ptr<scripted_provider> what;

  shelved(std::string name, strings claims, const strings& uris = {}, bool is_inline = false) {
    what = std::make_shared<scripted_provider>(std::move(name), std::move(claims));
    what->is_inline = is_inline;
    what->on_list = [of = of, asked = asked](const list_request& request) {
      ++*asked;
      return of->page(request);
    };
    for (const auto& uri : uris) of->put(uri);
  }
};

result<model::resource_page> page(const catalog::catalog& from, const std::optional<std::string>& cursor,
                                  const request_context& by = {}) {
  const answer<model::resource_page> found;
  from.list(by, cursor, found.taker());
  return found.wait();
}

strings uris_of(const model::resource_page& page) {
  strings uris;
  for (const auto& entry : page.resources) uris.push_back(entry.uri);
  return uris;
}

/// All pages; `between` is called after each.
strings walk(const catalog::catalog& from, std::size_t page_size, const request_context& by = {},
             const std::function<void()>& between = {}) {
  strings all;
  std::optional<std::string> cursor;
  for (int pages = 0; pages < 100'000; ++pages) {
    const auto one = page(from, cursor, by);
    if (!one) {
      ADD_FAILURE() << one.error().public_text << " / " << one.error().private_text;
      return all;
    }
    EXPECT_LE(one->resources.size(), page_size);
    for (const auto& entry : one->resources) all.push_back(entry.uri);
    if (!one->next_cursor) return all;
    cursor = one->next_cursor;
    if (between) between();
  }
  ADD_FAILURE() << "the pages do not end";
  return all;
}

TEST(list, pages_several_sources_in_segment_order) {
  const shelved notes("notes", {"memo:///n"}, {"memo:///n/b", "memo:///n", "memo:///n/a"});
  const shelved files("files", {"file:///r", "file:///s"}, {"file:///s/1", "file:///r/x", "file:///r/x/y", "file:///r/x-y"});
  const shelved others("others", {"file:///rr"}, {"file:///rr/1"}, true);
  const auto catalog = arrange({notes.what, files.what, others.what}, {.page_size = 3});
  ASSERT_TRUE(catalog);
  const auto first = page(**catalog, {});
  ASSERT_TRUE(first);
  EXPECT_EQ(uris_of(*first), (strings{"file:///r/x", "file:///r/x/y", "file:///r/x-y"}));
  const auto second = page(**catalog, first->next_cursor);
  ASSERT_TRUE(second);
  EXPECT_EQ(uris_of(*second), (strings{"file:///rr/1", "file:///s/1", "memo:///n"}));
  const auto third = page(**catalog, second->next_cursor);
  ASSERT_TRUE(third);
  EXPECT_EQ(uris_of(*third), (strings{"memo:///n/a", "memo:///n/b"}));
  EXPECT_FALSE(third->next_cursor);
  EXPECT_EQ(third->cache.ttl, std::chrono::milliseconds(0));
}

TEST(list, has_no_more_than_its_caller_wants_and_goes_on_with_another_limit) {
  const shelved first("first", {"file:///a"}, {"file:///a/1", "file:///a/2", "file:///a/3"});
  const shelved second("second", {"file:///b"}, {"file:///b/1", "file:///b/2", "file:///b/3"});
  std::vector<std::size_t> wanted;
  first.what->on_list = [&wanted, of = first.of](const list_request& request) {
    wanted.push_back(request.limit);
    return of->page(request);
  };
  const auto catalog = arrange({first.what, second.what}, {.page_size = 4});
  ASSERT_TRUE(catalog);
  const auto page_of = [&](std::size_t limit, const std::optional<std::string>& cursor) {
    const answer<model::resource_page> found;
    (*catalog)->list({}, cursor, std::make_shared<const catalog::list_filter>(), limit, found.taker());
    return found.wait();
  };
  const auto one = page_of(2, {});
  EXPECT_EQ(uris_of(*one), (strings{"file:///a/1", "file:///a/2"}));
  EXPECT_EQ(wanted, (std::vector<std::size_t>{2}));
  const auto two = page_of(3, one->next_cursor);
  EXPECT_EQ(uris_of(*two), (strings{"file:///a/3", "file:///b/1", "file:///b/2"}));
  EXPECT_EQ(uris_of(*page(**catalog, two->next_cursor)), strings{"file:///b/3"});
  EXPECT_EQ(page_of(5, {})->resources.size(), 4u);
  EXPECT_EQ(page_of(0, {})->resources.size(), 1u);
}

TEST(list, asks_only_the_sources_a_page_needs) {
  const shelved first("first", {"file:///a"}, {"file:///a/1", "file:///a/2", "file:///a/3"});
  const shelved second("second", {"file:///b"}, {"file:///b/1", "file:///b/2", "file:///b/3"});
  const auto catalog = arrange({second.what, first.what}, {.page_size = 2});
  ASSERT_TRUE(catalog);
  const auto one = page(**catalog, {});
  EXPECT_EQ(*first.asked, 1);
  EXPECT_EQ(*second.asked, 0);
  const auto two = page(**catalog, one->next_cursor);
  EXPECT_EQ(uris_of(*two), (strings{"file:///a/3", "file:///b/1"}));
  EXPECT_EQ(*second.asked, 1);
  const auto three = page(**catalog, two->next_cursor);
  EXPECT_EQ(uris_of(*three), (strings{"file:///b/2", "file:///b/3"}));
  EXPECT_EQ(*first.asked, 2);
}

TEST(list, keeps_the_order_where_claims_and_queries_interleave) {
  const shelved one("one", {"file:///a"}, {"file:///a", "file:///a/1", "file:///a?q", "file:///a#f"});
  const shelved two("two", {"file:///a-b"}, {"file:///a-b", "file:///a-b/1"});
  for (std::size_t size = 1; size <= 7; ++size) {
    const auto catalog = arrange({one.what, two.what}, {.page_size = size});
    ASSERT_TRUE(catalog);
    EXPECT_EQ(walk(**catalog, size),
              (strings{"file:///a", "file:///a/1", "file:///a#f", "file:///a-b", "file:///a-b/1", "file:///a?q"}));
  }
}

TEST(list, takes_nothing_after_a_source_that_stopped_short) {
  // A lazy walk that has seen a/1, found nothing up to a/5, and does not know what comes next.
  shelved lazy("lazy", {"file:///a", "file:///c"});
  lazy.what->on_list = [](const list_request& request) -> result<list_result> {
    resource entry;
    entry.name = "x";
    if (request.after_key.empty()) {
      entry.uri = "file:///a/1";
      return list_result{{entry}, "file:///a/5"};
    }
    if (request.after_key == "file:///a/5") return list_result{{}, "file:///c/4"};
    entry.uri = "file:///c/9";
    return list_result{{entry}, {}};
  };
  const shelved steady("steady", {"file:///b"}, {"file:///b/1", "file:///b/2"});
  const auto catalog = arrange({lazy.what, steady.what}, {.page_size = 10});
  ASSERT_TRUE(catalog);
  const auto first = page(**catalog, {});
  ASSERT_TRUE(first);
  EXPECT_EQ(uris_of(*first), (strings{"file:///a/1"}));
  ASSERT_TRUE(first->next_cursor);
  const auto second = page(**catalog, first->next_cursor);
  EXPECT_EQ(uris_of(*second), (strings{"file:///b/1", "file:///b/2"}));
  ASSERT_TRUE(second->next_cursor);
  const auto third = page(**catalog, second->next_cursor);
  EXPECT_EQ(uris_of(*third), (strings{"file:///c/9"}));
  EXPECT_FALSE(third->next_cursor);
}

TEST(list, hides_what_a_view_hides_even_where_the_source_forgot) {
  const shelved one("one", {"file:///a"}, {"file:///a/1", "file:///a/2", "file:///a/3", "file:///a/4"});
  const shelved two("two", {"file:///b"}, {"file:///b/1", "file:///b/2"}, true);
  const auto catalog = arrange({one.what, two.what}, {.page_size = 2});
  ASSERT_TRUE(catalog);
  const auto odd = std::make_shared<test::hiding_view>(3, [](std::string_view uri) { return (uri.back() - '0') % 2 == 0; });
  EXPECT_EQ(walk(**catalog, 2, test::by(odd)), (strings{"file:///a/1", "file:///a/3", "file:///b/1"}));
  const auto first = page(**catalog, {}, test::by(odd));
  EXPECT_TRUE(first->cache.is_private);
  const auto foreign = page(**catalog, first->next_cursor);
  ASSERT_FALSE(foreign);
  EXPECT_EQ(foreign.error().code, errc::invalid_argument);
}

TEST(list, refuses_foreign_cursors) {
  const shelved one("one", {"file:///a"}, {"file:///a/1", "file:///a/2"});
  const auto catalog = arrange({one.what}, {.page_size = 1});
  for (const auto& cursor : {std::string(), std::string("x"), std::string("AQ"), std::string(100'000, 'A')}) {
    const auto found = page(**catalog, cursor);
    ASSERT_FALSE(found);
    EXPECT_EQ(found.error().code, errc::invalid_argument);
    EXPECT_TRUE(found.error().public_text.starts_with("cursor:"));
  }
  EXPECT_EQ(*one.asked, 0);
}

TEST(list, fails_and_names_the_source_that_does_not_keep_its_word) {
  const auto entry = [](std::string uri) {
    resource made;
    made.uri = std::move(uri);
    made.name = "x";
    return made;
  };
  const std::vector<list_result> wrong = {
      {{entry("file:///a/2"), entry("file:///a/1")}, {}},                        // out of order
      {{entry("file:///a/1"), entry("file:///a/1")}, {}},                        // twice
      {{entry("file:///ab/1")}, {}},                                             // outside of the claims
      {{entry("file:///b/1")}, {}},                                              // another source's
      {{entry("")}, {}},                                                         // nothing
      {{entry("file:///a/1")}, "file:///a/0"},                                   // resumes before what it gave
      {{}, ""},                                                                  // does not go forward
      {{entry("file:///a/1"), entry("file:///a/2"), entry("file:///a/3")}, {}},  // too many
      {{entry("file:///a/" + std::string(20'000, 'x'))}, {}},                    // too long
  };
  for (const auto& answer_given : wrong) {
    shelved liar("liar", {"file:///a"});
    liar.what->on_list = [&answer_given](const list_request&) -> result<list_result> { return answer_given; };
    const shelved honest("honest", {"file:///b"}, {"file:///b/1"});
    const auto catalog = arrange({liar.what, honest.what}, {.page_size = 2});
    const auto found = page(**catalog, {});
    ASSERT_FALSE(found);
    EXPECT_EQ(found.error().code, errc::internal);
    EXPECT_EQ(found.error().public_text, "The source \"liar\" returned an invalid list; the reason is in the server's log.");
    EXPECT_FALSE(found.error().private_text.empty());
  }
}

TEST(list, fails_with_the_failure_of_a_source_it_needs) {
  shelved down("down", {"file:///b"});
  down.what->on_list = [](const list_request&) -> result<list_result> { return fail(errc::source_unavailable, "No answer."); };
  const shelved up("up", {"file:///a"}, {"file:///a/1", "file:///a/2"});
  const shelved also("also", {"file:///c"}, {"file:///c/1"});
  const auto catalog = arrange({up.what, down.what, also.what}, {.page_size = 2});
  const auto first = page(**catalog, {});
  ASSERT_TRUE(first);
  const auto second = page(**catalog, first->next_cursor);
  ASSERT_FALSE(second);
  EXPECT_EQ(second.error().public_text, "The source \"down\" failed: No answer.");
}

TEST(templates, are_paged_by_their_text) {
  auto memo = std::make_shared<scripted_provider>("memo", strings{"memo:///"});
  for (const auto* text : {"memo:///c/{x}", "memo:///a/{x}", "memo:///b/{x}"}) {
    resource_template entry;
    entry.uri_template = text;
    entry.name = "n";
    memo->offered.push_back(entry);
  }
  const auto catalog = arrange({memo}, {.page_size = 2});
  ASSERT_TRUE(catalog);
  const answer<model::template_page> first;
  (*catalog)->templates({}, {}, first.taker());
  ASSERT_TRUE(first.wait());
  ASSERT_EQ(first.wait()->templates.size(), 2);
  EXPECT_EQ(first.wait()->templates[0].uri_template, "memo:///a/{x}");
  ASSERT_TRUE(first.wait()->next_cursor);
  const answer<model::template_page> second;
  (*catalog)->templates({}, first.wait()->next_cursor, second.taker());
  ASSERT_EQ(second.wait()->templates.size(), 1);
  EXPECT_EQ(second.wait()->templates[0].uri_template, "memo:///c/{x}");
  EXPECT_FALSE(second.wait()->next_cursor);
  const auto foreign = page(**catalog, first.wait()->next_cursor);
  EXPECT_FALSE(foreign);
  const answer<model::template_page> empty;
  (*catalog)->templates({}, "", empty.taker());
  EXPECT_TRUE(empty.wait().error().public_text.starts_with("cursor:"));
}

/// Sources over random claims that do not overlap, and random entries below them.
struct random_library {
  std::mt19937 random;
  std::vector<shelved> sources;
  strings expected;

  explicit random_library(unsigned seed) : random(seed) {
    const strings some = {"file:///a", "file:///a-b", "file:///a.b", "file:///b/", "file:///b-/x", "memo:///", "https://h/p"};
    const auto count = 1 + random() % 4;
    std::vector<strings> shares(count);
    for (std::size_t index = 0; index < some.size(); ++index)
      shares[index < count ? index : random() % count].push_back(some[index]);
    for (std::size_t index = 0; index < count; ++index) {
      sources.emplace_back("source " + std::to_string(index), shares[index], strings{}, random() % 3 == 0);
      const auto entries = random() % 40;
      for (std::size_t entry = 0; entry < entries; ++entry) {
        const auto uri = random_uri(index);
        sources[index].of->put(uri);
        expected.push_back(uri);
      }
      make_short(sources[index]);
    }
    std::sort(expected.begin(), expected.end(),
              [](const std::string& a, const std::string& b) { return std::is_lt(compare_by_segment(a, b)); });
    expected.erase(std::unique(expected.begin(), expected.end()), expected.end());
  }

  std::string random_uri(std::size_t source, const std::string& mark = {}) {
    const auto claims_here = sources[source].what->claims();
    auto uri = claims_here[random() % claims_here.size()];
    if (!mark.empty() || random() % 8 != 0) {
      if (uri.back() != '/') uri += "/?#"[random() % 8 < 6 ? 0 : 1 + random() % 2];
      for (auto size = random() % 5; size != 0; --size) uri += "ab/-.~"[random() % 6];
      uri += mark;
    }
    return uri;
  }

  /// Every few pages stop before they are full.
  void make_short(const shelved& one) {
    one.what->on_list = [of = one.of, seed = random()](const list_request& request) -> result<list_result> {
      auto page = of->page(request);
      const auto dice = std::hash<std::string>{}(request.after_key) + seed;
      if (dice % 3 == 0 && page.entries.size() > 1) {
        const auto kept = 1 + dice / 3 % (page.entries.size() - 1);
        page.entries.resize(kept);
        // As a walk that has also looked at what is no entry: the least key after the last one.
        page.next_key = page.entries.back().uri;
        if (dice % 2 == 0) *page.next_key += '/';
        list_request rest;
        rest.after_key = page.entries.back().uri;
        const auto next = of->page(rest);
        if (!next.entries.empty() && next.entries[0].uri == *page.next_key) page.next_key->pop_back();
      }
      return page;
    };
  }
};

TEST(list, gives_every_entry_once_and_in_order_whatever_the_page_size) {
  for (unsigned seed = 0; seed < 120; ++seed) {
    random_library library(seed);
    std::vector<std::shared_ptr<scripted_provider>> providers;
    for (const auto& one : library.sources) providers.push_back(one.what);
    const std::size_t size = 1 + library.random() % 12;
    const auto catalog = arrange(providers, {.page_size = size});
    ASSERT_TRUE(catalog) << catalog.error().public_text;
    const auto all = walk(**catalog, size);
    const auto in_order = [](const std::string& a, const std::string& b) { return std::is_lt(compare_by_segment(a, b)); };
    EXPECT_TRUE(std::is_sorted(all.begin(), all.end(), in_order)) << seed;
    EXPECT_EQ(std::adjacent_find(all.begin(), all.end()), all.end()) << seed;
    EXPECT_EQ(all, library.expected) << seed;
  }
}

TEST(list, neither_loses_nor_repeats_what_stays_while_other_entries_come_and_go) {
  for (unsigned seed = 1000; seed < 1060; ++seed) {
    random_library library(seed);
    std::vector<std::shared_ptr<scripted_provider>> providers;
    for (const auto& one : library.sources) providers.push_back(one.what);
    const std::size_t size = 1 + library.random() % 7;
    const auto catalog = arrange(providers, {.page_size = size});
    ASSERT_TRUE(catalog) << catalog.error().public_text;
    std::vector<std::pair<std::size_t, std::string>> passing;
    int changes = 0;
    const auto change = [&] {
      if (++changes > 300) return;
      for (int step = 0; step < 4; ++step) {
        if (!passing.empty() && library.random() % 2 == 0) {
          const auto place = library.random() % passing.size();
          library.sources[passing[place].first].of->take(passing[place].second);
          passing.erase(passing.begin() + static_cast<std::ptrdiff_t>(place));
        } else {
          const auto source = library.random() % library.sources.size();
          passing.emplace_back(source, library.random_uri(source, "passing"));
          library.sources[source].of->put(passing.back().second);
        }
      }
    };
    const auto all = walk(**catalog, size, {}, change);
    EXPECT_EQ(std::adjacent_find(all.begin(), all.end()), all.end()) << seed;
    strings stayed;
    std::copy_if(all.begin(), all.end(), std::back_inserter(stayed),
                 [](const std::string& uri) { return uri.find("passing") == std::string::npos; });
    EXPECT_EQ(stayed, library.expected) << seed;
  }
}

TEST(list, holds_while_that_of_every_source_holds_that_was_asked_for_it) {
  const shelved first("first", {"memo:///a/"}, {"memo:///a/1", "memo:///a/2", "memo:///a/3"});
  const shelved second("second", {"memo:///b/"}, {"memo:///b/1"});
  const auto of_first = std::make_shared<test::switched>();
  const auto of_second = std::make_shared<test::switched>();
  const auto give = [](const shelved& to, const std::shared_ptr<const cache_validator>& what) {
    to.what->on_list = [of = to.of, what](const list_request& request) {
      auto found = of->page(request);
      found.validator = what;
      return found;
    };
  };
  give(first, of_first);
  give(second, of_second);
  const auto catalog = arrange({first.what, second.what}, {.page_size = 2});
  ASSERT_TRUE(catalog);
  const auto alone = page(**catalog, std::nullopt);
  const auto joint = page(**catalog, alone->next_cursor);
  EXPECT_EQ(uris_of(*joint), (strings{"memo:///a/3", "memo:///b/1"}));
  ASSERT_NE(alone->validator, nullptr);
  ASSERT_NE(joint->validator, nullptr);
  EXPECT_TRUE(joint->validator->is_valid());
  of_second->is_on = false;
  EXPECT_TRUE(alone->validator->is_valid()) << "the second was not asked for it";
  EXPECT_FALSE(joint->validator->is_valid());
  give(second, nullptr);
  EXPECT_EQ(page(**catalog, alone->next_cursor)->validator, nullptr);
  // What a filter leaves depends on how much there was time for.
  const answer<model::resource_page> found;
  (*catalog)->list({}, std::nullopt,
                   std::make_shared<const catalog::list_filter>(model::resource_filter{.uri_prefix = "memo:///a/"}),
                   found.taker());
  EXPECT_EQ(found.wait()->validator, nullptr);
}

TEST(templates, hold_unless_some_come_and_go) {
  const auto offers = std::make_shared<scripted_provider>("offers", strings{"memo:///"});
  resource_template one;
  one.uri_template = "memo:///{name}";
  one.name = "one";
  offers->offered = {one};
  const auto catalog = arrange({offers});
  ASSERT_TRUE(catalog);
  const answer<model::template_page> found;
  (*catalog)->templates({}, std::nullopt, found.taker());
  ASSERT_NE(found.wait()->validator, nullptr);
  EXPECT_TRUE(found.wait()->validator->is_valid());
}

}  // namespace
