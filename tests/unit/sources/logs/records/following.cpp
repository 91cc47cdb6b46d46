/// Hearing of what is written, and of what happens to the files.
#include <linux/capability.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <array>
#include <chrono>
#include <condition_variable>
#include <filesystem>
#include <fstream>
#include <memory>
#include <mutex>
#include <string>
#include <thread>

#include <gtest/gtest.h>

#include <hondana/clock.hpp>

#include "deadline.hpp"
#include "sources/logs/records/log_watcher.hpp"
#include "unit/os/disk/stopped_wall_clock.hpp"
#include "unit/sources/logs/records/made_log.hpp"

namespace hondana::records {
namespace {

using steady = std::chrono::steady_clock;

/// Counts what is told.
class ear {
 public:
  void hear() {
    const std::lock_guard lock(mutex_);
    ++count_;
    latest_ = steady::now();
    heard_.notify_all();
  }
  [[nodiscard]] std::size_t count() {
    const std::lock_guard lock(mutex_);
    return count_;
  }
  /// Waits for more than so many; returns when the latest was heard.
  steady::time_point more_than(std::size_t known) {
    std::unique_lock lock(mutex_);
    EXPECT_TRUE(heard_.wait_for(lock, hondana_test::event_deadline, [&] { return count_ > known; }));
    return latest_;
  }
  /// Until nothing was heard for a while.
  void quiet() {
    std::unique_lock lock(mutex_);
    for (auto known = count_; heard_.wait_for(lock, std::chrono::milliseconds(100), [&] { return count_ > known; });
         known = count_) {
    }
  }

 private:
  std::mutex mutex_;
  std::condition_variable heard_;
  std::size_t count_ = 0;
  steady::time_point latest_{};
};

struct followed {
  made_log made;
  ear heard;
  std::shared_ptr<log_backend> one;
  explicit followed(bool is_written = true) {
    if (is_written) made.write("app.log", "2026-01-02T12:04:05Z one\n");
    one = made.open();
  }
  void begin() {
    one->follow([this] { heard.hear(); });
    heard.quiet();
  }
  ~followed() {
    if (one) one->follow({});
  }
  followed(const followed&) = delete;
  followed& operator=(const followed&) = delete;
};

/// Root reads everything but without these; those of this thread, and of threads that it starts.
class without_privileges {
 public:
  without_privileges() {
    get(before_);
    auto less = before_;
    for (auto& one : less) one.effective = 0;
    set(less);
  }
  ~without_privileges() { set(before_); }
  without_privileges(const without_privileges&) = delete;
  without_privileges& operator=(const without_privileges&) = delete;

