/// Skills of several sources: one order, pages that stay small, and views that hide skills and files.
#include <memory>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "unit/server/catalog/scripted_provider.hpp"

namespace {

using namespace hondana;
using namespace hondana::test;
using strings = std::vector<std::string>;

/// Has the skills it is given.
class skilled final : public scripted_provider, public skill_source {
 public:
  using scripted_provider::scripted_provider;
  std::vector<skill> all;
  std::optional<failure> fails;

  void put(const std::string& folder, std::size_t files = 1) {
    skill one;
    one.uri = folder + "/SKILL.md";
    one.frontmatter = value::object{{"name", "n"}};
    one.files.emplace();
    one.files->push_back({one.uri, "sha256:", 1});
    for (std::size_t i = 1; i < files; ++i) one.files->push_back({folder + "/x" + std::to_string(i), "sha256:", 1});
    all.push_back(std::move(one));
  }
  [[nodiscard]] result<skills_result> skills(const list_request& request) override {
    if (fails) return tl::unexpected(*fails);
    skills_result page;
    for (const auto& one : all) {
      if (!request.after_key.empty() && !std::is_lt(compare_by_segment(request.after_key, one.uri))) continue;
      if (page.skills.size() == request.limit) {
        page.next_key = page.skills.back().uri;
        break;
      }
      page.skills.push_back(one);
    }
    return page;
  }
  [[nodiscard]] result<skill> find_skill(const skill_request& request) override {
    for (const auto& one : all) {
      if (one.uri == request.uri) return one;
    }
    return fail(errc::resource_not_found, "");
  }
};

struct skill_catalog : testing::Test {
  std::shared_ptr<skilled> first = std::make_shared<skilled>("first", strings{"a://x", "a://z"});
  std::shared_ptr<skilled> second = std::make_shared<skilled>("second", strings{"a://y"});
  std::shared_ptr<scripted_provider> other = std::make_shared<scripted_provider>("other", strings{"b:///"});

