/// The log in files: what is in them after everything that can happen to them.
#include <fcntl.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <set>
#include <thread>

#include "unit/server/audit/a_folder.hpp"

namespace {

using namespace hondana;
using hondana::test::audit_folder;
using hondana_test::eventually;
using std::chrono::milliseconds;

class an_audit_file : public audit_folder {
 protected:
  std::shared_ptr<audit_file> opened(audit_file_options with) {
    auto made = audit_file::open(std::move(with));
    EXPECT_TRUE(made) << made.error().public_text;
    return made ? *made : nullptr;
  }
  std::shared_ptr<audit_file> opened() { return opened(options()); }
  void record(audit_file& to, int count, const std::string& uri = "memo:///a") {
    for (int i = 0; i < count; ++i) {
      const auto number = to.record_decision(reading(uri));
      ASSERT_TRUE(number) << number.error().public_text;
      to.record_completion(*number, {});
    }
  }
  audit_report verified(const std::vector<std::string>& files) {
    auto found = verify_audit(files);
    EXPECT_TRUE(found) << found.error().public_text;
    return found ? *found : audit_report();
  }
};

TEST_F(an_audit_file, has_two_records_a_request_between_one_that_opens_and_one_that_closes) {
  {
    const auto log = opened();
    record(*log, 2);
  }
  const auto all = lines(path());
  ASSERT_EQ(all.size(), 6u);
  EXPECT_NE(all[0].find(R"("type":"opened")"), std::string::npos) << all[0];
  EXPECT_NE(all[1].find(R"("type":"decision")"), std::string::npos) << all[1];
  EXPECT_NE(all[2].find(R"("type":"completion")"), std::string::npos) << all[2];
  EXPECT_NE(all[5].find(R"("type":"closed")"), std::string::npos) << all[5];
  const auto found = verified({path()});
  EXPECT_FALSE(found.first_fault);
  EXPECT_EQ(found.records, 6u);
  EXPECT_EQ(found.last_record, 6u);
  struct stat facts{};
  ASSERT_EQ(::stat(path().c_str(), &facts), 0);
  EXPECT_EQ(facts.st_mode & 0777, 0600u);
}

TEST_F(an_audit_file, goes_on_where_the_run_before_ended) {
  for (int run = 0; run < 3; ++run) record(*opened(), 1);
  const auto found = verified({path()});
  EXPECT_FALSE(found.first_fault);
  EXPECT_EQ(found.records, 12u);
}

TEST_F(an_audit_file, keeps_order_and_loses_nothing_with_many_threads) {
  constexpr int threads = 8;
  constexpr int each = 500;
  {
    const auto log = opened();
    std::vector<std::thread> all;
    for (int i = 0; i < threads; ++i) all.emplace_back([&] { record(*log, each); });
    for (auto& one : all) one.join();
  }
  EXPECT_FALSE(verified({path()}).first_fault);
  std::set<std::string> decided;
  for (const auto& line : lines(path())) {
    const auto at = line.find("\"request\":");
    if (at == std::string::npos) continue;
    const auto number = line.substr(at, line.find(',', at) - at);
    if (line.find("\"decision\"") != std::string::npos) {
      EXPECT_TRUE(decided.insert(number).second) << line;
    } else {
      EXPECT_EQ(decided.count(number), 1u) << "a completion before its decision: " << line;
    }
  }
  EXPECT_EQ(decided.size(), static_cast<std::size_t>(threads * each));
}

TEST_F(an_audit_file, is_followed_by_others_of_which_so_many_are_kept) {
  auto with = options();
  with.max_bytes = 2000;
  with.max_old_files = 2;
  {
    const auto log = opened(with);
    for (int i = 0; i < 20; ++i) {
      record(*log, 5);
      ASSERT_TRUE(log->flush(soon()));
    }
  }
  EXPECT_FALSE(std::filesystem::exists(path("audit.jsonl.3")));
  const auto found = verified({path("audit.jsonl.2"), path(), path("audit.jsonl.1")});
  EXPECT_FALSE(found.first_fault) << found.first_fault->description;
  EXPECT_GT(found.first_record, 1u);
  EXPECT_NE(lines(path("audit.jsonl.1"))[0].find(R"("reason":"rotated")"), std::string::npos);
  const auto gap = verified({path(), path("audit.jsonl.2")});
  ASSERT_TRUE(gap.first_fault);
  EXPECT_EQ(gap.first_fault->file, path());
  EXPECT_EQ(gap.first_fault->line, 1u);
  EXPECT_NE(gap.first_fault->description.find("is missing"), std::string::npos);
}

TEST_F(an_audit_file, goes_on_from_the_youngest_older_file_where_there_is_no_other) {
  record(*opened(), 1);
  ASSERT_EQ(::rename(path().c_str(), path("audit.jsonl.1").c_str()), 0);
  record(*opened(), 1);
  const auto found = verified({path(), path("audit.jsonl.1")});
  EXPECT_FALSE(found.first_fault) << found.first_fault->description;
  EXPECT_EQ(found.records, 8u);
}

TEST_F(an_audit_file, that_was_renamed_is_followed_by_a_new_one_in_the_same_chain) {
  const auto log = opened();
  record(*log, 1);
  ASSERT_TRUE(log->flush(soon()));
  log->reopen();  // nothing has happened to it
  ASSERT_TRUE(log->flush(soon()));
  EXPECT_EQ(lines(path()).size(), 3u);
  ASSERT_EQ(::rename(path().c_str(), path("old").c_str()), 0);
  record(*log, 1);
  ASSERT_TRUE(log->flush(soon()));
  EXPECT_FALSE(std::filesystem::exists(path())) << "until it is told";
  log->reopen();
  ASSERT_TRUE(log->flush(soon()));
  record(*log, 1);
  ASSERT_TRUE(log->flush(soon()));
  EXPECT_NE(lines(path()).at(0).find(R"("reason":"reopened")"), std::string::npos);
  EXPECT_FALSE(verified({path("old"), path()}).first_fault);
}

TEST_F(an_audit_file, whose_last_record_is_torn_is_mended_and_says_so) {
  record(*opened(), 1);
  const auto whole = text(path());
  for (const std::string torn : {R"({"number":5,"previous":"00)", "{", "\n", "garbage\nmore"}) {
    put(path(), whole + torn);
    opened();
    EXPECT_NE(said().find(std::to_string(torn.size()) + " bytes were moved to " + path("audit.jsonl-incomplete-5")),
              std::string::npos)
        << said();
    const auto found = verified({path()});
    EXPECT_FALSE(found.first_fault) << torn << found.first_fault->description;
    EXPECT_EQ(text(path()).substr(0, whole.size()), whole);
    EXPECT_EQ(text(path("audit.jsonl-incomplete-5")), torn);
    EXPECT_NE(lines(path()).at(4).find("\"incomplete_bytes\":" + std::to_string(torn.size())), std::string::npos);
  }
}

TEST_F(an_audit_file, of_which_only_a_part_of_the_first_record_came_to_the_disk_begins_anew) {
  put(path(), R"({"number":1,"prev)");
  record(*opened(), 1);
  EXPECT_FALSE(verified({path()}).first_fault);
  put(path(), std::string(4096, '\0'));
  record(*opened(), 1);
  EXPECT_FALSE(verified({path()}).first_fault);
}

TEST_F(an_audit_file, makes_the_folders_that_are_missing_for_nobody_else) {
  const auto before = ::umask(0);
  auto with = options();
  with.path = path("of/its/own/audit.jsonl");
  EXPECT_TRUE(audit_file::open(with));
  ::umask(before);
  for (const auto* one : {"of", "of/its", "of/its/own"}) {
    struct stat facts{};
    ASSERT_EQ(::stat(path(one).c_str(), &facts), 0) << one;
    EXPECT_EQ(facts.st_mode & 07777, 0700u) << one;
  }
  put(path("file"), "");
  with.path = path("file/audit.jsonl");
  const auto refused = audit_file::open(with);
  ASSERT_FALSE(refused);
  EXPECT_NE(refused.error().public_text.find("audit log: cannot create the folder " + path("file")), std::string::npos)
      << refused.error().public_text;
}

TEST_F(an_audit_file, has_one_writer) {
  const auto log = opened();
  const auto other = audit_file::open(options());
  ASSERT_FALSE(other);
  EXPECT_NE(other.error().public_text.find("in use by another process"), std::string::npos) << other.error().public_text;
}

TEST_F(an_audit_file, is_neither_a_link_nor_a_device_nor_open_to_others_nor_something_else) {
  const auto refused = [&](const std::string& where) {
    auto with = options();
    with.path = where;
    const auto made = audit_file::open(with);
    return made ? std::string("opened") : made.error().public_text;
  };
  put(path("target"), "");
  ASSERT_EQ(::symlink(path("target").c_str(), path("link").c_str()), 0);
  EXPECT_NE(refused(path("link")).find("symbolic link"), std::string::npos) << refused(path("link"));
  ASSERT_EQ(::link(path("target").c_str(), path("twin").c_str()), 0);
  EXPECT_NE(refused(path("twin")).find("other hard links"), std::string::npos) << refused(path("twin"));
  ASSERT_EQ(::mkfifo(path("fifo").c_str(), 0600), 0);
  EXPECT_NE(refused(path("fifo")), "opened");
  put(path("open"), "");
  ASSERT_EQ(::chmod(path("open").c_str(), 0666), 0);
  EXPECT_NE(refused(path("open")).find("can be written by other users"), std::string::npos) << refused(path("open"));
  put(path("poem"), "Roses are red,\nViolets are blue.\n");
  EXPECT_NE(refused(path("poem")).find("is not an audit log"), std::string::npos) << refused(path("poem"));
  EXPECT_NE(refused("relative.jsonl").find("absolute"), std::string::npos);
}

TEST_F(an_audit_file, refuses_when_more_waits_than_there_is_room_for) {
  auto with = options();
  with.buffer_bytes = 1000;
  const auto log = opened(with);
  const auto big = log->record_decision(reading(std::string(1500, 'u')));
  ASSERT_FALSE(big);
  EXPECT_EQ(big.error().code, errc::overloaded);
  EXPECT_TRUE(big.error().retry_after);
  // The writer looks what it can take.
  EXPECT_TRUE(eventually([&] { return log->can_record(); })) << "one that is too long for the buffer leaves room for others";
  auto refused = reading(std::string(400, 'u'));
  refused.is_allowed = false;
  EXPECT_FALSE(log->record_decision(refused)) << "who is refused has half of the room";
  EXPECT_TRUE(log->record_decision(reading(std::string(400, 'u'))));
  ASSERT_TRUE(log->flush(soon()));
  EXPECT_NE(text(path()).find(R"("type":"lost")"), std::string::npos);
}

TEST_F(an_audit_file, that_serves_when_full_says_later_how_many_were_not_recorded) {
  auto with = options();
  with.buffer_bytes = 1000;
  with.serves_when_full = true;
  {
    const auto log = opened(with);
    const auto number = log->record_decision(reading(std::string(1500, 'u')));
    ASSERT_TRUE(number);
    log->record_completion(*number, {});
  }
  EXPECT_NE(text(path()).find(R"("requests":1})"), std::string::npos) << text(path());
  EXPECT_EQ(text(path()).find("completion"), std::string::npos) << "of what has no decision";
}

/// Runs in a process of its own whose files may not grow beyond `most` bytes until it says otherwise.
template <class Work>
int in_a_small_place(rlim_t most, Work work) {
  const auto child = ::fork();
  if (child == 0) {
    rlimit limit{};
    ::getrlimit(RLIMIT_FSIZE, &limit);
    limit.rlim_cur = most;
    ::setrlimit(RLIMIT_FSIZE, &limit);
    const auto widen = [limit]() mutable {
      limit.rlim_cur = limit.rlim_max;
      ::setrlimit(RLIMIT_FSIZE, &limit);
    };
    ::_exit(work(widen));
  }
  int status = 0;
  ::waitpid(child, &status, 0);
  return WIFEXITED(status) ? WEXITSTATUS(status) : 1000 + WTERMSIG(status);
}

TEST_F(an_audit_file, that_cannot_grow_refuses_until_it_can_and_ends_with_whole_records) {
  const auto outcome = in_a_small_place(3000, [&](auto widen) {
    const auto log = opened();
    std::uint64_t taken = 0;
    while (log->record_decision(reading("memo:///a"))) {
      ++taken;
      const auto is_decided = [&] { return log->flush(monotonic_clock::now() + milliseconds(50)) || !log->can_record(); };
      if (!eventually(is_decided)) return 1;
    }
    if (taken < 5 || taken > 20) return 2;
    if (log->can_record()) return 9;
    if (!text(path()).ends_with("}\n")) return 3;
    if (log->flush(monotonic_clock::now() + milliseconds(1))) return 4;
    widen();
    if (!log->flush(soon())) return 5;
    if (!log->can_record()) return 10;
    if (!log->record_decision(reading("memo:///after"))) return 6;
    if (said().find("until it can, requests are rejected") == std::string::npos) return 7;
    return said().find("records are written again") == std::string::npos ? 8 : 0;
  });
  EXPECT_EQ(outcome, 0);
  const auto found = verified({path()});
  EXPECT_FALSE(found.first_fault) << found.first_fault->description;
}

TEST_F(an_audit_file, after_its_process_was_killed_at_any_time_is_sound_up_to_what_was_synced) {
  std::uint64_t before = 0;
  for (int round = 0; round < 10; ++round) {
    int ends[2];
    ASSERT_EQ(::pipe2(ends, O_CLOEXEC), 0);
    const auto child = ::fork();
    if (child == 0) {
      const auto log = audit_file::open(options());
      if (!log) ::_exit(1);
      for (;;) {
        for (int i = 0; i < 200; ++i) {
          const auto number = (*log)->record_decision(reading("memo:///a"));
          if (number) (*log)->record_completion(*number, {});
        }
        // What is said to be on the disk is counted.
        if ((*log)->flush(soon()) && ::write(ends[1], "x", 1) != 1) ::_exit(2);
      }
    }
    std::uint64_t synced = 0;
    char byte = 0;
    for (; synced < 3u + static_cast<unsigned>(round) && ::read(ends[0], &byte, 1) == 1; ++synced) {
    }
    ::kill(child, SIGKILL);
    ::waitpid(child, nullptr, 0);
    ::close(ends[1]);
    while (::read(ends[0], &byte, 1) == 1) ++synced;
    ::close(ends[0]);
    opened();  // mends what was torn
    const auto found = verified({path()});
    EXPECT_FALSE(found.first_fault) << found.first_fault->description;
    EXPECT_GE(found.records, before + 400 * synced);
    before = found.records;
  }
}

}  // namespace
