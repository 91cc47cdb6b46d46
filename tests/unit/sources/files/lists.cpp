/// Lists: their order, what entries say, freshness, views, and how waits for them end.
#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <chrono>
#include <future>
#include <memory>
#include <semaphore>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "scratch_folder.hpp"
#include "sources/files/listing.hpp"

namespace hondana::files {
namespace {

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
  request.after_key = root.uri("bb");
  const auto page = files->list(request);
  ASSERT_TRUE(page.has_value());
  EXPECT_EQ(names_of(page->entries), (std::vector<std::string>{"c", "d"}));
  request.after_key = "file:///zzz";
  EXPECT_TRUE(files->list(request)->entries.empty());
  EXPECT_FALSE(files->list(request)->next_key.has_value());
}

TEST(lists, leave_out_times_too_far_away_to_be_counted) {
  const scratch_folder root;
  root.write("far.txt", "x");
  // The last second ext4 can store is in 2446, further than 64 bits of nanoseconds reach; tmpfs stores any.
  for (const time_t second : {15'032'385'535l, 9'223'372'037l, -9'223'372'038l}) {
    const timespec times[2] = {{second, 0}, {second, 0}};
    ASSERT_EQ(::utimensat(AT_FDCWD, root.path("far.txt").c_str(), times, 0), 0);
    struct stat stored{};
    ASSERT_EQ(::stat(root.path("far.txt").c_str(), &stored), 0);
    if (stored.st_mtim.tv_sec != second) continue;  // this file system stores nearer times only
    const auto files = open_provider(root);
    const auto entry = entry_named(list_until(*files, [](const auto& all) { return !all.empty(); }), "far.txt");
    EXPECT_FALSE(entry.annotations.last_modified.has_value()) << second;
  }
}

TEST(lists, say_what_is_known_of_each_file) {
  const scratch_folder root;
  root.write("README.md", "# The project\n\nWhat it is for.\n");
  root.write("src/tool.py", "\"\"\"Does a thing.\"\"\"\n");
  root.write("script", "#!/bin/sh\n# Builds.\n");
  const timespec times[2] = {{1'700'000'000, 123'456'789}, {1'700'000'000, 123'456'789}};
  ASSERT_EQ(::utimensat(AT_FDCWD, root.path("README.md").c_str(), times, 0), 0);
  const auto files = open_provider(root);
  const auto entries = list_until(*files, [](const auto& all) {
    return !entry_named(all, "script").description.empty() && !entry_named(all, "README.md").version.empty();
  });
  const auto readme = entry_named(entries, "README.md");
  EXPECT_EQ(readme.uri, root.uri("README.md"));
  EXPECT_EQ(readme.title, "The project");
  EXPECT_EQ(readme.description, "What it is for.");
  EXPECT_EQ(readme.mime_type, "text/markdown");
  EXPECT_EQ(readme.kind, "file");
  EXPECT_EQ(readme.size, 31u);
  EXPECT_EQ(readme.annotations.priority, 0.9);
  ASSERT_TRUE(readme.annotations.last_modified.has_value());
  EXPECT_EQ(readme.annotations.last_modified->time_since_epoch().count(), 1'700'000'000'123);
  EXPECT_EQ(readme.version.size(), 32u);
  EXPECT_EQ(entry_named(entries, "src/tool.py").description, "Does a thing.");
  EXPECT_EQ(entry_named(entries, "src/tool.py").title, "");
  EXPECT_EQ(entry_named(entries, "script").mime_type, "text/x-shellscript");
  EXPECT_EQ(entry_named(entries, "script").description, "Builds.");
  EXPECT_EQ(entry_named(entries, "src").version, "");
  EXPECT_EQ(entries[0].uri, root.uri());
  EXPECT_EQ(entries[0].kind, "folder");
  EXPECT_EQ(entries[0].name, root.path().substr(root.path().rfind('/') + 1));
}

TEST(lists, give_the_type_that_a_read_gives) {
  const scratch_folder root;
  std::string packets;
  for (int i = 0; i < 20; ++i) packets += "\x47\x40" + std::string(1, '\0') + '\x10' + std::string(184, '\0');
  root.write("clip.ts", packets);
  root.write("code.ts", "export const a: number = 1;\n");
  root.write("nul.json", std::string("{}\0", 3));
  root.write("pointer.png", "version https://git-lfs.github.com/spec/v1\n");
  root.write("real.json", "{}\n");
  root.write("empty.png", "");
  root.write("last.md", "# Last\n");
  const auto files = open_provider(root);
  const auto entries = list_until(*files, [](const auto& all) { return !entry_named(all, "last.md").title.empty(); });
  const std::vector<std::pair<std::string, std::string>> expected{
      {"clip.ts", "video/mp2t"},     {"code.ts", "text/typescript"},    {"nul.json", "application/octet-stream"},
      {"pointer.png", "text/plain"}, {"real.json", "application/json"}, {"empty.png", "text/plain"}};
  for (const auto& [name, type] : expected) {
    EXPECT_EQ(entry_named(entries, name).mime_type, type) << name;
    read_request request;
    request.uri = request.requested_uri = root.uri(name);
    const auto answer = files->read(request);
    ASSERT_TRUE(answer) << name;
    EXPECT_EQ(answer->contents.at(0).mime_type, type) << name;
  }
}

// attacks: local web page (stored HTML in a resource)
TEST(lists, label_files_whose_front_a_browser_would_run_whatever_they_are_called) {
  const scratch_folder root;
  root.write("notes", "<!DOCTYPE html><script>alert(1)</script>");
  root.write("README.md", "\n<p align=\"center\">");
  root.write("page.html", "words");
  root.write("plain.txt", "words");
  const auto files = open_provider(root);
  const auto entries = list_until(*files, [](const auto& all) {
    return !entry_named(all, "plain.txt").description.empty() && !entry_named(all, "notes").mime_type.empty();
  });
  const metadata html{{"dev.hondana/active", std::string("text/html")}};
  EXPECT_EQ(entry_named(entries, "notes").metadata, html);
  EXPECT_EQ(entry_named(entries, "README.md").metadata, html);
  EXPECT_EQ(entry_named(entries, "plain.txt").metadata, metadata{});
  // Its type says so already.
  EXPECT_EQ(entry_named(entries, "page.html").metadata, metadata{});
}

TEST(lists, change_a_files_version_with_the_file) {
  const scratch_folder root;
  root.write("a.txt", "one");
  const auto files = open_provider(root);
  const auto has_version = [](const auto& all) { return !entry_named(all, "a.txt").version.empty(); };
  const auto first = entry_named(list_until(*files, has_version), "a.txt").version;
  EXPECT_EQ(read(*files, root.uri("a.txt"))->version, first);
  root.write("a.txt", "other");
  const auto later = list_until(*files, [&](const auto& all) {
    const auto now = entry_named(all, "a.txt");
    return now.version != first && !now.version.empty();
  });
  EXPECT_NE(entry_named(later, "a.txt").version, first);
  EXPECT_EQ(entry_named(later, "a.txt").version, read(*files, root.uri("a.txt"))->version);
  EXPECT_EQ(entry_named(later, "a.txt").size, 5u);
}

TEST(lists, have_no_version_of_what_changed_within_50_ms) {
  struct stat facts{};
  facts.st_mode = S_IFREG | 0644;
  facts.st_ctim = {1'000, 500'000'000};
  constexpr std::int64_t changed = 1'000'500'000'000;
  EXPECT_FALSE(make_record(facts, changed).has_version());
  EXPECT_FALSE(make_record(facts, changed + 49'999'999).has_version());
  EXPECT_FALSE(make_record(facts, changed - 1'000'000'000).has_version());
  EXPECT_TRUE(make_record(facts, changed + 50'000'000).has_version());
}

TEST(lists, show_new_files_and_forget_removed_ones) {
  const scratch_folder root;
  root.write("old.txt", "x");
  const auto files = open_provider(root);
  EXPECT_EQ(list_all(*files).size(), 2u);
  root.write("new.md", "# New\n");
  ASSERT_EQ(::unlink(root.path("old.txt").c_str()), 0);
  const auto entries = list_until(*files, [](const auto& all) {
    return entry_named(all, "new.md").title == "New" && entry_named(all, "old.txt").uri.empty();
  });
  EXPECT_EQ(entry_named(entries, "new.md").title, "New");
  EXPECT_EQ(entry_named(entries, "old.txt").uri, "");
}

TEST(lists, follow_a_refresh_however_long_they_may_be_kept) {
  const scratch_folder root;
  auto from = serving(root.path());
  from.refresh_interval = std::chrono::hours(1);
  from.watches = false;
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
  EXPECT_TRUE(page->next_key.has_value());
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
  ASSERT_FALSE(late.has_value());
  EXPECT_EQ(late.error().code, errc::timed_out);
  std::stop_source stop;
  stop.request_stop();
  request.deadline = std::chrono::steady_clock::time_point::max();
  request.stop = stop.get_token();
  const auto cancelled = files->list(request);
  ASSERT_FALSE(cancelled.has_value());
  EXPECT_EQ(cancelled.error().code, errc::cancelled);
}

TEST(lists, that_wait_for_a_walk_end_when_they_are_cancelled) {
  const scratch_folder root;
  root.write("a", "");
  root.write("b", "");
  std::counting_semaphore<> entered(0);
  std::promise<void> release;
  const auto released = release.get_future().share();
  auto from = serving(root.path());
  from.max_entries = 1;  // the log is told, and holds the walk up
  from.log = [&entered, released](std::string_view) {
    entered.release();
    released.wait();
  };
  const auto files = open_provider(std::move(from));
  std::stop_source stop;
  std::thread peer([&] {
    entered.acquire();
    stop.request_stop();
  });
  list_request request;
  request.stop = stop.get_token();
  const auto cancelled = files->list(request);
  peer.join();
  release.set_value();
  ASSERT_FALSE(cancelled.has_value());
  EXPECT_EQ(cancelled.error().code, errc::cancelled);
}

TEST(lists, show_each_view_what_it_may_see) {
  class only_even final : public access_filter {
   public:
    std::uint64_t id() const noexcept override { return 1; }
    bool may_see(std::string_view uri) const override { return (uri.back() - '0') % 2 == 0; }
  };
  const scratch_folder root;
  for (int i = 0; i < 100; ++i) root.write(numbered("f", i), "");
  const auto files = open_provider(root);
  list_request request;
  request.caller.access_filter = std::make_shared<only_even>();
  request.limit = 7;
  std::size_t seen = 0;
  for (;;) {
    const auto page = files->list(request);
    ASSERT_TRUE(page.has_value());
    for (const auto& one : page->entries) EXPECT_TRUE(request.caller.access_filter->may_see(one.uri));
    seen += page->entries.size();
    if (!page->next_key) break;
    request.after_key = *page->next_key;
  }
  EXPECT_GE(seen, 50u);
}

}  // namespace
}  // namespace hondana::files
