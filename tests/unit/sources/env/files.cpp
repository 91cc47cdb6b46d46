/// Variables of files.
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <string>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "unit/os/disk/stopped_wall_clock.hpp"
#include "unit/sources/env/env_folders.hpp"
#include "unit/text/secrets/corpus.hpp"

namespace {

using namespace hondana;
using namespace hondana::env;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::Not;

struct env_files : env_folders {};

TEST_F(env_files, are_served_below_their_names) {
  write("prod.env", "# of production\nMODE=live\nexport LEVEL='info'\nEMPTY=\nNOTE=\"two\nlines\"\nHIDDEN=1\n");
  const auto from = open(with_file("prod.env", {"MODE", "LEVEL", "EMPTY", "NOTE"}));
  EXPECT_THAT(from->claims(), ElementsAre("env://prod/"));
  EXPECT_THAT(listed(*from),
              ElementsAre("env://prod/", "env://prod/EMPTY", "env://prod/LEVEL", "env://prod/MODE", "env://prod/NOTE"));
  EXPECT_EQ(text_at(*from, "env://prod/MODE"), "live");
  EXPECT_EQ(text_at(*from, "env://prod/LEVEL"), "info");
  EXPECT_EQ(text_at(*from, "env://prod/EMPTY"), "");
  EXPECT_EQ(text_at(*from, "env://prod/NOTE"), "two\nlines");
  EXPECT_EQ(text_at(*from, "env://prod/"), R"({"EMPTY":"","LEVEL":"info","MODE":"live","NOTE":"two\nlines"})");
  EXPECT_EQ(text_at(*from, "env://prod/HIDDEN"), "error: resource_not_found");
  EXPECT_EQ(error_at(*from, "env://prod/HIDDEN"), error_at(*from, "env://prod/NOTHING"));
  EXPECT_THAT(all_that_is_said(*from), Not(HasSubstr("HIDDEN")));
  EXPECT_THAT(completed(*from, "env://prod/{name}", "l")->values, ElementsAre("LEVEL"));
  ASSERT_EQ(from->requirements().folders.size(), 1U);
  EXPECT_EQ(from->requirements().folders[0].path, root.string());
  EXPECT_FALSE(from->requirements().folders[0].is_writable);
  EXPECT_FALSE(from->traits().never_blocks);
  EXPECT_TRUE(from->health().is_healthy);
  EXPECT_EQ(log(), "");
}

TEST_F(env_files, stand_beside_the_process_and_each_other) {
  write("a.env", "X=a\n");
  write("b.env", "X=b\n");
  auto with = with_file("a.env");
  with.files.push_back({"b", (root / "b.env").string()});
  with.process = {"X=p"};
  const auto from = open(std::move(with));
  EXPECT_THAT(from->claims(), ElementsAre("env:///", "env://prod/", "env://b/"));
  EXPECT_THAT(listed(*from), ElementsAre("env:///", "env:///X", "env://b/", "env://b/X", "env://prod/", "env://prod/X"));
  EXPECT_EQ(text_at(*from, "env:///X") + text_at(*from, "env://prod/X") + text_at(*from, "env://b/X"), "pab");
  EXPECT_EQ(from->requirements().folders.size(), 1U);
}

TEST_F(env_files, of_one_name_or_without_a_folder_are_refused) {
  write("a.env", "X=a\n");
  auto with = with_file("a.env");
  with.files.push_back(with.files.front());
  EXPECT_THAT(env_provider::open(with).error().public_text, HasSubstr("\"prod\""));
  with = with_file("none/a.env");
  EXPECT_EQ(env_provider::open(with).error().code, errc::source_unavailable);
  with = with_file("a.env");
  with.files[0].slug = "No Slug";
  EXPECT_EQ(env_provider::open(with).error().code, errc::invalid_argument);
  with = with_file("a.env", {});
  EXPECT_THAT(env_provider::open(with).error().public_text, HasSubstr("no variable is allowed"));
}

TEST_F(env_files, are_as_they_are_when_they_are_asked_for) {
  write("prod.env", "MODE=a\n");
  const auto from = open(with_file("prod.env"));
  EXPECT_EQ(text_at(*from, "env://prod/MODE"), "a");
  // Of the same size, within one tick of the clock.
  write("prod.env", "MODE=b\n");
  EXPECT_EQ(text_at(*from, "env://prod/MODE"), "b");
  replace("prod.env", "MODE=c\n");
  EXPECT_EQ(text_at(*from, "env://prod/MODE"), "c");
}

TEST_F(env_files, that_say_something_twice_mean_the_last_and_the_log_says_so) {
  write("prod.env", "A=1\nB=2\nA=3\n");
  const auto from = open(with_file("prod.env"));
  EXPECT_EQ(text_at(*from, "env://prod/A"), "3");
  EXPECT_THAT(log(), HasSubstr("line 3"));
  const auto before = log();
  EXPECT_EQ(text_at(*from, "env://prod/B"), "2");
  EXPECT_EQ(log(), before);
}

TEST_F(env_files, that_are_half_written_keep_what_they_said) {
  write("prod.env", "MODE=good\n");
  const auto from = open(with_file("prod.env", {"MODE"}));
  write("prod.env", "MODE=bad\nHIDDEN=\"never closed\n");
  EXPECT_EQ(text_at(*from, "env://prod/MODE"), "good");
  const auto facts = facts_at(*from, "env://prod/MODE");
  ASSERT_EQ(facts.size(), 1U);
  EXPECT_EQ(facts[0].first, "dev.hondana/stale");
  const auto said = std::get<std::string>(facts[0].second);
  EXPECT_THAT(said, HasSubstr("prod"));
  EXPECT_THAT(said, HasSubstr("line 2"));
  EXPECT_THAT(said, HasSubstr("previous contents"));
  EXPECT_FALSE(from->health().is_healthy);
  EXPECT_THAT(from->health().detail, HasSubstr("line 2"));
  EXPECT_THAT(all_that_is_said(*from), Not(HasSubstr("HIDDEN")));
  EXPECT_EQ(facts_at(*from, "env://prod/").size(), 1U);
  write("prod.env", "MODE=better\n");
  EXPECT_EQ(text_at(*from, "env://prod/MODE"), "better");
  EXPECT_EQ(facts_at(*from, "env://prod/MODE"), metadata());
  EXPECT_TRUE(from->health().is_healthy);
  EXPECT_THAT(log(), HasSubstr("can be read again"));
}

TEST_F(env_files, that_were_emptied_a_moment_ago_keep_what_they_said) {
  const disk::stopped_wall_clock a_moment_ago;
  write("prod.env", "MODE=good\n");
  const auto from = open(with_file("prod.env"));
  write("prod.env", "");
  EXPECT_EQ(text_at(*from, "env://prod/MODE"), "good");
}

TEST_F(env_files, that_never_were_understood_say_where) {
  write("prod.env", "HIDDEN=\"never closed\n");
  const auto from = open(with_file("prod.env", {"MODE"}));
  EXPECT_EQ(text_at(*from, "env://prod/MODE"), "error: source_unavailable");
  EXPECT_THAT(error_at(*from, "env://prod/MODE"), HasSubstr("line 1"));
  EXPECT_THAT(error_at(*from, "env://prod/MODE"), Not(HasSubstr("HIDDEN")));
  EXPECT_THAT(listed(*from), ElementsAre("env://prod/"));
}

TEST_F(env_files, that_are_no_text_or_too_large_keep_what_they_said) {
  write("prod.env", "MODE=good\n");
  const auto from = open(with_file("prod.env"));
  for (const auto& [bytes, why] : {std::pair{std::string("MODE=x\nA=\xFF\n"), "is not UTF-8, line 2"},
                                   std::pair{std::string("MODE=x\n\nA=\0\n", 12), "contains a NUL byte, line 3"},
                                   std::pair{"A=" + std::string(8u << 20, 'x'), "more than 8 MiB"}}) {
    write("prod.env", bytes);
    EXPECT_EQ(text_at(*from, "env://prod/MODE"), "good");
    EXPECT_THAT(std::get<std::string>(facts_at(*from, "env://prod/MODE").at(0).second), HasSubstr(why));
  }
}

TEST_F(env_files, whose_place_something_else_has_are_errors_that_touch_nothing_else) {
  write("prod.env", "MODE=good\n");
  write("b.env", "MODE=other\n");
  auto with = with_file("prod.env");
  with.files.push_back({"b", (root / "b.env").string()});
  const auto from = open(std::move(with));
  const auto path = root / "prod.env";
  const auto check = [&](errc code, const char* why) {
    EXPECT_EQ(text_at(*from, "env://prod/MODE"), "error: " + std::string(name_of(code))) << why;
    EXPECT_THAT(error_at(*from, "env://prod/MODE"), HasSubstr(why));
    EXPECT_THAT(error_at(*from, "env://prod/MODE"), Not(HasSubstr(root.string())));
    EXPECT_EQ(error_at(*from, "env://prod/"), error_at(*from, "env://prod/MODE"));
    EXPECT_EQ(text_at(*from, "env://b/MODE"), "other");
    EXPECT_THAT(listed(*from), ElementsAre("env://b/", "env://b/MODE", "env://prod/"));
    EXPECT_THAT(from->health().detail, HasSubstr(why));
  };
  fs::remove(path);
  check(errc::source_unavailable, "does not exist now");
  ASSERT_EQ(::mkfifo(path.c_str(), 0600), 0);
  check(errc::source_unavailable, "not a regular file");
  fs::remove(path);
  fs::create_directory(path);
  check(errc::source_unavailable, "not a regular file");
  fs::remove(path);
  fs::create_symlink("/etc/passwd", path);
  check(errc::source_unavailable, "not a regular file inside");
  fs::remove(path);
  fs::create_symlink("../../../../../../etc/passwd", path);
  check(errc::source_unavailable, "not a regular file inside");
  fs::remove(path);
  write("prod.env", "MODE=again\n");
  EXPECT_EQ(text_at(*from, "env://prod/MODE"), "again");
}

TEST_F(env_files, that_lose_their_permission_say_so) {
  write("prod.env", "MODE=good\n");
  fs::permissions(root, fs::perms::all);
  const auto from = open(with_file("prod.env"));
  fs::permissions(root / "prod.env", fs::perms::none);
  const bool is_root = ::geteuid() == 0;
  if (is_root) {
    ASSERT_EQ(::seteuid(65534), 0);
  }
  const auto found = text_at(*from, "env://prod/MODE");
  const auto why = error_at(*from, "env://prod/MODE");
  if (is_root) {
    ASSERT_EQ(::seteuid(0), 0);
  }
  EXPECT_EQ(found, "error: access_denied");
  EXPECT_THAT(why, HasSubstr("denied access"));
  EXPECT_THAT(why, Not(HasSubstr(root.string())));
  fs::permissions(root / "prod.env", fs::perms::owner_all);
  EXPECT_EQ(text_at(*from, "env://prod/MODE"), "good");
}

TEST_F(env_files, behind_links_within_their_folder_are_followed) {
  // As Kubernetes mounts what is configured.
  write("..1/prod.env", "MODE=one\n");
  write("..2/prod.env", "MODE=two\n");
  fs::create_directory_symlink("..1", root / "..data");
  fs::create_symlink("..data/prod.env", root / "prod.env");
  const auto from = open(with_file("prod.env"));
  EXPECT_EQ(text_at(*from, "env://prod/MODE"), "one");
  fs::create_directory_symlink("..2", root / "..data_tmp");
  fs::rename(root / "..data_tmp", root / "..data");
  EXPECT_EQ(text_at(*from, "env://prod/MODE"), "two");
}

TEST_F(env_files, that_are_kept_back_are_never_served) {
  write("tokens.json", "MODE=secret\n");
  write("tokens.json.1", "MODE=secret\n");
  fs::create_hard_link(root / "tokens.json", root / "hard.env");
  fs::create_symlink("tokens.json", root / "soft.env");
  fs::create_symlink("tokens.json.1", root / "rotated.env");
  const auto own = fs::canonical(root / "tokens.json").string();
  for (const auto* name : {"tokens.json", "tokens.json.1", "hard.env", "soft.env", "rotated.env"}) {
    auto with = with_file(name);
    with.own_files = {own};
    const auto from = open(std::move(with));
    EXPECT_EQ(text_at(*from, "env://prod/MODE"), "error: source_unavailable") << name;
    EXPECT_THAT(error_at(*from, "env://prod/MODE"), HasSubstr("does not exist now"));
  }
}

TEST_F(env_files, in_a_folder_that_is_exchanged_are_those_of_the_new_one) {
  write("in/prod.env", "MODE=old\n");
  write("next/prod.env", "MODE=new\n");
  const auto from = open(with_file("in/prod.env"));
  EXPECT_EQ(text_at(*from, "env://prod/MODE"), "old");
  fs::rename(root / "in", root / "gone");
  EXPECT_EQ(text_at(*from, "env://prod/MODE"), "error: source_unavailable");
  fs::rename(root / "next", root / "in");
  EXPECT_EQ(text_at(*from, "env://prod/MODE"), "new");
}

TEST_F(env_files, give_up_when_nobody_waits) {
  write("prod.env", "MODE=good\n");
  const auto from = open(with_file("prod.env"));
  read_request asked;
  asked.uri = asked.requested_uri = "env://prod/MODE";
  std::stop_source stop;
  stop.request_stop();
  asked.stop = stop.get_token();
  EXPECT_EQ(from->read(asked).error().code, errc::cancelled);
  list_request listing;
  listing.stop = stop.get_token();
  EXPECT_EQ(from->list(listing).error().code, errc::cancelled);
}

}  // namespace
