/// Walks and reads while the process has hardly any descriptors left: all that there is, or an error, and never less.
#include <string>

#include <gtest/gtest.h>

#include <hondana/clock.hpp>

#include "scratch_folder.hpp"
#include "unit/descriptors_left.hpp"

namespace hondana::files {
namespace {

using hondana_test::descriptors_left;

constexpr int folder_count = 20;

void fill(const scratch_folder& root) {
  for (int i = 0; i < folder_count; ++i) root.write(numbered("d", i) + "/e/f/g/h/x.txt", "here");
  root.write("d0/.gitignore", "hidden.txt\n");
  root.write("d0/hidden.txt", "hidden");
  root.write("d1/e/.git/HEAD", "no repository");
  root.write(".git/info/exclude", "nothing of that name\n");
}

options unwatched(const scratch_folder& root) {
  auto how = serving(root.path());
  how.watches = false;  // or its thread opens some as well
  return how;
}

/// Everything, or nothing when the list is refused.
std::vector<std::string> listed(files_provider& from) {
  list_request request;
  request.deadline = monotonic_clock::now() + hondana_test::event_deadline;
  request.limit = 10'000;
  const auto page = from.list(request);
  if (!page) {
    EXPECT_EQ(page.error().code, errc::source_unavailable) << page.error().public_text;
    return {};
  }
  return names_of(page->entries);
}

TEST(few_descriptors, are_enough_to_walk_folders_of_any_depth) {
  const scratch_folder root;
  fill(root);
  const auto wanted = listed(*open_provider(unwatched(root)));
  ASSERT_EQ(wanted.size(), 1u + 6 * folder_count);
  std::size_t fewest = 10;
  for (; fewest > 0; --fewest) {
    const auto files = open_provider(unwatched(root));
    const descriptors_left few(fewest);
    const auto found = listed(*files);
    if (found.empty()) break;
    EXPECT_EQ(found, wanted) << fewest;
  }
  EXPECT_LT(fewest, 4u);
}

TEST(few_descriptors, end_a_walk_that_is_begun_anew_when_there_are_more) {
  const scratch_folder root;
  fill(root);
  const auto files = open_provider(unwatched(root));
  {
    const descriptors_left none(0);
    EXPECT_TRUE(listed(*files).empty());
    EXPECT_FALSE(files->health().is_healthy);
  }
  EXPECT_TRUE(hondana_test::eventually([&] { return listed(*files).size() == 1u + 6 * folder_count; }));
  EXPECT_TRUE(files->health().is_healthy);
}

TEST(few_descriptors, leave_no_text_out_of_a_folder_that_is_read) {
  const scratch_folder root;
  for (const char* name : {"a.txt", "b.txt", "c.txt"}) root.write(name, "text");
  const auto files = open_provider(unwatched(root));
  const auto wanted = read(*files, root.uri(""));
  ASSERT_TRUE(wanted);
  ASSERT_EQ(wanted->contents.size(), 4u);
  for (std::size_t left = 0; left < 12; ++left) {
    const descriptors_left few(left);
    const auto got = read(*files, root.uri(""));
    if (got) {
      EXPECT_EQ(got->contents.size(), 4u) << left;
    } else {
      EXPECT_EQ(got.error().code, errc::source_unavailable) << left << ": " << got.error().public_text;
    }
  }
}

TEST(few_descriptors, are_no_reason_to_call_a_file_missing_that_is_there) {
  const scratch_folder root;
  fill(root);
  const auto files = open_provider(unwatched(root));
  for (const char* path : {"d0/e/f/g/h/x.txt", "d1/e/f/g/h/x.txt"}) {
    ASSERT_TRUE(read(*files, root.uri(path)));
    for (std::size_t left = 0; left < 12; ++left) {
      const descriptors_left few(left);
      const auto got = read(*files, root.uri(path));
      if (!got) {
        EXPECT_EQ(got.error().code, errc::source_unavailable) << left << ": " << got.error().public_text;
      }
    }
  }
  for (std::size_t left = 0; left < 12; ++left) {
    const descriptors_left few(left);
    const auto hidden = read(*files, root.uri("d0/hidden.txt"));
    EXPECT_FALSE(hidden) << "what is left out is not read for want of the file that says so";
  }
}

}  // namespace
}  // namespace hondana::files
