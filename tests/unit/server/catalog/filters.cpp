/// Filters: what passes them, what a filtered page looks at, and which cursors belong to it.
#include <algorithm>
#include <atomic>
#include <compare>
#include <cstdint>
#include <memory>
#include <mutex>
#include <optional>
#include <random>
#include <set>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "unit/server/catalog/scripted_provider.hpp"

namespace {

using namespace hondana;
using catalog::list_filter;
using model::resource_filter;
using test::answer;
using test::arrange;
using test::scripted_provider;
using test::shelf;

using strings = std::vector<std::string>;

resource_filter prefixed(std::string prefix) {
  resource_filter what;
  what.uri_prefix = std::move(prefix);
  return what;
}

/// A source that notes which keys it was asked for, and what it gave out.
struct watched_shelf {
  shelf of;
  std::mutex mutex;
  strings asked;
  strings given;
  std::shared_ptr<scripted_provider> what;

  watched_shelf(std::string name, strings claims, const strings& uris) {
    for (const auto& uri : uris) of.put(uri);
    what = std::make_shared<scripted_provider>(std::move(name), std::move(claims));
    what->is_inline = true;
    what->on_list = [this](const list_request& request) {
      auto page = of.page(request);
      const std::lock_guard lock(mutex);
      asked.push_back(request.after_key);
      for (const auto& entry : page.entries) given.push_back(entry.uri);
      return page;
    };
  }
};

result<model::resource_page> filtered_page(const catalog::catalog& from, const resource_filter& which,
                                           const std::optional<std::string>& cursor = {}, std::size_t limit = 10'000) {
  const answer<model::resource_page> found;
  from.list({}, cursor, std::make_shared<const list_filter>(which), limit, found.taker());
  return found.wait();
}

strings filtered_walk(const catalog::catalog& from, const resource_filter& which, std::size_t limit = 10'000) {
  strings all;
  std::optional<std::string> cursor;
  for (int count = 1; count < 10'000; ++count) {
    const auto one = filtered_page(from, which, cursor, limit);
    if (!one) {
      ADD_FAILURE() << one.error().public_text << one.error().private_text;
      return all;
    }
    for (const auto& entry : one->resources) all.push_back(entry.uri);
    EXPECT_LE(one->resources.size(), limit);
    if (!one->next_cursor) return all;
    cursor = one->next_cursor;
  }
  ADD_FAILURE() << "the pages do not end";
  return all;
}

bool passes(const resource_filter& which, const resource& entry) {
  std::uint64_t steps = 0;
  return list_filter(which).matches(entry, steps);
}

TEST(filter, that_is_open_lets_everything_pass_and_shares_the_cursors_of_the_whole_list) {
  EXPECT_TRUE(list_filter().accepts_all());
  EXPECT_TRUE(list_filter(resource_filter{}).accepts_all());
  EXPECT_EQ(list_filter(resource_filter{}).digest(), "");
  EXPECT_TRUE(passes({}, {}));
}

TEST(filter, of_names_reaches_over_slashes) {
  resource entry;
  entry.uri = "file:///r/src/main.cpp";
  entry.name = "src/main.cpp";
  const auto passes = [&entry](std::string pattern) {
    resource_filter what;
    what.name_pattern = std::move(pattern);
    std::uint64_t steps = 0;
    return list_filter(what).matches(entry, steps);
  };
  for (const auto* pattern : {"src/main.cpp", "*.cpp", "src/*", "*main*", "src?main.cpp", "**/*.cpp"}) {
    EXPECT_TRUE(passes(pattern)) << pattern;
  }
  for (const auto* pattern : {"main.cpp", "*.hpp", "src", "src/?", "*/*/*"}) EXPECT_FALSE(passes(pattern)) << pattern;
}

TEST(filter, has_a_digest_of_its_own) {
  std::vector<resource_filter> all(12);
  all[0].uri_prefix = "a";
  all[1].uri_pattern = "a";
  all[2].name_pattern = "a";
  all[3].mime_type = "a";
  all[4].kind = "a";
  all[5].text = "a";
  all[6].audience = chat_role::user;
  all[7].audience = chat_role::assistant;
  all[8].min_priority = 0.5;
  all[9].min_priority = 0.50000000001;
  all[10].modified_since.emplace(std::chrono::milliseconds(1));
  all[11].modified_since.emplace(std::chrono::milliseconds(2));
  std::set<std::string> digests;
  for (const auto& one : all) {
    EXPECT_EQ(list_filter(one).digest(), list_filter(one).digest());
    EXPECT_FALSE(list_filter(one).accepts_all());
    digests.insert(list_filter(one).digest());
  }
  EXPECT_EQ(digests.size(), all.size());
}

TEST(filter, takes_the_longer_of_the_prefix_and_the_beginning_of_the_pattern) {
  resource_filter what = prefixed("file:///a");
  what.uri_pattern = "file:///a/b/*.md";
  EXPECT_EQ(list_filter(what).prefix(), "file:///a/b/");
  what.uri_prefix = "file:///a/b/c";
  EXPECT_EQ(list_filter(what).prefix(), "file:///a/b/c");
  EXPECT_FALSE(list_filter(what).is_unsatisfiable());
  what.uri_prefix = "file:///x";
  EXPECT_TRUE(list_filter(what).is_unsatisfiable());
}

TEST(filter, takes_a_prefix_in_all_its_spellings) {
  const auto lets = [](const std::string& prefix, const std::string& uri) {
    resource entry;
    entry.uri = uri;
    return passes(prefixed(prefix), entry);
  };
  const std::string plain = "gdrive://my-drive/Plan%20(old)/x";
  const std::string escaped = "gdrive://my-drive/Plan%20%28old%29/x";
  for (const auto* prefix :
       {"gdrive://my-drive/Plan%20(old)/", "gdrive://my-drive/Plan%20%28old%29/", "GDRIVE://my-drive/Plan%20(old%29/"}) {
    EXPECT_TRUE(lets(prefix, plain)) << prefix;
    EXPECT_TRUE(lets(prefix, escaped)) << prefix;
    EXPECT_FALSE(lets(prefix, "gdrive://my-drive/Plan%20/x")) << prefix;
    EXPECT_EQ(list_filter(prefixed(prefix)).prefix(), "gdrive://my-drive/Plan%20") << prefix;
  }
  EXPECT_TRUE(lets("docs://m/%E3%81%8B%E3%82%99", "docs://m/%E3%81%8C.md")) << "as a Mac writes it";
  EXPECT_FALSE(lets("docs://m/a%2Fb", "docs://m/a/b"));
  // Of the spellings those count that the pattern allows.
  auto what = prefixed("docs://m/a(b");
  what.uri_pattern = "docs://m/a%28*/**";
  EXPECT_EQ(list_filter(what).prefix(), "docs://m/a%28b");
  EXPECT_FALSE(list_filter(what).is_unsatisfiable());
  what.uri_pattern = "docs://m/b/*";
  EXPECT_TRUE(list_filter(what).is_unsatisfiable());
}

TEST(filter, is_not_passed_by_what_an_entry_does_not_state) {
  resource bare;
  bare.uri = "memo:///a";
  bare.name = "a";
  resource_filter what;
  what.kind = "note";
  EXPECT_FALSE(passes(what, bare));
  what = {};
  what.mime_type = "text/";
  EXPECT_FALSE(passes(what, bare));
  what = {};
  what.audience = chat_role::user;
  EXPECT_FALSE(passes(what, bare));
  what = {};
  what.min_priority = 0;
  EXPECT_FALSE(passes(what, bare));
  what = {};
  what.modified_since.emplace();
  EXPECT_FALSE(passes(what, bare));
}

TEST(filter, compares_types_without_parameters_and_in_either_case) {
  resource entry;
  entry.mime_type = "Text/Markdown ; charset=utf-8";
  resource_filter what;
  for (const auto* good : {"text/markdown", "text/"}) {
    what.mime_type = good;
    EXPECT_TRUE(passes(what, entry)) << good;
  }
  for (const auto* bad : {"text/mark", "text/markdown2", "image/", "tex/"}) {
    what.mime_type = bad;
    EXPECT_FALSE(passes(what, entry)) << bad;
  }
}

TEST(filter, finds_words_anywhere_but_never_across_two_members) {
  resource entry;
  entry.uri = "memo:///Deep/water";
  entry.name = "still";
  entry.title = "Waters run";
  resource_filter what;
  what.text = " DEEP\twaters ";
  EXPECT_TRUE(passes(what, entry));
  what.text = "still deep run water";
  EXPECT_TRUE(passes(what, entry));
  what.text = "stillwaters";
  EXPECT_FALSE(passes(what, entry));
  what.text = "still shallow";
  EXPECT_FALSE(passes(what, entry));
}

TEST(filter, finds_in_uris_what_they_spell_with_escapes_composed_or_not) {
  resource entry;
  // "設計 ガイド.md", with a letter that is not composed.
  entry.uri = "file:///r/%E8%A8%AD%E8%A8%88%20%E3%82%AB%E3%82%99%E3%82%A4%E3%83%89.md";
  const auto words = [&entry](std::string text) {
    resource_filter what;
    what.text = std::move(text);
    return passes(what, entry);
  };
  const auto fits = [&entry](std::string pattern) {
    resource_filter what;
    what.uri_pattern = std::move(pattern);
    return passes(what, entry);
  };
  const std::string composed = "\xE3\x82\xAC";
  const std::string apart = "\xE3\x82\xAB\xE3\x82\x99";
  for (const auto& good : {std::string("設計"), "計 " + composed, "設 " + apart, std::string("%e8%a8%AD"), std::string("MD")})
    EXPECT_TRUE(words(good)) << good;
  for (const auto* bad : {"設備", "計\xE3\x82\xAB", "\xE3\x82\xAB"}) EXPECT_FALSE(words(bad)) << bad;
  for (const auto& good : {std::string("**/設計*"), "**/設計 " + composed + "*.md", "file:///r/設計 " + apart + "イド.md",
                           std::string("**/%E8%A8%AD*"), std::string("file:///?/設*")})
    EXPECT_TRUE(fits(good)) << good;
  for (const auto* bad : {"**/設備*", "設計*", "file:///r/%E8%A8%88*", "**/設計"}) EXPECT_FALSE(fits(bad)) << bad;
  entry.name = "Cafe\xCC\x81 A";
  EXPECT_TRUE(words("caf\xC3\xA9"));
  resource_filter named;
  named.name_pattern = "Caf\xC3\xA9 ?";
  EXPECT_TRUE(passes(named, entry));
  entry.uri = "docs://s/a%2Fb%281%29";
  EXPECT_TRUE(fits("docs://s/*(1)")) << "which some lists spell with escapes";
  EXPECT_FALSE(fits("docs://s/a/b(1)")) << "a slash within a name is none between names";
  EXPECT_TRUE(fits("docs://s/a%2Fb*"));
}

TEST(filter, compares_letters_that_nfc_makes_longer) {
  const std::string one = "\xE0\xA5\x9C", two = "\xE0\xA4\xA1\xE0\xA4\xBC";  // NFC takes the first apart
  for (const auto& typed : {one, two}) {
    for (const auto& written : {one, two}) {
      resource entry;
      entry.uri = "memo:///a";
      entry.name = "Cafe\xCC\x81 e\xCC\x81t\xCC\xA3 " + written;
      resource_filter what;
      what.text = typed + " caf\xC3\xA9";
      EXPECT_TRUE(passes(what, entry)) << typed << ' ' << written;
      what = {};
      what.name_pattern = "*" + typed;
      EXPECT_TRUE(passes(what, entry)) << typed << ' ' << written;
    }
  }
}

TEST(filter, takes_for_prefix_only_what_is_spelled_alike_with_and_without_escapes) {
  const auto prefix = [](std::string pattern) {
    resource_filter what;
    what.uri_pattern = std::move(pattern);
    return list_filter(what).prefix();
  };
  EXPECT_EQ(prefix("file:///r/棚/*"), "file:///r/");
  EXPECT_EQ(prefix("file:///r/a b*"), "file:///r/a");
  EXPECT_EQ(prefix("docs://s/a(1)/*"), "docs://s/a");
  EXPECT_EQ(prefix("file:///r/%E6%A3%9A/*"), "file:///r/%E6%A3%9A/");
  EXPECT_EQ(prefix("**/棚"), "");
}

TEST(filter, costs_no_more_than_it_says_however_it_is_made) {
  resource entry;
  entry.uri = "memo:///" + std::string(16 * 1024 - 8, 'a');
  entry.name = entry.uri;
  resource_filter what;
  for (int i = 0; i < 85; ++i) what.name_pattern += "*a?";
  what.uri_pattern = "**" + std::string(126, '?') + std::string(126, '*') + "b";
  what.text = std::string(240, 'a') + "b";
  std::uint64_t steps = 0;
  EXPECT_FALSE(list_filter(what).matches(entry, steps));
  EXPECT_LT(steps, 3ull * 3 * 257 * (16 * 1024 + 1));
  entry.uri = "memo:///";
  while (entry.uri.size() < 16 * 1024 - 9) entry.uri += "%E3%81%82";
  steps = 0;
  EXPECT_FALSE(list_filter(what).matches(entry, steps));
  EXPECT_LT(steps, 3ull * 3 * 257 * (16 * 1024 + 1));
}

// Time stands still in these tests: a page looks at entries for a quarter of a second at most.

TEST(a_filtered_list, looks_at_nothing_outside_of_its_prefix) {
  const manual_clock clock;
  strings uris;
  for (char c = 'a'; c <= 'z'; ++c) {
    for (int i = 0; i < 20; ++i) uris.push_back(std::string("file:///r/") + c + "/" + std::to_string(i));
  }
  watched_shelf files("files", {"file:///r"}, uris);
  watched_shelf other("other", {"other:///"}, {"other:///x"});
  const auto made = arrange({files.what, other.what}, {.page_size = 10});
  ASSERT_TRUE(made);
  EXPECT_EQ(filtered_walk(**made, prefixed("file:///r/m/")).size(), 20u);
  EXPECT_TRUE(other.asked.empty());
  for (const auto& uri : files.given) EXPECT_TRUE(uri.starts_with("file:///r/m/") || uri.starts_with("file:///r/n/")) << uri;
  EXPECT_LE(files.given.size(), 40u);
  EXPECT_EQ(filtered_walk(**made, prefixed("other:")), strings{"other:///x"});
  EXPECT_EQ(filtered_walk(**made, prefixed("nowhere:")), strings{});
}

TEST(a_filtered_list, has_what_is_typed_in_letters_that_uris_spell_with_escapes) {
  const manual_clock clock;
  watched_shelf files("files", {"file:///r"}, {"file:///r/%E6%A3%9A/a", "file:///r/a", "file:///r/z/%E6%A3%9A"});
  const auto made = arrange({files.what}, {.page_size = 2});
  ASSERT_TRUE(made);
  resource_filter what;
  what.uri_pattern = "file:///r/棚/*";
  EXPECT_EQ(filtered_walk(**made, what), strings{"file:///r/%E6%A3%9A/a"});
  what.uri_pattern = "**/棚";
  EXPECT_EQ(filtered_walk(**made, what), strings{"file:///r/z/%E6%A3%9A"});
  what = {};
  what.text = "棚";
  EXPECT_EQ(filtered_walk(**made, what), (strings{"file:///r/%E6%A3%9A/a", "file:///r/z/%E6%A3%9A"}));
}

TEST(a_filtered_list, is_what_passes_of_the_whole_list_in_its_order_whatever_the_prefix) {
  const manual_clock clock;
  std::mt19937 random(20261121);
  const std::string letters = "/-.0a/";
  const auto word = [&](std::size_t longest) {
    std::string made;
    for (auto left = random() % (longest + 1); left > 0; --left) made += letters[random() % letters.size()];
    return made;
  };
  for (int round = 0; round < 300; ++round) {
    strings left;
    strings right;
    for (int i = 0; i < 40; ++i) {
      left.push_back("a:///x/" + word(5));
      right.push_back("a:///y/" + word(5));
    }
    watched_shelf one("one", {"a:///x/"}, left);
    watched_shelf two("two", {"a:///y/"}, right);
    const auto made = arrange({two.what, one.what}, {.page_size = 1 + random() % 7});
    ASSERT_TRUE(made);
    auto which = prefixed(("a:///x/" + word(4)).substr(0, 4 + random() % 6));
    if (round % 3 == 0) which.uri_pattern = "a:///**" + word(2) + "*";
    strings expected;
    for (const auto& uri : filtered_walk(**made, {})) {
      resource entry;
      entry.uri = uri;
      if (passes(which, entry)) expected.push_back(uri);
    }
    const auto limit = 1 + random() % 7;
    EXPECT_EQ(filtered_walk(**made, which), expected) << which.uri_prefix << " " << which.uri_pattern;
    EXPECT_EQ(filtered_walk(**made, which, limit), expected) << which.uri_prefix << " " << which.uri_pattern << " " << limit;
  }
}

TEST(a_filtered_list, looks_at_a_bounded_number_of_entries_a_page) {
  const manual_clock clock;
  auto endless = std::make_shared<scripted_provider>("endless", strings{"n:///"});
  endless->is_inline = true;
  const auto given = std::make_shared<std::atomic<std::size_t>>(0);
  endless->on_list = [given](const list_request& request) {
    const auto first =
        request.after_key.starts_with("n:///1") ? std::stoull(request.after_key.substr(5)) + 1 : 1'000'000'000ull;
    list_result found;
    for (std::size_t i = 0; i < request.limit; ++i) {
      resource entry;
      entry.uri = "n:///" + std::to_string(first + i);
      entry.name = "n";
      found.entries.push_back(std::move(entry));
    }
    *given += request.limit;
    found.next_key = found.entries.back().uri;
    return found;
  };
  const auto made = arrange({endless});
  ASSERT_TRUE(made);
  resource_filter rare;
  rare.kind = "none of these";
  const auto first = filtered_page(**made, rare);
  ASSERT_TRUE(first);
  EXPECT_TRUE(first->resources.empty());
  ASSERT_TRUE(first->next_cursor);
  EXPECT_LE(*given, 10'000u);
  const auto second = filtered_page(**made, rare, first->next_cursor);
  ASSERT_TRUE(second);
  EXPECT_NE(second->next_cursor, first->next_cursor);
}

TEST(a_filtered_list, asks_for_whole_pages_where_few_are_wanted) {
  const manual_clock clock;
  strings uris;
  for (int i = 100; i < 200; ++i) uris.push_back("memo:///" + std::to_string(i));
  watched_shelf memo("memo", {"memo:///"}, uris);
  const auto made = arrange({memo.what}, {.page_size = 100});
  ASSERT_TRUE(made);
  resource_filter last;
  last.uri_pattern = "memo:///*99";
  const auto found = filtered_page(**made, last, {}, 1);
  ASSERT_TRUE(found);
  EXPECT_EQ(found->resources.size(), 1u);
  EXPECT_EQ(memo.asked.size(), 1u);
}

TEST(a_filtered_list, takes_no_cursor_of_another_filter) {
  const manual_clock clock;
  watched_shelf memo("memo", {"memo:///"}, {"memo:///a", "memo:///b", "memo:///c"});
  const auto made = arrange({memo.what}, {.page_size = 1});
  ASSERT_TRUE(made);
  const auto first = filtered_page(**made, prefixed("memo:///"));
  ASSERT_TRUE(first && first->next_cursor);
  EXPECT_TRUE(filtered_page(**made, prefixed("memo:///"), first->next_cursor));
  for (const auto& other : {resource_filter{}, prefixed("memo:"), prefixed("memo:///a")}) {
    const auto refused = filtered_page(**made, other, first->next_cursor);
    ASSERT_FALSE(refused);
    EXPECT_EQ(refused.error().code, errc::invalid_argument);
    EXPECT_TRUE(refused.error().public_text.starts_with("cursor:")) << refused.error().public_text;
  }
}

}  // namespace
