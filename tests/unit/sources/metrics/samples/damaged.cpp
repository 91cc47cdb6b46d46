/// Files that are damaged, or are no stores, and disks that are full.
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/resource.h>
#include <unistd.h>

#include <bit>
#include <filesystem>
#include <fstream>
#include <random>

#include "os/sqlite/sqlite.hpp"
#include "unit/sources/metrics/samples/kept.hpp"

namespace hondana::samples {
namespace {

namespace fs = std::filesystem;

class damaged_store : public kept {
 protected:
  void write_at(std::uint64_t place, std::string_view bytes) {
    std::fstream file(options_.path, std::ios::in | std::ios::out | std::ios::binary);
    file.seekp(static_cast<std::streamoff>(place));
    file.write(bytes.data(), static_cast<std::streamsize>(bytes.size()));
    ASSERT_TRUE(file.flush());
  }
  /// Series with a chunk or two each, all in the file.
  void fill() {
    open();
    for (int i = 0; i < 200; ++i) {
      std::vector<series::sample> samples;
      for (int j = 0; j < 200; ++j) samples.push_back({some_day + j * 15'000, j + i * 0.37});
      put(named("x" + std::to_string(i)), samples);
    }
    settle(clock_);
    store_.reset();
  }
  std::vector<std::string> set_aside() const {
    std::vector<std::string> out;
    for (const auto& one : fs::directory_iterator(folder_ + "/below"))
      if (one.path().filename().string().starts_with("metrics.db.damaged-")) out.push_back(one.path().string());
    return out;
  }
  std::string refusal() const {
    auto made = store::open(options_);
    EXPECT_FALSE(made);
    return made ? "" : made.error().public_text;
  }
  /// Does nothing but bytes of SQL to the file.
  void change(const char* sql) const {
    auto by = sqlite::connection::open(options_.path, "metrics store");
    ASSERT_TRUE(by);
    const auto done = by->execute(sql);
    ASSERT_TRUE(done) << done.error().private_text;
  }
  void expect_a_new_store_beside_the_old() {
    const auto before = fs::file_size(options_.path);
    open();
    ASSERT_EQ(set_aside().size(), 1u);
    EXPECT_EQ(fs::file_size(set_aside().front()), before);
    EXPECT_NE(log().find("is damaged"), std::string::npos) << log();
    EXPECT_NE(log().find(set_aside().front()), std::string::npos) << log();
    EXPECT_EQ(store_->statistics().samples, 0u);
    put(named("x"), {{some_day, 1}});
    open();
    EXPECT_EQ(read_one("x").size(), 1u);
    EXPECT_EQ(set_aside().size(), 1u);
  }
};

TEST_F(damaged_store, is_moved_aside_when_half_of_it_is_missing) {
  fill();
  fs::resize_file(options_.path, fs::file_size(options_.path) / 8192 * 4096);
  expect_a_new_store_beside_the_old();
}

TEST_F(damaged_store, is_moved_aside_when_a_page_is_garbage) {
  fill();
  std::mt19937 draw(1);
  std::string garbage(4096, 0);
  for (auto& byte : garbage) byte = static_cast<char>(draw());
  for (std::uint64_t page = 2; page < 12; ++page) write_at(page * 4096, garbage);
  expect_a_new_store_beside_the_old();
}

TEST_F(damaged_store, is_begun_anew_when_it_is_empty_or_was_being_made_when_the_power_went) {
  fs::create_directory(folder_ + "/below");
  std::ofstream(options_.path).flush();
  open();
  put(named("x"), {{some_day, 1}});
  open();
  EXPECT_EQ(read_one("x").size(), 1u);
  store_.reset();
  std::ofstream(options_.path, std::ios::binary | std::ios::trunc) << std::string(8192, '\0');
  open();
  EXPECT_EQ(store_->statistics().samples, 0u);
  put(named("x"), {{some_day, 1}});
}

TEST_F(damaged_store, is_not_touched_when_it_is_no_store_but_somebody_elses_file) {
  fs::create_directory(folder_ + "/below");
  std::ofstream(options_.path) << "Dear diary, " << std::string(500, 'x');
  EXPECT_EQ(refusal(), "cannot store metrics in " + options_.path +
                           ": it is not an SQLite file; give another path, or move that file away");
  EXPECT_EQ(fs::file_size(options_.path), 512u);
  fs::remove(options_.path);
  std::ofstream(options_.path).flush();
  change("CREATE TABLE bookmarks(url TEXT); INSERT INTO bookmarks VALUES('x')");
  EXPECT_NE(refusal().find("it is an SQLite file of another program; give another path"), std::string::npos) << refusal();
  change("SELECT url FROM bookmarks");
  fs::remove(options_.path);
  fs::create_directory(options_.path);
  EXPECT_NE(refusal().find(options_.path), std::string::npos) << refusal();
  EXPECT_TRUE(set_aside().empty());
}

TEST_F(damaged_store, is_not_touched_when_a_newer_version_wrote_it) {
  fill();
  change("PRAGMA user_version=7");
  EXPECT_EQ(refusal(), "cannot store metrics in " + options_.path +
                           ": it was written by a newer version of this program (schema 7, and this one supports 1); give "
                           "another path, or move that file away");
  EXPECT_TRUE(set_aside().empty());
  change("PRAGMA user_version=1");
  open();
  EXPECT_EQ(store_->statistics().samples, 40'000u);
}

TEST_F(damaged_store, needs_an_absolute_path_in_a_folder_that_can_be_made) {
  options_.path = "metrics.db";
  EXPECT_EQ(refusal(), "cannot store metrics in metrics.db: the path must be absolute");
  std::ofstream(folder_ + "/below") << "no folder";
  options_.path = folder_ + "/below/metrics.db";
  EXPECT_NE(refusal().find("cannot store metrics in " + options_.path + ": "), std::string::npos) << refusal();
}

TEST_F(damaged_store, loses_only_the_samples_that_cannot_be_read_when_its_pages_are_good) {
  fill();
  change(
      "UPDATE chunks SET data=x'ff00ff' WHERE series=(SELECT min(series) FROM chunks) AND first=(SELECT min(first) FROM "
      "chunks)");
  open();
  const auto got = store_->read({"x0", {}}, some_day, some_day + one_day, {});
  ASSERT_FALSE(got);
  EXPECT_EQ(got.error().code, errc::source_unavailable);
  EXPECT_EQ(got.error().public_text, "the metrics store is damaged; restart the server to remove the unreadable parts");
  EXPECT_EQ(read_one("x1").size(), 200u);
  for (int i = 0; i < 2; ++i) {
    open();
    const auto rest = read_one("x0");
    ASSERT_FALSE(rest.empty());
    EXPECT_LT(rest.size(), 200u);
    EXPECT_EQ(rest.back().time, some_day + 199 * 15'000);
    EXPECT_EQ(store_->statistics().samples, 39'800u + rest.size());
  }
  EXPECT_EQ(log(), "1 damaged chunks were removed from the metrics store\n");
  EXPECT_TRUE(set_aside().empty());
}

TEST_F(damaged_store, leaves_out_a_batch_that_cannot_be_read) {
  options_.sync_interval = std::chrono::hours(1);
  open();
  for (int i = 0; i < 5; ++i) put(named("x"), {{some_day + i, static_cast<double>(i)}});
  store_.reset();
  change("UPDATE tail SET data=x'01ffff' WHERE batch=3");
  open();
  EXPECT_TRUE(are_alike(read_one("x"), {{some_day, 0}, {some_day + 1, 1}, {some_day + 3, 3}, {some_day + 4, 4}}));
  EXPECT_EQ(log(), "an unreadable batch of the metrics store is left out\n");
  put(named("x"), {{some_day + 5, 5}});
  settle(clock_);
  EXPECT_EQ(read_one("x").size(), 5u);
}

TEST_F(damaged_store, never_gives_a_new_series_the_samples_of_one_that_has_gone) {
  options_.sync_interval = std::chrono::hours(1);
  open();
  put(named("a"), {{some_day, 1}});
  batch both;
  both.entries.push_back({named("a"), {some_day + 1, 2}});
  both.entries.push_back({named("b"), {some_day + 1, 99}});
  put(both);
  store_.reset();
  // As when `b` is forgotten while its samples still stand beside those of `a`.
  change("DELETE FROM series WHERE id=2");
  open();
  put(named("c"), {{some_day + 2, 3}});
  open();
  EXPECT_TRUE(are_alike(read_one("c"), {{some_day + 2, 3}}));
  EXPECT_TRUE(are_alike(read_one("a"), {{some_day, 1}, {some_day + 1, 2}}));
}

/// No file of this process grows beyond a size while it lives.
class full_disk {
 public:
  explicit full_disk(std::uint64_t most) {
    before_ = ::signal(SIGXFSZ, SIG_IGN);
    ::getrlimit(RLIMIT_FSIZE, &usual_);
    const rlimit now{most, usual_.rlim_max};
    ::setrlimit(RLIMIT_FSIZE, &now);
  }
  ~full_disk() {
    ::setrlimit(RLIMIT_FSIZE, &usual_);
    ::signal(SIGXFSZ, before_);
  }
  full_disk(const full_disk&) = delete;
  full_disk& operator=(const full_disk&) = delete;

 private:
  rlimit usual_{};
  void (*before_)(int) = SIG_DFL;
};

/// Numbers that cannot be made small, so that a batch needs room.
batch bulky(int number) {
  std::mt19937_64 draw(static_cast<std::uint64_t>(number));
  batch out;
  for (int i = 0; i < 500; ++i)
    out.entries.push_back({named("x", {{"i", std::to_string(i)}}),
                           {some_day + number * 1000, std::bit_cast<double>(draw() >> 2 | 0x3ff0000000000000u)}});
  return out;
}

TEST_F(damaged_store, keeps_nothing_of_a_batch_when_the_disk_is_full_and_goes_on_when_there_is_room) {
  options_.sync_interval = std::chrono::hours(1);
  open();
  for (int i = 0; i < 20; ++i) EXPECT_EQ(put(bulky(i)).stored, 500u);
  const auto used = fs::file_size(options_.path + "-wal");
  {
    const full_disk now(used + 20'000);
    int failed = 0;
    for (int i = 20; i < 60; ++i) {
      auto more = bulky(i);
      more.entries.push_back({named("new" + std::to_string(i)), {some_day, 1}});
      const auto done = store_->append(more);
      if (done) continue;
      EXPECT_EQ(done.error().code, errc::source_unavailable);
      EXPECT_EQ(done.error().public_text,
                "the disk is full, so the metrics store cannot be written; free disk space, or store less");
      ++failed;
    }
    EXPECT_GE(failed, 35);
    const auto settled = store_->compact(clock_);
    ASSERT_FALSE(settled);
    EXPECT_NE(settled.error().public_text.find("the disk is full"), std::string::npos)
        << settled.error().public_text << " | " << settled.error().private_text;
  }
  const auto count = [&] {
    const auto all = read({"x", {}});
    for (const auto& one : all) EXPECT_EQ(one.samples.size(), all.front().samples.size());
    return all.empty() ? 0 : all.front().samples.size();
  };
  const auto before = count();
  EXPECT_GE(before, 20u);
  EXPECT_LE(before, 25u);
  EXPECT_EQ(put(bulky(60)).stored, 500u);
  EXPECT_EQ(count(), before + 1);
  settle(clock_);
  EXPECT_EQ(count(), before + 1);
  open();
  EXPECT_EQ(count(), before + 1);
  EXPECT_EQ(store_->metric_names("new", 0, 100).size(), before - 20);
  EXPECT_TRUE(set_aside().empty());
}

}  // namespace
}  // namespace hondana::samples
