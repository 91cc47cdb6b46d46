/// Logs are those of the git program, wherever a page begins.
#include <gtest/gtest.h>

#include <ctime>

#include <algorithm>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

#include "sources/git/history.hpp"
#include "unit/sources/git/made_history.hpp"
#include "unit/sources/git/made_repository.hpp"

namespace hondana::git {
namespace {

using logged = std::vector<std::string>;

/// Ids and subjects of all pages.
logged all_pages(git_repository* in, log_request request) {
  logged all;
  for (;;) {
    const auto page = read_log(in, request);
    if (!page) {
      all.push_back("failed: " + page.error().public_text);
      return all;
    }
    EXPECT_LE(page->commits.size(), request.limit);
    for (const auto& one : page->commits) all.push_back(to_hex(one.id) + ' ' + one.summary);
    if (!page->next) return all;
    request.cursor = *page->next;
  }
}

logged log_by_git(const std::string& folder, std::vector<std::string> arguments) {
  arguments.insert(arguments.begin(), {"--literal-pathspecs", "log", "--full-history", "--format=%H %s"});
  return lines_of(run_git(folder, arguments));
}

log_request request_of_main(git_repository* in, std::size_t limit = 50) {
  log_request request;
  request.start = id_at(in, "main");
  request.limit = limit;
  return request;
}

struct log_of_shape : testing::TestWithParam<history_shape> {};

TEST_P(log_of_shape, is_that_of_git_on_pages_of_any_size_and_with_any_filter) {
  const made_repository made;
  import_history(made, drawn_history(GetParam()));
  const auto repository = opened(made.path());
  const auto all = log_by_git(made.path(), {"main"});
  EXPECT_EQ(all.size(), GetParam().commits);
  for (const std::size_t limit : {1, 3, 50, 5000})
    EXPECT_EQ(all_pages(repository.get(), request_of_main(repository.get(), limit)), all);

  for (const std::string path : {"a.txt", "d", "d/e", "d/e/z.txt", "w o", "none", "a.txt/none"}) {
    for (const std::size_t limit : {2, 5000}) {
      auto request = request_of_main(repository.get(), limit);
      request.filter.path = path;
      EXPECT_EQ(all_pages(repository.get(), request), log_by_git(made.path(), {"main", "--", path})) << path;
    }
  }
  for (const std::int64_t since : {1'600'000'000, 1'600'002'000, 1'600'004'321}) {
    for (const std::int64_t until : {1'600'003'000, 1'600'005'000, 1'900'000'000}) {
      auto request = request_of_main(repository.get(), 7);
      request.filter.since = since;
      request.filter.until = until;
      EXPECT_EQ(all_pages(repository.get(), request),
                log_by_git(made.path(), {"--since=" + std::to_string(since), "--until=" + std::to_string(until), "main"}))
          << since << ' ' << until;
    }
  }
  auto request = request_of_main(repository.get(), 9);
  request.filter = {"d", "(ADA|björn) .*<", "^fixes:.*bug-[0-9]*[05]$", std::nullopt, std::nullopt};
  EXPECT_EQ(
      all_pages(repository.get(), request),
      log_by_git(made.path(), {"-E", "-i", "--author=(ADA|björn) .*<", "--grep=^fixes:.*bug-[0-9]*[05]$", "main", "--", "d"}));
}

INSTANTIATE_TEST_SUITE_P(log, log_of_shape,
                         testing::Values(history_shape{1, 120}, history_shape{2, 120, history_shape::clocks::coarse},
                                         history_shape{3, 120, history_shape::clocks::wrong},
                                         history_shape{4, 120, history_shape::clocks::wrong, 60, 50},
                                         history_shape{5, 120, history_shape::clocks::coarse, 80, 10},
                                         history_shape{6, 120, history_shape::clocks::wrong, 0, 0}));

}  // namespace
}  // namespace hondana::git
