/// Folders of skills on disk: what is served and what is left out.
#include <sys/stat.h>
#include <unistd.h>

#include <memory>
#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "unit/sources/skills/skill_folders.hpp"

namespace {

using namespace hondana;
using namespace hondana::skills;
using testing::Contains;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

TEST_F(skill_folders, serve_every_folder_with_a_good_skill_file) {
  write("pdf/SKILL.md", skill_text("pdf"));
  write("pdf/scripts/extract.py", "print()\n");
  write("acme/refunds/SKILL.md", skill_text("refunds"));
  const auto from = open();
  EXPECT_THAT(skill_uris(*from), ElementsAre("skill://acme/refunds/SKILL.md", "skill://pdf/SKILL.md"));
  EXPECT_THAT(listed_uris(*from),
              ElementsAre("skill://acme", "skill://acme/refunds", "skill://acme/refunds/SKILL.md", "skill://pdf",
                          "skill://pdf/SKILL.md", "skill://pdf/scripts", "skill://pdf/scripts/extract.py"));
  EXPECT_EQ(read_text(*from, "skill://pdf/scripts/extract.py"), "print()\n");
  EXPECT_EQ(read_text(*from, "skill://pdf/scripts"), "skill://pdf/scripts/extract.py\n");
  EXPECT_THAT(child_uris(*from, "skill://acme"), ElementsAre("skill://acme/refunds"));
  EXPECT_THAT(left_out(*from), IsEmpty());
  EXPECT_EQ(from->health().detail, "2 skills");
}

TEST_F(skill_folders, keep_the_server_s_own_files_back_under_any_name) {
  write("good/SKILL.md", skill_text("good"));
  for (const char* one : {"good/tokens", "good/tokens.lock", "good/tokens~", "good/open"}) write(one, "x");
  ASSERT_EQ(::link((root / "good/tokens").c_str(), (root / "good/alias").c_str()), 0);
  fs::create_directory_symlink(root, root.string() + "-link");
  const auto real = fs::canonical(root).string();
  for (const auto& path : {root.string(), root.string() + "-link"}) {
    const auto from = folder_skills_provider::open("", {path}, {}, false, true, {real + "/good/tokens"}).value();
    EXPECT_EQ(read_text(*from, "skill://good/open"), "x");
    const auto out = left_out(*from);
    for (const std::string one : {"good/tokens", "good/tokens.lock", "good/tokens~", "good/alias"}) {
      EXPECT_EQ(out.count(one), 1u) << one;
      read_request request;
      request.uri = "skill://" + one;
      EXPECT_EQ(from->read(request).error().code, errc::resource_not_found) << one;
    }
    const auto beneath = folder::open(path, {real + "/good/tokens"}).value();
    EXPECT_FALSE(beneath.open_file("good/tokens"));
    EXPECT_FALSE(beneath.open_file("good/alias"));
    EXPECT_FALSE(beneath.may_contain("good/tokens~"));
    EXPECT_TRUE(beneath.open_file("good/open"));
  }
  fs::remove(root.string() + "-link");
}

TEST_F(skill_folders, leave_bad_skills_out_and_say_why) {
  write("good/SKILL.md", skill_text("good"));
  write("nameless/SKILL.md", "---\ndescription: x\n---\n");
  write("nameless/notes.md", "never served");
  write("nameless/kept/SKILL.md", skill_text("kept"));
  write("broken/SKILL.md", "---\nname: broken\ndescription: [\n---\n");
  write("My Team/tool/SKILL.md", skill_text("tool"));
  write("README.md", "about all of them");
  write("data/deep/a.csv", "1");
  write("good/.env", "TOKEN=1");
  write("good/.git/config", "x");
  const auto from = open();
  EXPECT_THAT(skill_uris(*from), ElementsAre("skill://good/SKILL.md", "skill://nameless/kept/SKILL.md"));
  const auto out = left_out(*from);
  EXPECT_EQ(out.size(), 5);
  EXPECT_EQ(out.at("nameless"), "SKILL.md: the front matter has no \"name\" that is text");
  EXPECT_THAT(out.at("broken"), HasSubstr("SKILL.md: the front matter is not valid YAML: line "));
  EXPECT_THAT(out.at("My Team/tool"), HasSubstr("the folder \"My Team\" cannot begin a URI"));
  EXPECT_EQ(out.at("README.md"), "it does not belong to a skill");
  EXPECT_EQ(out.at("data"), "it does not belong to a skill");
  for (const std::string uri :
       {"skill://nameless/SKILL.md", "skill://nameless/notes.md", "skill://README.md", "skill://good/.env",
        "skill://good/.git/config", "skill://good/../README.md", "skill://broken/SKILL.md"}) {
    EXPECT_EQ(read_text(*from, uri), "error: resource_not_found") << uri;
  }
  EXPECT_EQ(log.size(), 3);
  EXPECT_THAT(log, Contains("the skill nameless is left out: SKILL.md: the front matter has no \"name\" that is text"));
  EXPECT_EQ(from->health().detail, "2 skills, 3 left out");
}

TEST_F(skill_folders, never_follow_links_and_never_open_what_is_no_file) {
  write("secret", "outside");
  write("skills/a/SKILL.md", skill_text("a"));
  fs::create_symlink(root / "secret", root / "skills/a/link");
  fs::create_symlink("..", root / "skills/a/up");
  fs::create_directory_symlink(root, root / "skills/all");
  ASSERT_EQ(::mkfifo((root / "skills/a/pipe").c_str(), 0600), 0);
  const auto from = open("", {"skills"});
  EXPECT_THAT(file_uris(*from, "skill://a/SKILL.md"), ElementsAre("skill://a/SKILL.md"));
  const auto out = left_out(*from);
  EXPECT_EQ(out.at("a/link"), "symbolic links are not followed");
  EXPECT_EQ(out.at("a/up"), "symbolic links are not followed");
  EXPECT_EQ(out.at("all"), "symbolic links are not followed");
  EXPECT_EQ(out.at("a/pipe"), "it is neither a file nor a folder");
  for (const std::string uri : {"skill://a/link", "skill://a/up/secret", "skill://all/secret", "skill://a/pipe"}) {
    EXPECT_EQ(read_text(*from, uri), "error: resource_not_found") << uri;
  }
}

TEST_F(skill_folders, that_are_too_large_are_left_out_without_being_read) {
  write("a/SKILL.md", skill_text("a"));
  write("a/hole", "");
  fs::resize_file(root / "a/hole", 1ull << 40);
  for (int i = 0; i < 513; ++i) write("many/" + std::to_string(i), "");
  write("many/SKILL.md", skill_text("many"));
  write("many/in/SKILL.md", skill_text("in"));
  const auto from = open();
  EXPECT_THAT(skill_uris(*from), ElementsAre("skill://many/in/SKILL.md"));
  const auto out = left_out(*from);
  EXPECT_EQ(out.at("a").substr(0, 23), "its files have 10995116");
  EXPECT_EQ(out.at("many"), "it has 515 files; a skill has at most 512");
}

TEST_F(skill_folders, large_files_are_pulled_and_those_beyond_the_limit_refused) {
  write("a/SKILL.md", skill_text("a"));
  std::string large(3u << 20, 'x');
  for (std::size_t i = 0; i < large.size(); ++i) large[i] = static_cast<char>('a' + i % 26);
  write("a/large", large);
  const auto from = open();
  const auto found = read(*from, "skill://a/large");
  ASSERT_TRUE(found);
  const auto reader = std::get<std::shared_ptr<byte_reader>>(found->contents.front().data);
  ASSERT_EQ(reader->size(), large.size());
  for (int pass = 0; pass < 2; ++pass) {
    std::string pulled;
    std::string window(100'000, '\0');
    for (;;) {
      const auto count = reader->read(window);
      ASSERT_TRUE(count);
      if (*count == 0) break;
      pulled.append(window, 0, *count);
    }
    EXPECT_EQ(pulled, large);
    ASSERT_TRUE(reader->rewind());
  }
  fs::resize_file(root / "a/large", 10);
  std::string window(100'000, '\0');
  EXPECT_EQ(reader->read(window).error().code, errc::content_changed);
  EXPECT_EQ(read(*from, "skill://a/SKILL.md", 5).error().code, errc::response_too_large);
  EXPECT_EQ(read(*from, "skill://a", 5).error().code, errc::response_too_large);
}

TEST_F(skill_folders, large_files_have_the_version_of_their_entry_and_are_not_sent_to_who_has_it) {
  write("a/SKILL.md", skill_text("a"));
  write("a/large", std::string(2u << 20, 'x'));
  const auto from = open();
  ASSERT_THAT(skill_uris(*from), ElementsAre("skill://a/SKILL.md"));
  wait_until_settled("a/large");
  read_request request;
  request.uri = request.requested_uri = "skill://a/large";
  const auto found = from->read(request);
  ASSERT_TRUE(found);
  EXPECT_EQ(found->version, summarize("a/large", std::string(2u << 20, 'x')).digest);
  request.cached_version = found->version;
  const auto again = from->read(request);
  ASSERT_TRUE(again);
  EXPECT_THAT(again->contents, testing::SizeIs(0));
  EXPECT_EQ(again->version, found->version);
  write("a/large", std::string(2u << 20, 'y'));
  const auto other = from->read(request);
  ASSERT_TRUE(other);
  EXPECT_THAT(other->contents, testing::SizeIs(1));
  EXPECT_NE(other->version, found->version);
  wait_until_settled("a/large");
  EXPECT_EQ(from->read(request)->version, summarize("a/large", std::string(2u << 20, 'y')).digest);
}

TEST_F(skill_folders, of_several_folders_the_first_wins_a_name) {
  write("one/a/SKILL.md", skill_text("a", "from: one\n"));
  write("two/a/SKILL.md", skill_text("a", "from: two\n"));
  write("two/b/SKILL.md", skill_text("b"));
  const auto from = open("", {"one", "two"});
  EXPECT_THAT(skill_uris(*from), ElementsAre("skill://a/SKILL.md", "skill://b/SKILL.md"));
  EXPECT_EQ(*skill_at(*from, "skill://a/SKILL.md")->frontmatter.find("from")->as_string(), "one");
  EXPECT_THAT(read_text(*from, "skill://a/SKILL.md"), HasSubstr("from: one"));
  EXPECT_THAT(read_text(*from, "skill://b/SKILL.md"), HasSubstr("name: b"));
  EXPECT_THAT(left_out(*from).at("a"), HasSubstr("which takes precedence"));
  fs::remove(root / "one/a/SKILL.md");
  EXPECT_EQ(read_text(*from, "skill://a/SKILL.md"), "error: resource_not_found");
}

TEST_F(skill_folders, a_prefix_makes_a_folder_itself_a_skill) {
  write("pdf/SKILL.md", skill_text("pdf"));
  write("pdf/x", "1");
  const auto from = open("pdf", {"pdf"});
  EXPECT_THAT(file_uris(*from, "skill://pdf/SKILL.md"), ElementsAre("skill://pdf/SKILL.md", "skill://pdf/x"));
  EXPECT_EQ(read_text(*from, "skill://pdf/x"), "1");
  const auto without = open("", {"pdf"});
  EXPECT_THAT(skill_uris(*without), IsEmpty());
  EXPECT_THAT(left_out(*without).at("SKILL.md"), HasSubstr("set the source's prefix"));
}

TEST_F(skill_folders, refuse_prefixes_that_are_none_and_folders_that_are_not_there) {
  const auto refused = [&](const std::string& prefix) {
    const auto opened = folder_skills_provider::open(prefix, {root.string()}, {});
    return !opened && opened.error().code == errc::invalid_argument;
  };
  for (const std::string prefix : {"/", "a/", "/a", "a//b", "Acme", "a/../b", "a/.", "ac me", "a?b/c"})
    EXPECT_TRUE(refused(prefix)) << prefix;
  EXPECT_FALSE(refused("acme/Billing & more"));
  EXPECT_EQ(folder_skills_provider::open("", {(root / "none").string()}, {}).error().code, errc::source_unavailable);
}

}  // namespace
