/// Sources whose templates come and go: they are asked whenever somebody wants to know.
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "unit/server/catalog/scripted_provider.hpp"

namespace hondana {
namespace {

using test::answer;

class changing_provider final : public test::scripted_provider, public dynamic_template_source {
 public:
  using scripted_provider::scripted_provider;

  [[nodiscard]] result<std::vector<resource_template>> current_templates(const request_context&) override {
    const std::lock_guard lock(mutex_);
    return now_;
  }
  void offer(std::vector<std::string> texts) {
    const std::lock_guard lock(mutex_);
    std::vector<resource_template> made;
    for (auto& text : texts) made.push_back({.uri_template = std::move(text), .name = "n"});
    now_ = std::move(made);
  }
  void fail_from_now_on() {
    const std::lock_guard lock(mutex_);
    now_ = fail(errc::source_unavailable, "gone");
  }

 private:
  std::mutex mutex_;
  result<std::vector<resource_template>> now_ = std::vector<resource_template>{};
};

class changing_templates : public testing::Test {
 protected:
  std::shared_ptr<changing_provider> far = std::make_shared<changing_provider>("far", std::vector<std::string>{"far:///"});
  std::shared_ptr<test::scripted_provider> near =
      std::make_shared<test::scripted_provider>("near", std::vector<std::string>{"near:///"});

  result<std::shared_ptr<const catalog::catalog>> arranged() {
    near->offered = {{.uri_template = "near:///{x}", .name = "n"}};
    catalog::limits limits;
    limits.page_size = 2;
    return test::arrange({far, near}, limits);
  }

  static std::vector<std::string> page(const catalog::catalog& of, std::optional<std::string>& cursor) {
    const answer<model::template_page> found;
    of.templates({}, cursor, found.taker());
    EXPECT_TRUE(found.wait()) << found.wait().error().public_text;
    std::vector<std::string> texts;
    for (const auto& one : found.wait()->templates) texts.push_back(one.uri_template);
    cursor = found.wait()->next_cursor;
    return texts;
  }

  static std::string refusal(const catalog::catalog& of, const std::string& text, const std::string& variable) {
    const answer<complete_result> found;
    of.complete({}, {text, variable, "", {}}, found.taker());
    return found.wait() ? "it was completed" : found.wait().error().public_text;
  }
};

TEST_F(changing_templates, are_listed_as_they_are_when_they_are_asked_for) {
  const auto of = arranged();
  ASSERT_TRUE(of);
  std::optional<std::string> cursor;
  EXPECT_EQ(page(**of, cursor), std::vector<std::string>{"near:///{x}"});
  far->offer({"far:///b/{x}", "far:///a/{x}", "far:///a/{x}"});
  EXPECT_EQ(page(**of, cursor), (std::vector<std::string>{"far:///a/{x}", "far:///b/{x}"}));
  ASSERT_TRUE(cursor);
  EXPECT_EQ(page(**of, cursor), std::vector<std::string>{"near:///{x}"});
  EXPECT_FALSE(cursor);
}

TEST_F(changing_templates, are_left_out_when_they_are_malformed_nameless_or_somebody_elses) {
  const auto of = arranged();
  ASSERT_TRUE(of);
  far->offer({"far:///{", "far:///{a}{b}", "near:///y/{x}", "other:///{x}", "far:///good/{x}"});
  std::optional<std::string> cursor;
  EXPECT_EQ(page(**of, cursor), (std::vector<std::string>{"far:///good/{x}", "near:///{x}"}));
}

TEST_F(changing_templates, make_completion_declared_before_there_is_any) {
  EXPECT_TRUE(test::arrange({far}).value()->has_variables());
  EXPECT_FALSE(test::arrange({near}).value()->has_variables());
}

TEST_F(changing_templates, are_completed_as_long_as_they_are_there) {
  const auto of = arranged();
  ASSERT_TRUE(of);
  far->on_complete = [](const complete_request& request) {
    complete_result found;
    found.values = {request.uri_template + '#' + request.argument};
    return found;
  };
  far->offer({"far:///a/{x}"});
  const answer<complete_result> found;
  (*of)->complete({}, {"far:///a/{x}", "x", "", {}}, found.taker());
  ASSERT_TRUE(found.wait());
  EXPECT_EQ(found.wait()->values, std::vector<std::string>{"far:///a/{x}#x"});
  EXPECT_EQ(refusal(**of, "far:///a/{x}", "y"),
            "argument.name: the template far:///a/{x} has no variable of that name. Its variables: x.");
  far->offer({});
  const auto unknown = "ref.uri: unknown template. Use a uriTemplate of resources/templates/list, unchanged.";
  EXPECT_EQ(refusal(**of, "far:///a/{x}", "x"), unknown);
  EXPECT_EQ(refusal(**of, "far:///a/{", "x"), unknown);
  EXPECT_EQ(refusal(**of, "near:///b/{x}", "x"), unknown);
}

TEST_F(changing_templates, fail_with_the_name_of_their_source) {
  const auto of = arranged();
  ASSERT_TRUE(of);
  far->fail_from_now_on();
  const answer<model::template_page> found;
  (*of)->templates({}, {}, found.taker());
  ASSERT_FALSE(found.wait());
  EXPECT_EQ(found.wait().error().public_text, "The source \"far\" failed: gone");
}

}  // namespace
}  // namespace hondana
