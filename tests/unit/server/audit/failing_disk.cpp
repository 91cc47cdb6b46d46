/// The log in files on a disk that fails: while files are changed, and while they are synced.
#include <fcntl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <future>

#include "unit/server/audit/a_folder.hpp"

namespace {
std::atomic<bool> no_file_can_be_synced{false};
std::atomic<bool> syncing_takes_forever{false};
std::atomic<int> failing_syncs{0};  // as of a disk that recovers: so many fail, and each descriptor hears of it once
}  // namespace

/// Instead of the one of the C library.
extern "C" int fdatasync(int file) {
  syncing_takes_forever.wait(true);
  if (no_file_can_be_synced || (failing_syncs > 0 && failing_syncs-- > 0)) {
    errno = EIO;
    return -1;
  }
  return static_cast<int>(::syscall(SYS_fdatasync, file));
}

namespace {

using namespace hondana;
using hondana::test::audit_folder;
using hondana_test::eventually;

class an_audit_file_on_a_failing_disk : public audit_folder {
 protected:
  ~an_audit_file_on_a_failing_disk() override {
    no_file_can_be_synced = false;
    failing_syncs = 0;
  }

  /// Small files, of which two older ones are kept.
  audit_file_options small() {
    auto with = options();
    with.max_bytes = 2000;
    with.max_old_files = 2;
    return with;
  }
  /// Enough for a file to be full.
  void fill(audit_file& log) {
    for (int i = 0; i < 10; ++i) ASSERT_TRUE(log.record_decision(reading("memo:///a")));
    ASSERT_TRUE(log.flush(soon()));
  }
  /// Until the present file has been followed by another.
  [[nodiscard]] bool comes_to_begin_anew(audit_file& log, const std::string& because) {
    bool is_kept = true;
    const bool is_over = eventually([&] {
      const auto all = lines(path());
      if (!all.empty() && all[0].find("\"reason\":\"" + because + '"') != std::string::npos) return true;
      // One at a time: what fills a file again would have it followed twice.
      is_kept = log.record_decision(reading("memo:///a")) && log.flush(soon());
      return !is_kept;
    });
    return is_over && is_kept;
  }
  void expect_sound(const std::vector<std::string>& files) {
    const auto found = verify_audit(files);
    ASSERT_TRUE(found) << found.error().public_text;
    EXPECT_FALSE(found->first_fault) << found->first_fault->file << ": " << found->first_fault->description;
    EXPECT_EQ(found->first_record, 1u);
  }
};

TEST_F(an_audit_file_on_a_failing_disk,
       that_was_renamed_without_a_word_is_followed_when_it_is_full_and_no_other_file_is_touched) {
  put(path("audit.jsonl.1"), "");
  put(path("audit.jsonl.2"), "kept");
  {
    const auto log = audit_file::open(small()).value();
    ASSERT_EQ(::rename(path().c_str(), path("old").c_str()), 0);
    ASSERT_TRUE(comes_to_begin_anew(*log, "reopened")) << said();
  }
  EXPECT_EQ(text(path("audit.jsonl.1")), "");
  EXPECT_EQ(text(path("audit.jsonl.2")), "kept");
  EXPECT_FALSE(std::filesystem::exists(path("audit.jsonl.3")));
  EXPECT_EQ(said(), "");
  expect_sound({path("old"), path()});
}

TEST_F(an_audit_file_on_a_failing_disk, that_cannot_be_followed_for_want_of_descriptors_loses_nothing_and_is_followed_later) {
  put(path("audit.jsonl.1"), "");
  put(path("audit.jsonl.2"), "kept");
  {
    const auto log = audit_file::open(small()).value();
    rlimit before{};
    ASSERT_EQ(::getrlimit(RLIMIT_NOFILE, &before), 0);
    const int free = ::open("/dev/null", O_RDONLY | O_CLOEXEC);
    ASSERT_GE(free, 0);
    ::close(free);
    auto none_more = before;
    none_more.rlim_cur = static_cast<rlim_t>(free);
    ASSERT_EQ(::setrlimit(RLIMIT_NOFILE, &none_more), 0);
    fill(*log);
    fill(*log);
    EXPECT_NE(::access(path("audit.jsonl.3").c_str(), F_OK), 0);
    EXPECT_EQ(::access(path().c_str(), F_OK), 0);
    ASSERT_EQ(::setrlimit(RLIMIT_NOFILE, &before), 0);
    EXPECT_NE(said().find("Too many open files; the current file stays in use"), std::string::npos) << said();
    EXPECT_EQ(text(path("audit.jsonl.2")), "kept");
    ASSERT_TRUE(comes_to_begin_anew(*log, "rotated")) << said();
    EXPECT_EQ(text(path("audit.jsonl.2")), "") << "each has moved up once";
  }
  EXPECT_FALSE(std::filesystem::exists(path("audit.jsonl-next")));
  expect_sound({path("audit.jsonl.1"), path()});
}

TEST_F(an_audit_file_on_a_failing_disk, goes_on_from_the_youngest_older_file_that_is_left) {
  {
    const auto log = audit_file::open(options()).value();
  }
  ASSERT_EQ(::rename(path().c_str(), path("audit.jsonl.3").c_str()), 0);
  put(path("audit.jsonl.7"), "older");
  put(path("audit.jsonl.03"), "no such name");
  put(path("audit.jsonl.2x"), "nor this");
  {
    const auto log = audit_file::open(options()).value();
  }
  expect_sound({path("audit.jsonl.3"), path()});
}

TEST_F(an_audit_file_on_a_failing_disk, that_cannot_be_synced_refuses_until_it_can) {
  const auto log = audit_file::open(options()).value();
  no_file_can_be_synced = true;
  ASSERT_TRUE(log->record_decision(reading("memo:///a")));
  EXPECT_FALSE(log->flush(monotonic_clock::now() + std::chrono::milliseconds(100))) << "nothing is on the disk";
  ASSERT_TRUE(eventually([&] { return !log->can_record(); }));
  const auto refused = log->record_decision(reading("memo:///b"));
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code, errc::overloaded);
  EXPECT_NE(said().find("Input/output error; until it can, requests are rejected"), std::string::npos) << said();
  no_file_can_be_synced = false;
  EXPECT_TRUE(log->flush(soon()));
  EXPECT_TRUE(log->record_decision(reading("memo:///c")));
  EXPECT_NE(said().find("records are written again"), std::string::npos) << said();
}

