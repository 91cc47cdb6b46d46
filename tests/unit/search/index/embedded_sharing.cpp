/// An index in a file that several have open: one writes, the others search, and one of them takes over.
#include <signal.h>

#include <atomic>
#include <chrono>
#include <filesystem>
#include <fstream>
#include <thread>

#include "os/sqlite/sqlite.hpp"
#include "unit/search/index/embedded_file.hpp"

namespace hondana::search {
namespace {

class shared_index : public embedded_file {
 protected:
  static constexpr std::string_view says_that_it_follows = "another process writes the index ";
};

TEST_F(shared_index, is_searched_by_a_second_that_takes_over_when_the_first_has_ended) {
  auto first = opened();
  put(*first, "a", "common apple");
  const auto second = opened();
  EXPECT_EQ(said_so(says_that_it_follows), 1u);
  EXPECT_EQ(having(*second, "apple"), 2u);
  EXPECT_EQ(second->counts()->documents, 1u);
  const auto before = second->status();
  ASSERT_TRUE(before);
  put(*first, "b", "common pear");
  EXPECT_NE(second->status()->commits, before->commits);
  EXPECT_EQ(having(*second, "common"), 4u);
  for (int i = 0; i < 3; ++i) {
    const auto turn = second->acquire_write_access();
    ASSERT_TRUE(turn);
    EXPECT_FALSE(turn->is_granted);
  }
  const auto refused = second->put(named_document("c"), {});
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().public_text, "another process writes the search index " + path() + "; this one only searches it");
  EXPECT_FALSE(second->use_model("m"));
  EXPECT_FALSE(second->texts_without_vector(1));
  EXPECT_FALSE(second->clean_up());
  EXPECT_TRUE(second->commit());
  second->roll_back();
  EXPECT_EQ(said_so(says_that_it_follows), 1u);
  first.reset();
  const auto turn = second->acquire_write_access();
  ASSERT_TRUE(turn) << turn.error().private_text;
  EXPECT_TRUE(turn->is_granted);
  EXPECT_EQ(second->acquire_write_access()->generation, turn->generation);
  put(*second, "c", "common plum");
  EXPECT_EQ(having(*second, "common"), 6u);
  EXPECT_EQ(second->counts()->documents, 3u);
  const auto third = opened();
  EXPECT_EQ(having(*third, "common"), 6u);
  EXPECT_FALSE(third->acquire_write_access()->is_granted);
}

TEST_F(shared_index, follows_what_is_described_anew) {
  const auto first = opened();
  auto what = named_document("a");
  what.description = "short";
  ASSERT_TRUE(first->put(what, {}) && first->commit());
  put(*first, "b", "filling");
  const auto second = opened();
  const auto before = find(*second, "short").passages.at(0);
  what.description = "short";
  for (int i = 0; i < 500; ++i) what.description += " more";
  ASSERT_TRUE(first->describe(what) && first->commit());
  const auto after = find(*second, "short").passages.at(0);
  EXPECT_EQ(after.id, before.id);
  EXPECT_LT(after.score, before.score) << "the length of its text is the new one";
}

TEST_F(shared_index, answers_with_a_remark_until_the_first_has_made_it) {
  const auto first = opened();
  const auto others = opened("plain-2");
  const auto got = find(*others, "apple");
  EXPECT_TRUE(got.passages.empty());
  EXPECT_FALSE(got.is_complete);
  EXPECT_EQ(got.problem, "another process writes the search index with another tokenizer; end it, or set another path");
  EXPECT_EQ(others->status().error().code, errc::source_unavailable);
  EXPECT_FALSE(others->acquire_write_access()->is_granted);
}

TEST_F(shared_index, is_taken_over_whole_from_a_process_that_was_killed_while_it_wrote) {
  std::mt19937 draw(5);
  int there = 0;
  for (int round = 0; round < 10; ++round) {
    int ends[2]{};
    ASSERT_EQ(::pipe(ends), 0);
    const auto child = ::fork();
    if (child == 0) {
      ::close(ends[0]);
      auto made = open_embedded({path(), plain_words(), {}});
      if (!made || !(*made)->acquire_write_access()->is_granted) ::_exit(2);
      for (int i = 0;; ++i) {
        const auto text = "number" + std::to_string(round * 1000 + i) + " common";
        const std::vector of{said(text), said(text + " more"), said(text + " again")};
        for (const auto* name : {"one", "two"}) {
          if (!(*made)->put(named_document(name + std::to_string(i % 9)), of)) ::_exit(3);
        }
        if (!(*made)->commit() || ::write(ends[1], "x", 1) != 1) ::_exit(4);
      }
    }
    ::close(ends[1]);
    char one = 0;
    ASSERT_EQ(::read(ends[0], &one, 1), 1);
    const auto ours = opened();
    ASSERT_FALSE(ours->acquire_write_access()->is_granted);
    int last = 0;
    for (auto left = draw() % 40; left > 0; --left) {
      ASSERT_EQ(::read(ends[0], &one, 1), 1);
      const auto now = having(*ours, "common");
      EXPECT_EQ(now % 6, 0u) << "two documents of three passages at once";
      EXPECT_GE(static_cast<int>(now), last);
      last = static_cast<int>(now);
    }
    ::kill(child, SIGKILL);
    ::waitpid(child, nullptr, 0);
    ::close(ends[0]);
    const auto turn = ours->acquire_write_access();
    ASSERT_TRUE(turn) << turn.error().private_text;
    ASSERT_TRUE(turn->is_granted);
    const auto counts = ours->counts();
    ASSERT_TRUE(counts);
    EXPECT_EQ(counts->documents % 2, 0u);
    EXPECT_EQ(counts->passages, counts->documents * 3);
    EXPECT_EQ(having(*ours, "common"), counts->passages);
    EXPECT_GE(static_cast<int>(counts->documents), there);
    there = static_cast<int>(counts->documents);
    put(*ours, "ours", "common of ours");
    ASSERT_TRUE(ours->remove("x://h/ours") && ours->commit());
  }
  EXPECT_EQ(set_aside(), 0u);
}

TEST_F(shared_index, is_one_of_many_that_start_at_the_same_time) {
  std::vector<std::shared_ptr<store>> all(5);
  std::vector<std::thread> threads;
  threads.reserve(all.size());
  for (auto& one : all) threads.emplace_back([&] { one = opened(); });
  for (auto& one : threads) one.join();
  std::atomic<int> writers = 0;
  threads.clear();
  for (auto& one : all) {
    threads.emplace_back([&] {
      const auto turn = one->acquire_write_access();
      ASSERT_TRUE(turn) << turn.error().private_text;
      if (!turn->is_granted) return;
      ++writers;
      put(*one, "a", "common apple");
    });
  }
  for (auto& one : threads) one.join();
  EXPECT_EQ(writers, 1);
  for (const auto& one : all) EXPECT_EQ(having(*one, "common"), 2u);
  EXPECT_EQ(set_aside(), 0u);
}

TEST_F(shared_index, is_let_go_by_who_holds_a_lock_that_was_removed_when_another_has_the_new_one) {
  const auto first = opened();
  put(*first, "a", "common apple");
  for (const auto* ending : {"", "-wal", "-shm", ".turns"}) std::filesystem::remove(path() + ending);
  auto second = opened();
  ASSERT_TRUE(second->acquire_write_access()->is_granted);
  put(*second, "b", "common pear");
  const auto turn = first->acquire_write_access();
  ASSERT_TRUE(turn) << turn.error().private_text;
  EXPECT_FALSE(turn->is_granted);
  EXPECT_EQ(having(*first, "pear"), 2u);
  EXPECT_EQ(having(*first, "apple"), 0u);
  second.reset();
  EXPECT_TRUE(first->acquire_write_access()->is_granted);
  put(*first, "c", "common plum");
  EXPECT_EQ(having(*first, "common"), 4u);
}

TEST_F(shared_index, leaves_the_log_of_another_programs_file_where_it_is) {
  std::ofstream(path()).flush();
  {
    auto theirs = sqlite::connection::open(path(), "file of others");
    ASSERT_TRUE(theirs);
    ASSERT_TRUE(
        theirs->execute("PRAGMA journal_mode=WAL; PRAGMA application_id=7; CREATE TABLE t(x); INSERT INTO t VALUES(1)"));
    theirs->disable_checkpoint_on_close();
  }
  const auto size = std::filesystem::file_size(path() + "-wal");
  ASSERT_GT(size, 0u);
  EXPECT_FALSE(inspect_embedded(path()));
  ASSERT_TRUE(std::filesystem::exists(path() + "-wal"));
  EXPECT_EQ(std::filesystem::file_size(path() + "-wal"), size);
}

}  // namespace
}  // namespace hondana::search
