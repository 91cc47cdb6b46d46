/// The store in a file: opened again, of others, damaged, and on a full disk.
#include "search/index/embedded/embedded_store.hpp"

#include <signal.h>
#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <random>

#include "os/sqlite/sqlite.hpp"
#include "unit/search/index/store_contract.hpp"

namespace hondana::search {
namespace {

class embedded_index : public testing::Test {
 protected:
  void SetUp() override {
    ASSERT_NE(::mkdtemp(folder_.data()), nullptr);
    options_ = {folder_ + "/below/index.db", plain_words(),
                [this](std::string_view line) { log_ += std::string(line) + '\n'; }};
  }
  void TearDown() override {
    store_.reset();
    std::filesystem::remove_all(folder_);
  }
  void open() {
    store_.reset();
    auto made = open_embedded(options_);
    ASSERT_TRUE(made) << made.error().public_text << " | " << made.error().private_text;
    store_ = std::move(*made);
  }
  void put(const std::string& name, const std::string& text) {
    const std::vector of{said(text)};
    ASSERT_TRUE(store_->put(named_document(name), of));
    const auto done = store_->commit();
    ASSERT_TRUE(done) << done.error().private_text;
  }
  std::size_t having(const std::string& query) const {
    const auto got = store_->find(words_of(query), {}, 100'000);
    EXPECT_TRUE(got) << got.error().private_text;
    return got ? got->passages.size() : 0;
  }
  std::string refusal() const {
    const auto made = open_embedded(options_);
    EXPECT_FALSE(made);
    if (!made) {
      EXPECT_EQ(made.error().code, errc::source_unavailable);
    }
    return made ? "" : made.error().public_text;
  }
  std::size_t set_aside() const {
    const std::filesystem::directory_iterator all(folder_ + "/below");
    return static_cast<std::size_t>(std::count_if(begin(all), end(all), [](const auto& one) {
      const auto name = one.path().filename().string();
      return name.starts_with("index.db.damaged-") && !name.ends_with("-wal");
    }));
  }

  std::string folder_ = "/tmp/search_XXXXXX";
  embedded_options options_{};
  std::string log_;
  std::shared_ptr<store> store_{};
};

TEST_F(embedded_index, is_looked_at_from_outside_only_where_it_is_one) {
  const auto none = inspect_embedded(options_.path);
  ASSERT_TRUE(none);
  EXPECT_FALSE(*none);
  EXPECT_FALSE(std::filesystem::exists(options_.path)) << "looking makes nothing";
  std::filesystem::create_directories(folder_ + "/below");
  std::ofstream(options_.path).flush();
  const auto empty = inspect_embedded(options_.path);
  ASSERT_TRUE(empty) << "an index would be made in it";
  EXPECT_FALSE(*empty);
  std::ofstream(options_.path) << "no database at all, but long enough that it could have been the head of one";
  const auto other = inspect_embedded(options_.path);
  ASSERT_FALSE(other);
  EXPECT_EQ(other.error().code, errc::source_unavailable);
  EXPECT_EQ(other.error().public_text, refusal()) << "who would open it says the same";
}

TEST_F(embedded_index, has_all_when_it_is_opened_again) {
  open();
  ASSERT_TRUE(store_->use_model("m"));
  put("a", "apple");
  const std::vector<store::text_vector> made{{store_->texts_without_vector(1)->front().digest, {1, 2}}};
  ASSERT_TRUE(store_->put_vectors(made));
  ASSERT_TRUE(store_->commit());
  const std::vector of{said("pear")};
  ASSERT_TRUE(store_->put(named_document("b"), of));
  open();
  EXPECT_EQ(having("apple"), 1u);
  EXPECT_EQ(having("pear"), 0u);
  EXPECT_EQ(store_->counts()->vectors, 1u);
  ASSERT_TRUE(store_->use_model("m"));
  EXPECT_EQ(store_->counts()->vectors, 1u);
  EXPECT_EQ(log_, "");
}

TEST_F(embedded_index, is_made_anew_for_other_words) {
  open();
  put("a", "apple");
  options_.tokenizer = plain_words("plain-2");
  open();
  EXPECT_EQ(having("apple"), 0u);
  EXPECT_EQ(store_->counts()->documents, 0u);
  EXPECT_EQ(log_, "search: the index was built with another tokenizer (plain-1, now plain-2), so it is built again\n");
  put("a", "pear");
  open();
  EXPECT_EQ(having("pear"), 1u);
  EXPECT_EQ(set_aside(), 0u);
}

TEST_F(embedded_index, is_moved_aside_when_it_is_damaged) {
  open();
  for (int i = 0; i < 50; ++i) put("d" + std::to_string(i), "apple number" + std::to_string(i));
  store_.reset();
  {
    std::mt19937 draw(1);
    std::string garbage(8192, 0);
    for (auto& byte : garbage) byte = static_cast<char>(draw());
    std::fstream file(options_.path, std::ios::in | std::ios::out | std::ios::binary);
    for (const int page : {2, 3, 4, 5}) {
      file.seekp(page * 8192);
      file.write(garbage.data(), static_cast<std::streamsize>(garbage.size()));
    }
    ASSERT_TRUE(file.flush());
  }
  open();
  EXPECT_EQ(set_aside(), 1u);
  EXPECT_NE(log_.find("the search index " + options_.path + " is damaged"), std::string::npos) << log_;
  EXPECT_EQ(having("apple"), 0u);
  put("a", "apple");
  open();
  EXPECT_EQ(having("apple"), 1u);
  EXPECT_EQ(set_aside(), 1u);
}

TEST_F(embedded_index, is_not_touched_when_it_is_somebody_elses_file) {
  std::filesystem::create_directory(folder_ + "/below");
  std::ofstream(options_.path) << "Dear diary, " << std::string(500, 'x');
  EXPECT_EQ(refusal(), "cannot store the search index in " + options_.path +
                           ": it is not an SQLite file; give another path, or move that file away");
  EXPECT_EQ(std::filesystem::file_size(options_.path), 512u);
  EXPECT_FALSE(inspect_embedded(options_.path));
  const std::filesystem::directory_iterator all(folder_ + "/below");
  EXPECT_EQ(std::distance(begin(all), end(all)), 1) << "nothing of ours is left beside it";
}

/// No file of this process grows beyond a size while it lives.
class no_more_room {
 public:
  explicit no_more_room(std::uint64_t most) {
    before_ = ::signal(SIGXFSZ, SIG_IGN);
    ::getrlimit(RLIMIT_FSIZE, &usual_);
    const rlimit now{most, usual_.rlim_max};
    ::setrlimit(RLIMIT_FSIZE, &now);
  }
  ~no_more_room() {
    ::setrlimit(RLIMIT_FSIZE, &usual_);
    ::signal(SIGXFSZ, before_);
  }
  no_more_room(const no_more_room&) = delete;
  no_more_room& operator=(const no_more_room&) = delete;

