/// Lists: their order, what entries say, growth, freshness and bounds.
#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <mutex>
#include <set>
#include <string>
#include <thread>

#include <hondana/uri.hpp>

#include "scratch_folder.hpp"

namespace hondana::files {
namespace {

std::string numbered(std::string prefix, int number) { return prefix.append(std::to_string(number)); }

bool is_in_order(const std::vector<resource>& entries) {
  return std::is_sorted(entries.begin(), entries.end(), [](const resource& a, const resource& b) {
    return compare_by_segment(a.uri, b.uri) == std::strong_ordering::less;
  });
}

/// Asks for lists until one satisfies `done`; a deadline of 10 s keeps a defect from hanging the tests.
template <class Done>
std::vector<resource> list_until(files_provider& files, Done done) {
  const auto deadline = std::chrono::steady_clock::now() + std::chrono::seconds(10);
  auto entries = list_all(files);
  while (!done(entries) && std::chrono::steady_clock::now() < deadline) entries = list_all(files);
  return entries;
}

TEST(lists, have_a_folder_directly_before_its_subtree) {
  const scratch_folder root;
  for (const char* path : {"a/b/c.txt", "a-b.txt", "a.txt", "a/z.txt", "b c/d", "b/d", "%/x", "日/x", "A/x"})
    root.write(path, "x");
  const auto files = open_provider(root);
  const auto entries = list_all(*files);
  EXPECT_TRUE(is_in_order(entries));
  auto names = names_of(entries);
  names.erase(names.begin());
  EXPECT_EQ(names, (std::vector<std::string>{"%", "%/x", "日", "日/x", "A", "A/x", "a", "a/b", "a/b/c.txt", "a/z.txt",
                                             "a-b.txt", "a.txt", "b", "b/d", "b c", "b c/d"}));
}

TEST(lists, give_the_same_in_pages_of_any_size) {
  const scratch_folder root;
  for (int i = 0; i < 40; ++i) root.write(numbered("d", i % 7) + numbered("/f", i), "x");
  const auto files = open_provider(root);
  const auto whole = list_all(*files);
  EXPECT_EQ(whole.size(), 48u);
  for (const std::size_t size : {1, 2, 7, 47, 48, 49}) EXPECT_EQ(names_of(list_all(*files, size)), names_of(whole)) << size;
}

TEST(lists, go_on_after_a_key_that_has_gone) {
  const scratch_folder root;
  for (const char* path : {"a", "b", "c", "d"}) root.write(path, "x");
  const auto files = open_provider(root);
  list_request request;
  request.after = root.uri("bb");
  const auto page = files->list(request);
  ASSERT_TRUE(page.has_value());
  EXPECT_EQ(names_of(page->entries), (std::vector<std::string>{"c", "d"}));
  request.after = "file:///zzz";
  EXPECT_TRUE(files->list(request)->entries.empty());
  EXPECT_FALSE(files->list(request)->resume.has_value());
}

TEST(lists, say_what_is_known_of_each_file) {
  const scratch_folder root;
  root.write("README.md", "# The project\n\nWhat it is for.\n");
  root.write("src/tool.py", "\"\"\"Does a thing.\"\"\"\n");
  root.write("script", "#!/bin/sh\n# Builds.\n");
  const timespec times[2] = {{1'700'000'000, 123'456'789}, {1'700'000'000, 123'456'789}};
  ASSERT_EQ(::utimensat(AT_FDCWD, root.path("README.md").c_str(), times, 0), 0);
  const auto files = open_provider(root);
  const auto entries = list_until(*files, [](const auto& all) { return !entry_named(all, "script").description.empty(); });
  const auto readme = entry_named(entries, "README.md");
  EXPECT_EQ(readme.uri, root.uri("README.md"));
  EXPECT_EQ(readme.title, "The project");
  EXPECT_EQ(readme.description, "What it is for.");
  EXPECT_EQ(readme.mimeType, "text/markdown");
  EXPECT_EQ(readme.kind, "file");
  EXPECT_EQ(readme.size, 31u);
  EXPECT_EQ(readme.annotations.priority, 0.9);
  ASSERT_TRUE(readme.annotations.lastModified.has_value());
  EXPECT_EQ(readme.annotations.lastModified->time_since_epoch().count(), 1'700'000'000'123);
  EXPECT_EQ(readme.version.size(), 32u);
  EXPECT_EQ(entry_named(entries, "src/tool.py").description, "Does a thing.");
  EXPECT_EQ(entry_named(entries, "src/tool.py").title, "");
  EXPECT_EQ(entry_named(entries, "script").mimeType, "text/x-shellscript");
  EXPECT_EQ(entry_named(entries, "script").description, "Builds.");
  EXPECT_EQ(entry_named(entries, "src").version, "");
  EXPECT_EQ(entries[0].uri, root.uri());
  EXPECT_EQ(entries[0].kind, "folder");
  EXPECT_EQ(entries[0].name, root.path().substr(root.path().rfind('/') + 1));
}

TEST(lists, change_a_files_version_with_the_file) {
  const scratch_folder root;
  root.write("a.txt", "one");
  const auto files = open_provider(root);
  const auto first = entry_named(list_all(*files), "a.txt").version;
  root.write("a.txt", "other");
  const auto later = list_until(*files, [&](const auto& all) { return entry_named(all, "a.txt").version != first; });
  EXPECT_NE(entry_named(later, "a.txt").version, first);
  EXPECT_EQ(entry_named(later, "a.txt").size, 5u);
}

TEST(lists, show_new_files_and_forget_removed_ones) {
  const scratch_folder root;
  root.write("old.txt", "x");
  const auto files = open_provider(root);
  EXPECT_EQ(list_all(*files).size(), 2u);
  root.write("new.md", "# New\n");
  ASSERT_EQ(::unlink(root.path("old.txt").c_str()), 0);
  const auto entries = list_until(*files, [](const auto& all) { return entry_named(all, "new.md").title == "New"; });
  EXPECT_EQ(entry_named(entries, "new.md").title, "New");
  EXPECT_EQ(entry_named(entries, "old.txt").uri, "");
}

TEST(lists, follow_a_refresh_however_long_they_may_be_kept) {
  const scratch_folder root;
  auto from = serving(root.path());
  from.refresh_after = std::chrono::hours(1);
  const auto files = open_provider(std::move(from));
  EXPECT_EQ(list_all(*files).size(), 1u);
  list_until(*files, [&](const auto&) { return files->health().detail.find("indexed in") != std::string::npos; });
  root.write("new.txt", "x");
  EXPECT_EQ(list_all(*files).size(), 1u);
  files->refresh();
  EXPECT_EQ(list_until(*files, [](const auto& all) { return all.size() == 2; }).size(), 2u);
}

TEST(lists, of_a_wide_folder_come_in_pages_while_the_walk_goes_on) {
  const scratch_folder root;
  for (int i = 0; i < 3000; ++i) root.write(numbered("f", i), "");
  const auto files = open_provider(root);
  list_request request;
  request.limit = 10;
  const auto page = files->list(request);
  ASSERT_TRUE(page.has_value());
  EXPECT_EQ(page->entries.size(), 10u);
  EXPECT_TRUE(page->resume.has_value());
  const auto entries = list_all(*files, 100);
  EXPECT_EQ(entries.size(), 3001u);
  EXPECT_TRUE(is_in_order(entries));
}

TEST(lists, keep_to_their_deadline_and_to_a_cancellation) {
  const scratch_folder root;
  for (int i = 0; i < 2000; ++i) root.write(numbered("f", i), "");
  const auto files = open_provider(root);
  list_request request;
  request.deadline = std::chrono::steady_clock::now();
  const auto late = files->list(request);
  if (late) {
    EXPECT_TRUE(late->resume.has_value() || late->entries.size() == 2001);
  } else {
    EXPECT_EQ(late.error().code, errc::timed_out);
  }
  std::stop_source stop;
  stop.request_stop();
  request.deadline = std::chrono::steady_clock::time_point::max();
  request.stop = stop.get_token();
  const auto cancelled = files->list(request);
  EXPECT_TRUE(cancelled || cancelled.error().code == errc::cancelled);
}

TEST(lists, show_each_view_what_it_may_see) {
  class only_even final : public view {
   public:
    std::uint64_t id() const noexcept override { return 1; }
    bool may_see(std::string_view uri) const override { return (uri.back() - '0') % 2 == 0; }
  };
  const scratch_folder root;
  for (int i = 0; i < 100; ++i) root.write(numbered("f", i), "");
  const auto files = open_provider(root);
  list_request request;
  request.who.view = std::make_shared<only_even>();
  request.limit = 7;
  std::size_t seen = 0;
  for (;;) {
    const auto page = files->list(request);
    ASSERT_TRUE(page.has_value());
    for (const auto& one : page->entries) EXPECT_TRUE(request.who.view->may_see(one.uri));
    seen += page->entries.size();
    if (!page->resume) break;
    request.after = *page->resume;
  }
  EXPECT_GE(seen, 50u);
}

/// A log that can be asked.
class kept_log {
 public:
  log_line taker() {
    return [this](std::string_view line) {
      const std::lock_guard lock(mutex_);
      lines_.emplace_back(line);
    };
  }
  bool has(std::string_view part) const {
    const std::lock_guard lock(mutex_);
    return std::any_of(lines_.begin(), lines_.end(),
                       [part](const std::string& line) { return line.find(part) != std::string::npos; });
  }

