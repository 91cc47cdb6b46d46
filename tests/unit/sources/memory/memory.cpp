/// The in-memory provider: what it takes, lists, reads and completes.
#include <hondana/memory_provider.hpp>

#include <algorithm>
#include <cstdint>
#include <functional>
#include <memory>
#include <stop_token>
#include <string>
#include <string_view>
#include <thread>
#include <variant>
#include <vector>

#include <gtest/gtest.h>

#include "support/must.hpp"

namespace {

using namespace hondana;
using strings = std::vector<std::string>;

resource entry(std::string uri, std::string name = "n") {
  resource made;
  made.uri = std::move(uri);
  made.name = std::move(name);
  return made;
}

class predicate_view : public access_filter {
 public:
  explicit predicate_view(std::function<bool(std::string_view)> shows) : shows_(std::move(shows)) {}
  [[nodiscard]] std::uint64_t id() const noexcept override { return 1; }
  [[nodiscard]] bool may_see(std::string_view uri) const override { return shows_(uri); }

 private:
  std::function<bool(std::string_view)> shows_;
};

read_request reading_of(std::string uri) {
  read_request made;
  made.uri = uri;
  made.requested_uri = std::move(uri);
  return made;
}

strings walk(memory_provider& from, list_request next) {
  strings all;
  for (;;) {
    const auto page = from.list(next);
    EXPECT_LE(page->entries.size(), next.limit);
    for (const auto& one : page->entries) all.push_back(one.uri);
    if (!page->next_key) return all;
    next.after_key = *page->next_key;
  }
}

struct memory : testing::Test {
  memory_provider memo{"memo", "memo:///"};
};

TEST_F(memory, lists_in_segment_order_in_pages) {
  for (const auto* uri : {"memo:///b", "memo:///a-b", "memo:///a", "memo:///a/b"}) ASSERT_TRUE(memo.add(entry(uri), "x"));
  for (std::size_t limit = 1; limit < 6; ++limit) {
    list_request request;
    request.limit = limit;
    EXPECT_EQ(walk(memo, request), (strings{"memo:///a", "memo:///a/b", "memo:///a-b", "memo:///b"}));
  }
  list_request all;
  all.limit = 4;
  EXPECT_FALSE(memo.list(all)->next_key);
}

TEST_F(memory, takes_and_replaces_and_removes_entries_by_canonical_uri) {
  ASSERT_TRUE(memo.add(entry("MEMO:///本"), "old"));
  ASSERT_TRUE(memo.add(entry("memo:///%e6%9c%ac"), "newer"));
  const auto page = memo.list({});
  ASSERT_EQ(page->entries.size(), 1);
  EXPECT_EQ(page->entries[0].uri, "memo:///%E6%9C%AC");
  EXPECT_EQ(page->entries[0].size, 5);
  EXPECT_TRUE(memo.remove("memo:///本"));
  EXPECT_FALSE(memo.remove("memo:///本"));
  EXPECT_FALSE(memo.remove("no uri"));
  EXPECT_TRUE(memo.list({})->entries.empty());
}

TEST_F(memory, refuses_entries_outside_of_its_prefix_or_without_a_name) {
  for (const auto* uri : {"note:///a", "memo://host/a", "", "no uri"}) {
    const auto added = memo.add(entry(uri), "x");
    ASSERT_FALSE(added) << uri;
    EXPECT_EQ(added.error().code, errc::invalid_argument);
  }
  EXPECT_EQ(memo.add(entry("memo:///a", ""), "x").error().code, errc::invalid_argument);
  EXPECT_EQ(memo.add(entry("memo:///a"), memory_provider::read_handler{}).error().code, errc::invalid_argument);
  EXPECT_TRUE(memo.list({})->entries.empty());
}

TEST_F(memory, reads_fixed_bytes_and_calls_makers) {
  auto fixed = entry("memo:///fixed");
  fixed.mime_type = "text/markdown";
  fixed.version = "3";
  ASSERT_TRUE(memo.add(fixed, "# x"));
  ASSERT_TRUE(memo.add(entry("memo:///made"),
                       [](const read_request& request) { return text_read_result("made " + request.requested_uri); }));
  const auto found = memo.read(reading_of("memo:///fixed"));
  ASSERT_TRUE(found);
  EXPECT_EQ(found->version, "3");
  EXPECT_EQ(found->contents[0].mime_type, "text/markdown");
  EXPECT_EQ(found->contents[0].kind, content_kind::detect);
  EXPECT_EQ(*std::get<shared_bytes>(found->contents[0].data), "# x");
  EXPECT_EQ(*std::get<shared_bytes>(memo.read(reading_of("memo:///made"))->contents[0].data), "made memo:///made");
  EXPECT_EQ(memo.read(reading_of("memo:///none")).error().code, errc::resource_not_found);
}

TEST_F(memory, reads_and_completes_through_a_template) {
  resource_template offered;
  offered.uri_template = "memo:///by/{id}";
  offered.name = "By id";
  ASSERT_TRUE(memo.add_template(
      offered,
      [](const read_request& request) { return text_read_result(std::get<std::string>(request.match->variables.at("id"))); },
      [](const complete_request& request) { return complete_result{{request.value + "1", request.value + "2"}, {}, false}; }));
  EXPECT_EQ(memo.templates(), std::vector{offered});
  auto request = reading_of("memo:///by/7");
  EXPECT_FALSE(memo.read(request));
  request.match = template_match{"memo:///by/{id}", {{"id", std::string("7")}}};
  EXPECT_EQ(*std::get<shared_bytes>(memo.read(request)->contents[0].data), "7");
  complete_request ask;
  ask.uri_template = "memo:///by/{id}";
  ask.argument = "id";
  ask.value = "x";
  EXPECT_EQ(memo.complete(ask)->values, (strings{"x1", "x2"}));
  ask.uri_template = "memo:///other/{id}";
  EXPECT_EQ(memo.complete(ask).error().code, errc::unsupported);  // then the catalog takes values from the entries
}

TEST_F(memory, refuses_a_template_that_does_not_compile) {
  resource_template offered;
  offered.uri_template = "memo:///{";
  offered.name = "Broken";
  EXPECT_EQ(memo.add_template(offered, [](const read_request&) { return text_read_result(""); }).error().code,
            errc::invalid_argument);
  EXPECT_TRUE(memo.templates().empty());
}

TEST_F(memory, shows_a_view_its_part_and_stops_short_after_ten_thousand_looks) {
  for (int index = 0; index < 12'000; ++index) ASSERT_TRUE(memo.add(entry("memo:///" + std::to_string(100'000 + index)), "x"));
  list_request request;
  request.caller.access_filter = std::make_shared<predicate_view>([](std::string_view uri) { return uri >= "memo:///111998"; });
  const auto first = memo.list(request);
  EXPECT_TRUE(first->entries.empty());
  EXPECT_EQ(first->next_key, "memo:///109999");
  EXPECT_EQ(walk(memo, request), (strings{"memo:///111998", "memo:///111999"}));
}

