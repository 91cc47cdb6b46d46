/// Keys as they are written, and found.
#include "sources/config_files/key_path.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace hondana::config_files {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

std::vector<std::string> parts_of(std::string_view written) {
  const auto parsed = parse_key(written);
  if (!parsed) return {"error: " + parsed.error().public_text};
  std::vector<std::string> all;
  for (const auto& one : *parsed) all.push_back((one.is_bracketed ? "!" : "") + one.name);
  return all;
}

TEST(configuration_keys, are_names_with_dots_between_them) {
  EXPECT_THAT(parts_of(""), ElementsAre());
  EXPECT_THAT(parts_of("server"), ElementsAre("server"));
  EXPECT_THAT(parts_of("server.tls.port"), ElementsAre("server", "tls", "port"));
  EXPECT_THAT(parts_of("hosts.0.name"), ElementsAre("hosts", "0", "name"));
  EXPECT_THAT(parts_of("hosts[0].name"), ElementsAre("hosts", "!0", "name"));
  EXPECT_THAT(parts_of(R"(a\.b.c\\d)"), ElementsAre("a.b", "c\\d"));
  EXPECT_THAT(parts_of(R"(labels["app.kubernetes.io/name"].x)"), ElementsAre("labels", "!app.kubernetes.io/name", "x"));
  EXPECT_THAT(parts_of(R"(["say \"hi\""]["\\"])"), ElementsAre("!say \"hi\"", "!\\"));
  EXPECT_THAT(parts_of(R"([""])"), ElementsAre("!"));
}

TEST(configuration_keys, say_where_they_are_wrong) {
  EXPECT_THAT(parts_of("a."), ElementsAre(HasSubstr("byte 3: a name is missing")));
  EXPECT_THAT(parts_of(".a"), ElementsAre(HasSubstr("byte 1: a name is missing")));
  EXPECT_THAT(parts_of("a..b"), ElementsAre(HasSubstr("byte 3: a name is missing")));
  EXPECT_THAT(parts_of("a.[0]"), ElementsAre(HasSubstr("byte 3: a name is missing")));
  EXPECT_THAT(parts_of("a[\"b"), ElementsAre(HasSubstr("a double quote is not closed")));
  EXPECT_THAT(parts_of("a[b]"), ElementsAre(HasSubstr("a number or a name in double quotes")));
  EXPECT_THAT(parts_of("a[1"), ElementsAre(HasSubstr("a bracket is not closed")));
  EXPECT_THAT(parts_of("a" + std::string(200'000, '.') + "b"), ElementsAre(HasSubstr("byte 3: a name is missing")));
  std::string many = "a";
  for (int i = 0; i < 256; ++i) many += ".a";
  EXPECT_THAT(parts_of(many), ElementsAre(HasSubstr("more than 256 names")));
  EXPECT_THAT(parts_of("a[1]b"), ElementsAre(HasSubstr("a dot is missing")));
}

TEST(configuration_keys, are_read_again_as_they_were_written) {
  for (const std::string name : {"port", "a.b", "", "x[1]", "say \"hi\"", "back\\slash", "日本", "a b", "0"}) {
    std::string written = "top";
    append_part(written, name);
    append_part(written, "end");
    const auto parsed = parse_key(written);
    ASSERT_TRUE(parsed) << written;
    ASSERT_EQ(parsed->size(), 3u) << written;
    EXPECT_EQ((*parsed)[1].name, name) << written;
    EXPECT_EQ((*parsed)[2].name, "end") << written;
  }
}

located::member member_of(std::string key, located::node what) { return {std::move(key), {}, std::move(what)}; }
located::node text_of(std::string what) {
  located::node made;
  made.kind = located::node_kind::text;
  made.text = std::move(what);
  return made;
}
located::node table_of(std::vector<located::member> members) {
  located::node made;
  made.kind = located::node_kind::table;
  made.members = std::move(members);
  return made;
}

std::string found(const located::node& in, std::string_view written) {
  const auto along = parse_key(written);
  if (!along) return "bad key";
  const auto at = find_key(in, *along);
  return at.matched_parts == along->size() ? at.key + "=" + at.node->text : "stopped at " + at.key;
}

TEST(configuration_keys, lead_to_members_and_items_and_to_names_with_dots) {
  located::node list;
  list.kind = located::node_kind::list;
  list.items = {text_of("one"), table_of({member_of("x", text_of("two"))})};
  const auto root =
      table_of({member_of("server.port", text_of("80")), member_of("server", table_of({member_of("host", text_of("h"))})),
                member_of("list", list), member_of("a", table_of({member_of("b.c.d", text_of("deep"))}))});
  EXPECT_EQ(found(root, "server.host"), "server.host=h");
  EXPECT_EQ(found(root, "[\"server.port\"]"), "[\"server.port\"]=80");
  // The table is there, so its name is not looked for as a part of another.
  EXPECT_EQ(found(root, "server.port"), "stopped at server");
  EXPECT_EQ(found(root, "a.b.c.d"), "a[\"b.c.d\"]=deep");
  EXPECT_EQ(found(root, "list.0"), "list.0=one");
  EXPECT_EQ(found(root, "list[1].x"), "list.1.x=two");
  EXPECT_EQ(found(root, "list.2"), "stopped at list");
  EXPECT_EQ(found(root, "list.-1"), "stopped at list");
  EXPECT_EQ(found(root, "list.18446744073709551616"), "stopped at list");
  EXPECT_EQ(found(root, "server.host.deeper"), "stopped at server.host");
}

TEST(configuration_keys, that_were_perhaps_meant_are_the_nearest) {
  EXPECT_THAT(find_similar_names("prot", {"host", "port", "password", "ports"}),
              ElementsAre("port", "host", "ports", "password"));
  EXPECT_THAT(find_similar_names("x", {}), ElementsAre());
  EXPECT_EQ(find_similar_names("a", std::vector<std::string>(5000, std::string(100'000, 'a'))).size(), 5u);
}

}  // namespace
}  // namespace hondana::config_files
