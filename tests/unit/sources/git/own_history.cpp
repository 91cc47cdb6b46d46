/// This project's own history, where it is at hand.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstddef>
#include <filesystem>
#include <string>
#include <vector>

#include "sources/git/history.hpp"
#include "unit/sources/git/blame_by_git.hpp"
#include "unit/sources/git/file_history_by_git.hpp"
#include "unit/sources/git/made_history.hpp"
#include "unit/sources/git/made_repository.hpp"

namespace hondana::git {
namespace {

/// Of this file's project: a clone of it, so that its configuration and owner do not matter. Empty: this is no repository.
std::string own_repository(const made_repository& beside) {
  const auto folder = std::filesystem::path(__FILE__).parent_path() / "../../../..";
  if (!std::filesystem::exists(folder / ".git")) return {};
  const auto clone = beside.above() + "/own";
  const auto done = beside.try_git({"clone", "--quiet", "--bare", "--no-hardlinks", std::filesystem::canonical(folder), clone});
  return done == 0 ? clone : std::string();
}

/// So many of all, from all over.
std::vector<std::string> some_of(const std::vector<std::string>& all, std::size_t count) {
  std::vector<std::string> some;
  for (std::size_t i = 0; i < count && i < all.size(); ++i) some.push_back(all[i * all.size() / std::min(count, all.size())]);
  return some;
}

TEST(git_own_history, is_blamed_and_logged_as_git_does) {
  const made_repository beside;
  const auto own = own_repository(beside);
  if (own.empty()) GTEST_SKIP() << "this is not a clone of the project";
  const auto repository = opened(own);
  const auto files = files_at(own, "HEAD");
  for (const auto& path : some_of(files, 60)) {
    blame_request request;
    request.commit = id_at(repository.get(), "HEAD");
    request.path = path;
    const auto ours = blamed_by_us(repository.get(), request);
    if (!ours.empty() && ours.front().ends_with("binary file, which has no lines")) continue;
    EXPECT_EQ(ours, blamed_by_git(own, {"HEAD", "--", path})) << path;
  }
  for (const auto& path : some_of(files, 30))
    EXPECT_EQ(followed_by_us(repository.get(), path, 20), followed_by_git(own, path)) << path;
  struct asked {
    log_filter filter;
    std::vector<std::string> arguments;
  };
  for (const auto& [filter, arguments] : {
           asked{{}, {}},
           asked{{"src/catalog", "", "", {}, {}}, {"--", "src/catalog"}},
           asked{{"src/server/catalog", "", "", {}, {}}, {"--", "src/server/catalog"}},
           asked{{"CMakeLists.txt", "", "", {}, {}}, {"--", "CMakeLists.txt"}},
           asked{{"", "", "^(files|catalog).*: ", {}, {}}, {"-E", "-i", "--grep=^(files|catalog).*: "}},
           asked{{"tests", "@", "tests?", {}, {}}, {"-E", "-i", "--author=@", "--grep=tests?", "--", "tests"}},
       }) {
    auto words = arguments;
    words.insert(words.begin(), {"--literal-pathspecs", "log", "--full-history", "--format=%H %s"});
    std::vector<std::string> ours;
    log_request request;
    request.start = id_at(repository.get(), "HEAD");
    request.filter = filter;
    request.limit = 17;
    for (bool is_over = false; !is_over;) {
      const auto page = read_log(repository.get(), request);
      ASSERT_TRUE(page) << page.error().public_text;
      for (const auto& one : page->commits) ours.push_back(to_hex(one.id) + ' ' + one.summary);
      is_over = !page->next;
      if (page->next) request.cursor = *page->next;
    }
    EXPECT_EQ(ours, lines_of(run_git(own, words))) << filter.path << ' ' << filter.grep;
  }
}

}  // namespace
}  // namespace hondana::git
