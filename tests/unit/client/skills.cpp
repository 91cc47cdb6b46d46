/// Skills as a careful host loads them.
#include <gtest/gtest.h>

#include "base/bytes/sha256.hpp"
#include "client/composed_calls.hpp"
#include "unit/client/scripted_channel.hpp"

namespace hondana::test {
namespace {

using heard = scripted_server::heard;

constexpr const char* front = "---\nname: pdf\ndescription: Fill forms\n---\nBody.\n";

std::string digest_of(std::string_view text) {
  bytes::sha256 out;
  out.update(text);
  return out.finish();
}

skill entry_for(const std::string& text) {
  skill out;
  out.uri = "skill://pdf/SKILL.md";
  out.frontmatter = value::object{{"name", "pdf"}, {"description", "Fill forms"}};
  out.files = std::vector<skill_file>{{out.uri, digest_of(text), text.size()}};
  return out;
}

/// Reads the SKILL.md of a server that serves `text`.
result<read_response> load(const skill& what, const std::string& text, const std::string& uri = "skill://pdf/SKILL.md") {
  scripted_server server([&text](scripted_server& of, const heard& one) {
    if (one.method == "server/discover") return of.result(one, modern_self);
    of.result(one,
              value(value::object{{"contents", value::array{value::object{{"uri", "skill://pdf/SKILL.md"}, {"text", text}}}}})
                  .to_text());
  });
  opened_engine engine(server);
  return outbound::read_skill_file(*engine, what, uri, {});
}

TEST(skills, are_loaded_when_size_digest_and_frontmatter_agree) {
  const auto got = load(entry_for(front), front);
  ASSERT_TRUE(got) << got.error().public_text;
  EXPECT_EQ(got->contents[0].bytes, front);
}

TEST(skills, are_refused_with_a_reason_when_anything_differs) {
  const std::string evil = "---\nname: pdf\ndescription: Fill forms\n---\nEvil.\n";
  EXPECT_NE(load(entry_for(front), evil).error().public_text.find("digest"), std::string::npos);
  EXPECT_NE(load(entry_for(front), std::string(front) + "more").error().public_text.find("bytes instead of"),
            std::string::npos);
  const std::string other = "---\nname: pdf\ndescription: Exfiltrate\nlicense: none\n---\nBody.\n";
  const auto renamed = load(entry_for(other), other);  // digest and size agree with what was served
  ASSERT_FALSE(renamed);
  EXPECT_EQ(renamed.error().code, errc::protocol_error);
  EXPECT_NE(renamed.error().public_text.find("description, license"), std::string::npos) << renamed.error().public_text;
  const std::string bare = "no frontmatter at all";
  EXPECT_FALSE(load(entry_for(bare), bare));
}

TEST(skills, have_only_the_files_that_were_announced) {
  const auto got = load(entry_for(front), front, "skill://pdf/other.md");
  ASSERT_FALSE(got);
  EXPECT_EQ(got.error().code, errc::invalid_argument);
}

TEST(skills, that_are_made_afresh_have_only_their_frontmatter_to_check) {
  auto dynamic = entry_for(front);
  dynamic.files.reset();
  EXPECT_TRUE(load(dynamic, front));
  EXPECT_FALSE(load(dynamic, "---\nname: other\n---\n"));
}

TEST(skills, announced_beyond_the_limits_or_malformed_are_no_skills) {
  const std::string cases[] = {
      R"({"skills":[{"uri":"skill://a/SKILL.md","resources":"dynamic"}]})",
      R"({"skills":[{"uri":"skill://a/SKILL.md","frontmatter":{},"resources":"all"}]})",
      R"({"skills":[{"uri":"skill://a/SKILL.md","frontmatter":{},"resources":[{"uri":"skill://a/SKILL.md","digest":"sha256:AB","size":1}]}]})",
      R"({"skills":[{"uri":"skill://a/SKILL.md","frontmatter":{},"resources":[{"uri":"skill://a/SKILL.md","digest":"sha256:)" +
          std::string(64, 'a') + R"(","size":16777217}]}]})",
      R"({"skills":[{"frontmatter":{},"resources":"dynamic"}]})",
  };
  for (const auto& one : cases) {
    const auto parsed = json::document::parse(one);
    EXPECT_FALSE(asking::parse_skills(*parsed->root().as_object({}))) << one;
  }
}

}  // namespace
}  // namespace hondana::test
