/// A file's history is what git log --follow finds.
#include <gtest/gtest.h>

#include <cstddef>
#include <filesystem>
#include <string>
#include <utility>

#include "sources/git/history.hpp"
#include "unit/sources/git/file_history_by_git.hpp"
#include "unit/sources/git/made_history.hpp"
#include "unit/sources/git/made_repository.hpp"

namespace hondana::git {
namespace {

struct file_history_of_shape : testing::TestWithParam<history_shape> {};

TEST_P(file_history_of_shape, is_what_git_follows_on_pages_of_any_size) {
  const made_repository made;
  import_history(made, drawn_history(GetParam()));
  const auto repository = opened(made.path());
  for (const auto& path : files_at(made.path(), "main")) {
    const auto followed = followed_by_git(made.path(), path);
    EXPECT_FALSE(followed.empty());
    for (const std::size_t limit : {1, 4, 1000})
      EXPECT_EQ(followed_by_us(repository.get(), path, limit), followed) << path << " by " << limit;
  }
}

INSTANTIATE_TEST_SUITE_P(file_history, file_history_of_shape,
                         testing::Values(history_shape{41, 120}, history_shape{42, 120, history_shape::clocks::coarse},
                                         history_shape{43, 120, history_shape::clocks::wrong},
                                         history_shape{44, 200, history_shape::clocks::right, 5, 5}));

TEST(git_file_history, goes_on_under_the_name_that_a_file_had_or_was_copied_from) {
  made_repository made;
  std::string text;
  for (int i = 0; i < 30; ++i) text += "line " + std::to_string(i) + '\n';
  made.write("first.txt", text);
  made.write("other.txt", "other\n");
  made.commit("first");
  made.write("first.txt", text + "more\n");
  made.commit("second");
  std::filesystem::create_directory(made.path() + "/d");
  std::filesystem::rename(made.path() + "/first.txt", made.path() + "/d/second.txt");
  made.commit("renamed");
  made.write("d/second.txt", text + "more\nand more\n");
  made.commit("fourth");
  made.write("copy.txt", text + "more\nand more\n");
  made.write("near copy.txt", "start\n" + text + "more\n");
  made.commit("copied");
  std::filesystem::remove(made.path() + "/copy.txt");
  made.commit("removed");
  made.write("copy.txt", text + "again\n");
  made.commit("brought back");
  const auto repository = opened(made.path());
  EXPECT_EQ(followed_by_us(repository.get(), "d/second.txt", 50).size(), 4u);
  for (const std::string path : {"d/second.txt", "copy.txt", "near copy.txt", "first.txt", "other.txt", "d", "none"})
    EXPECT_EQ(followed_by_us(repository.get(), path, 2), followed_by_git(made.path(), path)) << path;
}

TEST(git_file_history, refuses_cursors_of_logs_and_of_other_files) {
  made_repository made;
  for (int i = 0; i < 5; ++i) {
    made.write("a", std::to_string(i));
    made.write("b", std::to_string(i));
    made.commit("change");
  }
  const auto repository = opened(made.path());
  log_request request;
  request.start = id_at(repository.get(), "main");
  request.limit = 2;
  request.filter.path = "a";
  const auto logged = read_log(repository.get(), request);
  ASSERT_TRUE(logged && logged->next);
  const auto page = file_history(repository.get(), request.start, "a", request);
  ASSERT_TRUE(page && page->next);
  for (const auto& [path, cursor] : {std::pair("a", *logged->next), std::pair("b", *page->next)}) {
    request.cursor = cursor;
    const auto refused = file_history(repository.get(), request.start, path, request);
    ASSERT_FALSE(refused);
    EXPECT_EQ(refused.error().code, errc::invalid_argument);
    EXPECT_NE(refused.error().public_text.find("`cursor`"), std::string::npos);
  }
}

}  // namespace
}  // namespace hondana::git
