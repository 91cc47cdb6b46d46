/// The store in PostgreSQL when what it is asked for fails half-way.
#include <cstdint>
#include <set>
#include <span>
#include <stdexcept>
#include <string>
#include <vector>

#include "search/index/postgres/postgres_store.hpp"
#include "unit/search/index/postgres_server.hpp"
#include "unit/search/index/store_contract.hpp"

namespace hondana::search {
namespace {

class troubled_postgres : public testing::Test {
 protected:
  void SetUp() override {
    ASSERT_TRUE(server_.is_ready());
    server_.run("DROP SCHEMA IF EXISTS troubled CASCADE");
  }
  void TearDown() override { server_.run("DROP SCHEMA IF EXISTS troubled CASCADE"); }
  std::shared_ptr<store> open() const {
    auto made = open_postgres({server_.url(), "troubled", plain_words(), {}});
    EXPECT_TRUE(made) << made.error().public_text << " | " << made.error().private_text;
    return made ? std::move(*made) : nullptr;
  }

  postgres_server& server_ = postgres_server::instance();
};

TEST_F(troubled_postgres, forgets_a_change_of_model_that_failed_and_takes_the_next) {
  const auto ours = open();
  ASSERT_TRUE(ours->use_model("old"));
  server_.run("ALTER TABLE troubled.vectors RENAME TO away");
  EXPECT_FALSE(ours->use_model("new"));
  const std::vector of{said("apple")};
  EXPECT_TRUE(ours->put(named_document("a"), of)) << "nobody had to roll it back";
  EXPECT_TRUE(ours->commit());
  server_.run("ALTER TABLE troubled.away RENAME TO vectors");
  const auto done = ours->use_model("new");
  EXPECT_TRUE(done) << done.error().private_text;
  EXPECT_EQ(ours->status()->model, "new");
}

TEST_F(troubled_postgres, is_opened_while_another_writes) {
  const auto ours = open();
  const std::vector of{said("apple")};
  ASSERT_TRUE(ours->put(named_document("a"), of));
  const auto others = open();
  ASSERT_NE(others, nullptr);
  EXPECT_EQ(others->counts()->documents, 0u);
  EXPECT_TRUE(ours->commit());
  EXPECT_EQ(others->counts()->documents, 1u);
}

TEST_F(troubled_postgres, is_read_after_more_readers_than_there_may_be_were_interrupted) {
  const auto ours = open();
  const std::vector of{said("apple")};
  ASSERT_TRUE(ours->put(named_document("a"), of) && ours->commit());
  for (int i = 0; i < 10; ++i)
    EXPECT_THROW(
        static_cast<void>(ours->for_each_document([](const store::stored_document&) { throw std::runtime_error("enough"); })),
        std::runtime_error);
  const auto counts = ours->counts();
  ASSERT_TRUE(counts) << counts.error().public_text;
  EXPECT_EQ(counts->documents, 1u);
}

TEST_F(troubled_postgres, goes_on_with_what_it_reads_where_the_connection_was_lost) {
  constexpr std::size_t count = 3'000;
  constexpr std::size_t dimensions = 1'000;
  const auto ours = open();
  ASSERT_TRUE(ours->use_model("a"));
  std::vector<store::text_vector> made;
  std::vector<std::string> digests;
  for (std::size_t i = 0; i < count; ++i) {
    const std::vector of{said("apple " + std::to_string(i))};
    const auto what = named_document(std::to_string(i));
    ASSERT_TRUE(ours->put(what, of));
    digests.push_back(digest_of_text(text_to_embed(what, of.front().heading, of.front().text)));
    made.push_back({digests.back(), std::vector<float>(dimensions, static_cast<float>(i))});
  }
  ASSERT_TRUE(ours->put_vectors(made) && ours->commit());
  // More than sockets hold, so that it is lost while there is more to come.
  std::set<std::int64_t> heard;
  const auto lost_at_first = [&](passage_id id, std::span<const float> numbers) {
    if (heard.empty()) {
      server_.run("SELECT count(pg_terminate_backend(pid)) FROM pg_stat_activity WHERE application_name='hondana'");
    }
    EXPECT_EQ(numbers.size(), dimensions);
    EXPECT_TRUE(heard.insert(id.number).second) << "twice";
  };
  const auto all = ours->for_each_vector(lost_at_first);
  EXPECT_TRUE(all) << all.error().private_text;
  EXPECT_EQ(heard.size(), count);
  heard.clear();
  const auto some = ours->for_each_vector_of(digests, lost_at_first);
  EXPECT_TRUE(some) << some.error().private_text;
  EXPECT_EQ(heard.size(), count);
  std::set<std::string> uris;
  const auto documents = ours->for_each_document([&](const store::stored_document& one) {
    if (uris.empty()) {
      server_.run("SELECT count(pg_terminate_backend(pid)) FROM pg_stat_activity WHERE application_name='hondana'");
    }
    uris.insert(one.uri);
  });
  EXPECT_TRUE(documents) << documents.error().private_text;
  EXPECT_EQ(uris.size(), count);
}

}  // namespace
}  // namespace hondana::search
