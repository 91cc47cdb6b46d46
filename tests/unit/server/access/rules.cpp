/// Access rules: which are refused, which decides, and what follows for views.
#include <string>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include "server/access/access_views.hpp"

namespace hondana::access {
namespace {

bool has_itself(const proof& given, const std::string& scope) {
  return std::find(given.scopes.begin(), given.scopes.end(), scope) != given.scopes.end();
}

std::shared_ptr<const judge> judge_of(std::vector<access_rule> rules) {
  return judge::make({"groups", std::move(rules)}, has_itself).value();
}

access_rule about(std::vector<std::string> uris, grant gives) {
  access_rule made;
  made.uris = std::move(uris);
  made.gives = gives;
  return made;
}

caller named(std::string identity) { return {std::move(identity), "127.0.0.1", nullptr}; }

caller with_claims(std::string claims, std::vector<std::string> scopes = {}) {
  auto made = named("alice");
  made.proof = std::make_shared<const proof>(proof{"", std::move(scopes), value::parse(claims).value()});
  return made;
}

std::shared_ptr<const view> view_of(const std::vector<access_rule>& rules, const caller& who = named("alice")) {
  return judge_of(rules)->view_of(who);
}

resource entry_of(std::string uri, std::string kind, std::vector<role> audience = {}) {
  resource made;
  made.uri = std::move(uri);
  made.kind = std::move(kind);
  made.annotations.audience = std::move(audience);
  return made;
}

TEST(access_rules, none_at_all_leave_a_caller_the_view_it_has) {
  EXPECT_EQ(view_of({}), nullptr);
  EXPECT_TRUE(judge_of({})->is_open());
}

TEST(access_rules, mean_a_name_in_either_normal_form) {
  // が: U+304C, and か with its mark.
  const std::string composed = "docs://book/%E3%81%8C/";
  const std::string apart = "docs://book/%E3%81%8B%E3%82%99/";
  for (const auto& written : {composed, apart}) {
    const auto seen = view_of({about({"docs://book"}, grant::read), about({written}, grant::none)});
    for (const auto& asked : {composed, apart}) {
      EXPECT_FALSE(seen->may_see(asked + "a.md")) << written << " of " << asked;
      EXPECT_FALSE(seen->may_read(asked + "a.md?section=x")) << written << " of " << asked;
    }
    EXPECT_TRUE(seen->may_read("docs://book/%E3%81%8B/a.md"));
  }
  for (const auto* pattern : {"docs://book/**/%E3%81%8C*", "docs://book/**/\xE3\x81\x8B\xE3\x82\x99*"}) {
    access_rule rule;
    rule.patterns = {pattern};
    rule.gives = grant::none;
    const auto seen = view_of({about({"docs://book"}, grant::read), rule});
    EXPECT_FALSE(seen->may_see("docs://book/x/%E3%81%8C.md")) << pattern;
    EXPECT_FALSE(seen->may_see("docs://book/x/%E3%81%8B%E3%82%99.md")) << pattern;
  }
}

TEST(access_rules, know_letters_with_marks_and_leave_escapes_and_what_is_no_utf_8_alone) {
  const auto seen = view_of({about({"docs://book"}, grant::read), about({"docs://book/caf%C3%A9.md"}, grant::none),
                             about({"docs://book/%83%81.md"}, grant::none)});
  EXPECT_FALSE(seen->may_see("docs://book/cafe%CC%81.md"));
  EXPECT_FALSE(seen->may_see("docs://book/%83%81.md"));
  EXPECT_TRUE(seen->may_see("docs://book/%2Ee%CC%81.md"));
  EXPECT_TRUE(seen->may_see("docs://book/cafe.md"));
}

TEST(access_rules, know_signs_that_are_struck_through) {
  // ≠ ≮ ≯, and = < > with their mark.
  const auto seen =
      view_of({about({"docs://book"}, grant::read), about({"docs://book/%E2%89%A0.md"}, grant::none),
               about({"docs://book/%E2%89%AE.md"}, grant::none), about({"docs://book/%E2%89%AF.md"}, grant::none)});
  for (const auto* sign : {"=", "%3D", "%3C", "%3E"}) {
    EXPECT_FALSE(seen->may_see(std::string("docs://book/") + sign + "%CC%B8.md")) << sign;
    EXPECT_TRUE(seen->may_see(std::string("docs://book/") + sign + ".md")) << sign;
  }
  EXPECT_FALSE(view_of({about({"docs://book/%3C%E3%81%82"}, grant::none)})->may_see("docs://book/%3C%E3%81%82"));
  EXPECT_TRUE(view_of({about({"docs://book/%3C%E3%81%82"}, grant::read)})->may_see("docs://book/%3C%E3%81%82"));
}

TEST(access_rules, hide_and_show_templates_below_a_name_in_either_normal_form) {
  const std::string composed = "file:///srv/%E3%81%8C/";
  const std::string apart = "file:///srv/%E3%81%8B%E3%82%99/";
  for (const auto& written : {composed, apart}) {
    for (const auto& source : {composed, apart}) {
      const auto of = uri_template::compile(source + "{+path}").value();
      auto pattern = about({}, grant::read);
      pattern.patterns = {written + "**"};
      EXPECT_FALSE(view_of({about({"file:///"}, grant::read), about({written}, grant::none)})->may_see_some(of));
      EXPECT_TRUE(view_of({about({written}, grant::read)})->may_see_some(of)) << written << source;
      EXPECT_TRUE(view_of({about({written + "{+path}"}, grant::read)})->may_see_some(of)) << written << source;
      EXPECT_TRUE(view_of({pattern})->may_see_some(of)) << written << source;
    }
  }
}

TEST(access_rules, once_there_is_one_hide_what_no_rule_is_about) {
  const auto seen = view_of({about({"memo:///open"}, grant::read)});
  EXPECT_TRUE(seen->may_read("memo:///open"));
  EXPECT_TRUE(seen->may_read("memo:///open/below"));
  EXPECT_FALSE(seen->may_see("memo:///opened"));
  EXPECT_FALSE(seen->may_see("memo:///"));
}

TEST(access_rules, the_last_one_that_is_about_it_decides) {
  const auto seen = view_of(
      {about({"memo:///"}, grant::read), about({"memo:///keys"}, grant::none), about({"memo:///keys/public"}, grant::list)});
  EXPECT_TRUE(seen->may_read("memo:///a"));
  EXPECT_FALSE(seen->may_see("memo:///keys/private"));
  EXPECT_TRUE(seen->may_see("memo:///keys/public"));
  EXPECT_FALSE(seen->may_read("memo:///keys/public"));
}

TEST(access_rules, about_a_resource_hold_for_its_parts_and_parts_cannot_have_more_than_the_whole) {
  const auto hidden = view_of({about({"memo:///"}, grant::read), about({"memo:///keys/{id}"}, grant::none)});
  EXPECT_FALSE(hidden->may_see("memo:///keys/7"));
  EXPECT_FALSE(hidden->may_see("memo:///keys/7?lines=1-2"));
  EXPECT_FALSE(hidden->may_see("memo:///keys/7#top"));
  const auto shown = view_of({about({"memo:///doc/{id}"}, grant::read)});
  EXPECT_TRUE(shown->may_read("memo:///doc/7?lines=1-2"));
  const auto part = view_of({about({"memo:///a?lines=1-2"}, grant::read)});
  EXPECT_FALSE(part->may_see("memo:///a?lines=1-2"));
}

TEST(access_rules, with_a_slash_at_the_end_are_about_the_folder_too) {
  const auto seen = view_of({about({"memo:///"}, grant::read), about({"memo:///secret/"}, grant::none)});
  EXPECT_FALSE(seen->may_see("memo:///secret"));
  EXPECT_FALSE(seen->may_see("memo:///secret?lines=1"));
  EXPECT_FALSE(seen->may_see("memo:///secret/a"));
  EXPECT_TRUE(seen->may_see("memo:///secrets"));
  EXPECT_TRUE(view_of({about({"memo:///open/"}, grant::read)})->may_read("memo:///open"));
}

TEST(access_rules, patterns_stop_at_slashes_and_two_stars_do_not) {
  access_rule one;
  one.patterns = {"file:///srv/*.md", "file:///srv/**/*.txt"};
  one.gives = grant::read;
  const auto seen = view_of({one});
  EXPECT_TRUE(seen->may_see("file:///srv/a.md"));
  EXPECT_FALSE(seen->may_see("file:///srv/b/a.md"));
  EXPECT_TRUE(seen->may_see("file:///srv/b/c/a.txt"));
}

TEST(access_rules, know_callers_by_identity_group_and_scope) {
  auto by_name = about({"memo:///name"}, grant::read);
  by_name.identities = {"ci-*", "bob"};
  auto by_group = about({"memo:///group"}, grant::read);
  by_group.groups = {"staff"};
  auto by_scope = about({"memo:///scope"}, grant::read);
  by_scope.scopes = {"wiki"};
  const auto rules = judge_of({by_name, by_group, by_scope});
  EXPECT_TRUE(rules->view_of(named("ci-7"))->may_see("memo:///name"));
  EXPECT_TRUE(rules->view_of(named("bob"))->may_see("memo:///name"));
  EXPECT_FALSE(rules->view_of(named("bobby"))->may_see("memo:///name"));
  EXPECT_TRUE(rules->view_of(with_claims(R"({"groups":["x","staff"]})"))->may_see("memo:///group"));
  EXPECT_TRUE(rules->view_of(with_claims(R"({"groups":"staff"})"))->may_see("memo:///group"));
  EXPECT_FALSE(rules->view_of(with_claims(R"({"groups":{"staff":true}})"))->may_see("memo:///group"));
  EXPECT_FALSE(rules->view_of(named("staff"))->may_see("memo:///group"));
  EXPECT_TRUE(rules->view_of(with_claims("{}", {"wiki"}))->may_see("memo:///scope"));
  EXPECT_FALSE(rules->view_of(with_claims("{}", {"wik"}))->may_see("memo:///scope"));
}

TEST(access_rules, find_groups_in_a_claim_within_a_claim) {
  auto one = about({"memo:///"}, grant::read);
  one.groups = {"staff"};
  const auto rules = judge::make({"realm_access.roles", {one}}, has_itself).value();
  EXPECT_TRUE(rules->view_of(with_claims(R"({"realm_access":{"roles":["staff"]}})"))->may_see("memo:///a"));
  EXPECT_TRUE(rules->view_of(with_claims(R"({"realm_access.roles":"staff"})"))->may_see("memo:///a"));
  EXPECT_FALSE(rules->view_of(with_claims(R"({"roles":["staff"]})"))->may_see("memo:///a"));
}

TEST(access_rules, with_kinds_or_audience_leave_the_decision_to_the_entry) {
  access_rule keys;
  keys.kinds = {"key"};
  access_rule assistants;
  assistants.audience = role::assistant;
  assistants.gives = grant::list;
  const auto seen = view_of({about({"memo:///"}, grant::read), assistants, keys});
  EXPECT_TRUE(seen->looks_at_entries());
  EXPECT_TRUE(seen->may_read("memo:///a"));  // as far as the URI goes
  EXPECT_TRUE(seen->may_read_entry(entry_of("memo:///a", "note")));
  EXPECT_FALSE(seen->may_see_entry(entry_of("memo:///a", "key")));
  EXPECT_FALSE(seen->may_read_entry(entry_of("memo:///a", "note", {role::assistant})));
  EXPECT_TRUE(seen->may_see_entry(entry_of("memo:///a", "note", {role::user, role::assistant})));
  EXPECT_FALSE(seen->may_see_entry(entry_of("memo:///a", "key", {role::assistant})));
  EXPECT_FALSE(view_of({about({"memo:///"}, grant::read)})->looks_at_entries());
}

TEST(access_rules, callers_with_equal_decisions_share_one_view) {
  auto one = about({"memo:///a"}, grant::read);
  one.identities = {"ann", "bob"};
  const auto rules = judge_of({one, about({"memo:///b"}, grant::read)});
  EXPECT_EQ(rules->view_of(named("ann")), rules->view_of(named("bob")));
  EXPECT_NE(rules->view_of(named("ann")), rules->view_of(named("eve")));
  EXPECT_NE(rules->view_of(named("ann"))->id(), rules->view_of(named("eve"))->id());
  // Another process answers with the same cursors, and a reload ends none.
  EXPECT_EQ(rules->view_of(named("eve"))->id(), view_of({about({"memo:///b"}, grant::read)})->id());
}

TEST(access_rules, and_the_view_a_caller_comes_with_both_have_to_show_a_thing) {
  const auto rules = judge_of({about({"memo:///a"}, grant::read), about({"memo:///b"}, grant::read)});
  auto who = named("ann");
  who.view = view_of({about({"memo:///b"}, grant::read), about({"memo:///c"}, grant::read)});
  const auto both = rules->view_of(who);
  EXPECT_FALSE(both->may_see("memo:///a"));
  EXPECT_TRUE(both->may_read("memo:///b"));
  EXPECT_FALSE(both->may_see("memo:///c"));
  EXPECT_EQ(both, rules->view_of(who));
  EXPECT_NE(both->id(), who.view->id());
}

TEST(access_rules, views_are_kept_in_bounded_number_and_stay_what_they_are) {
  std::vector<access_rule> all;
  for (int i = 0; i < 14; ++i) {
    all.push_back(about({"memo:///" + std::to_string(i)}, grant::read));
    all.back().scopes = {"s" + std::to_string(i)};
  }
  const auto rules = judge_of(all);
  for (unsigned bits = 0; bits < 1u << 14; ++bits) {
    std::vector<std::string> scopes;
    for (unsigned i = 0; i < 14; ++i) {
      if ((bits >> i & 1u) != 0) scopes.push_back("s" + std::to_string(i));
    }
    const auto seen = rules->view_of(with_claims("{}", scopes));
    ASSERT_EQ(seen->may_see("memo:///3"), (bits >> 3 & 1u) != 0);
    ASSERT_EQ(seen->may_see("memo:///13"), (bits >> 13 & 1u) != 0);
  }
}

TEST(access_rules, a_template_of_which_all_is_hidden_is_hidden) {
  const auto some = [](const std::shared_ptr<const view>& seen, const std::string& text) {
    return seen->may_see_some(uri_template::compile(text).value());
  };
  const auto seen = view_of({about({"memo:///"}, grant::read), about({"memo:///keys"}, grant::none),
                             about({"memo:///db/{table}"}, grant::none), about({"memo:///keys/open"}, grant::list)});
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
  tools.gives = grant::read;
  const auto rules = judge_of({about({"memo:///"}, grant::read), tools});
  const auto alice = rules->decisions_of(named("alice"));
  EXPECT_EQ(alice->of_tool("admin_stop", false), grant::none);
  EXPECT_EQ(alice->of_tool("read_resource", true), grant::read);
  EXPECT_EQ(alice->of_prompt("admin_stop"), grant::none);
  EXPECT_EQ(rules->decisions_of(named("root"))->of_tool("admin_stop", false), grant::read);
  access_rule nobody;
  nobody.identities = {"mallory"};
  const auto closed = judge_of({nobody});
  EXPECT_EQ(closed->decisions_of(named("mallory"))->of_tool("read_resource", true), grant::none);
  EXPECT_EQ(closed->decisions_of(named("alice"))->of_tool("read_resource", true), grant::read);
}

TEST(access_rules, are_explained_one_by_one) {
  auto bobs = about({"memo:///"}, grant::none);
  bobs.identities = {"bob"};
  const auto rules = judge_of({about({"memo:///"}, grant::read), bobs, about({"memo:///b"}, grant::list)});
  const auto all = rules->explain(named("alice"), entry_of("memo:///a", ""));
  ASSERT_EQ(all.size(), 3u);
  EXPECT_TRUE(all[0].is_about_caller && all[0].is_about_uri && all[0].decides);
  EXPECT_FALSE(all[1].is_about_caller);
  EXPECT_FALSE(all[2].is_about_uri);
  EXPECT_FALSE(all[1].decides || all[2].decides);
}

void expect_refused(const access_rule& one, std::string_view why) {
  const auto refused = check(access_rules{"groups", {access_rule{}, one}});
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code, errc::invalid_argument);
  EXPECT_NE(refused.error().public_text.find("rule 2"), std::string::npos) << refused.error().public_text;
  EXPECT_NE(refused.error().public_text.find(why), std::string::npos) << refused.error().public_text;
}

TEST(access_rules, that_cannot_mean_what_they_say_are_refused_with_their_number) {
  expect_refused(about({"FILE:///a"}, grant::read), "file:///a");
  expect_refused(about({"file:///{a}{b}"}, grant::read), "");
  expect_refused(about({"no uri"}, grant::read), "no uri");
  access_rule one;
  one.identities = {"a*b"};
  expect_refused(one, "a*b");
  one.identities = {""};
  expect_refused(one, "identities");
  access_rule pattern;
  pattern.patterns = {"file:///[a"};
  expect_refused(pattern, "file:///[a");
  auto mixed = about({"memo:///"}, grant::read);
  mixed.tools = {"x"};
  expect_refused(mixed, "two rules");
  EXPECT_FALSE(check(access_rules{"", {}}));
}

TEST(access_rules, that_are_asked_in_turn_never_answer_for_one_another) {
  const auto even = view_of({about({"memo:///even"}, grant::read), about({"memo:///odd"}, grant::list)});
  const auto odd = view_of({about({"memo:///odd"}, grant::read)});
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
