/// Files read again and again through the catalog's cache while they are rewritten: never an old byte.
#include <fcntl.h>
#include <unistd.h>

#include <memory>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "deadline.hpp"
#include "os/disk/file_stamp.hpp"
#include "server/catalog/catalog.hpp"
#include "unit/server/catalog/scripted_provider.hpp"
#include "unit/sources/files/scratch_folder.hpp"

namespace hondana::files {
namespace {

constexpr int files_served = 50;

/// The name of a file.
std::string name(int number) { return numbered("f", number); }

/// A text of one length for every round and file, so that sizes tell nothing.
std::string text_of(int round, int number) {
  auto text = std::to_string(1'000'000 + round * files_served + number);
  for (int i = 0; i < 5; ++i) text += text;
  return text;
}

class rereading : public testing::Test {
 protected:
  rereading() {
    std::vector<std::shared_ptr<catalog::source>> sources;
    sources.push_back(std::make_shared<catalog::source>(open_provider(folder), 1024));
    auto made = catalog::catalog::make(std::move(sources), {}, std::make_shared<executor::timers>(), cache);
    if (made) shelf = *made;
  }
  ~rereading() override { disk::coarsen_times_for_tests(1); }

  [[nodiscard]] std::string read(int number) const {
    const auto uri = folder.uri(name(number));
    const test::answer<catalog::read_answer> found;
    shelf->read({}, uri, uri, {}, found.taker());
    const auto got = found.wait();
    return got ? *std::get<shared_bytes>(got->reading.contents.front().data) : "error: " + got.error().public_text;
  }

  /// In place, as the same inode.
  void rewrite(int number, const std::string& text) const {
    const int file = ::open(folder.path(name(number)).c_str(), O_WRONLY | O_CREAT | O_CLOEXEC, 0600);
    ASSERT_GE(file, 0);
    EXPECT_EQ(::pwrite(file, text.data(), text.size(), 0), static_cast<ssize_t>(text.size()));
    ::close(file);
  }

  /// Reads a file until it has come to rest and what was read is kept.
  void read_until_kept(int number, const std::string& text) const {
    const auto hits = cache->statistics().hits;
    ASSERT_TRUE(hondana_test::eventually([&] {
      EXPECT_EQ(read(number), text);
      return cache->statistics().hits != hits;
    }));
  }

  void rounds(int first, int last) const {
    for (int round = first; round < last; round += 2) {
      // Written, read at once, and written again before the clock of the file system has moved.
      for (int i = 0; i < files_served; ++i) {
        rewrite(i, text_of(round, i));
        ASSERT_EQ(read(i), text_of(round, i)) << "round " << round << ", file " << i;
        rewrite(i, text_of(round + 1, i));
        ASSERT_EQ(read(i), text_of(round + 1, i)) << "round " << round + 1 << ", file " << i;
      }
      for (int i = 0; i < files_served; ++i) read_until_kept(i, text_of(round + 1, i));
    }
  }

  const scratch_folder folder;
  const std::shared_ptr<catalog::read_cache> cache = std::make_shared<catalog::read_cache>(1u << 20);
  std::shared_ptr<const catalog::catalog> shelf;
};

TEST_F(rereading, brings_the_newest_bytes_in_a_thousand_rounds) {
  ASSERT_TRUE(shelf);
  rounds(0, 20);  // of 50 files each
  EXPECT_GE(cache->statistics().hits, 500);
}

TEST_F(rereading, brings_the_newest_bytes_in_a_thousand_rounds_where_time_stamps_are_the_same) {
  ASSERT_TRUE(shelf);
  disk::coarsen_times_for_tests(40'000'000);  // many rewrites in one tick have equal stat data
  rounds(0, 20);
  EXPECT_GE(cache->statistics().hits, 500);
}

}  // namespace
}  // namespace hondana::files
