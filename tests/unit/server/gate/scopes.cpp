/// Which scopes an operation needs, and who has them.
#include "server/gate/gate.hpp"

#include <memory>
#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace hondana::gate {
namespace {

using list = std::vector<std::string>;

caller_info with_scopes(list scopes) {
  caller_info who{"alice", "192.0.2.1", nullptr};
  who.auth_info = std::make_shared<const auth_info>(auth_info{"an editor", std::move(scopes), {}});
  return who;
}

TEST(scope_rules, are_found_by_what_they_are_about) {
  scope_rules rules;
  rules.rules = {{{}, {"file:///a/"}, {}, {"x"}},
                 {{"tools/call"}, {}, {}, {"y"}},
                 {{}, {"memo:///other", "file:///a/{+rest}"}, {}, {"z"}}};
  const auto made = gate::make(rules);
  ASSERT_TRUE(made);
  EXPECT_EQ((*made)->matching_rules("file:///a/b.txt"), (std::vector<std::size_t>{0, 2}));
  EXPECT_EQ((*made)->matching_rules("file:///a"), (std::vector<std::size_t>{0}));
  EXPECT_EQ((*made)->matching_rules("file:///b"), std::vector<std::size_t>{});
}

model::operation read(const std::string& uri) { return model::read_resource{uri, uri}; }

std::shared_ptr<const gate> made(scope_rules rules) {
  auto out = gate::make(std::move(rules));
  if (!out) throw std::runtime_error(out.error().public_text);
  return *out;
}

/// What the refusal says is needed; nothing when there is none.
list lacking(const gate& at, const caller_info& who, const model::operation& what) {
  const auto admitted = at.admit(who, what);
  if (admitted) return {};
  EXPECT_EQ(admitted.error().code, errc::insufficient_scope);
  return admitted.error().scopes ? *admitted.error().scopes : list{"(none are named)"};
}

scope_rules library() {
  scope_rules rules;
  rules.always_required = {"mcp"};
  rules.rules = {{{"resources/read"}, {}, {}, {"read"}},
                 {{}, {"file:///private"}, {}, {"secrets"}},
                 {{"tools/call"}, {}, {"delete"}, {"write", "read"}},
                 {{}, {"db://{host}/secrets/{+rest}"}, {}, {"dba"}}};
  rules.implied = {{"admin", {"write", "secrets"}}, {"write", {"read"}}};
  return rules;
}

// attacks: authorization (content that a rule guards, through links, patches and outlines)
TEST(gate, gives_sources_a_view_in_which_nothing_can_be_read_that_needs_other_scopes) {
  const auto at = made(library());
  const auto view_with = [&at](list scopes) { return at->filter_of(with_scopes(std::move(scopes))); };
  EXPECT_EQ(at->filter_of({"local", {}, nullptr}), nullptr);
  EXPECT_EQ(view_with({"mcp", "admin", "dba"}), nullptr);
  const auto reader = view_with({"mcp", "read"});
  ASSERT_NE(reader, nullptr);
  for (const auto* guarded : {"file:///private/a", "file:///private", "file:///private/a?lines=1", "db://h/secrets/x#y"}) {
    EXPECT_FALSE(reader->may_read(guarded)) << guarded;
    EXPECT_TRUE(reader->may_see(guarded)) << guarded;
    resource entry;
    entry.uri = guarded;
    EXPECT_FALSE(reader->may_read_entry(entry)) << guarded;
  }
  EXPECT_TRUE(reader->may_read("file:///privates"));
  EXPECT_TRUE(reader->may_read("db://h/open/x"));
  EXPECT_EQ(view_with({"mcp", "read", "other"}), reader) << "callers who lack the same scopes share a view";
  const auto without_read = view_with({"mcp", "secrets", "dba"});
  ASSERT_NE(without_read, nullptr);
  EXPECT_FALSE(without_read->may_read("file:///open"));
  EXPECT_NE(without_read->id(), reader->id());
}

TEST(gate, scopes_narrow_what_access_rules_show) {
  scope_rules rules;
  rules.rules = {{{"resources/read"}, {"file:///a/"}, {}, {"x"}}};
  access_rules allowed;
  allowed.rules = {{.uris = {"file:///"}, .level = access_level::read}};
  const auto at = gate::make(rules, allowed).value();
  const auto with = at->filter_of(with_scopes({"x"})), without = at->filter_of(with_scopes({}));
  EXPECT_TRUE(with->may_read("file:///a/b"));
  EXPECT_FALSE(without->may_read("file:///a/b"));
  EXPECT_TRUE(without->may_see("file:///a/b"));
  EXPECT_TRUE(without->may_read("file:///b"));
  EXPECT_FALSE(without->may_see("memo:///b"));
}

// attacks: traversal (a rule got round by another spelling)
TEST(gate, needs_the_same_scopes_for_what_a_mounted_server_takes_for_the_same) {
  scope_rules rules;
  rules.rules = {{{"resources/read"}, {"mcp://u/file:///srv/private"}, {}, {"secrets"}}};
  const auto at = made(rules);
  for (const auto* uri : {"mcp://u/file:///srv/private/a", "mcp://u/FILE:///srv/private/a", "mcp://u/file:/srv/private/a",
                          "mcp://u/file://localhost/srv/private/a", "mcp://u/file:///srv//private/a"})
    EXPECT_EQ(lacking(*at, with_scopes({"read"}), read(uri)), list{"secrets"}) << uri;
  EXPECT_EQ(lacking(*at, with_scopes({"read"}), read("mcp://u/FILE:///srv/open")), list{});
  std::string nested = "mcp://u/";
  for (int i = 0; i < 40; ++i) nested += "MCP://v/";
  EXPECT_EQ(lacking(*at, with_scopes({"read"}), read(nested + "memo:///a")), list{"secrets"}) << "too many to compare";
}

TEST(gate, needs_the_same_scopes_for_other_spellings_behind_the_prefix_of_a_mount) {
  scope_rules rules;
  rules.rules = {{{"resources/read"}, {"notes://team/docs:keys"}, {}, {"secrets"}}};
  const auto at = gate::make(rules, {}, {"notes://team/"}).value();
  EXPECT_EQ(lacking(*at, with_scopes({}), read("notes://team/DOCS:keys")), list{"secrets"});
  EXPECT_EQ(lacking(*at, with_scopes({}), read("notes://team/DOCS:open")), list{});
}

// attacks: one message that takes long to compare
TEST(gate, stops_comparing_what_one_message_makes_too_long_and_lets_rules_hold) {
  scope_rules rules;
  rules.rules = {{{}, {"mcp://u/file:///srv/private"}, {}, {"secrets"}}};
  const auto at = made(rules);
  model::subscribe_entries many;
  const auto lacking_of = [&](std::size_t count) {
    while (many.uris.size() < count) many.uris.push_back("mcp://u/MEMO:///" + std::string(4000, 'a'));
    return lacking(*at, with_scopes({}), many);
  };
  EXPECT_EQ(lacking_of(300), list{});
  EXPECT_EQ(lacking_of(2000), list{"secrets"});
}

TEST(gate, needs_the_same_scopes_for_a_name_in_either_normal_form) {
  const std::string composed = "file:///srv/%E3%81%8C/";
  const std::string apart = "file:///srv/%E3%81%8B%E3%82%99/";
  for (const auto& written : {composed, apart, composed + "{+rest}", apart + "{+rest}"}) {
    scope_rules rules;
    rules.rules = {{{}, {written}, {}, {"x"}}};
    for (const auto& asked : {composed, apart}) {
      EXPECT_EQ(made(rules)->required_scopes(read(asked + "a.md")), list{"x"}) << written << " of " << asked;
      EXPECT_EQ(made(rules)->matching_rules(asked + "a.md"), std::vector<std::size_t>{0}) << written << " of " << asked;
    }
  }
}

TEST(gate, without_rules_everybody_passes) {
  EXPECT_TRUE(gate().admit(with_scopes({}), read("file:///a")));
  EXPECT_TRUE(made({})->admit(with_scopes({}), read("file:///a")));
}

TEST(gate, a_caller_without_a_proof_has_no_scopes_and_passes) {
  EXPECT_TRUE(made(library())->admit({"local", {}, nullptr}, read("file:///private/x")));
  EXPECT_TRUE(made(library())->admit({"anonymous", "127.0.0.1", nullptr}, model::call_tool{"delete", {}, {}}));
}

TEST(gate, names_all_scopes_once) {
  EXPECT_EQ(made(library())->all_scopes(), (list{"mcp", "read", "secrets", "write", "dba", "admin"}));
  EXPECT_TRUE(gate().all_scopes().empty());
}

TEST(gate, what_every_request_needs_is_needed_from_the_first_one) {
  const auto at = made(library());
  EXPECT_EQ(lacking(*at, with_scopes({}), model::initialize{}), (list{"mcp"}));
  EXPECT_EQ(lacking(*at, with_scopes({"read"}), model::discover{}), (list{"mcp"}));
  EXPECT_EQ(lacking(*at, with_scopes({"mcp"}), model::ping{}), list{});
  EXPECT_EQ(lacking(*at, with_scopes({"mcp"}), model::list_resources{}), list{});
}

TEST(gate, a_refusal_names_everything_that_is_needed_and_not_only_what_lacks) {
  const auto at = made(library());
  EXPECT_EQ(lacking(*at, with_scopes({"mcp", "read"}), read("file:///private/x")), (list{"mcp", "read", "secrets"}));
  EXPECT_EQ(lacking(*at, with_scopes({"mcp", "secrets"}), read("file:///private")), (list{"mcp", "read", "secrets"}));
  EXPECT_EQ(lacking(*at, with_scopes({"mcp", "read", "secrets"}), read("file:///private/x")), list{});
  const auto refused = at->admit(with_scopes({"mcp"}), read("file:///a"));
  ASSERT_FALSE(refused);
  EXPECT_EQ(
      refused.error().public_text,
      "Not allowed: this needs the scopes mcp read, and the caller lacks some of them. Request a token with all of them.");
}

TEST(gate, a_prefix_ends_at_a_segment_and_covers_parts) {
  const auto at = made(library());
  const auto who = with_scopes({"mcp", "read"});
  EXPECT_EQ(lacking(*at, who, read("file:///private-not")), list{});
  EXPECT_EQ(lacking(*at, who, read("file:///private?lines=1")), (list{"mcp", "read", "secrets"}));
}

// attacks: reading a folder, which brings the contents of what a rule protects in it
TEST(gate, a_prefix_with_a_slash_covers_the_folder_that_it_is_about) {
  scope_rules rules;
  rules.rules = {{{}, {"file:///srv/private/"}, {}, {"secrets"}}};
  const auto at = made(rules);
  for (const char* const uri : {"file:///srv/private", "file:///srv/private/", "file:///srv/private/a",
                                "file:///srv/private?page=1", "file:///srv/private#top"}) {
    EXPECT_EQ(lacking(*at, with_scopes({}), read(uri)), (list{"secrets"})) << uri;
  }
  EXPECT_EQ(lacking(*at, with_scopes({}), read("file:///srv/private-not")), list{});
  EXPECT_EQ(lacking(*at, with_scopes({}), read("file:///srv")), list{});
}

TEST(gate, a_template_covers_parts_of_what_it_matches) {
  const auto at = made(library());
  const auto who = with_scopes({"mcp", "read"});
  const list needed{"mcp", "read", "dba"};
  EXPECT_EQ(lacking(*at, who, read("db://one/secrets/a/b")), needed);
  EXPECT_EQ(lacking(*at, who, read("db://one/secrets/a?rows=1-5")), needed);
  EXPECT_EQ(lacking(*at, who, read("db://one/secrets/a#row")), needed);
  EXPECT_EQ(lacking(*at, who, read("db://one/tables/a")), list{});
}

TEST(gate, a_broader_scope_includes_narrower_ones_at_any_depth) {
  const auto at = made(library());
  EXPECT_EQ(lacking(*at, with_scopes({"mcp", "admin"}), read("file:///private/x")), list{});
  EXPECT_EQ(lacking(*at, with_scopes({"mcp", "write"}), read("file:///a")), list{});
  EXPECT_EQ(lacking(*at, with_scopes({"mcp", "write"}), read("file:///private/x")), (list{"mcp", "read", "secrets"}));
  EXPECT_EQ(lacking(*at, with_scopes({"mcp", "read"}), model::call_tool{"delete", {}, {}}), (list{"mcp", "write", "read"}));
}

TEST(gate, a_rule_may_be_about_a_tool_or_prompt_by_name) {
  const auto at = made(library());
  EXPECT_EQ(lacking(*at, with_scopes({"mcp"}), model::call_tool{"count", {}, {}}), list{});
  EXPECT_EQ(lacking(*at, with_scopes({"mcp"}), model::get_prompt{"delete", {}, {}}), list{});
  EXPECT_EQ(lacking(*at, with_scopes({"mcp"}), model::call_tool{"delete", {}, {}}), (list{"mcp", "write", "read"}));
}

TEST(gate, reading_and_subscribing_have_one_rule_for_all_their_forms) {
  scope_rules rules;
  rules.rules = {{{"resources/read"}, {}, {}, {"read"}}, {{"resources/subscribe"}, {"file:///private"}, {}, {"watch"}}};
  const auto at = made(rules);
  const auto who = with_scopes({});
  const std::string uri = "file:///private/a";
  EXPECT_EQ(lacking(*at, who, model::get_resource{uri, uri, {}}), (list{"read"}));
  EXPECT_EQ(lacking(*at, who, model::subscribe{uri, uri}), (list{"watch"}));
  EXPECT_EQ(lacking(*at, who, model::subscribe_entries{{"file:///b", uri}, {"file:///b", uri}}), (list{"read", "watch"}));
  EXPECT_EQ(lacking(*at, who, model::listen{{}, {"file:///b", uri}, {}}), (list{"watch"}));
  EXPECT_EQ(lacking(*at, who, model::listen{{}, {}, {uri}}), (list{"read", "watch"}));
  EXPECT_EQ(lacking(*at, who, model::listen{{}, {"file:///b"}, {}}), list{});
  EXPECT_EQ(lacking(*at, who, model::listen{}), list{});
  EXPECT_EQ(lacking(*at, who, model::unsubscribe{uri}), list{});
}

TEST(gate, a_rule_without_a_method_holds_for_all_but_what_clients_begin_with) {
  scope_rules rules;
  rules.rules = {{{}, {}, {}, {"any"}}};
  const auto at = made(rules);
  const auto who = with_scopes({});
  for (const model::operation& what :
       {model::operation(model::list_resources{}), model::operation(model::list_templates{}),
        model::operation(model::complete{}), model::operation(model::list_tools{}), model::operation(model::list_prompts{}),
        model::operation(model::list_skills{}), model::operation(model::set_log_level{log_level::info}),
        model::operation(model::read_directory{"a:b", "a:b", {}}), model::operation(model::get_skill{"a:b", "a:b"}),
        model::operation(model::listen{})}) {
    EXPECT_EQ(lacking(*at, who, what), (list{"any"})) << what.index();
  }
  for (const model::operation& what :
       {model::operation(model::initialize{}), model::operation(model::discover{}), model::operation(model::ping{}),
        model::operation(model::unsubscribe{"a:b"}), model::operation(model::unsubscribe_entries{{"a:b"}})}) {
    EXPECT_EQ(lacking(*at, who, what), list{}) << what.index();
  }
}

TEST(scope_rules, that_cannot_be_are_refused_in_words) {
  const auto refusal_of = [](const scope_rules& rules) {
    const auto sound = validate_scope_rules(rules);
    EXPECT_FALSE(gate::make(rules));
    return sound ? std::string() : sound.error().public_text;
  };
  using testing::HasSubstr;
  scope_rules rules;
  rules.always_required = {"two words"};
  EXPECT_THAT(refusal_of(rules), HasSubstr("\"two words\" is not a scope"));
  for (const auto& bad : {std::string(), std::string(257, 'x'), std::string("a\"b"), std::string("a\\b"), std::string("a\nb"),
                          std::string("\xc3\xa4")}) {
    EXPECT_THAT(refusal_of({{bad}, {}, {}}), HasSubstr("is not a scope")) << bad;
    EXPECT_THAT(refusal_of({{}, {}, {{bad, {"read"}}}}), HasSubstr("is not a scope")) << bad;
    EXPECT_THAT(refusal_of({{}, {}, {{"admin", {bad}}}}), HasSubstr("is not a scope")) << bad;
  }
  EXPECT_THAT(refusal_of({{}, {{{"resources/read"}, {}, {}, {}}}, {}}), HasSubstr("a rule has no scopes"));
  EXPECT_THAT(refusal_of({{}, {{{"resources/write"}, {}, {}, {"a"}}}, {}}), HasSubstr("\"resources/write\" is not a method"));
  EXPECT_THAT(refusal_of({{}, {{{"initialize"}, {}, {}, {"a"}}}, {}}), HasSubstr("\"initialize\" is not a method"));
  EXPECT_THAT(refusal_of({{}, {{{}, {"not a URI"}, {}, {"a"}}}, {}}), HasSubstr("\"not a URI\""));
  EXPECT_THAT(refusal_of({{}, {{{}, {"file://localhost/a"}, {}, {"a"}}}, {}}), HasSubstr("Write file:///a."));
  EXPECT_THAT(refusal_of({{}, {{{}, {"a:{x}{y}"}, {}, {"a"}}}, {}}), HasSubstr("x"));
}

TEST(scope_rules, that_go_in_a_circle_are_refused) {
  const auto refusal =
      validate_scope_rules(hondana::scope_rules{{}, {}, {{"admin", {"write"}}, {"write", {"read"}}, {"read", {"write"}}}});
  ASSERT_FALSE(refusal);
  EXPECT_EQ(refusal.error().public_text,
            "Scope rules: the scope \"read\" includes itself through the scopes that it includes.");
  EXPECT_FALSE(validate_scope_rules(hondana::scope_rules{{}, {}, {{"admin", {"admin"}}}}));
  EXPECT_TRUE(validate_scope_rules(hondana::scope_rules{{}, {}, {{"admin", {"write", "read"}}, {"write", {"read"}}}}));
}

}  // namespace
}  // namespace hondana::gate
