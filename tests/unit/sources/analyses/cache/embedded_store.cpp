/// The store in SQLite: files of others, damaged ones, old ones, full disks, second processes, and clocks that go back.
#include "sources/analyses/cache/embedded/embedded_store.hpp"

#include <gtest/gtest.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <mutex>

#include "os/sqlite/database_file.hpp"
#include "sources/analyses/cache/embedded/embedded_store_impl.hpp"
#include "unit/sources/analyses/cache/store_contract.hpp"

namespace hondana::analyses {
namespace {

class embedded_analyses : public testing::Test {
 protected:
  void SetUp() override {
    folder_ = "/tmp/analyses_XXXXXX";
    ASSERT_NE(::mkdtemp(folder_.data()), nullptr);
    options_.path = folder_ + "/analyses.db";
    options_.is_synced = false;
    options_.log = [this](std::string_view line) { log_ += std::string(line) + '\n'; };
  }
  void TearDown() override {
    std::error_code ignored;
    std::filesystem::remove_all(folder_, ignored);
  }
  std::shared_ptr<analysis_store> open() { return good(open_embedded(options_)); }
  static analysis_summary put(analysis_store& into, const analysis& what) {
    const auto got = good(into.claim(wish_for(what)));
    return got.ticket ? good(into.put(*got.ticket, putting_of(what))) : analysis_summary();
  }
  std::string why_not() {
    const auto refused = open_embedded(options_);
    return refused ? "opened" : refused.error().public_text;
  }

  std::vector<std::string> names_in_folder() const {
    std::vector<std::string> out;
    for (const auto& one : std::filesystem::directory_iterator(folder_)) out.push_back(one.path().filename().string());
    std::sort(out.begin(), out.end());
    return out;
  }

