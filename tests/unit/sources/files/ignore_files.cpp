/// Ignore files: those in a root, those of the work tree around it, and those that cannot be obeyed.
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <map>
#include <mutex>
#include <string>
#include <string_view>
#include <vector>

#include "scratch_folder.hpp"

namespace hondana::files {
namespace {

TEST(ignore_files, ignore_files_count_as_they_are_now) {
  const scratch_folder root;
  root.write("a.log", "x");
  const auto files = open_provider(root);
  EXPECT_EQ(read_text(*files, root.uri("a.log")), "x");
  root.write(".gitignore", "*.log\n");
  EXPECT_EQ(read_error(*files, root.uri("a.log")), errc::resource_not_found);
  root.write(".hondanaignore", "!a.log\n");
  EXPECT_EQ(read_text(*files, root.uri("a.log")), "x");
}

TEST(ignore_files, an_ignored_folder_cannot_be_entered_again_below) {
  const scratch_folder root;
  root.write(".gitignore", "build/\n!build/kept.txt\n");
  root.write("build/kept.txt", "x");
  const auto files = open_provider(root);
  EXPECT_EQ(read_error(*files, root.uri("build/kept.txt")), errc::resource_not_found);
}

TEST(ignore_files, git_info_exclude_is_obeyed) {
  const scratch_folder root;
  root.write(".git/info/exclude", "*.local\n");
  root.write("notes.local", "x");
  const auto files = open_provider(root);
  EXPECT_EQ(survey_of(*files).at("notes.local"), "ignored by .git/info/exclude:1 `*.local`");
  EXPECT_EQ(read_error(*files, root.uri("notes.local")), errc::resource_not_found);
}

TEST(ignore_files, an_ignore_file_that_is_a_link_does_not_count) {
  const scratch_folder root;
  root.write("patterns", "*.txt\n");
  root.write("a.txt", "x");
  root.link(".gitignore", "patterns");
  const auto files = open_provider(root);
  EXPECT_EQ(read_text(*files, root.uri("a.txt")), "x");
}

TEST(ignore_files, an_ignore_file_that_cannot_be_used_whole_leaves_its_folder_out_and_says_so) {
  const scratch_folder root;
  root.write("a.txt", "x");
  root.write("large/.gitignore", std::string(1048577, '#'));
  root.write("large/a.txt", "x");
  std::string long_line = "*.o\n";
  long_line.append(5000, 'x');
  root.write("long/.gitignore", long_line);
  root.write("long/.hondanaignore", "!*\n");
  root.write("long/a.txt", "x");
  root.write("long/deep/a.txt", "x");
  root.make_fifo("fifo/.hondanaignore");
  root.write("fifo/a.txt", "x");
  root.make_folder("folder/.gitignore");
  root.write("folder/a.txt", "x");
  root.write("locked/.gitignore", "*.o\n");
  root.write("locked/a.txt", "x");
  ASSERT_EQ(::chmod(root.path("locked/.gitignore").c_str(), 0), 0);
  auto from = serving(root.path());
  std::vector<std::string> said;
  std::mutex mutex;
  from.log = [&](std::string_view line) {
    const std::lock_guard lock(mutex);
    said.emplace_back(line);
  };
  const auto files = open_provider(std::move(from));
  EXPECT_EQ(read_text(*files, root.uri("a.txt")), "x");
  for (const char* path : {"large/a.txt", "long/a.txt", "long/deep", "long/deep/a.txt", "fifo/a.txt", "folder/a.txt"}) {
    EXPECT_EQ(read_error(*files, root.uri(path)), errc::resource_not_found) << path;
  }
  const auto survey = survey_of(*files);
  EXPECT_EQ(survey.at("long"), "served");
  EXPECT_EQ(survey.at("large/a.txt"),
            "large/.gitignore cannot be applied, so everything that it could exclude is left out: the file has 1048577 bytes; "
            "lines beyond the first 1048576 bytes are not used");
  EXPECT_EQ(survey.at("folder/a.txt"),
            "folder/.gitignore cannot be applied, so everything that it could exclude is left out: it is not a regular file");
  EXPECT_EQ(survey.count("long/deep/a.txt"), 0u);
  if (::geteuid() != 0) {  // root reads everything
    EXPECT_EQ(survey.at("locked/a.txt"),
              "locked/.gitignore cannot be applied, so everything that it could exclude is left out: it cannot be read: "
              "Permission denied");
  }
  const std::lock_guard lock(mutex);
  EXPECT_EQ(std::count(said.begin(), said.end(), "fifo/.hondanaignore: it is not a regular file"), 1);
}

TEST(ignore_files, the_work_tree_around_a_root_has_its_say) {
  const scratch_folder whole;
  whole.write("repo/.git/HEAD", "ref: refs/heads/main\n");
  whole.write("repo/.git/info/exclude", "*.mine\nb.keep\n");
  whole.write("repo/.gitignore", "*.log\n/sub/root/anchored\n/anchored2\n!b.keep\nroot/\n");
  whole.write("repo/sub/.gitignore", "!kept.log\nroot/folder/\n");
  whole.write("repo/sub/root/.gitignore", "!own.log\n");
  for (const char* name :
       {"a.log", "kept.log", "own.log", "x.mine", "b.keep", "anchored", "anchored2", "folder/x", "d/a.log"}) {
    whole.write(std::string("repo/sub/root/") + name, "x");
  }
  const auto files = open_provider(serving(whole.path("repo/sub/root")));
  const auto said = survey_of(*files);
  EXPECT_EQ(said.at("a.log"), "ignored by ../../.gitignore:1 `*.log`");
  EXPECT_EQ(said.at("d/a.log"), "ignored by ../../.gitignore:1 `*.log`");
  EXPECT_EQ(said.at("kept.log"), "served");
  EXPECT_EQ(said.at("own.log"), "served");
  EXPECT_EQ(said.at("x.mine"), "ignored by ../../.git/info/exclude:1 `*.mine`");
  EXPECT_EQ(said.at("b.keep"), "served");
  EXPECT_EQ(said.at("anchored"), "ignored by ../../.gitignore:2 `/sub/root/anchored`");
  EXPECT_EQ(said.at("anchored2"), "served");
  EXPECT_EQ(said.at("folder"), "ignored by ../.gitignore:2 `root/folder/`");
  EXPECT_EQ(read_error(*files, whole.uri("repo/sub/root/a.log")), errc::resource_not_found);
  EXPECT_EQ(read_text(*files, whole.uri("repo/sub/root/kept.log")), "x");

  auto disobeying = serving(whole.path("repo/sub/root"));
  disobeying.roots[0].obey_ignore_files = false;
  EXPECT_EQ(read_text(*open_provider(std::move(disobeying)), whole.uri("repo/sub/root/a.log")), "x");

  // A work tree of its own, linked to a repository elsewhere.
  whole.write("repo/linked/.git", "gitdir: ../.git/worktrees/linked\n");
  whole.write("repo/.git/worktrees/linked/HEAD", "ref: refs/heads/other\n");
  whole.write("repo/.git/worktrees/linked/commondir", "../..\n");
  for (const char* name : {"a.log", "x.mine", "in/x.mine"}) whole.write(std::string("repo/linked/") + name, "x");
  const auto linked = open_provider(serving(whole.path("repo/linked")));
  EXPECT_EQ(survey_of(*linked).at("a.log"), "served");
  EXPECT_EQ(survey_of(*linked).at("x.mine"), "ignored by info/exclude of .git:1 `*.mine`");
  const auto within = open_provider(serving(whole.path("repo/linked/in")));
  EXPECT_EQ(survey_of(*within).at("x.mine"), "ignored by ../info/exclude of .git:1 `*.mine`");
}

TEST(ignore_files, info_exclude_of_a_nested_repository_applies_below_it) {
  const scratch_folder root;
  root.write("proj/.git/HEAD", "ref: refs/heads/main\n");
  root.write("proj/.git/info/exclude", "private.md\n*.mine\n");
  root.write("proj/sub/.gitignore", "!kept.mine\n");
  root.write("module/.git", "gitdir: ../proj/.git/modules/module\n");
  root.write("proj/.git/modules/module/HEAD", "ref: refs/heads/main\n");
  root.write("proj/.git/modules/module/info/exclude", "*.part\n");
  for (const char* name :
       {"private.md", "proj/private.md", "proj/shown.md", "proj/sub/a.mine", "proj/sub/kept.mine", "module/a.part", "module/b"})
    root.write(name, "x");
  const auto files = open_provider(root);
  const auto said = survey_of(*files);
  EXPECT_EQ(said.at("private.md"), "served");
  EXPECT_EQ(said.at("proj/private.md"), "ignored by proj/.git/info/exclude:1 `private.md`");
  EXPECT_EQ(said.at("proj/shown.md"), "served");
  EXPECT_EQ(said.at("proj/sub/a.mine"), "ignored by proj/.git/info/exclude:2 `*.mine`");
  EXPECT_EQ(said.at("proj/sub/kept.mine"), "served");
  EXPECT_EQ(said.at("module/a.part"), "ignored by module/info/exclude of .git:1 `*.part`");
  EXPECT_EQ(said.at("module/b"), "served");
  EXPECT_EQ(read_error(*files, root.uri("proj/private.md")), errc::resource_not_found);
}

TEST(ignore_files, a_git_directory_outside_the_root_excludes_nothing) {
  const scratch_folder whole;
  whole.write("elsewhere/HEAD", "ref: refs/heads/main\n");
  whole.write("elsewhere/info/exclude", "*.part\n");
  whole.write("root/module/.git", "gitdir: ../../elsewhere\n");
  whole.write("root/module/a.part", "x");
  EXPECT_EQ(survey_of(*open_provider(serving(whole.path("root")))).at("module/a.part"), "served");
}

// attacks: resource exhaustion (hostile ignore files)
TEST(ignore_files, hostile_ignore_files_leave_out_what_they_would_take_too_long_for) {
  const scratch_folder root;
  std::string text;
  while (text.size() < 100'000) text += "**/*a*a*a*b/x\n";
  std::string folder = "deep/";
  for (int depth = 0; depth < 14; ++depth) {
    root.write(folder + ".gitignore", text);
    folder += std::string(100, 'a') + "/";
  }
  root.write(folder + "x", "x");
  root.write("ordinary.txt", "x");
  while (text.size() < 1'000'000) text += text;
  root.write("mebibyte/.gitignore", std::string_view(text).substr(0, 1 << 20));
  root.write("mebibyte/x", "x");
  const auto files = open_provider(root);
  EXPECT_EQ(read_error(*files, root.uri(folder + "x")), errc::resource_not_found);
  EXPECT_EQ(read_text(*files, root.uri("ordinary.txt")), "x");
  EXPECT_EQ(read_error(*files, root.uri("mebibyte/x")), errc::resource_not_found);
  const auto said = survey_of(*files);
  EXPECT_NE(said.at("mebibyte/x").find("the patterns before it reach the limit of 8 MiB of memory"), std::string::npos);
  EXPECT_EQ(std::count_if(said.begin(), said.end(),
                          [](const auto& one) { return one.second.ends_with("its patterns take too long to match here"); }),
            1);
}

TEST(ignore_files, ignore_files_can_be_disobeyed) {
  const scratch_folder root;
  root.write(".gitignore", "*.log\n");
  root.write("sub/a.log", "x");
  auto from = serving(root.path());
  from.roots[0].obey_ignore_files = false;
  const auto files = open_provider(std::move(from));
  EXPECT_EQ(read_text(*files, root.uri("sub/a.log")), "x");
  EXPECT_EQ(survey_of(*files).at("sub/a.log"), "served");
}

}  // namespace
}  // namespace hondana::files
