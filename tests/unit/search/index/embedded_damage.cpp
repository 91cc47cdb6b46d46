/// An index in a file that is damaged, while it is closed and while it is open: it is moved aside and made anew.
#include <fstream>

#include "os/sqlite/database_file.hpp"
#include "unit/search/index/embedded_file.hpp"

namespace hondana::search {
namespace {

class damaged_index : public embedded_file {
 protected:
  static constexpr int documents = 40;

  void fill(store& into) {
    for (int i = 0; i < documents; ++i) put(into, "d" + std::to_string(i), text_of(i));
  }
  static std::string text_of(int i) {
    std::string out = "common number" + std::to_string(i);
    for (int j = 0; j < 60; ++j) out += " w" + std::to_string(i * 100 + j);
    return out;
  }
  std::uint64_t pages() const { return std::filesystem::file_size(path()) / page_bytes; }
  /// Searches as a server does; nothing of it may fail.
  static void search(const store& in) {
    for (const auto* query : {"common", "number7", "w7* w12*", "nothing"}) {
      const auto got = find(in, query);
      std::vector<passage_id> ids;
      for (const auto& one : got.passages) ids.push_back(one.id);
      const auto shown = in.load(ids);
      EXPECT_TRUE(shown) << shown.error().public_text << shown.error().private_text;
      if (!got.problem.empty()) {
        EXPECT_FALSE(got.is_complete);
        EXPECT_EQ(got.problem, "the index is damaged and is created again");
      }
    }
  }
};

TEST_F(damaged_index, is_made_anew_while_it_is_open_wherever_the_damage_is) {
  {
    const auto first = opened();
    fill(*first);
  }
  const auto whole = folder_ + "/whole";
  std::filesystem::copy_file(path(), whole);
  const auto count = pages();
  ASSERT_GT(count, 8u);
  std::size_t anew = 0;
  std::size_t noticed_by_searches = 0;
  for (std::uint64_t page = 0; page < count; ++page) {
    forget_set_aside();
    for (const auto* ending : {"", "-wal", "-shm"}) std::filesystem::remove(path() + ending);
    std::filesystem::copy_file(whole, path());
    const auto before = set_aside();
    const auto ours = opened();
    ASSERT_EQ(set_aside(), before);
    const auto first = ours->acquire_write_access();
    ASSERT_TRUE(first && first->is_granted);
    damage(page * page_bytes + (page == 0 ? 100 : 0), page_bytes - 100);
    bool is_anew = false;
    for (int attempt = 0; attempt < 4 && !is_anew; ++attempt) {
      search(*ours);
      const auto turn = ours->acquire_write_access();
      ASSERT_TRUE(turn) << page << turn.error().public_text << turn.error().private_text;
      ASSERT_TRUE(turn->is_granted);
      is_anew = turn->generation != first->generation;
      if (is_anew && attempt == 0) ++noticed_by_searches;
      if (is_anew) break;
      const auto wrote = ours->put(named_document("d" + std::to_string(attempt)), {});
      if (!wrote) {
        EXPECT_EQ(wrote.error().code, errc::source_unavailable);
      }
      const auto done = ours->commit();
      ours->roll_back();
    }
    if (!is_anew) continue;
    ++anew;
    EXPECT_EQ(set_aside(), before + 1) << page;
    EXPECT_EQ(ours->counts()->documents, 0u) << page;
    put(*ours, "a", "common apple");
    search(*ours);
    EXPECT_EQ(having(*ours, "common"), 2u) << page;
  }
  EXPECT_GT(anew, count / 2);
  EXPECT_GT(noticed_by_searches, count / 3);
  EXPECT_EQ(said_so("the search index " + path() + " is damaged"), anew);
}

TEST_F(damaged_index, is_made_anew_at_the_start_wherever_the_damage_is) {
  {
    const auto first = opened();
    fill(*first);
  }
  const auto whole = folder_ + "/whole";
  std::filesystem::copy_file(path(), whole);
  const auto count = pages();
  std::size_t anew = 0;
  for (std::uint64_t page = 0; page < count; ++page) {
    forget_set_aside();
    for (const auto* ending : {"", "-wal", "-shm"}) std::filesystem::remove(path() + ending);
    std::filesystem::copy_file(whole, path());
    damage(page * page_bytes + (page == 0 ? 100 : 3), 300);
    const auto before = set_aside();
    const auto ours = opened();
    ASSERT_NE(ours, nullptr) << page;
    search(*ours);
    if (set_aside() == before) continue;
    ++anew;
    EXPECT_EQ(having(*ours, "common"), 0u);
    put(*ours, "a", "common apple");
    EXPECT_EQ(having(*ours, "common"), 2u);
  }
  EXPECT_GE(anew, count - 2) << "pages that nothing uses may be";
}

TEST_F(damaged_index, of_those_that_were_moved_aside_the_newest_two_are_kept) {
  const auto aside = path() + ".damaged-";
  for (const auto* name : {"99", "1000", "1000-wal", "2000", "2000-2", "3000.bak", "of-mine"})
    std::ofstream(aside + name) << "x";
  {
    const auto first = opened();
    fill(*first);
  }
  damage(8192, 8192);
  const auto ours = opened();
  ASSERT_NE(ours, nullptr);
  EXPECT_TRUE(std::filesystem::exists(aside + "2000-2")) << "the second newest";
  for (const auto* name : {"99", "1000", "1000-wal", "2000"}) EXPECT_FALSE(std::filesystem::exists(aside + name)) << name;
  for (const auto* name : {"3000.bak", "of-mine"}) EXPECT_TRUE(std::filesystem::exists(aside + name)) << name;
  EXPECT_EQ(set_aside(), 4u) << "the one just now, and what is none of them";
}

TEST_F(damaged_index, that_another_process_reads_is_looked_at_by_who_writes_it) {
  {
    const auto first = opened();
    fill(*first);
  }
  const auto ours = opened();
  const auto reading = opened();
  EXPECT_EQ(having(*reading, "number3"), 2u);
  // What is read most often lies in memory; what was not read is damaged.
  for (std::uint64_t page = 3; page < pages(); ++page) damage(page * page_bytes, page_bytes);
  bool is_noticed = false;
  for (int i = 0; i < 50 && !is_noticed; ++i) {
    const auto got = find(*reading, "w" + std::to_string(i * 100 + 7) + " number" + std::to_string(i));
    is_noticed = !got.problem.empty();
  }
  EXPECT_TRUE(is_noticed);
  EXPECT_TRUE(sqlite::is_suspect(path()));
  const auto before = ours->acquire_write_access();
  ASSERT_TRUE(before) << before.error().private_text;
  EXPECT_EQ(set_aside(), 1u);
  EXPECT_FALSE(sqlite::is_suspect(path()));
  put(*ours, "a", "common apple");
  EXPECT_EQ(having(*reading, "common"), 2u) << "whoever reads goes over to the new one";
}

TEST_F(damaged_index, leaves_its_successor_alone_when_who_still_reads_it_ends) {
  {
    const auto first = opened();
    fill(*first);
  }
  const auto ours = opened();
  auto reading = opened();
  auto state = reading->snapshot();
  ASSERT_TRUE(state);
  EXPECT_EQ((*state)->find(words_of("number3"), {}, 10)->passages.size(), 2u);
  const auto turn = ours->acquire_write_access();
  sqlite::mark_suspect(path());
  damage(page_bytes, 4000);
  ASSERT_TRUE(ours->acquire_write_access());
  ASSERT_EQ(set_aside(), 1u);
  ASSERT_NE(ours->acquire_write_access()->generation, turn->generation);
  put(*ours, "a", "common apple");
  ASSERT_TRUE(std::filesystem::exists(path() + "-wal"));
  EXPECT_EQ((*state)->find(words_of("number3"), {}, 10)->passages.size(), 2u)
      << "a search that has begun ends with what it had";
  state->reset();
  reading.reset();
  EXPECT_TRUE(std::filesystem::exists(path() + "-wal"));
  EXPECT_TRUE(std::filesystem::exists(path() + "-shm"));
  put(*ours, "b", "common pear");
  EXPECT_EQ(having(*ours, "common"), 4u);
  EXPECT_EQ(having(*opened(), "common"), 4u);
}

TEST_F(damaged_index, is_begun_anew_where_somebody_has_removed_it) {
  auto ours = opened();
  fill(*ours);
  const auto turn = ours->acquire_write_access();
  EXPECT_EQ(having(*ours, "number3"), 2u);
  std::filesystem::remove(path());
  const auto meanwhile = find(*ours, "number3");
  EXPECT_TRUE(meanwhile.passages.empty());
  EXPECT_FALSE(meanwhile.problem.empty());
  const auto next = ours->acquire_write_access();
  ASSERT_TRUE(next) << next.error().private_text;
  EXPECT_NE(next->generation, turn->generation);
  EXPECT_EQ(ours->counts()->documents, 0u);
  put(*ours, "a", "common apple");
  ours.reset();
  EXPECT_EQ(having(*opened(), "common"), 2u);
  EXPECT_EQ(set_aside(), 0u);
}

TEST_F(damaged_index, of_an_older_version_is_made_anew) {
  {
    const auto first = opened();
    fill(*first);
  }
  {
    auto by = sqlite::connection::open(path(), "search index");
    ASSERT_TRUE(by && by->execute("PRAGMA user_version=1"));
  }
  const auto ours = opened();
  ASSERT_NE(ours, nullptr);
  EXPECT_EQ(ours->counts()->documents, 0u);
  EXPECT_EQ(said_so("is of an older version of this program: it was recreated"), 1u);
}

}  // namespace
}  // namespace hondana::search
