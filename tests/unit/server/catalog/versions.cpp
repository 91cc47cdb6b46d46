/// Reads that say which version the caller has, and entries of what is read.
#include <memory>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "unit/server/catalog/scripted_provider.hpp"

namespace {

using namespace hondana;
using catalog::read_answer;
using catalog::read_options;
using test::answer;
using test::arrange;
using test::by;
using test::hiding_view;
using test::scripted_provider;

std::shared_ptr<scripted_provider> versioned(std::string version) {
  auto made = std::make_shared<scripted_provider>("memo", std::vector<std::string>{"memo:///"});
  made->is_inline = true;
  made->on_read = [version](const read_request& request) -> result<read_result> {
    if (request.uri == "memo:///gone") return fail(errc::resource_not_found, "Resource not found");
    if (request.uri == "memo:///bare") return read_result{{}, version, {}};
    auto found = text_read_result("text", "text/x-own");
    found.contents.front().title = "Read";
    found.version = version;
    return found;
  };
  made->on_list = [](const list_request& request) {
    list_result found;
    resource entry;
    entry.uri = "memo:///a";
    entry.name = "a";
    entry.version = "of the list";
    if (request.after_key < entry.uri) found.entries.push_back(entry);
    return found;
  };
  return made;
}

result<read_answer> read_with(const catalog::catalog& from, const std::string& uri, read_options how) {
  const answer<read_answer> found;
  from.read({}, uri, uri, std::move(how), found.taker());
  return found.wait();
}

TEST(a_read_with_a_version, brings_contents_only_when_the_version_is_another) {
  const auto made = arrange({versioned("v1")});
  ASSERT_TRUE(made);
  const auto same = read_with(**made, "memo:///a", {"v1", true});
  ASSERT_TRUE(same);
  EXPECT_TRUE(same->is_unmodified);
  EXPECT_EQ(same->reading.version, "v1");
  EXPECT_FALSE(same->entry);
  const auto other = read_with(**made, "memo:///a", {"v2", false});
  ASSERT_TRUE(other);
  EXPECT_FALSE(other->is_unmodified);
  EXPECT_EQ(other->reading.contents.size(), 1u);
  EXPECT_FALSE(other->entry);
}

TEST(a_read_with_a_version, may_be_answered_by_the_source_without_contents_but_only_when_it_is_current) {
  const auto made = arrange({versioned("v1")});
  ASSERT_TRUE(made);
  EXPECT_TRUE(read_with(**made, "memo:///bare", {"v1", false})->is_unmodified);
  const auto broken = read_with(**made, "memo:///bare", {"v2", false});
  ASSERT_FALSE(broken);
  EXPECT_EQ(broken.error().code, errc::internal);
}

TEST(a_read_with_a_version, never_takes_two_unknown_versions_for_one) {
  const auto made = arrange({versioned("")});
  ASSERT_TRUE(made);
  EXPECT_FALSE(read_with(**made, "memo:///a", {"", false})->is_unmodified);
}

TEST(an_entry_with_its_contents, has_the_version_that_was_read) {
  const auto made = arrange({versioned("v1")});
  ASSERT_TRUE(made);
  const auto listed = read_with(**made, "memo:///a", {{}, true});
  ASSERT_TRUE(listed && listed->entry);
  EXPECT_EQ(listed->entry->name, "a");
  EXPECT_EQ(listed->entry->title, "Read");
  EXPECT_EQ(listed->entry->version, "v1");
  const auto unlisted = read_with(**made, "memo:///b", {{}, true});
  ASSERT_TRUE(unlisted && unlisted->entry);
  EXPECT_EQ(unlisted->entry->name, "memo:///b");
  EXPECT_EQ(unlisted->entry->mime_type, "text/x-own");
}

TEST(describe, finds_what_is_listed_what_a_template_makes_and_nothing_else) {
  const auto source = versioned("v1");
  resource_template made_ones;
  made_ones.uri_template = "memo:///made/{x}";
  made_ones.name = "made";
  source->offered.push_back(made_ones);
  const auto made = arrange({source});
  ASSERT_TRUE(made);
  const auto describe = [&](const std::string& uri, const request_context& who = {}) {
    const answer<resource> found;
    (*made)->describe(who, uri, found.taker());
    return found.wait();
  };
  EXPECT_EQ(describe("memo:///a")->version, "of the list");
  EXPECT_EQ(describe("memo:///made/x")->version, "v1");
  EXPECT_EQ(describe("memo:///b").error().code, errc::resource_not_found);
  EXPECT_EQ(describe("nobody:///b").error().code, errc::resource_not_found);
  const auto hiding = by(std::make_shared<hiding_view>(1, [](std::string_view uri) { return uri == "memo:///a"; }));
  EXPECT_EQ(describe("memo:///a", hiding).error().code, errc::resource_not_found);
}

}  // namespace