TEST_F(an_audit_file_on_a_failing_disk, that_hangs_says_that_it_takes_no_records_as_soon_as_none_has_room) {
  auto with = options();
  with.buffer_bytes = 5000;
  const auto log = audit_file::open(with).value();
  EXPECT_TRUE(log->can_record());
  syncing_takes_forever = true;
  // What is taken before it hangs makes room again.
  EXPECT_TRUE(eventually([&] {
    (void)log->flush(monotonic_clock::now());
    (void)log->record_decision(reading("memo:///a"));
    return !log->can_record();
  }));
  syncing_takes_forever = false;
  syncing_takes_forever.notify_all();
  EXPECT_TRUE(log->flush(soon()));
  EXPECT_TRUE(log->can_record());
  EXPECT_TRUE(log->record_decision(reading("memo:///b")));
}

TEST_F(an_audit_file_on_a_failing_disk, that_is_to_serve_nevertheless_takes_what_it_cannot_keep) {
  auto with = options();
  with.serves_when_full = true;
  const auto log = audit_file::open(with).value();
  no_file_can_be_synced = true;
  EXPECT_TRUE(log->record_decision(reading("memo:///a")));
  EXPECT_FALSE(log->flush(monotonic_clock::now() + std::chrono::milliseconds(100)));
  EXPECT_TRUE(
      eventually([&] { return said().find("until it can, requests are served without records") != std::string::npos; }));
  EXPECT_TRUE(log->can_record());
  no_file_can_be_synced = false;
}

