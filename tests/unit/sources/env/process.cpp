/// Variables of the process.
#include <cstdlib>
#include <memory>
#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "unit/sources/env/env_folders.hpp"
#include "unit/text/secrets/corpus.hpp"

namespace {

using namespace hondana;
using namespace hondana::env;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::Not;

TEST(process_variables, are_those_that_the_list_allows) {
  const auto from =
      of_process({"PATH=/bin", "LC_ALL=C", "LC_TIME=de_DE.UTF-8", "HOME=/root", "EMPTY=", "A=b=c"}, {"PATH", "LC_*", "A"});
  EXPECT_THAT(listed(*from), ElementsAre("env:///", "env:///A", "env:///LC_ALL", "env:///LC_TIME", "env:///PATH"));
  EXPECT_EQ(text_at(*from, "env:///PATH"), "/bin");
  EXPECT_EQ(text_at(*from, "env:///A"), "b=c");
  EXPECT_EQ(text_at(*from, "env:///"), R"({"A":"b=c","LC_ALL":"C","LC_TIME":"de_DE.UTF-8","PATH":"/bin"})");
  EXPECT_THAT(from->claims(), ElementsAre("env:///"));
  EXPECT_TRUE(from->traits().never_blocks);
  EXPECT_EQ(from->traits().masking, secret_masking::by_source);
  EXPECT_TRUE(from->requirements().folders.empty());
}

TEST(process_variables, that_are_not_allowed_are_as_if_they_were_not_there) {
  const auto from = of_process({"PATH=/bin", "HOME=/root"}, {"PATH"});
  const auto hidden = read_at(*from, "env:///HOME");
  const auto missing = read_at(*from, "env:///NOTHING");
  ASSERT_FALSE(hidden);
  ASSERT_FALSE(missing);
  EXPECT_EQ(hidden.error().code, errc::resource_not_found);
  EXPECT_EQ(hidden.error().code, missing.error().code);
  EXPECT_EQ(hidden.error().public_text, missing.error().public_text);
  EXPECT_EQ(hidden.error().private_text, missing.error().private_text);
  EXPECT_EQ(described(*from, "env:///HOME").error().public_text, described(*from, "env:///NOTHING").error().public_text);
  children_request inside;
  inside.uri = "env:///HOME";
  const auto of_hidden = from->children(inside);
  inside.uri = "env:///NOTHING";
  EXPECT_EQ(of_hidden.error().public_text, from->children(inside).error().public_text);
  EXPECT_THAT(all_that_is_said(*from), Not(HasSubstr("HOME")));
  EXPECT_THAT(completed(*from, "env:///{name}", "HO")->values, ElementsAre());
}

TEST(process_variables, with_odd_names_have_uris) {
  const auto from =
      of_process({"a b/c?%=1", "本=2", "\xFF=3", "..=4", ".=5", "=C:=6", "nothing", "new\nline=7", "BIN=\xFF\x01"});
  EXPECT_THAT(listed(*from), ElementsAre("env:///", "env:///%E6%9C%AC", "env:///%FF", "env:///BIN", "env:///a%20b%2Fc%3F%25",
                                         "env:///new%0Aline"));
  EXPECT_EQ(text_at(*from, "env:///a%20b%2Fc%3F%25"), "1");
  EXPECT_EQ(described(*from, "env:///%E6%9C%AC")->name, "本");
  EXPECT_EQ(described(*from, "env:///new%0Aline")->name, "new%0Aline");
  EXPECT_EQ(described(*from, "env:///%FF")->name, "%FF");
  EXPECT_EQ(described(*from, "env:///BIN")->mime_type, "application/octet-stream");
  EXPECT_TRUE(value::parse(text_at(*from, "env:///")));
  EXPECT_THAT(completed(*from, "env:///{name}", "")->values, ElementsAre("本", "BIN", "a b/c?%"));
  for (const auto& uri : listed(*from)) EXPECT_EQ(canonical_uri(uri), uri);
}

TEST(process_variables, of_one_name_count_as_getenv_has_them) {
  EXPECT_EQ(text_at(*of_process({"A=1", "A=2"}), "env:///A"), "1");
}

TEST(process_variables, match_their_template_and_are_completed) {
  const auto from = of_process({"APP_MODE=x", "APP_PORT=1", "PATH=/bin", "b c=1"});
  const auto all = from->templates();
  ASSERT_EQ(all.size(), 1U);
  EXPECT_EQ(all[0].uri_template, "env:///{name}");
  const auto compiled = uri_template::compile(all[0].uri_template);
  ASSERT_TRUE(compiled);
  EXPECT_EQ(compiled->expand({{"name", "b c"}}), "env:///b%20c");
  EXPECT_TRUE(compiled->match("env:///PATH"));
  EXPECT_THAT(completed(*from, "env:///{name}", "app")->values, ElementsAre("APP_MODE", "APP_PORT"));
  EXPECT_THAT(completed(*from, "env://other/{name}", "").has_value(), false);
}

TEST(process_variables, are_children_of_their_folder) {
  const auto from = of_process({"A=1", "B=2"});
  children_request asked;
  asked.uri = "env:///";
  const auto inside = from->children(asked);
  ASSERT_TRUE(inside);
  ASSERT_EQ(inside->entries.size(), 2U);
  EXPECT_EQ(inside->entries[1].uri, "env:///B");
  asked.uri = "env:///A";
  EXPECT_EQ(from->children(asked).error().code, errc::invalid_argument);
}

TEST(process_variables, have_versions_of_what_is_shown) {
  const auto from = of_process({"A=1", "B_PASSWORD=old-1-Password"});
  const auto other = of_process({"A=2", "B_PASSWORD=another-2-Password-that-is-longer"});
  EXPECT_NE(described(*from, "env:///A")->version, described(*other, "env:///A")->version);
  // Neither version nor size say anything about a secret.
  EXPECT_EQ(described(*from, "env:///B_PASSWORD")->version, described(*other, "env:///B_PASSWORD")->version);
  EXPECT_EQ(described(*from, "env:///B_PASSWORD")->size, described(*other, "env:///B_PASSWORD")->size);
  EXPECT_EQ(read_at(*from, "env:///A")->version, described(*from, "env:///A")->version);
  EXPECT_EQ(read_at(*from, "env:///")->version, described(*from, "env:///")->version);
  read_request asked;
  asked.uri = asked.requested_uri = "env:///A";
  asked.cached_version = described(*from, "env:///A")->version;
  EXPECT_TRUE(from->read(asked)->contents.empty());
  asked.cached_version = "x";
  EXPECT_EQ(from->read(asked)->contents.size(), 1U);
  asked.max_bytes = 0;
  EXPECT_EQ(from->read(asked).error().code, errc::response_too_large);
}

class hides_b final : public access_filter {
 public:
  [[nodiscard]] std::uint64_t id() const noexcept override { return 7; }
  [[nodiscard]] bool may_see(std::string_view uri) const override { return !uri.ends_with("/B"); }
};

TEST(process_variables, that_a_view_hides_are_in_no_summary) {
  const auto from = of_process({"A=1", "B=2"});
  const auto through = std::make_shared<hides_b>();
  EXPECT_THAT(listed(*from, through), ElementsAre("env:///", "env:///A"));
  read_request asked;
  asked.uri = asked.requested_uri = "env:///";
  asked.caller.access_filter = through;
  const auto found = from->read(asked);
  ASSERT_TRUE(found);
  EXPECT_EQ(*std::get<shared_bytes>(found->contents[0].data), R"({"A":"1"})");
  EXPECT_EQ(found->version, read_at(*of_process({"A=1"}), "env:///")->version);
  complete_request names;
  names.uri_template = "env:///{name}";
  names.argument = "name";
  names.caller.access_filter = through;
  EXPECT_THAT(from->complete(names)->values, ElementsAre("A"));
}

TEST(process_variables, are_masked_and_say_how_often) {
  test::lots drawn(11);
  const auto token = "ghp_" + drawn.alnum(36);
  const auto from = of_process({"APP_NOTE=with " + token, "APP_TOKEN=x", "EMPTY_TOKEN="});
  EXPECT_THAT(text_at(*from, "env:///APP_NOTE"), Not(HasSubstr(token.substr(4))));
  EXPECT_EQ(facts_at(*from, "env:///APP_NOTE"), (metadata{{"dev.hondana/redacted", std::int64_t{1}}}));
  EXPECT_EQ(text_at(*from, "env:///APP_TOKEN"), "********");
  EXPECT_EQ(text_at(*from, "env:///EMPTY_TOKEN"), "");
  EXPECT_EQ(facts_at(*from, "env:///EMPTY_TOKEN"), metadata());
  EXPECT_EQ(facts_at(*from, "env:///"), (metadata{{"dev.hondana/redacted", std::int64_t{2}}}));
  const auto open = of_process({"APP_TOKEN=" + token}, {"*"}, false);
  EXPECT_EQ(text_at(*open, "env:///APP_TOKEN"), token);
  EXPECT_EQ(open->traits().masking, secret_masking::none);
}

TEST(process_variables, with_secrets_in_their_names_are_left_out) {
  test::lots drawn(12);
  const auto token = "ghp_" + drawn.alnum(36);
  const auto from = of_process({"A=1", token + "=1"});
  EXPECT_THAT(listed(*from), ElementsAre("env:///", "env:///A"));
  EXPECT_THAT(all_that_is_said(*from), Not(HasSubstr(token)));
}

TEST(process_variables, are_surveyed_without_names_of_others) {
  const auto from = of_process({"A=1", "HOME=/root", "SHELL=/bin/sh", "..=1"}, {"A",
                                                                                "."
                                                                                "."});
  std::vector<std::string> lines;
  ASSERT_TRUE(
      from->inventory({}, [&](const inventory_item& one) { lines.push_back(one.name + '|' + one.uri + '|' + one.reason); }));
  EXPECT_THAT(lines, ElementsAre("env:///|env:///|", "A|env:///A|", "env:/// (2 more)||they match no pattern in allow",
                                 "env:/// (1 more)||their names cannot be in a URI, or contain a secret"));
}

TEST(process_variables, are_taken_from_the_environment) {
  ASSERT_EQ(::setenv("HONDANA_TEST_OF_ENVIRONMENT", "here", 1), 0);
  const auto from = of_process(process_environment(), {"HONDANA_TEST_OF_*"});
  // What this program sets later is not what it was started with.
  ASSERT_EQ(::setenv("HONDANA_TEST_OF_ENVIRONMENT", "later", 1), 0);
  EXPECT_EQ(text_at(*from, "env:///HONDANA_TEST_OF_ENVIRONMENT"), "here");
  ASSERT_EQ(::unsetenv("HONDANA_TEST_OF_ENVIRONMENT"), 0);
}

TEST(process_variables, are_documented_with_every_kind) {
  const auto from = of_process({"A=1"});
  const auto said = from->documentation();
  EXPECT_EQ(said.scheme, "env");
  const auto page = from->list({});
  ASSERT_TRUE(page);
  for (const auto& one : page->entries) {
    EXPECT_TRUE(std::any_of(said.kinds.begin(), said.kinds.end(), [&](const auto& kind) { return kind.name == one.kind; }))
        << one.kind;
  }
}

}  // namespace
