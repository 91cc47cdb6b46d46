/// Access rules: which are refused, which decides, and what follows for views.
#include <string>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include "server/access/access_filters.hpp"

namespace hondana::access {
namespace {

bool has_itself(const auth_info& given, const std::string& scope) {
  return std::find(given.scopes.begin(), given.scopes.end(), scope) != given.scopes.end();
}

std::shared_ptr<const policy> judge_of(std::vector<access_rule> rules) {
  return policy::make({"groups", std::move(rules)}, has_itself).value();
}

access_rule about(std::vector<std::string> uris, access_level gives) {
  access_rule made;
  made.uris = std::move(uris);
  made.level = gives;
  return made;
}

caller_info named(std::string identity) { return {std::move(identity), "127.0.0.1", nullptr}; }

caller_info with_claims(std::string claims, std::vector<std::string> scopes = {}) {
  auto made = named("alice");
  made.auth_info = std::make_shared<const auth_info>(auth_info{"", std::move(scopes), value::parse(claims).value()});
  return made;
}

std::shared_ptr<const access_filter> view_of(const std::vector<access_rule>& rules, const caller_info& who = named("alice")) {
  return judge_of(rules)->filter_of(who);
}

resource entry_of(std::string uri, std::string kind, std::vector<chat_role> audience = {}) {
  resource made;
  made.uri = std::move(uri);
  made.kind = std::move(kind);
  made.annotations.audience = std::move(audience);
  return made;
}

TEST(access_rules, none_at_all_leave_a_caller_the_view_it_has) {
  EXPECT_EQ(view_of({}), nullptr);
  EXPECT_TRUE(judge_of({})->is_unrestricted());
}

TEST(access_rules, mean_a_name_in_either_normal_form) {
  // が: U+304C, and か with its mark.
  const std::string composed = "docs://book/%E3%81%8C/";
  const std::string apart = "docs://book/%E3%81%8B%E3%82%99/";
  for (const auto& written : {composed, apart}) {
    const auto seen = view_of({about({"docs://book"}, access_level::read), about({written}, access_level::none)});
    for (const auto& asked : {composed, apart}) {
      EXPECT_FALSE(seen->may_see(asked + "a.md")) << written << " of " << asked;
      EXPECT_FALSE(seen->may_read(asked + "a.md?section=x")) << written << " of " << asked;
    }
    EXPECT_TRUE(seen->may_read("docs://book/%E3%81%8B/a.md"));
  }
  for (const auto* pattern : {"docs://book/**/%E3%81%8C*", "docs://book/**/\xE3\x81\x8B\xE3\x82\x99*"}) {
    access_rule rule;
    rule.patterns = {pattern};
    rule.level = access_level::none;
    const auto seen = view_of({about({"docs://book"}, access_level::read), rule});
    EXPECT_FALSE(seen->may_see("docs://book/x/%E3%81%8C.md")) << pattern;
    EXPECT_FALSE(seen->may_see("docs://book/x/%E3%81%8B%E3%82%99.md")) << pattern;
  }
}

TEST(access_rules, know_letters_with_marks_and_leave_escapes_and_what_is_no_utf_8_alone) {
  const auto seen =
      view_of({about({"docs://book"}, access_level::read), about({"docs://book/caf%C3%A9.md"}, access_level::none),
               about({"docs://book/%83%81.md"}, access_level::none)});
  EXPECT_FALSE(seen->may_see("docs://book/cafe%CC%81.md"));
  EXPECT_FALSE(seen->may_see("docs://book/%83%81.md"));
  EXPECT_TRUE(seen->may_see("docs://book/%2Ee%CC%81.md"));
  EXPECT_TRUE(seen->may_see("docs://book/cafe.md"));
}

TEST(access_rules, know_signs_that_are_struck_through) {
  // ≠ ≮ ≯, and = < > with their mark.
  const auto seen = view_of(
      {about({"docs://book"}, access_level::read), about({"docs://book/%E2%89%A0.md"}, access_level::none),
       about({"docs://book/%E2%89%AE.md"}, access_level::none), about({"docs://book/%E2%89%AF.md"}, access_level::none)});
  for (const auto* sign : {"=", "%3D", "%3C", "%3E"}) {
    EXPECT_FALSE(seen->may_see(std::string("docs://book/") + sign + "%CC%B8.md")) << sign;
    EXPECT_TRUE(seen->may_see(std::string("docs://book/") + sign + ".md")) << sign;
  }
  EXPECT_FALSE(view_of({about({"docs://book/%3C%E3%81%82"}, access_level::none)})->may_see("docs://book/%3C%E3%81%82"));
  EXPECT_TRUE(view_of({about({"docs://book/%3C%E3%81%82"}, access_level::read)})->may_see("docs://book/%3C%E3%81%82"));
}

TEST(access_rules, hide_and_show_templates_below_a_name_in_either_normal_form) {
  const std::string composed = "file:///srv/%E3%81%8C/";
  const std::string apart = "file:///srv/%E3%81%8B%E3%82%99/";
  for (const auto& written : {composed, apart}) {
    for (const auto& source : {composed, apart}) {
      const auto of = uri_template::compile(source + "{+path}").value();
      auto pattern = about({}, access_level::read);
      pattern.patterns = {written + "**"};
      EXPECT_FALSE(view_of({about({"file:///"}, access_level::read), about({written}, access_level::none)})->may_see_any(of));
      EXPECT_TRUE(view_of({about({written}, access_level::read)})->may_see_any(of)) << written << source;
      EXPECT_TRUE(view_of({about({written + "{+path}"}, access_level::read)})->may_see_any(of)) << written << source;
      EXPECT_TRUE(view_of({pattern})->may_see_any(of)) << written << source;
    }
  }
}

TEST(access_rules, once_there_is_one_hide_what_no_rule_is_about) {
  const auto seen = view_of({about({"memo:///open"}, access_level::read)});
  EXPECT_TRUE(seen->may_read("memo:///open"));
  EXPECT_TRUE(seen->may_read("memo:///open/below"));
  EXPECT_FALSE(seen->may_see("memo:///opened"));
  EXPECT_FALSE(seen->may_see("memo:///"));
}

TEST(access_rules, the_last_one_that_is_about_it_decides) {
  const auto seen = view_of({about({"memo:///"}, access_level::read), about({"memo:///keys"}, access_level::none),
                             about({"memo:///keys/public"}, access_level::list)});
  EXPECT_TRUE(seen->may_read("memo:///a"));
  EXPECT_FALSE(seen->may_see("memo:///keys/private"));
  EXPECT_TRUE(seen->may_see("memo:///keys/public"));
  EXPECT_FALSE(seen->may_read("memo:///keys/public"));
}

TEST(access_rules, about_a_resource_hold_for_its_parts_and_parts_cannot_have_more_than_the_whole) {
  const auto hidden = view_of({about({"memo:///"}, access_level::read), about({"memo:///keys/{id}"}, access_level::none)});
  EXPECT_FALSE(hidden->may_see("memo:///keys/7"));
  EXPECT_FALSE(hidden->may_see("memo:///keys/7?lines=1-2"));
  EXPECT_FALSE(hidden->may_see("memo:///keys/7#top"));
  const auto shown = view_of({about({"memo:///doc/{id}"}, access_level::read)});
  EXPECT_TRUE(shown->may_read("memo:///doc/7?lines=1-2"));
  const auto part = view_of({about({"memo:///a?lines=1-2"}, access_level::read)});
  EXPECT_FALSE(part->may_see("memo:///a?lines=1-2"));
}

TEST(access_rules, with_a_slash_at_the_end_are_about_the_folder_too) {
  const auto seen = view_of({about({"memo:///"}, access_level::read), about({"memo:///secret/"}, access_level::none)});
  EXPECT_FALSE(seen->may_see("memo:///secret"));
  EXPECT_FALSE(seen->may_see("memo:///secret?lines=1"));
  EXPECT_FALSE(seen->may_see("memo:///secret/a"));
  EXPECT_TRUE(seen->may_see("memo:///secrets"));
  EXPECT_TRUE(view_of({about({"memo:///open/"}, access_level::read)})->may_read("memo:///open"));
}

TEST(access_rules, patterns_stop_at_slashes_and_two_stars_do_not) {
  access_rule one;
  one.patterns = {"file:///srv/*.md", "file:///srv/**/*.txt"};
  one.level = access_level::read;
  const auto seen = view_of({one});
  EXPECT_TRUE(seen->may_see("file:///srv/a.md"));
  EXPECT_FALSE(seen->may_see("file:///srv/b/a.md"));
  EXPECT_TRUE(seen->may_see("file:///srv/b/c/a.txt"));
}

TEST(access_rules, know_callers_by_identity_group_and_scope) {
  auto by_name = about({"memo:///name"}, access_level::read);
  by_name.identities = {"ci-*", "bob"};
  auto by_group = about({"memo:///group"}, access_level::read);
  by_group.groups = {"staff"};
  auto by_scope = about({"memo:///scope"}, access_level::read);
  by_scope.scopes = {"wiki"};
  const auto rules = judge_of({by_name, by_group, by_scope});
  EXPECT_TRUE(rules->filter_of(named("ci-7"))->may_see("memo:///name"));
  EXPECT_TRUE(rules->filter_of(named("bob"))->may_see("memo:///name"));
  EXPECT_FALSE(rules->filter_of(named("bobby"))->may_see("memo:///name"));
  EXPECT_TRUE(rules->filter_of(with_claims(R"({"groups":["x","staff"]})"))->may_see("memo:///group"));
  EXPECT_TRUE(rules->filter_of(with_claims(R"({"groups":"staff"})"))->may_see("memo:///group"));
  EXPECT_FALSE(rules->filter_of(with_claims(R"({"groups":{"staff":true}})"))->may_see("memo:///group"));
  EXPECT_FALSE(rules->filter_of(named("staff"))->may_see("memo:///group"));
  EXPECT_TRUE(rules->filter_of(with_claims("{}", {"wiki"}))->may_see("memo:///scope"));
  EXPECT_FALSE(rules->filter_of(with_claims("{}", {"wik"}))->may_see("memo:///scope"));
}

TEST(access_rules, find_groups_in_a_claim_within_a_claim) {
  auto one = about({"memo:///"}, access_level::read);
  one.groups = {"staff"};
  const auto rules = policy::make({"realm_access.roles", {one}}, has_itself).value();
  EXPECT_TRUE(rules->filter_of(with_claims(R"({"realm_access":{"roles":["staff"]}})"))->may_see("memo:///a"));
  EXPECT_TRUE(rules->filter_of(with_claims(R"({"realm_access.roles":"staff"})"))->may_see("memo:///a"));
  EXPECT_FALSE(rules->filter_of(with_claims(R"({"roles":["staff"]})"))->may_see("memo:///a"));
}

TEST(access_rules, with_kinds_or_audience_leave_the_decision_to_the_entry) {
  access_rule keys;
  keys.kinds = {"key"};
  access_rule assistants;
  assistants.audience = chat_role::assistant;
  assistants.level = access_level::list;
  const auto seen = view_of({about({"memo:///"}, access_level::read), assistants, keys});
  EXPECT_TRUE(seen->uses_entries());
  EXPECT_TRUE(seen->may_read("memo:///a"));  // as far as the URI goes
  EXPECT_TRUE(seen->may_read_entry(entry_of("memo:///a", "note")));
  EXPECT_FALSE(seen->may_see_entry(entry_of("memo:///a", "key")));
  EXPECT_FALSE(seen->may_read_entry(entry_of("memo:///a", "note", {chat_role::assistant})));
  EXPECT_TRUE(seen->may_see_entry(entry_of("memo:///a", "note", {chat_role::user, chat_role::assistant})));
  EXPECT_FALSE(seen->may_see_entry(entry_of("memo:///a", "key", {chat_role::assistant})));
  EXPECT_FALSE(view_of({about({"memo:///"}, access_level::read)})->uses_entries());
}

TEST(access_rules, callers_with_equal_decisions_share_one_view) {
  auto one = about({"memo:///a"}, access_level::read);
  one.identities = {"ann", "bob"};
  const auto rules = judge_of({one, about({"memo:///b"}, access_level::read)});
  EXPECT_EQ(rules->filter_of(named("ann")), rules->filter_of(named("bob")));
  EXPECT_NE(rules->filter_of(named("ann")), rules->filter_of(named("eve")));
  EXPECT_NE(rules->filter_of(named("ann"))->id(), rules->filter_of(named("eve"))->id());
  // Another process answers with the same cursors, and a reload ends none.
  EXPECT_EQ(rules->filter_of(named("eve"))->id(), view_of({about({"memo:///b"}, access_level::read)})->id());
}

TEST(access_rules, and_the_view_a_caller_comes_with_both_have_to_show_a_thing) {
  const auto rules = judge_of({about({"memo:///a"}, access_level::read), about({"memo:///b"}, access_level::read)});
  auto who = named("ann");
  who.access_filter = view_of({about({"memo:///b"}, access_level::read), about({"memo:///c"}, access_level::read)});
  const auto both = rules->filter_of(who);
  EXPECT_FALSE(both->may_see("memo:///a"));
  EXPECT_TRUE(both->may_read("memo:///b"));
  EXPECT_FALSE(both->may_see("memo:///c"));
  EXPECT_EQ(both, rules->filter_of(who));
  EXPECT_NE(both->id(), who.access_filter->id());
}

TEST(access_rules, views_are_kept_in_bounded_number_and_stay_what_they_are) {
  std::vector<access_rule> all;
  for (int i = 0; i < 14; ++i) {
    all.push_back(about({"memo:///" + std::to_string(i)}, access_level::read));
    all.back().scopes = {"s" + std::to_string(i)};
  }
  const auto rules = judge_of(all);
  for (unsigned bits = 0; bits < 1u << 14; ++bits) {
    std::vector<std::string> scopes;
    for (unsigned i = 0; i < 14; ++i) {
      if ((bits >> i & 1u) != 0) scopes.push_back("s" + std::to_string(i));
    }
    const auto seen = rules->filter_of(with_claims("{}", scopes));
    ASSERT_EQ(seen->may_see("memo:///3"), (bits >> 3 & 1u) != 0);
    ASSERT_EQ(seen->may_see("memo:///13"), (bits >> 13 & 1u) != 0);
  }
}

TEST(access_rules, a_template_of_which_all_is_hidden_is_hidden) {
  const auto some = [](const std::shared_ptr<const access_filter>& seen, const std::string& text) {
    return seen->may_see_any(uri_template::compile(text).value());
  };
  const auto seen =
      view_of({about({"memo:///"}, access_level::read), about({"memo:///keys"}, access_level::none),
               about({"memo:///db/{table}"}, access_level::none), about({"memo:///keys/open"}, access_level::list)});
  EXPECT_TRUE(some(seen, "memo:///{id}"));
  EXPECT_TRUE(some(seen, "memo:///keys/{id}"));  // of which one is shown
  EXPECT_FALSE(some(seen, "memo:///keys/private/{id}"));
  EXPECT_FALSE(some(seen, "memo:///db/{table}"));
  EXPECT_TRUE(some(seen, "memo:///db/{table}/{row}"));
  EXPECT_FALSE(some(seen, "other:///{id}"));
}

TEST(access_rules, name_tools_and_prompts_and_leave_the_servers_own_to_who_says_nothing) {
  access_rule tools;
  tools.tools = {"admin_*"};
  tools.identities = {"root"};
  tools.level = access_level::read;
  const auto rules = judge_of({about({"memo:///"}, access_level::read), tools});
  const auto alice = rules->rule_filter_of(named("alice"));
  EXPECT_EQ(alice->level_of_tool("admin_stop", false), access_level::none);
  EXPECT_EQ(alice->level_of_tool("read_resource", true), access_level::read);
  EXPECT_EQ(alice->level_of_prompt("admin_stop"), access_level::none);
  EXPECT_EQ(rules->rule_filter_of(named("root"))->level_of_tool("admin_stop", false), access_level::read);
  access_rule nobody;
  nobody.identities = {"mallory"};
  const auto closed = judge_of({nobody});
  EXPECT_EQ(closed->rule_filter_of(named("mallory"))->level_of_tool("read_resource", true), access_level::none);
  EXPECT_EQ(closed->rule_filter_of(named("alice"))->level_of_tool("read_resource", true), access_level::read);
}

TEST(access_rules, are_explained_one_by_one) {
  auto bobs = about({"memo:///"}, access_level::none);
  bobs.identities = {"bob"};
  const auto rules = judge_of({about({"memo:///"}, access_level::read), bobs, about({"memo:///b"}, access_level::list)});
  const auto all = rules->explain(named("alice"), entry_of("memo:///a", ""));
  ASSERT_EQ(all.size(), 3u);
  EXPECT_TRUE(all[0].matches_caller && all[0].matches_uri && all[0].decides);
  EXPECT_FALSE(all[1].matches_caller);
  EXPECT_FALSE(all[2].matches_uri);
  EXPECT_FALSE(all[1].decides || all[2].decides);
}

void expect_refused(const access_rule& one, std::string_view why) {
  const auto refused = validate_access_rules(access_rules{"groups", {access_rule{}, one}});
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code, errc::invalid_argument);
  EXPECT_NE(refused.error().public_text.find("rule 2"), std::string::npos) << refused.error().public_text;
  EXPECT_NE(refused.error().public_text.find(why), std::string::npos) << refused.error().public_text;
}

TEST(access_rules, that_cannot_mean_what_they_say_are_refused_with_their_number) {
  expect_refused(about({"FILE:///a"}, access_level::read), "file:///a");
  expect_refused(about({"file:///{a}{b}"}, access_level::read), "");
  expect_refused(about({"no uri"}, access_level::read), "no uri");
  access_rule one;
  one.identities = {"a*b"};
  expect_refused(one, "a*b");
  one.identities = {""};
  expect_refused(one, "identities");
  access_rule pattern;
  pattern.patterns = {"file:///[a"};
  expect_refused(pattern, "file:///[a");
  auto mixed = about({"memo:///"}, access_level::read);
  mixed.tools = {"x"};
  expect_refused(mixed, "two rules");
  EXPECT_FALSE(validate_access_rules(access_rules{"", {}}));
}

TEST(access_rules, that_are_asked_in_turn_never_answer_for_one_another) {
  const auto even = view_of({about({"memo:///even"}, access_level::read), about({"memo:///odd"}, access_level::list)});
  const auto odd = view_of({about({"memo:///odd"}, access_level::read)});
  // More than are remembered, each asked twice by both.
  for (int turn = 0; turn < 400; ++turn) {
    const auto name = std::to_string(turn / 2);
    EXPECT_TRUE(even->may_read("memo:///even/" + name));
    EXPECT_FALSE(odd->may_see("memo:///even/" + name));
    EXPECT_FALSE(even->may_read("memo:///odd/" + name));
    EXPECT_TRUE(even->may_see("memo:///odd/" + name));
    EXPECT_TRUE(odd->may_read("memo:///odd/" + name));
    EXPECT_FALSE(odd->may_see("memo:///other/" + name + std::string(600, 'x')));
  }
}

}  // namespace
}  // namespace hondana::access