  std::string folder_{};
  std::string log_{};
  embedded_options options_{};
};

TEST_F(embedded_analyses, are_in_a_file_of_this_user_alone) {
  open();
  struct stat facts{};
  ASSERT_EQ(::stat(options_.path.c_str(), &facts), 0);
  EXPECT_EQ(facts.st_mode & 0777, 0600u);
}

TEST_F(embedded_analyses, are_not_kept_in_files_of_others) {
  std::ofstream(options_.path)
      << "some notes of mine, longer than the head of a file of SQLite would be, which has a hundred bytes ....";
  EXPECT_EQ(why_not(), "cannot store analyses in " + options_.path +
                           ": it is not an SQLite file; give another path, or move that file away");
  EXPECT_EQ(names_in_folder(), std::vector<std::string>{"analyses.db"}) << "and nothing is made beside them";
  std::filesystem::remove(options_.path);
  std::ofstream(options_.path).close();
  ASSERT_TRUE(good(sqlite::connection::open(options_.path, "x")).execute("CREATE TABLE theirs(one)"));
  EXPECT_NE(why_not().find("it is an SQLite file of another program"), std::string::npos);
  EXPECT_EQ(names_in_folder(), std::vector<std::string>{"analyses.db"});
  std::filesystem::remove(options_.path);
  std::filesystem::create_directory(options_.path);
  EXPECT_NE(why_not(), "opened");
  EXPECT_EQ(names_in_folder(), std::vector<std::string>{"analyses.db"});
  options_.path = "relative.db";
  EXPECT_NE(why_not().find("the path must be absolute"), std::string::npos);
}

TEST_F(embedded_analyses, of_a_newer_version_are_left_alone) {
  open();
  ASSERT_TRUE(good(sqlite::connection::open(options_.path, "x")).execute("PRAGMA user_version=99"));
  EXPECT_NE(why_not().find("it was written by a newer version of this program (schema 99"), std::string::npos);
}

TEST_F(embedded_analyses, in_a_damaged_file_are_moved_aside_unless_somebody_has_it_open) {
  {
    const auto kept = open();
    for (int i = 0; i < 200; ++i) put(*kept, small_analysis("p" + std::to_string(i)));
  }
  {
    std::fstream file(options_.path, std::ios::in | std::ios::out | std::ios::binary);
    file.seekp(4096 * 3);
    const std::string noise(4096 * 20, '\x5a');
    file.write(noise.data(), static_cast<std::streamsize>(noise.size()));
  }
  const auto kept = open();
  EXPECT_NE(log_.find("is damaged"), std::string::npos);
  EXPECT_NE(log_.find("and a new one was created"), std::string::npos);
  put(*kept, small_analysis("x"));
  EXPECT_EQ(good(kept->read_info()).entries, 1u);
  int aside = 0;
  for (const auto& one : std::filesystem::directory_iterator(folder_))
    aside += one.path().string().find(".damaged-") != std::string::npos ? 1 : 0;
  EXPECT_GE(aside, 1);
  sqlite::mark_suspect(options_.path);
  const auto second = open();
  EXPECT_EQ(good(second->read_info()).entries, 1u) << "a good file stays, whatever was suspected";
}

TEST_F(embedded_analyses, are_in_one_file_for_several_stores_of_one_process) {
  const auto one = open(), other = open();
  put(*one, small_analysis("a"));
  put(*other, small_analysis("b"));
  EXPECT_EQ(good(one->read_info()).entries, 2u);
  EXPECT_EQ(log_, "");
}

/// Runs `work` in another process; it ends with 0 where that returns true. Nothing else runs in this one meanwhile.
int in_another_process(const std::function<bool()>& work) {
  const pid_t child = ::fork();
  if (child == 0) ::_exit(work() ? 0 : 1);
  int how = -1;
  ::waitpid(child, &how, 0);
  return WIFEXITED(how) ? WEXITSTATUS(how) : -1;
}

TEST_F(embedded_analyses, are_in_one_file_for_several_processes) {
  // It begins before this process has the file open, since nothing open is carried into a fork.
  std::array<int, 2> begin{};
  ASSERT_EQ(::pipe(begin.data()), 0);
  const pid_t child = ::fork();
  if (child == 0) {
    char one = 0;
    if (::read(begin[0], &one, 1) != 1) ::_exit(2);
    const auto theirs = open_embedded(options_);
    if (!theirs) ::_exit(3);
    const auto what = small_analysis("b");
    const auto got = (*theirs)->claim(wish_for(what));
    if (!got || !got->ticket || !(*theirs)->put(*got->ticket, putting_of(what))) ::_exit(4);
    ::_exit((*theirs)->look_up(make_key(small_analysis("a").question))->entry ? 0 : 5);
  }
  const auto mine = open();
  put(*mine, small_analysis("a"));
  EXPECT_EQ(::write(begin[1], "x", 1), 1);
  int how = -1;
  ::waitpid(child, &how, 0);
  ::close(begin[0]);
  ::close(begin[1]);
  EXPECT_EQ(how, 0);
  EXPECT_EQ(good(mine->read_info()).entries, 2u);
  EXPECT_EQ(good(mine->look_up(make_key(small_analysis("b").question))).status, cached_answer::cache_status::fresh);
  put(*mine, small_analysis("c"));
}

TEST_F(embedded_analyses, on_a_full_disk_are_refused_and_nothing_is_half_there) {
  put(*open(), small_analysis("before"));
  EXPECT_EQ(in_another_process([&] {
              ::signal(SIGXFSZ, SIG_IGN);
              const auto kept = open_embedded(options_);
              if (!kept) return false;
              const auto what = small_analysis("large", std::string(4u << 20, 'x'));
              const auto got = (*kept)->claim(wish_for(what));
              if (!got || !got->ticket) return false;
              rlimit most{1u << 20, 1u << 20};
              ::setrlimit(RLIMIT_FSIZE, &most);
              const auto refused = (*kept)->put(*got->ticket, putting_of(what));
              if (refused || refused.error().public_text.find("the disk is full") == std::string::npos) return false;
              const auto there = (*kept)->get(got->ticket->id);
              return there && *there && (*there)->summary.status == analysis_status::computing &&
                     (*kept)->look_up(make_key(small_analysis("before").question))->entry;
            }),
            0);
  const auto kept = open();
  EXPECT_EQ(good(kept->read_info()).entries, 2u);
  put(*kept, small_analysis("after"));
  EXPECT_EQ(good(kept->look_up(make_key(small_analysis("large").question))).status, cached_answer::cache_status::computing);
}

/// SQLite waits 5 s for the other program.
class embedded_analyses_timing : public embedded_analyses {};

TEST_F(embedded_analyses_timing, locked_by_another_program_are_an_error_that_says_so) {
  const auto kept = open();
  auto other = good(sqlite::connection::open(options_.path, "x"));
  ASSERT_TRUE(other.execute("BEGIN IMMEDIATE"));
  const auto refused = kept->claim(wish_for(small_analysis("x")));
  ASSERT_FALSE(refused);
  EXPECT_NE(refused.error().public_text.find("another program has locked"), std::string::npos);
  EXPECT_EQ(good(kept->look_up(make_key(small_analysis("x").question))).status, cached_answer::cache_status::missing)
      << "reading goes on";
  ASSERT_TRUE(other.execute("COMMIT"));
  put(*kept, small_analysis("x"));
}

TEST_F(embedded_analyses, see_no_time_that_goes_back) {
  std::int64_t clock = 1'764'000'000'000;
  options_.clock = [&] { return instant(milliseconds(clock)); };
  const auto kept = open();
  const auto what = small_analysis("x");
  const auto begun = clock;
  const auto got = good(kept->claim(wish_for(what, milliseconds(10'000))));
  good(kept->put(*got.ticket, putting_of(what, analysis_status::complete, milliseconds(10'000), milliseconds(0))));
  clock = begun + 9'000;
  static_cast<void>(good(kept->claim(wish_for(small_analysis("y")))));
  clock = begun - 3'600'000;
  EXPECT_EQ(good(kept->now()), instant(milliseconds(begun + 9'000)));
  EXPECT_EQ(good(kept->look_up(make_key(what.question))).status, cached_answer::cache_status::fresh);
  // It is noted with the next write, and time goes on from there.
  static_cast<void>(good(kept->claim(wish_for(small_analysis("z")))));
  clock += 640;
  EXPECT_EQ(good(kept->now()), instant(milliseconds(begun + 9'630)));
  clock += 640;
  EXPECT_EQ(good(kept->look_up(make_key(what.question))).status, cached_answer::cache_status::missing)
      << "it has expired, whatever the clock says";
  const auto other = open();
  EXPECT_EQ(good(other->look_up(make_key(what.question))).status, cached_answer::cache_status::missing);
  clock = begun + 3'600'000;
  EXPECT_EQ(good(kept->now()), instant(milliseconds(clock)));
}

TEST_F(embedded_analyses, lose_no_time_after_a_clock_went_back_however_often_they_are_written) {
  std::int64_t clock = 1'764'000'000'000, step = 0;
  options_.clock = [&] { return instant(milliseconds(clock += step)); };
  const auto kept = open(), other = open();
  const auto begun = clock;
  good(kept->add_statistics({}));
  clock -= 3'600'000;
  good(kept->add_statistics({}));
  for (int i = 0; i < 6'400; ++i) {
    ++clock;
    good((i % 2 == 0 ? kept : other)->add_statistics({}));
  }
  EXPECT_EQ(good(kept->now()), instant(milliseconds(begun + 6'300))) << "a 64th more slowly, and no more";
  // Time goes by in a write, too.
  const auto before = clock;
  step = 1;
  for (int i = 0; i < 1'000; ++i) good(kept->add_statistics({}));
  step = 0;
  const auto shown = (good(kept->now()) - instant(milliseconds(begun + 6'300))).count();
  EXPECT_GE(clock - before, 1'000);
  EXPECT_NEAR(static_cast<double>(shown), static_cast<double>(clock - before) * 63 / 64, 1.0);
}

TEST_F(embedded_analyses, have_the_time_of_the_system_again_when_it_has_caught_up) {
  std::int64_t clock = 1'764'000'000'000;
  options_.clock = [&] { return instant(milliseconds(clock)); };
  const auto kept = open();
  good(kept->add_statistics({}));
  clock -= 20;
  good(kept->add_statistics({}));
  auto last = good(kept->now());
  for (int i = 0; i < 20 * 64; ++i) {
    if (i <= 19 * 64) {
      ASSERT_GT(last, instant(milliseconds(clock))) << i;
    }
    ++clock;
    good(kept->add_statistics({}));
    const auto now = good(kept->now());
    ASSERT_GE(now, last);
    last = now;
  }
  EXPECT_EQ(last, instant(milliseconds(clock)));
}

TEST_F(embedded_analyses, see_no_time_that_goes_back_when_the_clock_comes_to_what_was_noted) {
  std::int64_t clock = 1'764'000'000'000;
  const auto begun = clock;
  options_.clock = [&] { return instant(milliseconds(clock)); };
  const auto kept = open();
  good(kept->add_statistics({}));
  clock -= 500;
  good(kept->add_statistics({}));
  clock += 499;
  auto last = good(kept->now());
  for (int i = 0; i < 4; ++i) {
    const auto now = good(open()->now());
    EXPECT_GE(now, last) << i;
    last = now;
    ++clock;
  }
  clock = begun + 140;
  EXPECT_EQ(good(open()->now()), instant(milliseconds(begun + 630)));
}

TEST_F(embedded_analyses, go_on_in_time_after_a_clock_went_back_where_nobody_writes) {
  std::int64_t clock = 1'764'000'000'000;
  options_.clock = [&] { return instant(milliseconds(clock)); };
  const auto kept = open();
  const auto what = small_analysis("x");
  const auto got = good(kept->claim(wish_for(what)));
  good(kept->put(*got.ticket, putting_of(what, analysis_status::complete, milliseconds(600), milliseconds(0))));
  clock -= 3'600'000;
  EXPECT_EQ(good(kept->sweep({})).count, 0u) << "the cache tidies every half minute";
  clock += 640;
  EXPECT_EQ(good(kept->look_up(make_key(what.question))).status, cached_answer::cache_status::missing);
  // So does what was shown to readers alone.
  clock += 7'200'000;
  const auto shown = good(kept->now());
  EXPECT_EQ(shown, instant(milliseconds(clock)));
  clock -= 500;
  EXPECT_EQ(good(kept->sweep({})).count, 1u);
  clock += 64;
  EXPECT_EQ(good(kept->now()), shown + milliseconds(63));
}

TEST_F(embedded_analyses, are_claimed_once_by_processes_whose_clocks_differ) {
  std::int64_t clock = 1'764'000'000'000;
  options_.clock = [&] { return instant(milliseconds(clock)); };
  const auto early = open();
  auto ahead_options = options_;
  ahead_options.clock = [&] { return instant(milliseconds(clock + 30'000)); };
  const auto ahead = good(open_embedded(ahead_options));
  const auto what = small_analysis("x");
  const auto by = good(early->claim(wish_for(what, milliseconds(60'000)))).ticket;
  ASSERT_TRUE(by);
  EXPECT_FALSE(good(ahead->claim(wish_for(what))).ticket);
  clock += 31'000;
  const auto taken = good(ahead->claim(wish_for(what, milliseconds(60'000)))).ticket;
  ASSERT_TRUE(taken) << "by the clock of the store the lease has ended";
  EXPECT_FALSE(good(early->claim(wish_for(what))).ticket);
  EXPECT_FALSE(early->put(*by, putting_of(what)));
  good(ahead->put(*taken, putting_of(what)));
  EXPECT_EQ(good(early->look_up(make_key(what.question))).status, cached_answer::cache_status::fresh);
}

TEST_F(embedded_analyses, of_older_versions_are_brought_up_to_this_one) {
  static constexpr std::array<const char*, 2> upgrades{"ALTER TABLE notes ADD COLUMN more TEXT NOT NULL DEFAULT 'two'",
                                                       "INSERT INTO notes SELECT text||'!', 'three' FROM notes"};
  sqlite::file_kind kind{
      "store of notes",         "keep notes", "somebody has it", 0x686e6458, 1, "CREATE TABLE notes(text TEXT)", "",
      "PRAGMA journal_mode=WAL"};
  kind.is_shared = true;
  {
    auto first = good(sqlite::open_owned(options_.path, kind, {}));
    ASSERT_TRUE(first.writer.execute("INSERT INTO notes VALUES('a')"));
  }
  kind.schema_version = 3;
  kind.schema = "this is for new files alone";
  kind.upgrades = upgrades;
  {
    auto now = good(sqlite::open_owned(options_.path, kind, {}));
    EXPECT_EQ(good(now.writer.number("PRAGMA user_version")), 3);
    EXPECT_EQ(good(now.writer.text("SELECT group_concat(text||more) FROM notes")), "atwo,a!three");
  }
  static constexpr std::array<const char*, 3> failing{"", "", "CREATE TABLE more(x); SELECT nothing FROM nowhere"};
  kind.schema_version = 4;
  kind.upgrades = failing;
  EXPECT_FALSE(sqlite::open_owned(options_.path, kind, {}));
  kind.schema_version = 3;
  auto still = good(sqlite::open_owned(options_.path, kind, {}));
  EXPECT_EQ(good(still.writer.number("SELECT count(*) FROM sqlite_master WHERE name='more'")), 0)
      << "all of an upgrade or nothing";
}

TEST_F(embedded_analyses, of_before_tickets_had_secrets_are_kept_and_their_claims_end) {
  const auto what = small_analysis("claimed before");
  claim_ticket before;
  {
    const auto kept = open();
    put(*kept, small_analysis("put before"));
    before = good(kept->claim(wish_for(what, std::chrono::hours(1)))).ticket.value_or(claim_ticket());
    good(kept->fail(*good(kept->claim(wish_for(small_analysis("failed before")))).ticket, "down", std::chrono::hours(1)));
  }
  {
    // As version 1 had it.
    auto old = good(sqlite::connection::open(options_.path, "x"));
    ASSERT_TRUE(
        old.execute("ALTER TABLE claims RENAME TO newer; CREATE TABLE claims(key BLOB PRIMARY KEY, id BLOB NOT NULL, token "
                    "INTEGER NOT NULL, who TEXT NOT NULL, until INTEGER NOT NULL) WITHOUT ROWID; INSERT INTO claims SELECT "
                    "key, id, token, who, until FROM newer; DROP TABLE newer; PRAGMA user_version=1"));
    EXPECT_EQ(good(old.number("SELECT count(*) FROM claims")), 1);
  }
  const auto kept = open();
  EXPECT_EQ(log_, "");
  EXPECT_EQ(good(kept->look_up(make_key(small_analysis("put before").question))).status, cached_answer::cache_status::fresh);
  EXPECT_EQ(good(kept->look_up(make_key(small_analysis("failed before").question))).status,
            cached_answer::cache_status::failed);
  for (const auto& secret : {before.secret, std::string(), std::string(16, '0')})
    EXPECT_FALSE(kept->put(claim_ticket{before.id, before.token, secret}, putting_of(what))) << "as it was, " << secret;
  EXPECT_FALSE(good(kept->get(before.id)));
  EXPECT_EQ(good(kept->look_up(make_key(what.question))).status, cached_answer::cache_status::missing);
  const auto by = good(kept->claim(wish_for(what))).ticket;
  ASSERT_TRUE(by) << "nobody waits for a lease whose ticket holds no longer";
  EXPECT_GT(by->token, before.token);
  good(kept->put(*by, putting_of(what)));
  EXPECT_EQ(good(kept->read_info()).entries, 2u);
  EXPECT_EQ(good(kept->read_info()).claims, 0u);
}

TEST_F(embedded_analyses, are_of_version_two_as_long_as_their_tables_are_these) {
  EXPECT_EQ(store_file_kind().schema_version, 2);
  EXPECT_TRUE(store_file_kind().is_shared);
}

TEST_F(embedded_analyses, are_read_as_they_are_at_one_moment) {
  const auto other = open();
  const auto id = put(*other, small_analysis("first")).id;
  std::function<void()> between;
  options_.clock = [&] {
    // What a reader asks is begun by then.
    if (auto once = std::exchange(between, nullptr)) once();
    return std::chrono::time_point_cast<milliseconds>(std::chrono::system_clock::now());
  };
  const auto kept = open();
  between = [&] {
    good(other->erase({.id = id}));
    put(*other, small_analysis("second"));
  };
  const auto found = good(kept->get(id));
  ASSERT_TRUE(found) << "it was there when it was asked for";
  EXPECT_EQ(good(decode_analysis(*found)).question.prompt, "first");
  EXPECT_FALSE(good(kept->get(id)));
}

TEST_F(embedded_analyses, leave_no_failures_behind) {
  auto ahead = std::make_shared<std::atomic<std::int64_t>>(0);
  options_.clock = [ahead] {
    return std::chrono::time_point_cast<milliseconds>(std::chrono::system_clock::now()) + milliseconds(ahead->load());
  };
  const auto kept = open();
  const auto got = good(kept->claim(wish_for(small_analysis("x"))));
  good(kept->fail(*got.ticket, "no", std::chrono::seconds(1)));
  auto beside = good(sqlite::connection::open(options_.path, "x"));
  EXPECT_EQ(good(beside.number("SELECT count(*) FROM failures")), 1);
  *ahead = 2'000;
  good(kept->sweep({}));
  EXPECT_EQ(good(beside.number("SELECT count(*) FROM failures")), 0);
}

TEST_F(embedded_analyses, are_not_younger_to_readers_when_the_clock_goes_back) {
  auto at = std::make_shared<std::atomic<std::int64_t>>(1'764'000'000'000);
  options_.clock = [at] { return instant(milliseconds(at->load())); };
  const auto kept = open();
  const auto what = small_analysis("x");
  const auto got = good(kept->claim(wish_for(what)));
  good(kept->put(*got.ticket, putting_of(what, analysis_status::complete, milliseconds(1000))));
  *at += 1'000;
  EXPECT_EQ(good(kept->look_up(make_key(what.question))).status, cached_answer::cache_status::stale);
  *at -= 500;
  EXPECT_EQ(good(kept->look_up(make_key(what.question))).status, cached_answer::cache_status::stale);
}

}  // namespace
}  // namespace hondana::analyses
