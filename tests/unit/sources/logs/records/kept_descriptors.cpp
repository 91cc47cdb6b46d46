/// What is unpacked of many small files takes no descriptors, and of many long ones few.
#include <filesystem>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include <gtest/gtest.h>

#include "sources/logs/records/file_content.hpp"
#include "unit/sources/logs/records/made_log.hpp"
#include "unit/text/secrets/corpus.hpp"

namespace hondana::records {
namespace {

std::size_t open_descriptors() {
  std::size_t count = 0;
  for (const auto& one : std::filesystem::directory_iterator("/proc/self/fd"))
    count += one.exists() || one.is_symlink() ? 1 : 0;
  return count;
}

TEST(kept_copies, that_are_small_take_no_descriptor) {
  made_log made;
  for (int i = 1; i <= 100; ++i) made.write("app.log." + std::to_string(i), "line " + std::to_string(i) + "\n");
  made.run("gzip app.log.*");
  made.write("app.log", "line 0\n");
  const auto log = made.open();
  const auto before = open_descriptors();
  EXPECT_EQ(all_pages(*log, newest(1000)).size(), 101u);
  EXPECT_LE(open_descriptors(), before + 4);
  EXPECT_EQ(all_pages(*log, newest(7)).size(), 101u);
}

TEST(kept_copies, give_what_was_put_into_them_wherever_they_are_kept) {
  test::lots from(301);
  for (const std::size_t size :
       {std::size_t{0}, std::size_t{100}, std::size_t{60'000}, std::size_t{300'000}, std::size_t{3'000'000}}) {
    const auto text = size == 0 ? std::string() : from.base64(size);
    const auto before = decompressed_copy::file_count();
    {
      decompressed_copy one;
      for (std::size_t at = 0; at < size; at += 70'001) ASSERT_TRUE(one.append(std::string_view(text).substr(at, 70'001)));
      ASSERT_TRUE(one.finish());
      EXPECT_EQ(one.has_file(), size > 100'000);
      EXPECT_EQ(decompressed_copy::file_count(), before + (one.has_file() ? 1 : 0));
      std::string got(size, '\0');
      const auto count = one.read(0, std::span(got));
      ASSERT_TRUE(count);
      EXPECT_EQ(*count, size);
      EXPECT_TRUE(got == text);
    }
    EXPECT_EQ(decompressed_copy::file_count(), before);
  }
}

TEST(kept_copies, that_are_long_are_forgotten_before_descriptors_are_short) {
  test::lots from(307);
  std::vector<std::unique_ptr<made_log>> made;
  std::vector<std::shared_ptr<log_backend>> logs;
  constexpr std::size_t files = 60;
  for (int i = 0; i < 5; ++i) {
    made.push_back(std::make_unique<made_log>());
    for (std::size_t n = 1; n <= files; ++n)
      made.back()->write("app.log." + std::to_string(n), "line " + from.base64(120'000) + "\n");
    made.back()->run("gzip -1 app.log.*");
    made.back()->write("app.log", "line 0\n");
    logs.push_back(made.back()->open());
  }
  for (const auto& one : logs) {
    EXPECT_EQ(all_pages(*one, newest(1000)).size(), files + 1);
    EXPECT_LE(decompressed_copy::file_count(), 192 + logs.size());
  }
}

}  // namespace
}  // namespace hondana::records
