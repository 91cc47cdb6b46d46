/// What a provider does without being told, and the two shortest readings.
#include <memory>
#include <string>
#include <variant>

#include <gtest/gtest.h>

#include <hondana/provider.hpp>

namespace {

using namespace hondana;

class smallest_provider final : public provider {
 public:
  [[nodiscard]] std::string name() const override { return "small"; }
  [[nodiscard]] std::vector<std::string> claims() const override { return {"small:///"}; }
  [[nodiscard]] scheme_documentation documentation() const override { return {}; }
  [[nodiscard]] result<list_result> list(const list_request&) override { return list_result{}; }
  [[nodiscard]] result<read_result> read(const read_request&) override { return text_read_result("x"); }
};

TEST(provider, without_overrides_blocks_on_four_threads_and_needs_nothing) {
  const smallest_provider small;
  EXPECT_FALSE(small.traits().never_blocks);
  EXPECT_EQ(small.traits().max_concurrency, 4u);
  EXPECT_EQ(small.traits().masking, secret_masking::by_server);
  EXPECT_TRUE(small.requirements().folders.empty());
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
