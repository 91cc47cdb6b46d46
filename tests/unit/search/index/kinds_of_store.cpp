/// The stores that the contract is tried on.
#include <unistd.h>

#include <filesystem>

#include "os/sqlite/sqlite.hpp"
#include "search/index/embedded/embedded_store.hpp"
#include "search/index/postgres/postgres_store.hpp"
#include "unit/search/index/postgres_server.hpp"
#include "unit/search/index/store_contract.hpp"

namespace hondana::search {
namespace {

template <class Opened>
std::shared_ptr<store> checked(Opened made) {
  EXPECT_TRUE(made) << made.error().public_text << " | " << made.error().private_text;
  return made ? std::move(*made) : nullptr;
}

std::optional<stored_index> looked(result<std::optional<stored_index>> got) {
  EXPECT_TRUE(got) << got.error().public_text << " | " << got.error().private_text;
  return got ? std::move(*got) : std::nullopt;
}

class tried_file final : public tried_store {
 public:
  tried_file() {
    if (::mkdtemp(folder_.data()) == nullptr) ADD_FAILURE() << "no temporary folder";
  }
  ~tried_file() override { std::filesystem::remove_all(folder_); }
  std::shared_ptr<store> open() override { return checked(open_embedded({folder_ + "/index.db", plain_words(), {}})); }
  std::optional<stored_index> look() const override { return looked(inspect_embedded(folder_ + "/index.db")); }
  void age_vectors(int hours) override {
    auto by = sqlite::connection::open(folder_ + "/index.db", "search index");
    ASSERT_TRUE(by);
    ASSERT_TRUE(by->execute(("UPDATE vectors SET used=used-" + std::to_string(hours)).c_str()));
  }

 private:
  std::string folder_ = "/tmp/search_XXXXXX";
};

class tried_memory final : public tried_store {
 public:
  std::shared_ptr<store> open() override { return checked(open_embedded({{}, plain_words(), {}})); }
  void age_vectors(int) override { ADD_FAILURE() << "nobody else sees what is in memory"; }
  bool is_in_memory() const override { return true; }
};

class tried_postgres final : public tried_store {
 public:
  tried_postgres() {
    static int number = 0;
    schema_ = "tried_" + std::to_string(++number);
  }
  ~tried_postgres() override { postgres_server::instance().run("DROP SCHEMA IF EXISTS " + schema_ + " CASCADE"); }
  std::shared_ptr<store> open() override {
    return checked(open_postgres({postgres_server::instance().url(), schema_, plain_words(), {}}));
  }
  std::optional<stored_index> look() const override {
    return looked(inspect_postgres(postgres_server::instance().url(), schema_));
  }
  void age_vectors(int hours) override {
    postgres_server::instance().run("UPDATE " + schema_ + ".vectors SET used=used-" + std::to_string(hours));
  }

 private:
  std::string schema_;
};

template <class Kind>
std::unique_ptr<tried_store> make_tried() {
  return std::make_unique<Kind>();
}

INSTANTIATE_TEST_SUITE_P(every_store, store_contract,
                         testing::Values(kind_of_store{"embedded", make_tried<tried_file>},
                                         kind_of_store{"memory", make_tried<tried_memory>},
                                         kind_of_store{"postgres", make_tried<tried_postgres>}),
                         [](const auto& which) { return which.param.name; });

}  // namespace
}  // namespace hondana::search