 private:
  rlimit usual_{};
  void (*before_)(int) = SIG_DFL;
};

TEST_F(embedded_index, keeps_what_was_committed_when_the_disk_is_full_and_goes_on_when_there_is_room) {
  open();
  std::mt19937 draw(3);
  const auto bulky = [&] {
    std::vector<chunking::passage> out;
    for (int i = 0; i < 20; ++i) {
      std::string text = "bulky";
      for (int j = 0; j < 100; ++j) text += " w" + std::to_string(draw());
      out.push_back(said(text));
    }
    return out;
  };
  for (int i = 0; i < 5; ++i) {
    ASSERT_TRUE(store_->put(named_document("d" + std::to_string(i)), bulky()));
    ASSERT_TRUE(store_->commit());
  }
  {
    const no_more_room now(std::filesystem::file_size(options_.path + "-wal") + 30'000);
    for (int i = 5; i < 10; ++i) {
      const auto put = store_->put(named_document("d" + std::to_string(i)), bulky());
      const auto done = store_->commit();
      ASSERT_FALSE(done);
      const auto& said = put ? done.error() : put.error();
      EXPECT_EQ(said.code, errc::source_unavailable);
      EXPECT_EQ(said.public_text, "the disk is full, so the search index cannot be written; free disk space, or store less");
      if (!put) {
        EXPECT_NE(done.error().public_text.find("all of it was rolled back"), std::string::npos);
      }
    }
    EXPECT_EQ(having("bulky"), 100u);
  }
  ASSERT_TRUE(store_->put(named_document("after"), bulky()));
  ASSERT_TRUE(store_->commit());
  EXPECT_EQ(having("bulky"), 120u);
  open();
  EXPECT_EQ(having("bulky"), 120u);
  EXPECT_EQ(store_->counts()->documents, 6u);
  EXPECT_EQ(set_aside(), 0u);
}

}  // namespace
}  // namespace hondana::search
