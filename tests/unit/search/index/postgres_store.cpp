/// The store in PostgreSQL: addresses, other servers, lost connections, and processes that are killed.
#include "search/index/postgres/postgres_store.hpp"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <random>
#include <thread>

#include "deadline.hpp"
#include "search/index/postgres/postgres_connection.hpp"
#include "unit/search/index/postgres_server.hpp"
#include "unit/search/index/store_contract.hpp"

namespace hondana::search {
namespace {

class postgres_index : public testing::Test {
 protected:
  void SetUp() override {
    static int number = 0;
    schema_ = "index_" + std::to_string(++number);
    ASSERT_TRUE(server_.is_ready());
  }
  void TearDown() override {
    if (server_.is_ready()) server_.run("DROP SCHEMA IF EXISTS " + schema_ + " CASCADE");
  }
  postgres_options options(const std::string& words = "plain-1") const {
    return {server_.url(), schema_, plain_words(words), {}};
  }
  std::shared_ptr<store> open(const std::string& words = "plain-1") const {
    auto made = open_postgres(options(words));
    EXPECT_TRUE(made) << made.error().public_text << " | " << made.error().private_text;
    return made ? std::move(*made) : nullptr;
  }
  static failure refusal(postgres_options how) {
    auto made = open_postgres(std::move(how));
    EXPECT_FALSE(made);
    return made ? failure() : made.error();
  }
  static void put(store& into, const std::string& name, const std::string& text) {
    const std::vector of{said(text), said(text + " again")};
    const auto put = into.put(named_document(name), of);
    ASSERT_TRUE(put) << put.error().public_text << " | " << put.error().private_text;
    const auto done = into.commit();
    ASSERT_TRUE(done) << done.error().public_text << " | " << done.error().private_text;
  }
  static std::size_t having(const store& in, const std::string& query) {
    const auto got = in.find(words_of(query), {}, 100'000);
    EXPECT_TRUE(got) << got.error().public_text << " | " << got.error().private_text;
    return got ? got->passages.size() : 0;
  }
  /// Whether counts are what is there.
  void expect_consistent() const {
    EXPECT_EQ(server_.run("SELECT count(*) FROM (SELECT w, count(*) AS n FROM " + schema_ +
                          ".passages p, unnest(tsvector_to_array(p.words)) AS w GROUP BY w) AS there FULL JOIN " + schema_ +
                          ".terms t ON t.word=there.w WHERE t.passages IS DISTINCT FROM there.n"),
              "0");
    EXPECT_EQ(server_.run("SELECT (t.passages=(SELECT count(*) FROM " + schema_ +
                          ".passages) AND t.length=(SELECT coalesce(sum(length),0) FROM " + schema_ + ".passages)) FROM " +
                          schema_ + ".totals t"),
              "t");
    EXPECT_EQ(server_.run("SELECT count(*) FROM " + schema_ + ".passages p WHERE NOT EXISTS(SELECT 1 FROM " + schema_ +
                          ".documents d WHERE d.id=(p.id>>16))"),
              "0");
  }

  postgres_server& server_ = postgres_server::instance();
  std::string schema_;
};

TEST_F(postgres_index, takes_no_password_in_its_url_and_repeats_none) {
  auto how = options();
  for (const auto* url : {"postgresql://me:hunter2@localhost/docs", "postgres://me@localhost/docs?password=hunter2",
                          "postgresql://localhost/docs?sslpassword=hunter2"}) {
    how.url = url;
    const auto said = refusal(how);
    EXPECT_EQ(said.code, errc::invalid_argument);
    EXPECT_NE(said.public_text.find("~/.pgpass or a file that PGPASSFILE names"), std::string::npos) << said.public_text;
    EXPECT_EQ((said.public_text + said.private_text).find("hunter2"), std::string::npos);
  }
  for (const auto* url : {"", "host=localhost", "mysql://localhost/docs", "postgresql://me:hunter2@[::1/docs",
                          "postgresql://localhost/docs?nothing=1", "postgresql://me:hunter2@%ZZ/"}) {
    how.url = url;
    const auto said = refusal(how);
    EXPECT_EQ(said.code, errc::invalid_argument) << url;
    EXPECT_NE(said.public_text.find("the URL of a search index in PostgreSQL"), std::string::npos) << said.public_text;
    EXPECT_EQ((said.public_text + said.private_text).find("hunter2"), std::string::npos);
  }
  how = options();
  for (const auto* schema : {"", "Docs", "a b", "a\"; DROP TABLE x; --", "1a", "pg_catalog"}) {
    how.schema = schema;
    EXPECT_EQ(refusal(how).code, errc::invalid_argument) << schema;
  }
  how.schema = std::string(64, 'a');
  EXPECT_EQ(refusal(how).code, errc::invalid_argument);
}

TEST_F(postgres_index, says_what_to_do_when_it_cannot_connect) {
  auto how = options();
  how.url = "postgresql://me@127.0.0.1:1/docs";
  auto said = refusal(how);
  EXPECT_EQ(said.code, errc::source_unavailable);
  EXPECT_EQ(said.public_text,
            "cannot connect to PostgreSQL on 127.0.0.1, database docs: check that it runs, that the address is right and that "
            "it accepts this user; see the log for details");
  EXPECT_NE(said.private_text, "");
  how.url = server_.url("nowhere");
  EXPECT_NE(refusal(how).private_text.find("\"nowhere\" does not exist"), std::string::npos);
  server_.run("CREATE DATABASE latin ENCODING 'LATIN1' LOCALE 'C' TEMPLATE template0");
  how.url = server_.url("latin");
  EXPECT_NE(refusal(how).public_text.find("in another encoding than UTF-8"), std::string::npos);
}

TEST_F(postgres_index, takes_its_password_from_a_file) {
  server_.run("CREATE ROLE reader LOGIN PASSWORD 'secret:with\\marks'");
  auto how = options();
  how.url = server_.tcp_url("reader");
  ::unsetenv("PGPASSWORD");
  ::setenv("PGPASSFILE", "/nonexistent", 1);
  EXPECT_NE(refusal(how).public_text.find("it requires a password; put it into ~/.pgpass"), std::string::npos);
  char name[] = "/tmp/search_pgpass_XXXXXX";
  const int file = ::mkstemp(name);
  ASSERT_GE(file, 0);
  ::close(file);
  ::setenv("PGPASSFILE", name, 1);
  std::ofstream(name) << "127.0.0.1:*:*:reader:wrong\n";
  EXPECT_NE(refusal(how).public_text.find("it rejected the user or the password"), std::string::npos);
  std::ofstream(name) << "127.0.0.1:*:*:reader:secret\\:with\\\\marks\n";
  auto said = refusal(how);
  EXPECT_NE(said.public_text.find("this user lacks rights"), std::string::npos) << said.public_text << said.private_text;
  server_.run("GRANT CREATE ON DATABASE postgres TO reader");
  const auto made = open_postgres(how);
  ASSERT_TRUE(made) << made.error().public_text << made.error().private_text;
  put(**made, "a", "apple");
  EXPECT_EQ(having(**made, "apple"), 2u);
  ::unsetenv("PGPASSFILE");
  std::filesystem::remove(name);
}

TEST_F(postgres_index, of_other_words_or_another_version_is_left_alone_unless_it_is_empty) {
  open();
  auto ours = open("plain-2");
  put(*ours, "a", "apple");
  const auto said = refusal(options());
  EXPECT_EQ(said.code, errc::source_unavailable);
  EXPECT_EQ(said.public_text,
            "the schema " + schema_ + " in PostgreSQL on " + server_.folder() +
                ", database postgres has a search index that was built with another tokenizer (plain-2, here plain-1), "
                "which other servers may be using; set another postgres_schema, or drop this one (DROP SCHEMA " +
                schema_ + " CASCADE) to create it again");
  EXPECT_EQ(having(*ours, "apple"), 2u);
  ASSERT_TRUE(ours->remove("x://h/a"));
  ASSERT_TRUE(ours->commit());
  auto others = open();
  put(*others, "b", "pear");
  // And who had it before writes nothing of other words.
  const auto late = ours->put(named_document("c"), {});
  ASSERT_FALSE(late);
  EXPECT_NE(late.error().public_text.find("now has another tokenizer"), std::string::npos);
  server_.run("UPDATE " + schema_ + ".facts SET value='7' WHERE name='version'");
  EXPECT_NE(refusal(options()).public_text.find("of another version of hondana (format 7; this version uses 3)"),
            std::string::npos);
}

TEST_F(postgres_index, is_made_once_by_servers_that_start_at_the_same_time) {
  std::vector<std::shared_ptr<store>> all(4);
  std::vector<std::thread> threads;
  threads.reserve(all.size());
  for (auto& one : all) threads.emplace_back([&] { one = open(); });
  for (auto& one : threads) one.join();
  // And all write the same documents.
  threads.clear();
  std::atomic<int> failed = 0;
  for (std::size_t i = 0; i < all.size(); ++i) {
    threads.emplace_back([&, i] {
      for (int j = 0; j < 12; ++j) {
        const std::vector of{said("server" + std::to_string(i) + " common words of all " + std::to_string(j))};
        if (!all[i]->put(named_document("d" + std::to_string(j % 5)), of) || !all[i]->commit()) ++failed;
      }
    });
  }
  for (auto& one : threads) one.join();
  EXPECT_EQ(failed, 0);
  EXPECT_EQ(having(*all[0], "common"), 5u);
  expect_consistent();
}

TEST_F(postgres_index, goes_on_when_the_server_was_started_again) {
  const auto ours = open();
  put(*ours, "a", "apple");
  EXPECT_EQ(having(*ours, "apple"), 2u);
  const std::vector of{said("lost")};
  ASSERT_TRUE(ours->put(named_document("lost"), of));
  server_.stop();
  const auto asked = ours->find(words_of("apple"), {}, 10);
  ASSERT_FALSE(asked);
  EXPECT_EQ(asked.error().code, errc::source_unavailable);
  EXPECT_NE(asked.error().public_text.find("cannot connect to PostgreSQL"), std::string::npos) << asked.error().public_text;
  const auto counts = ours->counts();
  EXPECT_FALSE(counts);
  const auto more = ours->put(named_document("more"), of);
  ASSERT_FALSE(more);
  EXPECT_EQ(more.error().code, errc::source_unavailable);
  EXPECT_FALSE(ours->commit());
  EXPECT_FALSE(ours->put(named_document("more"), of));
  ours->roll_back();
  server_.start();
  EXPECT_EQ(having(*ours, "apple"), 2u);
  EXPECT_EQ(having(*ours, "lost"), 0u);
  put(*ours, "b", "apple pie");
  EXPECT_EQ(having(*ours, "apple"), 4u);
  // Nothing was asked while it was away.
  server_.stop();
  server_.start();
  EXPECT_EQ(having(*ours, "apple"), 4u);
  put(*ours, "c", "apple juice");
  EXPECT_EQ(having(*ours, "apple"), 6u);
  expect_consistent();
}

TEST_F(postgres_index, commits_nothing_when_its_connection_was_cut_in_the_middle) {
  const auto ours = open();
  put(*ours, "a", "apple");
  const std::vector of{said("first")};
  ASSERT_TRUE(ours->put(named_document("b"), of));
  server_.run("SELECT count(pg_terminate_backend(pid)) FROM pg_stat_activity WHERE application_name='hondana'");
  const auto second = ours->put(named_document("c"), of);
  ASSERT_FALSE(second);
  EXPECT_EQ(second.error().code, errc::source_unavailable);
  EXPECT_FALSE(ours->put(named_document("d"), of));
  const auto done = ours->commit();
  ASSERT_FALSE(done);
  EXPECT_NE(done.error().public_text.find("all of it was rolled back"), std::string::npos) << done.error().public_text;
  EXPECT_EQ(having(*ours, "first"), 0u);
  put(*ours, "b", "first");
  EXPECT_EQ(having(*ours, "first"), 2u);
  expect_consistent();
}

TEST_F(postgres_index, is_whole_whenever_its_process_is_killed) {
  open();
  std::mt19937 draw(9);
  int there = 0;
  for (int round = 0; round < 8; ++round) {
    int ends[2]{};
    ASSERT_EQ(::pipe(ends), 0);
    const auto child = ::fork();
    if (child == 0) {
      ::close(ends[0]);
      auto made = open_postgres(options());
      if (!made) ::_exit(2);
      for (int i = 0;; ++i) {
        // Two documents a transaction, which hold the same number.
        const auto text = "number" + std::to_string(round * 1000 + i) + " common";
        const std::vector of{said(text), said(text + " more"), said(text + " again")};
        for (const auto* name : {"one", "two"}) {
          if (!(*made)->put(named_document(name + std::to_string(i % 7)), of)) ::_exit(3);
        }
        if (!(*made)->commit() || ::write(ends[1], "x", 1) != 1) ::_exit(4);
      }
    }
    ::close(ends[1]);
    char one = 0;
    for (auto left = draw() % 30; left > 0; --left) ASSERT_EQ(::read(ends[0], &one, 1), 1);
    ::kill(child, SIGKILL);
    ::waitpid(child, nullptr, 0);
    ::close(ends[0]);
    // Its transaction ends when the server has seen it; whoever locks comes after.
    const auto ours = open();
    ASSERT_TRUE(ours->describe(named_document("none")));
    ASSERT_TRUE(ours->commit());
    expect_consistent();
    const auto counts = ours->counts();
    ASSERT_TRUE(counts);
    EXPECT_EQ(counts->documents % 2, 0u);
    EXPECT_EQ(counts->passages, counts->documents * 3);
    EXPECT_EQ(having(*ours, "common"), counts->passages);
    EXPECT_GE(static_cast<int>(counts->documents), there);
    there = static_cast<int>(counts->documents);
  }
}

TEST_F(postgres_index, is_kept_up_by_one_of_two_servers_until_that_one_ends) {
  auto ours = open();
  const auto others = open();
  const auto first = ours->acquire_write_access();
  ASSERT_TRUE(first) << first.error().private_text;
  EXPECT_TRUE(first->is_granted);
  EXPECT_FALSE(others->acquire_write_access()->is_granted);
  const auto before = others->status();
  ASSERT_TRUE(before);
  put(*ours, "a", "apple");
  EXPECT_NE(others->status()->commits, before->commits);
  EXPECT_EQ(having(*others, "apple"), 2u);
  EXPECT_TRUE(ours->acquire_write_access()->is_granted);
  EXPECT_EQ(ours->acquire_write_access()->generation, first->generation);
  ours.reset();
  // The server has to see that its connection has gone.
  ASSERT_TRUE(hondana_test::eventually([&others] { return others->acquire_write_access()->is_granted; }));
  put(*others, "b", "apple pie");
  EXPECT_EQ(having(*others, "apple"), 4u);
  expect_consistent();
}

TEST_F(postgres_index, gives_up_its_turn_with_its_connection_and_asks_for_it_again) {
  const auto ours = open();
  const auto first = ours->acquire_write_access();
  ASSERT_TRUE(first && first->is_granted);
  put(*ours, "a", "apple");
  const std::vector of{said("first")};
  ASSERT_TRUE(ours->put(named_document("b"), of));
  server_.run("SELECT count(pg_terminate_backend(pid)) FROM pg_stat_activity WHERE application_name='hondana'");
  EXPECT_FALSE(ours->put(named_document("c"), of));
  EXPECT_FALSE(ours->commit());
  const auto refused = ours->put(named_document("c"), of);
  ASSERT_FALSE(refused) << "another server may have its turn";
  EXPECT_EQ(refused.error().code, errc::source_unavailable);
  const auto others = open();
  // The turn ends some time after the connection.
  ASSERT_TRUE(hondana_test::eventually([&others] { return others->acquire_write_access()->is_granted; }));
  EXPECT_FALSE(ours->acquire_write_access()->is_granted);
  server_.stop();
  EXPECT_FALSE(ours->acquire_write_access());
  EXPECT_FALSE(others->acquire_write_access());
  server_.start();
  const auto again = ours->acquire_write_access();
  ASSERT_TRUE(again) << again.error().private_text;
  EXPECT_TRUE(again->is_granted);
  EXPECT_NE(again->generation, first->generation) << "what it knew may be old";
  EXPECT_FALSE(others->acquire_write_access()->is_granted);
  put(*ours, "d", "apple juice");
  EXPECT_EQ(having(*others, "apple"), 4u);
  expect_consistent();
}

TEST_F(postgres_index, lets_one_write_at_a_time_and_all_read) {
  const auto ours = open();
  put(*ours, "a", "apple");
  // Somebody else writes, and does not end.
  const auto others = open();
  const std::vector of{said("pear")};
  ASSERT_TRUE(others->put(named_document("b"), of));
  std::atomic<bool> has_ended = false;
  std::thread waiting([&] {
    put(*ours, "c", "plum");
    has_ended = true;
  });
  // Readers are not kept waiting.
  EXPECT_EQ(having(*ours, "apple"), 2u);
  EXPECT_FALSE(has_ended);
  EXPECT_TRUE(others->commit());
  waiting.join();
  EXPECT_EQ(having(*ours, "plum"), 2u);
}

/// HONDANA_MEASURES=20000: with so many passages, and says how long they and three words of a query take.
TEST_F(postgres_index, finds_among_many_passages_those_that_have_the_words) {
  const auto* const wanted = std::getenv("HONDANA_MEASURES");
  using clock = std::chrono::steady_clock;
  const auto seconds = [](clock::duration what) { return std::chrono::duration<double>(what).count(); };
  std::mt19937 draw(1);
  // As often as words of a language are: the n-th most frequent 1/n as often as the first.
  const auto word = [&] {
    const double top = std::log(30'000.0);
    return "w" + std::to_string(static_cast<int>(std::exp(std::uniform_real_distribution<double>(0, top)(draw))));
  };
  const int passages = wanted != nullptr ? std::atoi(wanted) : 300;
  const auto ours = open();
  const auto began = clock::now();
  for (int document = 0; document * 10 < passages; ++document) {
    std::vector<chunking::passage> of;
    for (int i = 0; i < 10; ++i) {
      std::string text;
      for (int j = 0; j < 180; ++j) text += word() + ' ';
      of.push_back(said(text, "Heading " + word()));
    }
    ASSERT_TRUE(ours->put(named_document("d" + std::to_string(document), "Title " + word()), of));
    if (document % 10 == 9) {
      ASSERT_TRUE(ours->commit());
    }
  }
  ASSERT_TRUE(ours->commit());
  const auto counts = ours->counts();
  ASSERT_TRUE(counts);
  EXPECT_EQ(counts->passages, static_cast<std::uint64_t>(passages));
  if (wanted != nullptr)
    std::printf("%d passages in %.1f s, %.0f bytes each\n", passages, seconds(clock::now() - began),
                static_cast<double>(counts->bytes) / passages);
  for (const std::size_t most : {1000u, 2000u, 5000u, 20000u}) {
    std::vector<double> took;
    std::size_t looked = 0;
    for (int i = 0; i < (wanted != nullptr ? 300 : 20); ++i) {
      const std::vector<query_word> query{{word()}, {word(), false, true}, {word()}};
      const auto start = clock::now();
      const auto got = ours->find(query, {}, most);
      took.push_back(1000 * seconds(clock::now() - start));
      ASSERT_TRUE(got);
      EXPECT_LE(got->passages.size(), most);
      for (const auto& one : got->passages) EXPECT_GT(one.words, 0u);
      looked += got->passages.size();
    }
    std::sort(took.begin(), took.end());
    if (wanted != nullptr)
      std::printf("most %zu: p50 %.1f ms, p95 %.1f ms, p99 %.1f ms, %zu passages a query\n", most, took[150], took[285],
                  took[297], looked / 300);
  }
  expect_consistent();
}

}  // namespace
}  // namespace hondana::search