TEST_F(memory, may_change_while_it_is_listed_and_read) {
  ASSERT_TRUE(memo.add(entry("memo:///stays"), "x"));
  std::jthread changing([this](const std::stop_token& stop) {
    for (int index = 0; !stop.stop_requested(); index = (index + 1) % 50) {
      const auto uri = "memo:///" + std::to_string(index);
      if (!memo.remove(uri)) must(memo.add(entry(uri), "y"));
    }
  });
  for (int round = 0; round < 200; ++round) {
    list_request request;
    request.limit = 3;
    const auto all = walk(memo, request);
    ASSERT_EQ(std::count(all.begin(), all.end(), "memo:///stays"), 1);
    ASSERT_TRUE(memo.read(reading_of("memo:///stays")));
  }
}

TEST_F(memory, says_of_a_page_whether_anything_has_changed_since) {
  const auto page = [this] { return memo.list({}).value(); };
  ASSERT_TRUE(memo.add(entry("memo:///a"), "x").has_value());
  auto before = page();
  ASSERT_NE(before.validator, nullptr);
  EXPECT_TRUE(before.validator->is_valid());
  ASSERT_TRUE(memo.add(entry("memo:///a", "other"), "x").has_value());
  EXPECT_FALSE(before.validator->is_valid());
  before = page();
  EXPECT_FALSE(memo.remove("memo:///none"));
  EXPECT_TRUE(before.validator->is_valid());
  EXPECT_TRUE(memo.remove("memo:///a"));
  EXPECT_FALSE(before.validator->is_valid());
  EXPECT_TRUE(page().validator->is_valid());
}

TEST_F(memory, documents_its_scheme) {
  auto one = entry("memo:///a");
  one.kind = "note";
  ASSERT_TRUE(memo.add(one, "x"));
  const auto document = memo.documentation();
  EXPECT_EQ(document.scheme, "memo");
  EXPECT_FALSE(document.summary.empty());
  ASSERT_EQ(document.kinds.size(), 1);
  EXPECT_EQ(document.kinds[0].name, "note");
  EXPECT_FALSE(document.forms.empty());
  EXPECT_EQ(memo.claims(), (strings{"memo:///"}));
  EXPECT_EQ(memo.name(), "memo");
}

TEST_F(memory, lists_the_direct_children_of_entries_that_are_folders) {
  auto folder = entry("memo:///f");
  folder.mime_type = "inode/directory";
  ASSERT_TRUE(memo.add(folder, std::string()));
  for (const auto* uri : {"memo:///f/b", "memo:///f/a", "memo:///f/a/deep", "memo:///f/c/deep", "memo:///f-x", "memo:///g"}) {
    ASSERT_TRUE(memo.add(entry(uri), std::string("x")));
  }
  children_request request;
  request.uri = "memo:///f";
  request.limit = 1;
  strings all;
  for (;;) {
    const auto page = memo.children(request);
    ASSERT_TRUE(page);
    EXPECT_LE(page->entries.size(), 1);
    for (const auto& one : page->entries) all.push_back(one.uri);
    if (!page->next_key) break;
    request.after_key = *page->next_key;
  }
  EXPECT_EQ(all, (strings{"memo:///f/a", "memo:///f/b"}));
  request.after_key.clear();
  request.caller.access_filter = std::make_shared<predicate_view>([](std::string_view uri) { return uri != "memo:///f/a"; });
  request.limit = 10;
  EXPECT_EQ(memo.children(request)->entries.front().uri, "memo:///f/b");
  request.uri = "memo:///g";
  EXPECT_EQ(memo.children(request).error().code, errc::invalid_argument);
  request.uri = "memo:///none";
  EXPECT_EQ(memo.children(request).error().code, errc::resource_not_found);
}

TEST_F(memory, describes_its_entries_and_reads_with_their_versions) {
  auto one = entry("memo:///a");
  one.version = "v1";
  ASSERT_TRUE(memo.add(one, [](const read_request&) -> result<read_result> { return text_read_result("made"); }));
  ASSERT_TRUE(memo.add(entry("memo:///b"), "x"));
  EXPECT_EQ(memo.read(reading_of("memo:///a"))->version, "v1");
  EXPECT_EQ(memo.read(reading_of("memo:///b"))->version, "");
  describe_request request;
  request.uri = "memo:///a";
  EXPECT_EQ(memo.describe(request)->version, "v1");
  request.uri = "memo:///c";
  EXPECT_EQ(memo.describe(request).error().code, errc::resource_not_found);
}

}  // namespace
