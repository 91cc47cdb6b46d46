/// Folders of skills while they change, and while many ask.
#include <atomic>
#include <chrono>
#include <stop_token>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "unit/sources/skills/skill_folders.hpp"

namespace {

using namespace hondana;
using namespace hondana::skills;
using testing::ElementsAre;
using testing::IsEmpty;

TEST_F(skill_folders, warn_of_a_bad_skill_once_and_again_when_it_is_bad_in_another_way) {
  write("a/SKILL.md", "# nothing");
  const auto from = open();
  EXPECT_THAT(skill_uris(*from), IsEmpty());
  EXPECT_THAT(skill_uris(*from), IsEmpty());
  EXPECT_EQ(log.size(), 1);
  write("a/SKILL.md", "---\nname: a\n---\n");
  EXPECT_THAT(skill_uris(*from), IsEmpty());
  EXPECT_EQ(log.size(), 2);
  write("a/SKILL.md", skill_text("a"));
  EXPECT_THAT(skill_uris(*from), ElementsAre("skill://a/SKILL.md"));
  EXPECT_EQ(log.size(), 2);
}

TEST_F(skill_folders, a_file_replaced_by_a_link_is_not_read_through_it) {
  write("secret", "outside");
  write("skills/a/SKILL.md", skill_text("a"));
  write("skills/a/b/x", "inside");
  const auto from = open("", {"skills"});
  EXPECT_EQ(read_text(*from, "skill://a/b/x"), "inside");
  fs::remove(root / "skills/a/b/x");
  fs::create_symlink(root / "secret", root / "skills/a/b/x");
  EXPECT_EQ(read_text(*from, "skill://a/b/x"), "error: resource_not_found");
  fs::remove_all(root / "skills/a/b");
  write("elsewhere/x", "outside");
  fs::create_directory_symlink(root / "elsewhere", root / "skills/a/b");
  EXPECT_EQ(read_text(*from, "skill://a/b/x"), "error: resource_not_found");
}

TEST_F(skill_folders, see_every_change_at_the_next_question) {
  write("a/SKILL.md", skill_text("a"));
  const auto from = open();
  const auto digest = [&] { return skill_at(*from, "skill://a/SKILL.md")->files->back().digest; };
  for (int round = 0; round < 200; ++round) {
    // Of one length, and written within one tick of the clock: only the bytes tell them apart.
    const std::string text = std::to_string(1000 + round);
    write("a/x", text);
    EXPECT_EQ(digest(), summarize("a/x", text).digest) << round;
  }
  fs::remove(root / "a/x");
  EXPECT_THAT(file_uris(*from, "skill://a/SKILL.md"), ElementsAre("skill://a/SKILL.md"));
  fs::rename(root / "a", root / "b");
  EXPECT_THAT(skill_uris(*from), IsEmpty());
  write("b/SKILL.md", skill_text("b"));
  EXPECT_THAT(skill_uris(*from), ElementsAre("skill://b/SKILL.md"));
  EXPECT_EQ(read_text(*from, "skill://a/SKILL.md"), "error: resource_not_found");
}

TEST_F(skill_folders, tell_of_the_changes_that_a_question_finds) {
  write("a/SKILL.md", skill_text("a"));
  write("a/x", "1");
  const auto from = open();
  const auto told = std::make_shared<recorder>();
  from->set_listener(told);
  EXPECT_THAT(skill_uris(*from), ElementsAre("skill://a/SKILL.md"));
  EXPECT_THAT(told->heard, IsEmpty());
  write("a/x", "2");
  EXPECT_THAT(skill_uris(*from), ElementsAre("skill://a/SKILL.md"));
  EXPECT_THAT(told->heard, ElementsAre("skill://a/x"));
  fs::remove(root / "a/x");
  EXPECT_THAT(child_uris(*from, "skill://a"), ElementsAre("skill://a/SKILL.md"));
  EXPECT_THAT(told->heard, ElementsAre("skill://a/x", "skill://a/x", "skill://a", "list"));
}

TEST_F(skill_folders, forged_times_hide_no_change) {
  write("a/SKILL.md", skill_text("a"));
  write("a/x", "1");
  fs::last_write_time(root / "a/x", fs::file_time_type::clock::now() - std::chrono::hours(48));
  const auto when = fs::last_write_time(root / "a/x");
  const auto from = open();
  ASSERT_TRUE(skill_at(*from, "skill://a/SKILL.md"));
  write("a/x", "2");
  fs::last_write_time(root / "a/x", when);
  EXPECT_EQ(skill_at(*from, "skill://a/SKILL.md")->files->back().digest, summarize("a/x", "2").digest);
}

TEST_F(skill_folders, are_not_read_again_as_long_as_nothing_changes) {
  write("a/SKILL.md", skill_text("a"));
  auto opened = folder::open(root.string());
  ASSERT_TRUE(opened);
  std::vector<folder> folders;
  folders.push_back(std::move(*opened));
  collection_cache books({}, std::move(folders), {});
  wait_until_settled("a/SKILL.md");  // so that what is read is remembered
  const auto first = books.refresh({});
  const auto second = books.refresh({});
  ASSERT_TRUE(first && second);
  EXPECT_EQ(*first, *second);
  EXPECT_EQ(books.latest(), *first);
  write("a/x", "1");
  const auto third = books.refresh({});
  ASSERT_TRUE(third);
  EXPECT_NE(*third, *first);
}

TEST_F(skill_folders, describe_files_and_folders_as_they_are) {
  write("a/SKILL.md", skill_text("a"));
  write("a/x", "1");
  const auto from = open();
  const auto version_of = [&](const std::string& uri) {
    const auto entry = describe(*from, uri);
    return entry ? entry->version : std::string(name_of(entry.error().code));
  };
  EXPECT_EQ(version_of("skill://a/x"), summarize("a/x", "1").digest);
  EXPECT_EQ(version_of("skill://a"), read(*from, "skill://a")->version);
  wait_until_settled("a/x");
  ASSERT_THAT(skill_uris(*from), ElementsAre("skill://a/SKILL.md"));
  // Changed, gone and come again since the last look.
  write("a/x", "2");
  EXPECT_EQ(version_of("skill://a/x"), summarize("a/x", "2").digest);
  fs::remove(root / "a/x");
  EXPECT_EQ(version_of("skill://a/x"), "resource_not_found");
  write("a/y", "3");
  EXPECT_EQ(version_of("skill://a/y"), summarize("a/y", "3").digest);
  EXPECT_EQ(version_of("skill://a/none"), "resource_not_found");
  EXPECT_EQ(version_of("skill://none/at/all"), "resource_not_found");
}

TEST_F(skill_folders, are_not_walked_for_what_is_known_nor_for_what_is_not_there) {
  write("a/SKILL.md", skill_text("a"));
  write("a/x", "1");
  wait_until_settled("a/x");
  const auto from = open();
  const auto told = std::make_shared<recorder>();
  from->set_listener(told);
  ASSERT_THAT(skill_uris(*from), ElementsAre("skill://a/SKILL.md"));
  // A walk would find this, and tell.
  write("a/new", "1");
  EXPECT_TRUE(describe(*from, "skill://a/x"));
  EXPECT_FALSE(describe(*from, "skill://a/none"));
  for (const std::string uri : {"skill://a/none", "skill://none", "skill://a/.env", "skill://a/x/deeper", "skill://a/%00"})
    EXPECT_EQ(read_text(*from, uri), "error: resource_not_found") << uri;
  EXPECT_THAT(told->heard, IsEmpty());
  EXPECT_EQ(read_text(*from, "skill://a/new"), "1");
  EXPECT_THAT(told->heard, ElementsAre("skill://a/new", "skill://a", "list"));
}

TEST_F(skill_folders, of_a_folder_that_was_replaced_are_those_at_its_path) {
  write("one/a/SKILL.md", skill_text("a"));
  write("two/b/SKILL.md", skill_text("b"));
  fs::create_directory_symlink("one", root / "now");
  const auto from = open("", {"now"});
  ASSERT_THAT(skill_uris(*from), ElementsAre("skill://a/SKILL.md"));
  // As deployments do it: the link is exchanged in one step.
  fs::create_directory_symlink("two", root / "next");
  fs::rename(root / "next", root / "now");
  EXPECT_EQ(read_text(*from, "skill://a/SKILL.md"), "error: resource_not_found");
  EXPECT_THAT(skill_uris(*from), ElementsAre("skill://b/SKILL.md"));
  fs::rename(root / "two", root / "away");
  EXPECT_EQ(from->skills({}).error().code, errc::source_unavailable);
  EXPECT_EQ(from->skills({}).error().code, errc::source_unavailable);
  EXPECT_THAT(log, ElementsAre(testing::HasSubstr("cannot be read")));
  write("two", "no folder");
  EXPECT_EQ(from->skills({}).error().code, errc::source_unavailable);
  fs::remove(root / "two");
  fs::rename(root / "away", root / "two");
  EXPECT_THAT(skill_uris(*from), ElementsAre("skill://b/SKILL.md"));
  EXPECT_THAT(log, ElementsAre(testing::HasSubstr("cannot be read"), testing::HasSubstr("can be read again")));
}

TEST_F(skill_folders, answer_many_at_once_while_their_folder_is_replaced) {
  write("one/a/SKILL.md", skill_text("a", "from: one\n"));
  write("two/a/SKILL.md", skill_text("a", "from: two\n"));
  fs::create_directory_symlink("one", root / "now");
  const auto from = open("", {"now"});
  std::vector<std::jthread> askers;
  std::atomic<int> wrong{0};
  std::atomic<int> answers{0};
  for (int i = 0; i < 4; ++i) {
    askers.emplace_back([&](const std::stop_token& stop) {
      do {
        if (skill_uris(*from) != std::vector<std::string>{"skill://a/SKILL.md"}) ++wrong;
        if (read_text(*from, "skill://a/SKILL.md").find("from: ") == std::string::npos) ++wrong;
        if (!describe(*from, "skill://a/SKILL.md")) ++wrong;
        ++answers;
      } while (!stop.stop_requested());  // the machine may be quicker than the start of a thread
    });
  }
  for (int i = 0; i < 100; ++i) {
    const std::string other = i % 2 == 0 ? "two" : "one";
    fs::create_directory_symlink(other, root / "next");
    fs::rename(root / "next", root / "now");
    EXPECT_EQ(read_text(*from, "skill://a/SKILL.md"), skill_text("a", "from: " + other + "\n")) << i;
    EXPECT_EQ(*skill_at(*from, "skill://a/SKILL.md")->frontmatter.find("from")->as_string(), other) << i;
  }
  askers.clear();
  EXPECT_EQ(wrong, 0);
  EXPECT_GT(answers, 0);
  EXPECT_THAT(log, IsEmpty());
}

TEST_F(skill_folders, give_up_when_nobody_waits) {
  write("a/SKILL.md", skill_text("a"));
  const auto from = open();
  list_request late;
  late.deadline = std::chrono::steady_clock::now() - std::chrono::seconds(1);
  EXPECT_EQ(from->skills(late).error().code, errc::timed_out);
  std::stop_source gone;
  gone.request_stop();
  list_request stopped;
  stopped.stop = gone.get_token();
  EXPECT_EQ(from->skills(stopped).error().code, errc::cancelled);
  EXPECT_THAT(skill_uris(*from), ElementsAre("skill://a/SKILL.md"));
}

TEST_F(skill_folders, answer_many_at_once_while_they_change) {
  for (int i = 0; i < 20; ++i) {
    const auto name = "s" + std::to_string(i);
    write(name + "/SKILL.md", skill_text(name));
  }
  const auto from = open();
  std::vector<std::jthread> askers;
  std::atomic<int> wrong{0};
  for (int i = 0; i < 4; ++i) {
    askers.emplace_back([&](const std::stop_token& stop) {
      while (!stop.stop_requested()) {
        if (skill_uris(*from).size() != 20) ++wrong;
        if (read_text(*from, "skill://s3/SKILL.md") != skill_text("s3")) ++wrong;
      }
    });
  }
  for (int i = 0; i < 50; ++i) {
    write("s1/x", std::to_string(i));
    EXPECT_EQ(skill_at(*from, "skill://s1/SKILL.md")->files->back().digest, summarize("s1/x", std::to_string(i)).digest);
  }
  askers.clear();
  EXPECT_EQ(wrong, 0);
}

}  // namespace
