/// What views show of resources, whose URIs may be written otherwise by mounted servers.
#include <memory>
#include <string>
#include <utility>

#include <gtest/gtest.h>

#include "server/gate/gate.hpp"

namespace hondana::gate {
namespace {

/// A server where everything may be read but for what `but` is about.
std::shared_ptr<const gate> all_but(access_rule but) {
  access_rules rules;
  rules.rules.push_back({.level = access_level::read});
  rules.rules.push_back(std::move(but));
  return gate::make({}, rules, {"notes://team/"}).value();
}

// attacks: traversal (a rule got round by another spelling)
TEST(a_gate, hides_what_is_denied_behind_the_prefix_of_a_mount_however_it_is_written) {
  const auto at = all_but({.uris = {"notes://team/docs:keys", "mcp://u/mcp://v/docs:keys"}});
  const auto through = at->filter_of({"bob", {}, nullptr});
  for (const auto* uri : {"notes://team/docs:keys", "notes://team/DOCS:keys", "notes://team/Docs:keys?lines=1",
                          "mcp://u/MCP://v/DOCS:keys", "mcp://u/mcp://v/docs:keys"}) {
    EXPECT_FALSE(at->may_read(through.get(), uri)) << uri;
    EXPECT_FALSE(at->may_see(through.get(), uri)) << uri;
  }
  EXPECT_TRUE(at->may_read(through.get(), "notes://team/DOCS:open"));
  EXPECT_TRUE(at->may_read(nullptr, "notes://team/DOCS:keys")) << "no rules";
}

// attacks: traversal (a rule got round by another spelling)
TEST(a_gate, judges_entries_by_all_spellings_of_their_uris) {
  access_rule for_users{.uris = {"mcp://std/file:///srv/keys"}, .audience = chat_role::user};
  const auto hidden = all_but(for_users);
  for_users.level = access_level::list;
  const auto listed = all_but(for_users);
  resource entry{.uri = "mcp://std/FILE:///srv/keys/a", .annotations = {.audience = {chat_role::user}}};
  const caller_info who{"bob", {}, nullptr};
  EXPECT_FALSE(hidden->may_see(hidden->filter_of(who).get(), entry));
  EXPECT_TRUE(listed->may_see(listed->filter_of(who).get(), entry));
  EXPECT_FALSE(listed->may_read(listed->filter_of(who).get(), entry));
  entry.annotations.audience = {chat_role::assistant};
  EXPECT_TRUE(hidden->may_see(hidden->filter_of(who).get(), entry));
  EXPECT_TRUE(listed->may_read(listed->filter_of(who).get(), entry));
}

TEST(a_gate, looks_at_uris_and_entries_alike) {
  access_rules rules;
  rules.rules = {{.level = access_level::read},
                 {.uris = {"mcp://std/file:///srv/keys"}, .level = access_level::list},
                 {.kinds = {"folder"}, .level = access_level::none}};
  const auto at = gate::make({}, rules).value();
  const auto through = at->filter_of({"bob", {}, nullptr});
  const resource entry{.uri = "mcp://std/FILE:///srv/keys/a"};
  EXPECT_TRUE(at->may_see(through.get(), entry));
  EXPECT_FALSE(at->may_read(through.get(), entry)) << "a rule about kinds does not make others forgotten";
}

}  // namespace
}  // namespace hondana::gate
