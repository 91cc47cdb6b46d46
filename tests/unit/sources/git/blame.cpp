/// Every line is attributed as the git program does it.
#include <gtest/gtest.h>

#include <cstddef>
#include <filesystem>
#include <string>
#include <vector>

#include "sources/git/blame.hpp"
#include "unit/sources/git/blame_by_git.hpp"
#include "unit/sources/git/made_history.hpp"
#include "unit/sources/git/made_repository.hpp"

namespace hondana::git {
namespace {

blame_request request_for(git_repository* in, const std::string& path, const std::string& revision = "main") {
  blame_request request;
  request.commit = id_at(in, revision);
  request.path = path;
  return request;
}

failure refused_blame(git_repository* in, const blame_request& request) {
  const auto found = blame(in, request);
  EXPECT_FALSE(found);
  return found ? failure{} : found.error();
}

struct blame_of_shape : testing::TestWithParam<history_shape> {};

TEST_P(blame_of_shape, is_that_of_git_for_whole_files_and_ranges) {
  const made_repository made;
  import_history(made, drawn_history(GetParam()));
  const auto repository = opened(made.path());
  std::size_t count = 0;
  const auto commits = lines_of(made.git({"rev-list", "main"}));
  for (const auto& revision : {commits.front(), commits[commits.size() / 10], commits[commits.size() / 3]}) {
    for (const auto& path : files_at(made.path(), revision)) {
      auto request = request_for(repository.get(), path, revision);
      const auto all = blamed_by_git(made.path(), {revision, "--", path});
      EXPECT_EQ(blamed_by_us(repository.get(), request), all) << path << " at " << revision;
      ++count;
      if (all.empty()) continue;
      request.first = 3;
      request.last = 12;
      const auto range = blamed_by_git(made.path(), {"-L3,12", revision, "--", path});
      EXPECT_EQ(blamed_by_us(repository.get(), request), range) << path << " at " << revision;
    }
  }
  EXPECT_GT(count, 9u);
}

INSTANTIATE_TEST_SUITE_P(blame, blame_of_shape,
                         testing::Values(history_shape{21, 150}, history_shape{22, 150, history_shape::clocks::coarse, 50, 50},
                                         history_shape{23, 150, history_shape::clocks::wrong},
                                         history_shape{24, 250, history_shape::clocks::right, 10, 10},
                                         history_shape{25, 100, history_shape::clocks::wrong, 60, 60}));

TEST(git_blame, follows_a_renamed_file_and_takes_the_best_of_those_that_went) {
  made_repository made;
  std::string text;
  for (int i = 0; i < 40; ++i) text += "line " + std::to_string(i) + '\n';
  made.write("near.txt", text + "one more\n");
  made.write("nearer.txt", text);
  made.write("stays.txt", text + "x\n");
  made.commit("first");
  std::filesystem::remove(made.path() + "/near.txt");
  std::filesystem::remove(made.path() + "/nearer.txt");
  made.write("rival.txt", text);
  made.write("new.txt", text + "tail\n");
  made.commit("second");
  const auto repository = opened(made.path());
  for (const std::string path : {"new.txt", "rival.txt"}) {
    EXPECT_EQ(blamed_by_us(repository.get(), request_for(repository.get(), path)),
              blamed_by_git(made.path(), {"main", "--", path}))
        << path;
  }
}

TEST(git_blame, tells_a_link_a_folder_and_an_unended_line_as_git_does) {
  made_repository made;
  made.write("a", "one\ntwo");
  made.write("folder/b", "1\n");
  made.write("turns", "1\n2\n");
  std::filesystem::create_symlink("a", made.path() + "/link");
  made.commit("first");
  made.write("a", "one\ntwo\n");
  made.write("folder/b", "1\n2");
  std::filesystem::remove(made.path() + "/turns");
  made.write("turns/1", "1\n2\n");
  made.commit("second");
  std::filesystem::remove_all(made.path() + "/turns");
  std::filesystem::create_symlink("1\n2\n", made.path() + "/turns");
  std::filesystem::permissions(made.path() + "/a", std::filesystem::perms::owner_exec, std::filesystem::perm_options::add);
  made.commit("third");
  const auto repository = opened(made.path());
  for (const std::string path : {"a", "folder/b", "link", "turns"}) {
    EXPECT_EQ(blamed_by_us(repository.get(), request_for(repository.get(), path)),
              blamed_by_git(made.path(), {"main", "--", path}))
        << path;
  }
}

TEST(git_blame, attributes_equal_lines_before_a_long_common_end_as_git_does) {
  made_repository made;
  const auto write = [&made](std::size_t braces, std::size_t tail) {
    std::string text = "{\n";
    for (std::size_t i = 0; i < braces; ++i) text += i % 2 == 0 ? "}\n{\n" : "  call();\n}\n{\n";
    for (std::size_t i = 0; i < tail; ++i) text += "}\n\n{\n";
    made.write("braces.c", text);
  };
  for (const std::size_t braces : {4, 9, 7, 12, 5, 30}) {
    for (const std::size_t tail : {10, 300, 900}) {
      write(braces, tail);
      made.commit("braces");
    }
  }
  const auto repository = opened(made.path());
  EXPECT_EQ(blamed_by_us(repository.get(), request_for(repository.get(), "braces.c")),
            blamed_by_git(made.path(), {"main", "--", "braces.c"}));
}

TEST(git_blame, ends_at_the_border_of_a_shallow_clone) {
  made_repository made;
  for (int i = 0; i < 5; ++i) {
    std::string text;
    for (int line = 0; line <= i; ++line) text += std::to_string(line) + '\n';
    made.write("a", text);
    made.commit("more");
  }
  const auto clone = made.above() + "/clone";
  run_git(made.above(), {"clone", "--quiet", "--depth=3", "file://" + made.path(), clone});
  const auto repository = opened(clone);
  const auto ours = blamed_by_us(repository.get(), request_for(repository.get(), "a"));
  EXPECT_EQ(ours, blamed_by_git(clone, {"main", "--", "a"}));
  ASSERT_EQ(ours.size(), 3u);
  EXPECT_TRUE(ours.front().ends_with(" boundary")) << ours.front();
}

TEST(git_blame, stops_at_its_budget_and_says_which_lines_are_open_and_where) {
  made_repository made;
  std::vector<std::string> ids;
  for (int i = 0; i < 10; ++i) {
    made.write("a", std::string("start\n") + "changed " + std::to_string(i) + '\n');
    ids.push_back(made.commit("change"));
  }
  const auto repository = opened(made.path());
  auto request = request_for(repository.get(), "a");
  request.budget = 4;
  const auto found = blame(repository.get(), request);
  ASSERT_TRUE(found);
  ASSERT_EQ(found->runs.size(), 1u);
  EXPECT_EQ(found->runs[0].first, 2u);
  EXPECT_EQ(to_hex(found->runs[0].commit), ids[9]);
  ASSERT_EQ(found->unresolved.size(), 1u);
  EXPECT_EQ(found->unresolved[0].first, 1u);
  EXPECT_EQ(to_hex(found->unresolved[0].commit), ids[5]);
}

TEST(git_blame, leaves_lines_open_where_the_file_was_too_large_before) {
  made_repository made;
  made.write("a", "kept\n" + std::string(5000, 'x') + '\n');
  made.commit("large");
  made.write("a", "kept\nsmall\n");
  const auto second = made.commit("small");
  const auto repository = opened(made.path());
  auto request = request_for(repository.get(), "a");
  request.max_file_bytes = 1000;
  const auto found = blame(repository.get(), request);
  ASSERT_TRUE(found);
  EXPECT_TRUE(found->runs.empty());
  ASSERT_EQ(found->unresolved.size(), 1u);
  EXPECT_EQ(to_hex(found->unresolved[0].commit), second);
  EXPECT_EQ(found->unresolved[0].count, 2u);
  request.commit = id_at(repository.get(), "main~1");
  EXPECT_EQ(refused_blame(repository.get(), request).code, errc::response_too_large);
}

TEST(git_blame, refuses_what_has_no_lines_or_not_those) {
  made_repository made;
  made.write("text", "one\ntwo\n");
  made.write("binary", std::string("a\0b\n", 4));
  made.write("folder/file", "x\n");
  made.write("empty", "");
  made.commit("first");
  const auto repository = opened(made.path());
  const auto code_for = [&](const std::string& path, std::size_t first = 1, std::size_t last = 0) {
    auto request = request_for(repository.get(), path);
    request.first = first;
    request.last = last;
    const auto refused = refused_blame(repository.get(), request);
    EXPECT_NE(refused.public_text.find('`' + path + '`'), std::string::npos) << refused.public_text;
    return refused.code;
  };
  EXPECT_EQ(code_for("none"), errc::resource_not_found);
  EXPECT_EQ(code_for("text/none"), errc::resource_not_found);
  EXPECT_EQ(code_for("folder"), errc::invalid_argument);
  EXPECT_EQ(code_for("binary"), errc::invalid_argument);
  EXPECT_EQ(code_for("text", 3), errc::invalid_argument);
  EXPECT_EQ(code_for("text", 2, 1), errc::invalid_argument);
  EXPECT_EQ(code_for("empty", 1, 1), errc::invalid_argument);
  auto request = request_for(repository.get(), "text");
  request.last = 900;
  EXPECT_EQ(blamed_by_us(repository.get(), request).size(), 1u) << "as with git, a range may end behind the file";
  request.path = "empty";
  request.last = 0;
  EXPECT_TRUE(blamed_by_us(repository.get(), request).empty());
  request.is_stopped = [] { return true; };
  request.path = "text";
  EXPECT_EQ(refused_blame(repository.get(), request).code, errc::cancelled);
}

}  // namespace
}  // namespace hondana::git
