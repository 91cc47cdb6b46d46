/// What callers are told of resources that need more scopes than they have.
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include "unit/server/catalog/scripted_provider.hpp"

namespace {

using namespace hondana;
using namespace hondana::test;

/// A folder with two files, both of which are skills as well.
class house final : public scripted_provider, public folder_source, public skill_source {
 public:
  house() : scripted_provider("house", {"memo:///"}) {
    on_list = [](const list_request&) { return list_result{entries(), {}}; };
    on_read = [](const read_request& request) -> result<read_result> {
      auto made = text_read_result("the listing");
      made.version = "1";
      for (const char* const uri : {"memo:///f/a", "memo:///f/key"}) {
        auto part = text_read_result(std::string("text of ") + uri).contents.front();
        part.uri = uri;
        made.contents.push_back(std::move(part));
      }
      if (request.uri == "memo:///keys") made.contents = {made.contents.back()};
      return made;
    };
  }
  [[nodiscard]] result<list_result> children(const children_request&) override { return list_result{entries(), {}}; }
  [[nodiscard]] result<skills_result> skills(const list_request&) override {
    skills_result page;
    for (const auto& one : entries()) page.skills.push_back(skill_at(one.uri));
    return page;
  }
  [[nodiscard]] result<skill> find_skill(const skill_request& request) override { return skill_at(request.uri); }

 private:
  static std::vector<resource> entries() {
    std::vector<resource> all;
    for (const char* const uri : {"memo:///f/a", "memo:///f/key"}) {
      all.push_back({.uri = uri, .name = "n", .title = "of brass", .description = "opens the door"});
      all.back().metadata.emplace_back("dev.hondana/lang", std::string("en"));
    }
    return all;
  }
  static skill skill_at(const std::string& uri) {
    skill one;
    one.uri = uri;
    one.frontmatter = value::object{{"description", "opens the door"}};
    return one;
  }
};

class scoped : public testing::Test {
 protected:
  scoped() {
    scope_rules rules;
    rules.rules = {{{"resources/read"}, {"memo:///f/key"}, {}, {"keys"}}};
    at = gate::gate::make(rules).value();
    made = arrange({std::make_shared<house>()}, {}, at).value();
  }
  [[nodiscard]] request_context with_scopes(std::vector<std::string> scopes) const {
    request_context one;
    one.caller.auth_info = std::make_shared<const auth_info>(auth_info{"t", std::move(scopes), {}});
    one.caller.access_filter = at->filter_of(one.caller);
    return one;
  }
  result<catalog::read_answer> read_as(const request_context& who, const std::string& uri) const {
    const answer<catalog::read_answer> found;
    made->read(who, uri, uri, {{}, true}, found.taker());
    return found.wait();
  }
  result<model::resource_page> list_as(const request_context& who, const model::resource_filter& which = {}) const {
    const answer<model::resource_page> found;
    made->list(who, {}, std::make_shared<const catalog::list_filter>(which), found.taker());
    return found.wait();
  }
  result<model::skill_page> skills_as(const request_context& who) const {
    const answer<model::skill_page> found;
    made->skills(who, {}, found.taker());
    return found.wait();
  }
  result<model::skill_answer> skill_as(const request_context& who, const std::string& uri) const {
    const answer<model::skill_answer> found;
    made->find_skill(who, uri, uri, found.taker());
    return found.wait();
  }
  result<model::template_page> templates_as(const request_context& who) const {
    const answer<model::template_page> found;
    made->templates(who, {}, found.taker());
    return found.wait();
  }

  std::shared_ptr<const gate::gate> at;
  std::shared_ptr<const catalog::catalog> made;
};

// attacks: reading a folder, which brings what a rule protects in it
TEST_F(scoped, reading_of_a_folder_leaves_out_what_may_not_be_read) {
  const auto some = read_as(with_scopes({}), "memo:///f");
  ASSERT_TRUE(some);
  ASSERT_EQ(some->reading.contents.size(), 2u);
  EXPECT_EQ(some->reading.contents.at(1).uri, "memo:///f/a");
  EXPECT_EQ(some->reading.version, "");  // that of the whole would hide the rest from who may read it later
  EXPECT_EQ(some->entry->version, "");
  for (const auto& who : {with_scopes({"keys"}), request_context()}) {
    const auto all = read_as(who, "memo:///f");
    ASSERT_TRUE(all);
    EXPECT_EQ(all->reading.contents.size(), 3u);
    EXPECT_EQ(all->reading.version, "1");
  }
}

TEST_F(scoped, reading_of_which_nothing_is_left_names_the_scopes) {
  const auto none = read_as(with_scopes({}), "memo:///keys");
  ASSERT_FALSE(none);
  EXPECT_EQ(none.error().code, errc::insufficient_scope);
  EXPECT_EQ(*none.error().scopes, std::vector<std::string>{"keys"});
  EXPECT_TRUE(read_as(with_scopes({"keys"}), "memo:///keys"));
}

TEST_F(scoped, lists_name_what_may_not_be_read_and_say_nothing_of_its_contents) {
  const answer<model::directory_page> inside;
  made->children(with_scopes({}), "memo:///f", {}, inside.taker());
  ASSERT_TRUE(inside.wait());
  for (const auto& page : {list_as(with_scopes({}))->resources, inside.wait()->resources}) {
    ASSERT_EQ(page.size(), 2u);
    EXPECT_EQ(page.at(0).title + page.at(0).description, "of brassopens the door");
    EXPECT_EQ(page.at(1).uri, "memo:///f/key");
    EXPECT_EQ(page.at(1).title + page.at(1).description, "");
    EXPECT_EQ(page.at(0).metadata.size(), 1u);
    EXPECT_TRUE(page.at(1).metadata.empty());
  }
  EXPECT_EQ(list_as(with_scopes({"keys"}))->resources.at(1).description, "opens the door");
}

// attacks: guessing a description word by word
TEST_F(scoped, filters_by_words_look_at_no_more_than_what_is_told) {
  model::resource_filter door;
  door.text = "door";
  EXPECT_EQ(list_as(with_scopes({}), door)->resources.size(), 1u);
  EXPECT_EQ(list_as(with_scopes({"keys"}), door)->resources.size(), 2u);
}

TEST_F(scoped, skills_whose_file_may_not_be_read_are_left_out_and_refused) {
  EXPECT_EQ(skills_as(with_scopes({}))->skills.size(), 1u);
  EXPECT_EQ(skills_as(with_scopes({"keys"}))->skills.size(), 2u);
  EXPECT_EQ(skill_as(with_scopes({}), "memo:///f/key").error().code, errc::insufficient_scope);
  EXPECT_TRUE(skill_as(with_scopes({"keys"}), "memo:///f/key"));
}

// attacks: a shared cache that hands on what needs scopes
TEST_F(scoped, answers_to_callers_with_a_proof_are_theirs_alone) {
  for (const bool is_proved : {true, false}) {
    const auto who = is_proved ? with_scopes({"keys"}) : request_context();
    EXPECT_EQ(read_as(who, "memo:///f")->cache.is_private, is_proved);
    EXPECT_EQ(list_as(who)->cache.is_private, is_proved);
    EXPECT_EQ(templates_as(who)->cache.is_private, is_proved);
    EXPECT_EQ(skills_as(who)->cache.is_private, is_proved);
    EXPECT_EQ(skill_as(who, "memo:///f/a")->cache.is_private, is_proved);
  }
}

}  // namespace