  std::shared_ptr<const catalog::catalog> arranged(std::size_t page_size = 500) {
    auto made = arrange({first, second, other}, {.page_size = page_size});
    if (!made) throw std::logic_error(made.error().public_text);
    return *made;
  }
  static result<model::skill_page> list(const catalog::catalog& from, const std::optional<std::string>& cursor = {},
                                        const request_context& who = {}) {
    const answer<model::skill_page> taken;
    from.skills(who, cursor, taken.taker());
    return taken.wait();
  }
  static result<model::skill_answer> find(const catalog::catalog& from, const std::string& uri,
                                          const request_context& who = {}) {
    const answer<model::skill_answer> taken;
    from.find_skill(who, uri, uri, taken.taker());
    return taken.wait();
  }
  static strings walk(const catalog::catalog& from, const request_context& who = {}) {
    strings all;
    std::optional<std::string> cursor;
    do {
      const auto page = list(from, cursor, who);
      if (!page) return {"error: " + page.error().public_text};
      for (const auto& one : page->skills) all.push_back(one.uri);
      cursor = page->next_cursor;
    } while (cursor);
    return all;
  }
};

TEST_F(skill_catalog, merges_the_skills_of_all_sources_in_one_order) {
  first->put("a://x/1");
  first->put("a://z/1");
  second->put("a://y/1");
  second->put("a://y/2");
  const strings expected{"a://x/1/SKILL.md", "a://y/1/SKILL.md", "a://y/2/SKILL.md", "a://z/1/SKILL.md"};
  for (std::size_t size = 1; size < 6; ++size) EXPECT_EQ(walk(*arranged(size)), expected) << size;
  EXPECT_TRUE(arranged()->has_skills());
  EXPECT_FALSE((*arrange({other}))->has_skills());
}

TEST_F(skill_catalog, without_any_source_of_skills_is_an_empty_page) {
  const auto page = list(**arrange({other}));
  ASSERT_TRUE(page);
  EXPECT_TRUE(page->skills.empty());
  EXPECT_FALSE(page->next_cursor);
}

// requires: 2026-07-28/skills.entry_atomic
TEST_F(skill_catalog, never_splits_a_skill_and_ends_a_page_after_some_thousand_files) {
  for (int i = 0; i < 5; ++i) first->put("a://x/" + std::to_string(i), 3000);
  const auto from = arranged();
  const auto page = list(*from);
  ASSERT_TRUE(page && page->next_cursor);
  EXPECT_EQ(page->skills.size(), 2);
  EXPECT_EQ(page->skills.front().files->size(), 3000);
  EXPECT_EQ(walk(*from).size(), 5);
  first->all.clear();
  first->put("a://x/huge", 20'000);
  EXPECT_EQ(list(*from)->skills.size(), 1);
}

// requires: 2026-07-28/skills.entry_atomic
TEST_F(skill_catalog, ends_a_page_after_a_megabyte_of_frontmatter_as_it_is_written) {
  for (int i = 0; i < 5; ++i) {
    first->put("a://x/" + std::to_string(i));
    // 480 000 bytes of JSON each, since a control character is written as six.
    first->all.back().frontmatter = value::object{{"name", std::string(80'000, '\x01')}};
  }
  const auto from = arranged();
  const auto page = list(*from);
  ASSERT_TRUE(page && page->next_cursor);
  EXPECT_EQ(page->skills.size(), 2);
  EXPECT_EQ(walk(*from).size(), 5);
  first->all.clear();
  first->put("a://x/huge");
  first->all.back().frontmatter = value::object{{"name", std::string(2'000'000, 'x')}};
  first->put("a://x/next");
  EXPECT_EQ(list(*from)->skills.size(), 1);
  EXPECT_EQ(walk(*from).size(), 2);
}

TEST_F(skill_catalog, refuses_cursors_of_other_lists) {
  first->put("a://x/1");
  first->put("a://x/2");
  const auto from = arranged(1);
  const auto page = list(*from);
  ASSERT_TRUE(page && page->next_cursor);
  EXPECT_EQ(list(*from, "").error().code, errc::invalid_argument);
  EXPECT_EQ(list(*from, "x").error().code, errc::invalid_argument);
  const answer<model::resource_page> listed;
  from->list({}, page->next_cursor, listed.taker());
  EXPECT_EQ(listed.wait().error().code, errc::invalid_argument);
}

TEST_F(skill_catalog, hides_skills_and_files_that_a_view_hides) {
  first->put("a://x/1", 3);
  first->put("a://x/2");
  const auto from = arranged();
  const auto who = by(
      std::make_shared<hiding_view>(3, [](std::string_view uri) { return uri == "a://x/2/SKILL.md" || uri == "a://x/1/x2"; }));
  const auto page = list(*from, {}, who);
  ASSERT_EQ(page->skills.size(), 1);
  EXPECT_EQ(page->skills.front().files->size(), 2);
  EXPECT_TRUE(page->cache.is_private);
  EXPECT_FALSE(list(*from)->cache.is_private);
  EXPECT_EQ(find(*from, "a://x/2/SKILL.md", who).error().public_text,
            "Unknown skill: a://x/2/SKILL.md. Use the uri of an entry of skills/list, which ends in /SKILL.md.");
  EXPECT_EQ(find(*from, "a://x/1/SKILL.md", who)->skill.files->size(), 2);
  EXPECT_TRUE(find(*from, "a://x/1/SKILL.md", who)->cache.is_private);
}

// requires: 2026-07-28/skills.unknown_skill 2026-07-28/skills.get_unlisted
TEST_F(skill_catalog, finds_skills_and_answers_the_same_for_all_that_is_none) {
  first->put("a://x/1");
  const auto from = arranged();
  EXPECT_EQ(find(*from, "a://x/1/SKILL.md")->skill.uri, "a://x/1/SKILL.md");
  for (const std::string uri : {"a://x/1", "a://x/none/SKILL.md", "b:///1/SKILL.md", "c:///1/SKILL.md"}) {
    const auto found = find(*from, uri);
    ASSERT_FALSE(found) << uri;
    EXPECT_EQ(found.error().code, errc::invalid_argument) << uri;
  }
}

TEST_F(skill_catalog, does_not_pass_on_what_is_listed_wrongly_or_fails) {
  first->put("a://x/2");
  first->put("a://x/1");
  EXPECT_EQ(list(*arranged()).error().code, errc::internal);
  first->all.clear();
  first->put("a://y/1");
  EXPECT_EQ(list(*arranged()).error().code, errc::internal);
  first->all.clear();
  first->fails = failure{errc::source_unavailable, "gone", {}};
  EXPECT_EQ(list(*arranged()).error().public_text, "The source \"first\" failed: gone");
}

}  // namespace