 private:
  mutable std::mutex mutex_;
  std::vector<std::string> lines_;
};

TEST(walks, end_at_their_bounds_and_say_so) {
  const scratch_folder root;
  for (int i = 0; i < 20; ++i) root.write(numbered("f", i), "");
  root.write("a/b/c/d/e.txt", "x");
  kept_log log;
  {
    auto from = serving(root.path());
    from.max_entries = 12;
    from.log = log.taker();
    EXPECT_EQ(list_all(*open_provider(std::move(from))).size(), 12u);
    EXPECT_TRUE(log.has("only the first 12 entries are listed"));
  }
  auto from = serving(root.path());
  from.max_depth = 3;
  from.log = log.taker();
  const auto files = open_provider(std::move(from));
  const auto names = names_of(list_all(*files));
  EXPECT_NE(std::find(names.begin(), names.end(), "a/b/c"), names.end());
  EXPECT_EQ(std::find(names.begin(), names.end(), "a/b/c/d"), names.end());
  EXPECT_TRUE(log.has("a/b/c is 3 folders deep"));
  EXPECT_EQ(read_text(*files, root.uri("a/b/c/d/e.txt")), "x");
}

TEST(walks, tell_the_log_when_they_end) {
  const scratch_folder root;
  root.write("a", "");
  kept_log log;
  auto from = serving(root.path());
  from.log = log.taker();
  const auto files = open_provider(std::move(from));
  list_until(*files, [&](const auto&) { return log.has("indexed"); });
  EXPECT_TRUE(log.has("indexed 2 entries in "));
  EXPECT_EQ(files->health().detail.find("2 entries, indexed in "), 0u);
  EXPECT_TRUE(files->health().ok);
}

TEST(walks, go_on_past_folders_that_cannot_be_read) {
  if (::geteuid() == 0) GTEST_SKIP() << "root may read everything";
  const scratch_folder root;
  root.write("locked/a", "x");
  root.write("open/b", "x");
  ASSERT_EQ(::chmod(root.path("locked").c_str(), 0), 0);
  kept_log log;
  auto from = serving(root.path());
  from.log = log.taker();
  const auto names = names_of(list_all(*open_provider(std::move(from))));
  ::chmod(root.path("locked").c_str(), 0755);
  EXPECT_NE(std::find(names.begin(), names.end(), "open/b"), names.end());
  EXPECT_TRUE(log.has("locked cannot be listed: Permission denied"));
}

TEST(walks, survive_deep_trees) {
  const scratch_folder root;
  std::string deep = "d";
  for (int i = 0; i < 299; ++i) deep += "/d";
  root.write(deep + "/leaf", "x");
  const auto files = open_provider(root);
  const auto entries = list_all(*files);
  EXPECT_EQ(entries.size(), 257u);  // the root and 256 folders below it
  EXPECT_TRUE(is_in_order(entries));
}

TEST(walks, leave_out_names_whose_uri_nobody_could_ask_for) {
  const scratch_folder root;
  std::string deep;
  for (int i = 0; i < 12; ++i) {
    for (int k = 0; k < 80; ++k) deep += "本";
    deep += "/";
  }
  root.write(deep + "leaf", "x");
  const auto files = open_provider(root);
  for (const auto& one : list_all(*files)) EXPECT_LE(one.uri.size(), 8192u);
  std::set<std::string> reasons;
  ASSERT_TRUE(files->survey({}, [&](const survey_item& item) { reasons.insert(item.reason); }).has_value());
  EXPECT_TRUE(reasons.contains("its URI would be longer than 8192 bytes"));
}

TEST(walks, and_lists_and_changes_at_once_give_ordered_lists) {
  const scratch_folder root;
  for (int i = 0; i < 300; ++i) root.write(numbered("d", i % 10) + numbered("/f", i), "// text\n");
  const auto files = open_provider(root);
  std::atomic<bool> done{false};
  std::thread changer([&] {
    for (int i = 0; !done; ++i) {
      root.write(numbered("d", i % 10) + numbered("/g", i % 50) + ".cpp", "// changed\n");
      ::unlink(root.path(numbered("d", i % 10) + numbered("/f", i % 300)).c_str());
    }
  });
  std::thread refresher([&] {
    while (!done) files->refresh();
  });
  for (int i = 0; i < 50; ++i) EXPECT_TRUE(is_in_order(list_all(*files, 37)));
  done = true;
  changer.join();
  refresher.join();
}

TEST(walks, end_with_their_provider) {
  const scratch_folder root;
  for (int i = 0; i < 2000; ++i) root.write(numbered("f", i) + ".md", "# x\n");
  for (int i = 0; i < 20; ++i) {
    const auto files = open_provider(root);
    list_request request;
    request.limit = 1;
    EXPECT_TRUE(files->list(request).has_value());
  }
}

}  // namespace
}  // namespace hondana::files
