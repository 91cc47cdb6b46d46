/// How the catalog finds the capabilities of a provider, and does without those that are missing.
#include <compare>
#include <memory>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include <hondana/capabilities.hpp>
#include <hondana/uri.hpp>

#include "unit/server/catalog/scripted_provider.hpp"

namespace {

using namespace hondana;
using test::answer;
using test::by;

/// Lists one entry, and has no capability.
class core_only_provider : public provider {
 public:
  [[nodiscard]] std::string name() const override { return "small"; }
  [[nodiscard]] std::vector<std::string> claims() const override { return {"small:///"}; }
  [[nodiscard]] scheme_documentation documentation() const override { return {}; }
  [[nodiscard]] result<list_result> list(const list_request& request) override {
    last_limit = request.limit;
    list_result page;
    if (std::is_lt(compare_by_segment(request.after_key, "small:///b")))
      page.entries.push_back({.uri = "small:///b", .name = "b"});
    return page;
  }
  [[nodiscard]] result<read_result> read(const read_request&) override { return text_read_result("x"); }

  std::size_t last_limit = 0;
};

std::shared_ptr<const catalog::catalog> serve_alone(const std::shared_ptr<provider>& source) {
  auto made =
      catalog::catalog::make({std::make_shared<catalog::source>(source, 100)}, {}, std::make_shared<executor::timers>());
  EXPECT_TRUE(made);
  return made ? *made : nullptr;
}

TEST(missing_capabilities, describe_finds_only_listed_entries) {
  const auto small = std::make_shared<core_only_provider>();
  const auto catalog = serve_alone(small);
  const auto described = [&](const std::string& uri) {
    const answer<resource> entry;
    catalog->describe(by(nullptr), uri, entry.taker());
    return entry.wait();
  };
  EXPECT_EQ(described("small:///b")->name, "b");
  EXPECT_EQ(small->last_limit, 1u);
  for (const auto* other : {"small:///a", "small:///b/c", "small:///c"})
    EXPECT_EQ(described(other).error().code, errc::resource_not_found) << other;
}

TEST(missing_capabilities, folders_are_unsupported_and_the_error_names_the_source) {
  const auto catalog = serve_alone(std::make_shared<core_only_provider>());
  EXPECT_FALSE(catalog->has_folders());
  const answer<model::directory_page> page;
  catalog->children(by(nullptr), "small:///b", {}, page.taker());
  const auto outcome = page.wait();
  ASSERT_FALSE(outcome);
  EXPECT_EQ(outcome.error().code, errc::unsupported);
  EXPECT_EQ(outcome.error().public_text, "The source \"small\" does not list folders. Use resources/list.");
}

TEST(missing_capabilities, lists_of_skills_and_templates_are_empty) {
  const auto catalog = serve_alone(std::make_shared<core_only_provider>());
  EXPECT_FALSE(catalog->has_skills());
  EXPECT_FALSE(catalog->has_variables());
  const answer<model::skill_page> skills;
  catalog->skills(by(nullptr), {}, skills.taker());
  EXPECT_TRUE(skills.wait()->skills.empty());
  const answer<model::skill_answer> skill;
  catalog->find_skill(by(nullptr), "small:///b", "small:///b", skill.taker());
  EXPECT_EQ(skill.wait().error().code, errc::invalid_argument);
  const answer<model::template_page> templates;
  catalog->templates(by(nullptr), {}, templates.taker());
  EXPECT_TRUE(templates.wait()->templates.empty());
}

/// Has templates, and completes none of their variables.
class template_only_provider final : public core_only_provider, public template_source {
 public:
  [[nodiscard]] std::vector<resource_template> templates() const override {
    return {{.uri_template = "small:///{name}", .name = "n"}};
  }
};

TEST(missing_capabilities, completion_uses_the_uris_of_listed_entries) {
  const auto catalog = serve_alone(std::make_shared<template_only_provider>());
  EXPECT_TRUE(catalog->has_variables());
  const answer<complete_result> values;
  catalog->complete(by(nullptr), {"small:///{name}", "name", "", {}, {}}, values.taker());
  ASSERT_TRUE(values.wait());
  EXPECT_EQ(values.wait()->values, std::vector<std::string>{"b"});
}

/// Has both kinds of templates, and watches parts.
class two_template_provider final : public core_only_provider,
                                    public template_source,
                                    public dynamic_template_source,
                                    public part_watch_source {
 public:
  [[nodiscard]] std::vector<resource_template> templates() const override {
    return {{.uri_template = "small:///static/{name}", .name = "n"}};
  }
  [[nodiscard]] result<std::vector<resource_template>> current_templates(const request_context&) override {
    return std::vector<resource_template>{{.uri_template = "small:///now/{name}", .name = "n"}};
  }
  void watch(const std::string&) override {}
  void unwatch(const std::string&) override {}
};

TEST(capabilities, of_a_core_provider_are_none) {
  core_only_provider small;
  const catalog::capabilities found(small);
  EXPECT_EQ(found.entries, nullptr);
  EXPECT_EQ(found.folders, nullptr);
  EXPECT_EQ(found.templates, nullptr);
  EXPECT_EQ(found.dynamic_templates, nullptr);
  EXPECT_EQ(found.completion, nullptr);
  EXPECT_EQ(found.skills, nullptr);
  EXPECT_EQ(found.changes, nullptr);
  EXPECT_EQ(found.watches, nullptr);
  EXPECT_FALSE(found.watches_parts);
  EXPECT_EQ(found.list_watches, nullptr);
  EXPECT_EQ(found.health, nullptr);
  EXPECT_EQ(found.webhooks, nullptr);
  EXPECT_EQ(found.extension, nullptr);
  EXPECT_FALSE(found.is_mount);
}

TEST(capabilities, dynamic_templates_replace_constant_ones) {
  two_template_provider both;
  const catalog::capabilities found(both);
  EXPECT_EQ(found.templates, nullptr);
  EXPECT_EQ(found.dynamic_templates, &both);
  EXPECT_EQ(found.watches, &both);
  EXPECT_TRUE(found.watches_parts);
}

}  // namespace
