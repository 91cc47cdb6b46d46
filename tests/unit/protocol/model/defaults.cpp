/// What a provider does without being told, and the two shortest readings.
#include <compare>
#include <memory>
#include <string>
#include <variant>

#include <gtest/gtest.h>

#include <hondana/provider.hpp>
#include <hondana/uri.hpp>

namespace {

using namespace hondana;

class smallest_provider : public provider {
 public:
  [[nodiscard]] std::string name() const override { return "small"; }
  [[nodiscard]] std::vector<std::string> claims() const override { return {"small:///"}; }
  [[nodiscard]] scheme_documentation documentation() const override { return {}; }
  [[nodiscard]] result<list_result> list(const list_request&) override { return list_result{}; }
  [[nodiscard]] result<read_result> read(const read_request&) override { return text_read_result("x"); }
};

TEST(provider, without_overrides_blocks_on_four_threads_and_offers_nothing) {
  smallest_provider small;
  EXPECT_FALSE(small.never_blocks());
  EXPECT_EQ(small.max_concurrency(), 4);
  EXPECT_TRUE(small.templates().empty());
  EXPECT_TRUE(small.requirements().folders.empty());
  EXPECT_TRUE(small.health().is_healthy);
  const auto values = small.complete({});
  ASSERT_FALSE(values);
  EXPECT_EQ(values.error().code, errc::unsupported);
  const auto children = small.children({});
  ASSERT_FALSE(children);
  EXPECT_EQ(children.error().code, errc::unsupported);
  EXPECT_NE(children.error().public_text.find("\"small\""), std::string::npos);
}

class listing_provider final : public smallest_provider {
 public:
  [[nodiscard]] result<list_result> list(const list_request& request) override {
    EXPECT_EQ(request.limit, 1u);
    list_result found;
    resource entry;
    entry.uri = "small:///b";
    if (std::is_lt(compare_by_segment(request.after_key, entry.uri))) found.entries.push_back(entry);
    return found;
  }
};

TEST(provider, describes_what_it_lists) {
  listing_provider listing;
  describe_request request;
  request.uri = "small:///b";
  EXPECT_EQ(listing.describe(request)->uri, "small:///b");
  for (const auto* other : {"small:///a", "small:///b/c", "small:///c"}) {
    request.uri = other;
    EXPECT_EQ(listing.describe(request).error().code, errc::resource_not_found) << other;
  }
}

TEST(text_reading, is_one_text_in_plain_text_unless_told) {
  const auto made = text_read_result("hello");
  ASSERT_EQ(made.contents.size(), 1);
  EXPECT_EQ(made.contents[0].mime_type, "text/plain");
  EXPECT_EQ(made.contents[0].kind, content_kind::text);
  EXPECT_EQ(*std::get<shared_bytes>(made.contents[0].data), "hello");
  EXPECT_EQ(made.ttl.count(), 0);
  EXPECT_EQ(text_read_result("# x", "text/markdown").contents[0].mime_type, "text/markdown");
}

TEST(blob_reading, is_one_blob_even_of_text) {
  const auto made = blob_read_result("hello");
  ASSERT_EQ(made.contents.size(), 1);
  EXPECT_EQ(made.contents[0].mime_type, "application/octet-stream");
  EXPECT_EQ(made.contents[0].kind, content_kind::blob);
  EXPECT_EQ(blob_read_result("x", "image/png").contents[0].mime_type, "image/png");
}

}  // namespace
