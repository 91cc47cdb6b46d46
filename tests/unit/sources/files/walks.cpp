/// The walks behind lists: their bounds, what they tell the log, failures, and changes while they go on.
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <memory>
#include <mutex>
#include <set>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

#include "scratch_folder.hpp"
#include "sources/files/indexer.hpp"

namespace hondana::files {
namespace {

/// A log that can be asked.
class kept_log {
 public:
  log_callback taker() {
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

TEST(walks, that_fail_are_an_error_to_who_waits_and_are_tried_again) {
  const scratch_folder root;
  root.write("a", "");
  root.write("b", "");
  kept_log log;
  auto from = serving(root.path());
  from.max_entries = 2;
  from.log = [keep = log.taker(), calls = std::make_shared<std::atomic<int>>(0)](std::string_view line) {
    if ((*calls)++ == 0) throw std::runtime_error("no room");
    keep(line);
  };
  const auto files = open_provider(std::move(from));
  const auto first = files->list({});
  ASSERT_FALSE(first.has_value());
  EXPECT_EQ(first.error().code, errc::source_unavailable);
  EXPECT_EQ(first.error().public_text.find("The files could not be listed"), 0u);
  EXPECT_EQ(list_all(*files).size(), 2u);
  EXPECT_TRUE(log.has("indexing failed: no room"));
}

TEST(walks, that_fail_later_leave_the_latest_list_as_it_is) {
  const scratch_folder root;
  root.write("a", "");
  kept_log log;
  auto from = serving(root.path());
  from.max_depth = 1;
  from.refresh_interval = std::chrono::hours(1);
  from.watches = false;
  from.log = [keep = log.taker()](std::string_view line) {
    if (line.find("folders deep") != std::string_view::npos) throw std::runtime_error("no room");
    keep(line);
  };
  const auto files = open_provider(std::move(from));
  EXPECT_EQ(list_all(*files).size(), 2u);
  list_until(*files, [&](const auto&) { return log.has("indexed 2 entries"); });
  root.write("b/c/d", "");
  files->refresh();
  const auto entries = list_until(*files, [&](const auto&) { return log.has("indexing failed: no room"); });
  EXPECT_TRUE(log.has("indexing failed: no room"));
  EXPECT_EQ(entries.size(), 2u);
  EXPECT_EQ(list_all(*files).size(), 2u);
}

// attacks: resource exhaustion (trees without end)
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
  // It is told a moment before it is in place.
  list_until(*files, [&](const auto&) { return files->health().detail.starts_with("2 entries, indexed in "); });
  EXPECT_TRUE(log.has("indexed 2 entries in "));
  EXPECT_TRUE(files->health().is_healthy);
}

TEST(walks, go_on_past_folders_that_cannot_be_read) {
  as_ordinary_user([] {
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
  });
}

// attacks: resource exhaustion (trees without end)
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
  ASSERT_TRUE(files->inventory({}, [&](const inventory_item& item) { reasons.insert(item.reason); }).has_value());
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

TEST(walks, leave_no_more_than_the_latest_listing_behind) {
  const scratch_folder folder;
  folder.write("a.md", "# A\n");
  auto from = serving(folder.path());
  from.refresh_interval = std::chrono::hours(1);
  const auto root = served_root::open(from.roots[0], from);
  ASSERT_TRUE(root.has_value());
  indexer walks({*root}, from);
  std::weak_ptr<const listing> old = walks.current({}, monotonic_clock::now()).value();
  ASSERT_TRUE(hondana_test::eventually([&] { return walks.current_health().detail.find("indexed in") != std::string::npos; }));
  ASSERT_FALSE(old.expired());
  walks.refresh();
  EXPECT_TRUE(hondana_test::eventually([&] { return old.expired(); }));
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
