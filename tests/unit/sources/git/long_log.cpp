/// Pages of histories that are long or wide.
#include <gtest/gtest.h>

#include <ctime>

#include <algorithm>
#include <cstddef>
#include <limits>
#include <string>
#include <vector>

#include "sources/git/history.hpp"
#include "unit/sources/git/made_history.hpp"
#include "unit/sources/git/made_repository.hpp"

namespace hondana::git {
namespace {

double milliseconds_of_this_thread() {
  timespec now{};
  ::clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
  return static_cast<double>(now.tv_sec) * 1e3 + static_cast<double>(now.tv_nsec) / 1e6;
}

/// The quickest of some times, since others work on this machine, too.
double milliseconds_for(git_repository* in, const log_request& request) {
  double quickest = std::numeric_limits<double>::max();
  for (int i = 0; i < 5; ++i) {
    const auto start = milliseconds_of_this_thread();
    EXPECT_TRUE(read_log(in, request));
    quickest = std::min(quickest, milliseconds_of_this_thread() - start);
  }
  return quickest;
}

TEST(git_long_log_timing, of_20000_commits_pages_in_less_than_20_ms_at_any_place) {
  const made_repository made;
  history_shape shape{61, 20'000};
  shape.has_files = false;
  shape.branching = 10;
  import_history(made, drawn_history(shape));
  const auto repository = opened(made.path());
  const auto expected = lines_of(made.git({"log", "--full-history", "--format=%H", "main"}));
  ASSERT_EQ(expected.size(), 20'000u);
  log_request request;
  request.start = id_at(repository.get(), "main");
  request.limit = 1'987;  // so that pages begin at no special places
  request.budget = 100'000;
  std::size_t told = 0;
  for (;;) {
    const auto page = read_log(repository.get(), request);
    ASSERT_TRUE(page) << page.error().public_text;
    for (const auto& one : page->commits) {
      ASSERT_LT(told, expected.size());
      ASSERT_EQ(to_hex(one.id), expected[told++]);
    }
    if (!page->next) break;
    request.cursor = *page->next;
    auto here = request;
    here.limit = 50;
    EXPECT_LT(milliseconds_for(repository.get(), here), 20) << told;
  }
  EXPECT_EQ(told, expected.size());
}

TEST(git_long_log, of_one_commit_with_600_parents_is_that_of_git_although_no_cursor_holds_so_many) {
  const made_repository made;
  std::string stream, top = "commit refs/heads/main\nmark :1000\ncommitter A <a> 1800000000 +0000\ndata 3\ntop\n";
  for (int i = 1; i <= 600; ++i) {
    const auto number = std::to_string(i);
    stream += "commit refs/heads/b" + number + "\nmark :" + number + "\ncommitter A <a> " +
              std::to_string(1'700'000'000 + i % 7) + " +0000\ndata " + std::to_string(number.size()) + '\n' + number + "\n\n";
    top += (i == 1 ? "from :" : "merge :") + number + '\n';
  }
  import_history(made, stream + top + '\n');
  const auto repository = opened(made.path());
  log_request request;
  request.start = id_at(repository.get(), "main");
  request.limit = 83;
  std::vector<std::string> told;
  for (;;) {
    const auto page = read_log(repository.get(), request);
    ASSERT_TRUE(page) << page.error().public_text;
    for (const auto& one : page->commits) told.push_back(to_hex(one.id));
    if (!page->next) break;
    EXPECT_LT(page->next->size(), 10'000u);
    request.cursor = *page->next;
  }
  EXPECT_EQ(told, lines_of(made.git({"log", "--full-history", "--format=%H", "main"})));
}

}  // namespace
}  // namespace hondana::git
