/// What rules about entries hide, however a mounted server writes the URIs.
#include <compare>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include "unit/server/catalog/scripted_provider.hpp"

namespace {

using namespace hondana;
using namespace hondana::test;

/// Lists a key as it likes to write it, and counts how often it is asked for single entries.
class key_holder final : public scripted_provider, public entry_source {
 public:
  key_holder() : scripted_provider("std", {"mcp://std/"}) {
    on_list = [](const list_request& request) {
      auto page = list_result{{entry()}, {}};
      if (!request.after_key.empty() && !std::is_lt(compare_by_segment(request.after_key, page.entries[0].uri)))
        page.entries.clear();
      return page;
    };
  }
  [[nodiscard]] result<resource> describe(const describe_request& request) override {
    asked.push_back(request.uri);
    if (request.uri != entry().uri) return fail(errc::resource_not_found, "Resource not found");
    return entry();
  }
  static resource entry() {
    return {.uri = "mcp://std/FILE:///srv/keys/a",
            .name = "n",
            .title = "of brass",
            .description = "opens the door",
            .annotations = {.audience = {chat_role::user}, .priority = 0.5},
            .version = "digest of what is in it"};
  }

  std::vector<std::string> asked;
};

/// That server, with rules.
struct ruled_catalog {
  explicit ruled_catalog(std::vector<access_rule> rules) {
    access_rules all;
    all.rules = std::move(rules);
    const auto by_rules = gate::gate::make({}, all).value();
    as.caller = {"bob", {}, nullptr};
    as.caller.access_filter = by_rules->filter_of(as.caller);
    made = arrange({holder}, {}, by_rules).value();
  }
  [[nodiscard]] std::vector<resource> listed() const {
    const answer<model::resource_page> found;
    made->list(as, {}, found.taker());
    return found.wait()->resources;
  }
  [[nodiscard]] bool reads(const std::string& uri) const {
    const answer<catalog::read_answer> found;
    made->read(as, uri, uri, found.taker());
    return found.wait().has_value();
  }

  std::shared_ptr<key_holder> holder = std::make_shared<key_holder>();
  request_context as;
  std::shared_ptr<const catalog::catalog> made;
};

// attacks: traversal (a rule got round by another spelling)
TEST(rules_about_entries, hide_what_a_mounted_server_lists_in_another_spelling) {
  const ruled_catalog at(
      {{.level = access_level::read}, {.uris = {"mcp://std/file:///srv/keys"}, .audience = chat_role::user}});
  EXPECT_TRUE(at.listed().empty());
  EXPECT_FALSE(at.reads("mcp://std/FILE:///srv/keys/a"));
  EXPECT_FALSE(at.reads("mcp://std/FILE:///srv/keys/a?lines=1"));
}

TEST(rules_about_entries, show_nothing_made_of_the_content_of_what_another_rule_only_lists) {
  const ruled_catalog at({{.level = access_level::read},
                          {.uris = {"mcp://std/file:///srv/keys"}, .level = access_level::list},
                          {.kinds = {"folder"}, .level = access_level::none}});
  ASSERT_EQ(at.listed().size(), 1u);
  const auto entry = at.listed().at(0);
  EXPECT_EQ(entry.title + entry.description + entry.version, "");
  EXPECT_FALSE(entry.annotations.priority);
  EXPECT_FALSE(at.reads("mcp://std/FILE:///srv/keys/a"));
}

TEST(rules_about_entries, ask_once_for_what_is_known_and_seldom_for_what_is_not) {
  const ruled_catalog at({{.level = access_level::read}, {.kinds = {"folder"}, .level = access_level::none}});
  EXPECT_TRUE(at.reads("mcp://std/FILE:///srv/keys/a"));
  EXPECT_EQ(at.holder->asked, std::vector<std::string>{"mcp://std/FILE:///srv/keys/a"});
  at.holder->asked.clear();
  EXPECT_FALSE(at.reads("mcp://std/HTTP://A//b/HTTP://B//c")) << "nobody writes so";
  EXPECT_EQ(at.holder->asked.size(), 1u);
  at.holder->asked.clear();
  EXPECT_TRUE(at.reads("mcp://std/MEMO:///a/"));
  EXPECT_LE(at.holder->asked.size(), 9u);
  EXPECT_GT(at.holder->asked.size(), 1u) << "it may be listed in another spelling";
}

}  // namespace
