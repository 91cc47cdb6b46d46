/// Handles: what they know, and when they are made anew.
#include "sources/git/repository.hpp"

#include <algorithm>
#include <atomic>
#include <chrono>
#include <filesystem>
#include <fstream>
#include <memory>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include <hondana/clock.hpp>

#include "deadline.hpp"
#include "sources/git/references.hpp"
#include "sources/git/revision.hpp"
#include "unit/sources/git/made_repository.hpp"
#include "unit/sources/git/served_repository.hpp"

namespace hondana::git {
namespace {

std::shared_ptr<repository> served(const made_repository& made, const std::string& path) {
  const std::vector<std::string> roots{made.above()};
  auto found = locate(path, roots);
  EXPECT_TRUE(found) << found.error().public_text;
  if (!found) return nullptr;
  auto opened = repository::open("shelf", std::move(*found), roots);
  EXPECT_TRUE(opened) << opened.error().public_text;
  return opened.value_or(nullptr);
}
std::shared_ptr<repository> served(const made_repository& made) { return served(made, made.path()); }

std::string head_of_lease(const repository::lease& handle) {
  const auto found = resolve_revision(handle.get(), "HEAD", "rev");
  EXPECT_TRUE(found) << found.error().public_text;
  return found ? to_hex(found->commit) : std::string();
}

TEST(git_repository, gives_the_same_handle_again_until_the_configuration_changes) {
  made_repository made;
  const auto first = made.commit("first");
  const auto shelf = served(made);
  ASSERT_TRUE(shelf);
  let_settle(made);
  const auto name_of_handle = [](const repository::lease& of) {
    const char *name = nullptr, *email = nullptr;
    EXPECT_EQ(git_repository_ident(&name, &email, of.get()), 0);
    return std::string(name == nullptr ? "" : name);
  };
  {
    const auto one = shelf->acquire(), other = shelf->acquire();
    ASSERT_TRUE(one && other);
    EXPECT_NE(one->get(), other->get());
    EXPECT_EQ(head_of_lease(*one), first);
    for (const auto& each : {one->get(), other->get()}) ASSERT_EQ(git_repository_set_ident(each, "known", "x"), 0);
  }
  made.commit("second");
  EXPECT_EQ(name_of_handle(*shelf->acquire()), "known");
  made.git({"remote", "add", "origin", "https://example.com/x"});
  const auto handle = shelf->acquire();
  ASSERT_TRUE(handle);
  EXPECT_EQ(name_of_handle(*handle), "");
  EXPECT_EQ(remotes(handle->get())->size(), 1u);
  EXPECT_EQ(made.git({"rev-parse", "HEAD"}), head_of_lease(*handle) + '\n');
}

TEST(git_repository, refuses_what_has_become_hostile_since_and_recovers) {
  made_repository made, other;
  made.commit("first");
  other.commit("secret");
  const auto shelf = served(made);
  ASSERT_TRUE(shelf);
  const auto git_folder = made.path() + "/.git";
  std::filesystem::copy_file(git_folder + "/config", made.above() + "/kept");
  std::ofstream(git_folder + "/config", std::ios::app) << "[include]\npath=/etc/passwd\n";
  auto refused = shelf->acquire();
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code, errc::invalid_argument);
  std::filesystem::copy_file(made.above() + "/kept", git_folder + "/config", std::filesystem::copy_options::overwrite_existing);
  EXPECT_TRUE(shelf->acquire());
  std::ofstream(git_folder + "/objects/info/alternates") << other.path() << "/.git/objects\n";
  EXPECT_FALSE(shelf->acquire());
  std::filesystem::remove(git_folder + "/objects/info/alternates");
  EXPECT_TRUE(shelf->acquire());
  std::filesystem::rename(git_folder + "/refs", made.above() + "/refs");
  std::filesystem::create_directory_symlink(other.path() + "/.git/refs", git_folder + "/refs");
  EXPECT_FALSE(shelf->acquire());
}

TEST(git_repository, retires_handles_for_a_failure_of_its_own_time_and_once_a_second) {
  manual_clock now;
  made_repository made;
  made.commit("first");
  const auto shelf = served(made);
  ASSERT_TRUE(shelf);
  let_settle(made);
  const auto is_known = [&shelf] {
    const auto one = shelf->acquire();
    const char *name = nullptr, *email = nullptr;
    EXPECT_EQ(git_repository_ident(&name, &email, one->get()), 0);
    const bool was_known = name != nullptr;
    EXPECT_EQ(git_repository_set_ident(one->get(), "known", "x"), 0);
    return was_known;
  };
  {
    auto early = shelf->acquire();
    ASSERT_TRUE(early);
    made.git({"config", "some.value", "x"});
    let_settle(made);
    EXPECT_FALSE(is_known());
    EXPECT_TRUE(is_known());
    // Those after it have nothing to do with what failed before.
    early->retire();
  }
  EXPECT_TRUE(is_known());
  {
    auto late = shelf->acquire();
    ASSERT_TRUE(late);
    late->retire();
  }
  EXPECT_FALSE(is_known());
  for (const auto& [milliseconds, is_kept] : {std::pair(999, true), std::pair(1, false)}) {
    now.advance(std::chrono::milliseconds(milliseconds));
    {
      auto later = shelf->acquire();
      ASSERT_TRUE(later);
      later->retire();
    }
    EXPECT_EQ(is_known(), is_kept);
  }
}

TEST(git_repository, whose_place_another_has_taken_is_served_no_more) {
  made_repository made;
  made.commit("first");
  const auto shelf = served(made);
  ASSERT_TRUE(shelf);
  std::filesystem::rename(made.path() + "/.git", made.above() + "/elsewhere");
  std::ofstream(made.path() + "/.git") << "gitdir: ../elsewhere\n";
  const auto taken = shelf->acquire();
  ASSERT_FALSE(taken);
  EXPECT_EQ(taken.error().code, errc::source_unavailable);
  EXPECT_NE(taken.error().public_text.find("shelf"), std::string::npos);
  std::filesystem::remove_all(made.path());
  EXPECT_EQ(shelf->acquire().error().code, errc::resource_not_found);
}

TEST(git_repository, knows_the_configuration_that_was_screened_and_no_other) {
  made_repository made;
  made.commit("first");
  made.git({"config", "core.fsmonitor", "/x"});
  made.git({"config", "core.attributesFile", "/x"});
  made.git({"config", "remote.origin.url", "https://example.com/x"});
  const auto shelf = served(made);
  ASSERT_TRUE(shelf);
  const auto handle = shelf->acquire();
  ASSERT_TRUE(handle);
  // Whoever adds an include afterwards is too late for this handle: it does not read the file.
  std::ofstream(made.path() + "/.git/config", std::ios::app) << "[include]\npath=more\n";
  std::ofstream(made.path() + "/.git/more") << "[remote \"evil\"]\nurl=x\n";
  git_config* raw = nullptr;
  ASSERT_EQ(git_repository_config_snapshot(&raw, handle->get()), 0);
  const config_pointer config(raw);
  const char* value = nullptr;
  EXPECT_EQ(git_config_get_string(&value, raw, "remote.origin.url"), 0);
  EXPECT_STREQ(value, "https://example.com/x");
  for (const char* const name : {"core.fsmonitor", "core.attributesfile", "remote.evil.url", "include.path"})
    EXPECT_EQ(git_config_get_string(&value, raw, name), GIT_ENOTFOUND) << name;
  EXPECT_NE(git_config_set_string(raw, "remote.origin.url", "y"), 0);
  git_config* live = nullptr;
  ASSERT_EQ(git_repository_config(&live, handle->get()), 0);
  const config_pointer writable(live);
  EXPECT_NE(git_config_set_string(live, "remote.origin.url", "y"), 0);
  EXPECT_EQ(remotes(handle->get())->size(), 1u);
}

TEST(git_repository, finds_objects_of_alternates_and_none_that_libgit2_would_find_by_itself) {
  made_repository made;
  made.write("a", "1");
  const auto first = made.commit("first");
  made.git({"gc", "--quiet"});
  run_git(made.above(), {"clone", "--quiet", "--shared", "shelf", "borrower"});
  const auto shelf = served(made, made.above() + "/borrower");
  ASSERT_TRUE(shelf);
  EXPECT_EQ(shelf->location().object_folders.size(), 2u);
  EXPECT_EQ(head_of_lease(*shelf->acquire()), first);
  // Borrowed no longer.
  std::filesystem::remove(made.above() + "/borrower/.git/objects/info/alternates");
  const auto handle = shelf->acquire();
  ASSERT_TRUE(handle);
  EXPECT_FALSE(resolve_revision(handle->get(), first, "rev"));
  EXPECT_EQ(shelf->location().object_folders.size(), 1u);
}

TEST(git_repository, opens_all_kinds) {
  made_repository made;
  made.write("a", "1");
  const auto first = made.commit("first");
  made.git({"worktree", "add", "--quiet", "--detach", "../tree"});
  run_git(made.above(), {"clone", "--quiet", "--bare", "shelf", "bare.git"});
  run_git(made.above(), {"clone", "--quiet", "--depth=1", "file://" + made.path(), "shallow"});
  for (const std::string name : {"tree", "bare.git", "shallow"}) {
    const auto shelf = served(made, made.above() + '/' + name);
    ASSERT_TRUE(shelf) << name;
    const auto handle = shelf->acquire();
    ASSERT_TRUE(handle) << name;
    EXPECT_EQ(head_of_lease(*handle), first) << name;
    EXPECT_EQ(git_repository_is_bare(handle->get()), name == "bare.git" ? 1 : 0);
    if (name == "tree") {
      EXPECT_EQ(git_repository_workdir(handle->get()), made.above() + "/tree/");
    }
  }
}

TEST(git_repository, sees_new_commits_packs_and_references_with_an_old_handle) {
  made_repository made;
  made.commit("first");
  const auto shelf = served(made);
  ASSERT_TRUE(shelf);
  const auto handle = shelf->acquire();
  ASSERT_TRUE(handle);
  head_of_lease(*handle);
  made.write("a", "1");
  const auto second = made.commit("second");
  EXPECT_EQ(head_of_lease(*handle), second);
  const auto third = made.commit("third");
  made.git({"gc", "--quiet"});
  EXPECT_EQ(head_of_lease(*handle), third);
  EXPECT_TRUE(resolve_revision(handle->get(), "HEAD~2", "rev"));
}

TEST(git_repository, may_be_used_by_many_threads) {
  made_repository made;
  const auto first = made.commit("first");
  const auto shelf = served(made);
  ASSERT_TRUE(shelf);
  std::vector<std::thread> threads;
  for (int i = 0; i < 4; ++i)
    threads.emplace_back([&] {
      for (int j = 0; j < 50; ++j) {
        const auto handle = shelf->acquire();
        ASSERT_TRUE(handle);
        EXPECT_EQ(head_of_lease(*handle), first);
      }
    });
  for (auto& one : threads) one.join();
}

TEST(git_repository, says_where_it_is_while_it_is_being_screened) {
  made_repository made;
  made.commit("first");
  const auto many = made.path() + "/.git/refs/tags/";
  const auto id = made.git({"rev-parse", "HEAD"});
  for (int i = 0; i < 5000; ++i) std::ofstream(many + std::to_string(i)) << id;
  const auto shelf = served(made);
  ASSERT_TRUE(shelf);
  using std::chrono::steady_clock;
  /// Whether a question is asked and answered in the middle of a screening. A busy machine may run one thread alone for long.
  const auto answers_within_a_screening = [&] {
    std::ofstream(made.path() + "/.git/config", std::ios::app) << "# more\n";
    std::atomic<bool> is_over{false};
    steady_clock::time_point begin, end;
    std::thread screened([&] {
      begin = steady_clock::now();
      EXPECT_TRUE(shelf->acquire());
      end = steady_clock::now();
      is_over = true;
    });
    std::vector<std::pair<steady_clock::time_point, steady_clock::time_point>> answers;
    while (!is_over) {
      const auto asked = steady_clock::now();
      EXPECT_EQ(shelf->location().work_tree, made.path());
      answers.emplace_back(asked, steady_clock::now());
    }
    screened.join();
    const auto quarter = (end - begin) / 4;
    return std::any_of(answers.begin(), answers.end(),
                       [&](const auto& one) { return one.first > begin + quarter && one.second < end - quarter; });
  };
  for (int i = 0; i < 3; ++i) EXPECT_TRUE(hondana_test::eventually(answers_within_a_screening));
}

}  // namespace
}  // namespace hondana::git