 private:
  using all = std::array<__user_cap_data_struct, 2>;
  static void get(all& into) {
    __user_cap_header_struct head{_LINUX_CAPABILITY_VERSION_3, 0};
    ASSERT_EQ(::syscall(SYS_capget, &head, into.data()), 0);
  }
  static void set(const all& from) {
    __user_cap_header_struct head{_LINUX_CAPABILITY_VERSION_3, 0};
    ASSERT_EQ(::syscall(SYS_capset, &head, from.data()), 0);
  }
  all before_{};
};

TEST(following_timing, tells_of_a_line_within_20_ms_though_the_file_stays_open) {
  followed it;
  it.begin();
  std::ofstream out(it.made.path(), std::ios::app);
  std::chrono::duration<double, std::milli> best(1e9);
  for (int i = 0; i < 20; ++i) {
    const auto known = it.heard.count();
    const auto began = steady::now();
    out << "2026-01-02T12:04:05Z line\n" << std::flush;
    best = std::min<std::chrono::duration<double, std::milli>>(best, it.heard.more_than(known) - began);
    it.heard.quiet();
  }
  // Of the machine's other work only the best one is free.
  EXPECT_LT(best.count(), 20.0);
}

TEST(following, tells_seldom_while_a_file_is_written_all_the_time_and_of_the_last_line_always) {
  manual_clock clock;
  followed it;
  it.begin();
  const auto known = it.heard.count();
  std::ofstream out(it.made.path(), std::ios::app);
  const auto write_line = [&out](int number) { out << "2026-01-02T12:04:06Z line " << number << "\n" << std::flush; };
  write_line(0);
  it.heard.more_than(known);
  for (int line = 1; line <= 1000; ++line) write_line(line);
  const auto is_told = [&] {
    clock.advance(log_watcher::report_interval);
    return it.heard.count() >= known + 2;
  };
  EXPECT_EQ(it.heard.count(), known + 1);
  EXPECT_TRUE(hondana_test::eventually(is_told));
  EXPECT_EQ(page_of(*it.one, newest(1)).records.at(0).text, "2026-01-02T12:04:06Z line 1000");
}

TEST(following, survives_renaming_truncating_deleting_and_making_anew) {
  followed it;
  it.begin();
  const auto told_of = [&](const std::string& command) {
    SCOPED_TRACE(command);
    const auto known = it.heard.count();
    it.made.run(command);
    it.heard.more_than(known);
    it.heard.quiet();
  };
  told_of("mv app.log app.log.1");
  told_of("echo '2026-01-02T12:04:06Z two' > app.log");
  told_of("echo '2026-01-02T12:04:07Z three' >> app.log");
  told_of("gzip app.log.1");
  EXPECT_EQ(page_of(*it.one).records.size(), 3u);
  told_of("truncate -s 0 app.log");
  told_of("rm app.log app.log.1.gz");
  EXPECT_TRUE(hondana_test::eventually([&] { return !it.one->last_error().empty(); }));
  told_of("echo '2026-01-02T12:04:08Z four' > app.log");
  EXPECT_TRUE(hondana_test::eventually([&] { return it.one->last_error().empty(); })) << it.one->last_error();
  EXPECT_EQ(page_of(*it.one).records.size(), 1u);
}

TEST(following, says_nothing_of_other_files) {
  followed it;
  it.begin();
  const auto known = it.heard.count();
  it.made.write("other.log", "x\n");
  it.made.write("app.log.bak", "x\n");
  it.made.run("mv other.log another.log && rm another.log");
  it.heard.quiet();
  EXPECT_EQ(it.heard.count(), known);
}

TEST(following, waits_for_a_folder_that_is_not_there_and_finds_it_again) {
  made_log made;
  made.with.path = made.folder() + "/later/app.log";
  const auto one = made.open();
  ear heard;
  one->follow([&heard] { heard.hear(); });
  const auto read = one->read({}, {}, {});
  ASSERT_FALSE(read);
  EXPECT_EQ(read.error().code, errc::resource_not_found);
  EXPECT_EQ(read.error().public_text.find(made.folder()), std::string::npos);
  for (int i = 0; i < 2; ++i) {
    auto known = heard.count();
    made.run("mkdir later && echo '2026-01-02T12:04:05Z x' > later/app.log");
    heard.more_than(known);
    heard.quiet();
    EXPECT_EQ(page_of(*one).records.size(), 1u);
    known = heard.count();
    made.run("echo '2026-01-02T12:04:05Z y' >> later/app.log");
    heard.more_than(known);
    heard.quiet();
    known = heard.count();
    made.run("rm -r later");
    heard.more_than(known);
    heard.quiet();
  }
  one->follow({});
}

TEST(following, says_when_permission_is_lost_and_when_it_is_back) {
  const without_privileges now;
  followed it;
  it.begin();
  EXPECT_EQ(it.one->last_error(), "");
  auto known = it.heard.count();
  ASSERT_EQ(::chmod(it.made.path().c_str(), 0), 0);
  it.heard.more_than(known);
  it.heard.quiet();
  const auto may_not_be_read = [&] { return it.one->last_error().find("is not readable") != std::string::npos; };
  EXPECT_TRUE(hondana_test::eventually(may_not_be_read)) << it.one->last_error();
  const auto refused = it.one->read({}, {}, {});
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code, errc::access_denied);
  known = it.heard.count();
  it.heard.quiet();
  EXPECT_EQ(it.heard.count(), known);
  ASSERT_EQ(::chmod(it.made.path().c_str(), 0644), 0);
  it.heard.more_than(known);
  it.heard.quiet();
  EXPECT_TRUE(hondana_test::eventually([&] { return it.one->last_error().empty(); })) << it.one->last_error();
  EXPECT_EQ(page_of(*it.one).records.size(), 1u);
  // Of a member that is not the newest, a remark says it.
  it.made.run("mv app.log app.log.1 && echo '2026-01-02T12:04:06Z two' > app.log");
  ASSERT_EQ(::chmod(it.made.path("app.log.1").c_str(), 0), 0);
  const auto page = page_of(*it.one);
  EXPECT_EQ(page.records.size(), 1u);
  ASSERT_EQ(page.notes.size(), 1u);
  EXPECT_NE(page.notes[0].find("app.log.1 is left out"), std::string::npos);
}

TEST(following, gives_a_line_without_an_end_once_it_has_settled) {
  manual_clock clock;
  const disk::stopped_wall_clock wall;
  followed it;
  it.begin();
  auto known = it.heard.count();
  it.made.append("app.log", "2026-01-02T12:04:06Z half");
  it.heard.more_than(known);
  it.heard.quiet();
  EXPECT_EQ(page_of(*it.one).records.size(), 1u);
  const auto version = *it.one->version({});
  known = it.heard.count();
  disk::set_wall_clock_for_tests(disk::wall_clock() + 3'600'000'000'000);
  const auto is_told_by_itself = [&] {
    clock.advance(std::chrono::seconds(3));
    return it.heard.count() > known;
  };
  EXPECT_TRUE(hondana_test::eventually(is_told_by_itself));
  EXPECT_NE(*it.one->version({}), version);
  const auto page = page_of(*it.one);
  ASSERT_EQ(page.records.size(), 2u);
  EXPECT_EQ(page.records[0].text, "2026-01-02T12:04:06Z half");
}

TEST(following, ends_when_it_is_told_to_also_from_within) {
  followed it;
  it.begin();
  const auto known = it.heard.count();
  it.one->follow({});
  it.made.append("app.log", "2026-01-02T12:04:06Z x\n");
  it.heard.quiet();
  EXPECT_EQ(it.heard.count(), known);
  ear other;
  it.one->follow([&] {
    it.one->follow({});
    other.hear();
  });
  it.made.append("app.log", "2026-01-02T12:04:07Z y\n");
  other.more_than(0);
}

TEST(following, has_a_version_that_changes_with_what_a_read_gives) {
  followed it;
  const auto first = *it.one->version({});
  EXPECT_EQ(*it.one->version({}), first);
  it.made.append("app.log", "2026-01-02T12:04:06Z x\n");
  const auto second = *it.one->version({});
  EXPECT_NE(second, first);
  it.made.run("mv app.log app.log.1");
  EXPECT_NE(*it.one->version({}), second);
}

}  // namespace
}  // namespace hondana::records