TEST_F(an_audit_file_on_a_failing_disk, that_could_not_be_synced_once_is_left_for_another_that_repeats_what_was_in_doubt) {
  put(path("audit.jsonl.1"), "");
  put(path("audit.jsonl.2"), "kept");
  auto with = small();
  with.max_bytes = 1u << 20;
  {
    const auto log = audit_file::open(with).value();
    ASSERT_TRUE(log->record_decision(reading("memo:///on-the-disk")));
    ASSERT_TRUE(log->flush(soon()));
    const auto synced = text(path());
    failing_syncs = 1;
    ASSERT_TRUE(log->record_decision(reading("memo:///in-doubt")));
    EXPECT_TRUE(log->flush(soon()));
    // What the disk may have lost is not relied upon, and nothing stands twice.
    EXPECT_EQ(text(path("audit.jsonl.1")), synced);
    EXPECT_NE(text(path()).find("memo:///in-doubt"), std::string::npos);
    EXPECT_NE(said().find("records that could not be synced were written again, and " + path() + " is a new file"),
              std::string::npos)
        << said();
    EXPECT_TRUE(log->record_decision(reading("memo:///later")));
  }
  EXPECT_EQ(text(path("audit.jsonl.2")), "") << "each has moved up once";
  EXPECT_FALSE(std::filesystem::exists(path("audit.jsonl-next")));
  expect_sound({path("audit.jsonl.1"), path()});
  const auto found = verify_audit({path("audit.jsonl.1"), path()}).value();
  ASSERT_EQ(found.disk_failures.size(), 1u);
  EXPECT_EQ(found.disk_failures[0].file, path());
  EXPECT_EQ(found.disk_failures[0].line, 2u);
  EXPECT_EQ(found.disk_failures[0].description,
            "the disk failed to sync the previous file; records before this one that were written again here: 1");
  EXPECT_EQ(verify_audit({path("audit.jsonl.1")}).value().disk_failures.size(), 0u);
}

TEST_F(an_audit_file_on_a_failing_disk, pushes_no_older_file_out_however_often_it_fails) {
  put(path("audit.jsonl.1"), "");
  put(path("audit.jsonl.2"), "kept");
  const auto log = audit_file::open(small()).value();
  failing_syncs = 4;
  ASSERT_TRUE(log->record_decision(reading("memo:///a")));
  EXPECT_TRUE(log->flush(soon()));
  EXPECT_EQ(failing_syncs, 0);
  EXPECT_EQ(text(path("audit.jsonl.2")), "") << "each has moved up once";
  EXPECT_FALSE(std::filesystem::exists(path("audit.jsonl.3")));
}

TEST_F(an_audit_file_on_a_failing_disk, that_was_renamed_and_cannot_be_synced_is_followed_without_a_gap) {
  // Nothing is written or synced before somebody wants it.
  manual_clock clock;
  {
    const auto log = audit_file::open(options()).value();
    ASSERT_TRUE(log->record_decision(reading("memo:///a")));
    ASSERT_TRUE(log->flush(soon()));
    ASSERT_TRUE(log->record_decision(reading("memo:///b")));
    ASSERT_EQ(::rename(path().c_str(), path("old").c_str()), 0);
    failing_syncs = 1;
    log->reopen();
    auto is_flushed = std::async(std::launch::async, [&] { return log->flush(monotonic_clock::time_point::max()); });
    EXPECT_TRUE(eventually([&] {
      clock.advance(std::chrono::milliseconds(100));
      return is_flushed.wait_for(std::chrono::seconds(0)) == std::future_status::ready;
    }));
    EXPECT_EQ(failing_syncs, 0);
  }
  EXPECT_FALSE(std::filesystem::exists(path("audit.jsonl.1")));
  expect_sound({path("old"), path()});
  EXPECT_NE(text(path()).find("memo:///b"), std::string::npos);
}

TEST_F(an_audit_file_on_a_failing_disk, that_an_earlier_run_left_unsynced_is_not_gone_on_with) {
  {
    const auto log = audit_file::open(options()).value();
  }
  failing_syncs = 1;
  const auto refused = audit_file::open(options());
  ASSERT_FALSE(refused);
  EXPECT_NE(refused.error().public_text.find("cannot sync " + path()), std::string::npos) << refused.error().public_text;
  EXPECT_TRUE(audit_file::open(options()));
}

}  // namespace
