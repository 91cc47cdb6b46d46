/// Members that gzip, xz and zstd compressed, whole and not.
#include <algorithm>
#include <chrono>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "os/disk/file_stamp.hpp"
#include "sources/logs/records/decompression.hpp"
#include "sources/logs/records/file_content.hpp"
#include "sources/logs/records/opened_files.hpp"
#include "unit/os/disk/stopped_wall_clock.hpp"
#include "unit/sources/logs/records/made_log.hpp"
#include "unit/text/secrets/corpus.hpp"

namespace hondana::records {
namespace {

std::string stamped(std::size_t second, std::string_view text) {
  const auto two_of = [](std::size_t number) { return (number < 10 ? "0" : "") + std::to_string(number); };
  return "2026-01-02T" + two_of(second / 3600) + ":" + two_of(second / 60 % 60) + ":" + two_of(second % 60) + "Z INFO " +
         std::string(text) + "\n";
}

std::string some_lines(std::size_t from, std::size_t to) {
  std::string out;
  for (auto i = from; i < to; ++i) out += stamped(i, "line " + std::to_string(i));
  return out;
}

std::vector<std::string> expected_lines(std::size_t from, std::size_t to) {
  std::vector<std::string> out;
  for (auto i = to; i-- > from;) {
    auto one = stamped(i, "line " + std::to_string(i));
    one.pop_back();
    out.push_back(one);
  }
  return out;
}

TEST(compressed, sets_are_read_as_one_stream_whoever_compressed_them) {
  made_log made;
  made.write("app.log.5", some_lines(0, 2000));
  made.write("part", some_lines(2000, 2500));
  made.write("app.log.4", some_lines(2500, 4000));
  made.write("app.log.3", some_lines(4000, 6000));
  made.write("app.log.2", some_lines(6000, 8000));
  made.write("app.log.1", some_lines(8000, 8100));
  made.write("app.log", some_lines(8100, 8200));
  made.run(
      "gzip app.log.5 && gzip part && gzip app.log.4 && cat part.gz app.log.4.gz > both && mv both app.log.4.gz && rm part.gz");
  // Two frames, two streams, and NULs between.
  made.run(
      "head -n 700 app.log.3 | zstd -q -19 > a && tail -n +701 app.log.3 | zstd -q > b && cat a b > app.log.3.zst && rm a b "
      "app.log.3");
  made.run(
      "head -n 900 app.log.2 | xz > a && tail -n +901 app.log.2 | xz > b && (cat a; head -c 8 /dev/zero; cat b) > app.log.2.xz "
      "&& rm a b app.log.2");
  const auto one = made.open();
  log_query what;
  what.lines = 700;
  EXPECT_EQ(texts_of(all_pages(*one, what)), expected_lines(0, 8200));
  const auto forwards = walked(*one);
  EXPECT_EQ(forwards.size(), 8200u);
  what.grep = "line 4[05]0$";
  EXPECT_EQ(page_of(*one, what).records.size(), 2u);
  const auto page = page_of(*one, what);
  EXPECT_EQ(page.records.at(0).source, "app.log.5.gz");
  EXPECT_TRUE(page.notes.empty());
}

TEST(compressed, members_are_found_by_every_usual_name) {
  made_log made;
  const std::vector<std::string> names{"app.log-20260101.gz", "app.log-20260102-1700000000.zst", "app.log-20260103.xz"};
  made.write("app.log-20260101", some_lines(0, 10));
  made.write("app.log-20260102-1700000000", some_lines(10, 20));
  made.write("app.log-20260103", some_lines(20, 30));
  made.write("app.log-20260104", some_lines(30, 40));
  made.write("app.log", some_lines(40, 50));
  made.run("gzip app.log-20260101; zstd -q --rm app.log-20260102-1700000000; xz app.log-20260103");
  for (const auto* other :
       {"app.logs", "app.log.bak", "other.log.1", "app.log.1.tar", "app.log.gz.1", "xapp.log.1", "app.log-x"})
    made.write(other, "no\n");
  EXPECT_EQ(texts_of(all_pages(*made.open(), {})), expected_lines(0, 50));

  made_log second;
  second.write("app-2026-01-30.log", some_lines(0, 10));
  second.write("app-2026-01-31.log", some_lines(10, 20));
  second.write("app-2026-01-31.1.log", some_lines(20, 30));
  EXPECT_EQ(texts_of(all_pages(*second.open(), {})), expected_lines(0, 30));

  made_log third;
  third.write("app.10.log", some_lines(0, 10));
  third.write("app.2.log", some_lines(10, 20));
  third.write("app.log", some_lines(20, 30));
  EXPECT_EQ(texts_of(all_pages(*third.open(), {})), expected_lines(0, 30));

  made_log fourth;
  fourth.with.pattern = "old-[a-z]+\\.txt";
  fourth.write("old-b.txt", some_lines(0, 10));
  fourth.write("old-a.txt", some_lines(10, 20));
  fourth.write("app.log.1", "no\n");
  fourth.write("app.log", some_lines(20, 30));
  fourth.run("touch -d '2026-01-01' old-b.txt; touch -d '2026-01-02' old-a.txt");
  EXPECT_EQ(texts_of(all_pages(*fourth.open(), {})), expected_lines(0, 30));
}

TEST(compressed, a_file_is_read_once_while_its_uncompressed_twin_is_there) {
  made_log made;
  made.write("app.log.1", some_lines(0, 100));
  made.write("app.log", some_lines(100, 120));
  made.run("gzip -k app.log.1 && truncate -s -20 app.log.1.gz && ln app.log.1 app.log.7");
  const auto page = page_of(*made.open(), newest(1000));
  EXPECT_EQ(texts_of(page.records), expected_lines(0, 120));
  EXPECT_TRUE(page.notes.empty());
}

TEST(compressed, a_copy_before_truncation_is_read_once) {
  const disk::stopped_wall_clock clock;  // copying lasts a minute at most
  made_log made;
  made.write("app.log", some_lines(0, 300));
  made.run("head -c 5000 app.log > app.log.1");
  const auto one = made.open();
  EXPECT_EQ(texts_of(all_pages(*one, {})), expected_lines(0, 300));
  log_query what;
  what.lines = 100;
  const auto first = page_of(*one, what);
  // Then it is truncated, and written on.
  made.run("cp app.log app.log.1 && truncate -s 0 app.log");
  made.append("app.log", some_lines(300, 310));
  what.cursor = first.next.value_or("");
  EXPECT_EQ(texts_of(all_pages(*one, what)), expected_lines(0, 200));
}

TEST(compressed, a_member_is_unpacked_once) {
  made_log made;
  made.write("app.log.1", some_lines(0, 20'000));
  made.write("app.log", some_lines(20'000, 20'010));
  made.run("gzip app.log.1");
  file_opener with(framing_options{}, time_zone(0), 1u << 30, 1u << 30);
  const auto all = list_files({made.folder(), "app.log", {}, 10});
  ASSERT_TRUE(all);
  for (int i = 0; i < 5; ++i) {
    auto file = with.open(*all, all->files.front());
    ASSERT_TRUE(file);
    ASSERT_TRUE(with.decompress(std::move(*file), {}));
  }
  made.run("mv app.log.1.gz app.log.2.gz");
  const auto moved = list_files({made.folder(), "app.log", {}, 10});
  auto file = with.open(*moved, moved->files.front());
  ASSERT_TRUE(file);
  ASSERT_TRUE(with.decompress(std::move(*file), {}));
  EXPECT_EQ(with.cache().started_count(), 1u);
}

TEST(compressed, what_a_deadline_interrupted_is_gone_on_with) {
  made_log made;
  std::string text;
  test::lots from(1);
  for (std::size_t i = 0; i < 40'000; ++i) text += stamped(i, from.word(150));
  made.write("app.log.1", text);
  made.run("xz -0 app.log.1");
  decompression_cache kept(1u << 30, 1u << 30);
  const auto all = list_files({made.folder(), "app.log", {}, 10});
  ASSERT_TRUE(all);
  auto opened = open_listed(*all, all->files.front());
  ASSERT_TRUE(opened);
  const auto file = std::make_shared<const disk::handle>(std::move(*opened));
  request_context late;
  late.deadline = std::chrono::steady_clock::now() - std::chrono::seconds(1);
  const auto refused = kept.get(all->files.front().stamp, file, compression::xz, late);
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code, errc::timed_out);
  const auto got = kept.get(all->files.front().stamp, file, compression::xz, {});
  ASSERT_TRUE(got);
  EXPECT_EQ(got->bytes->size(), text.size());
  EXPECT_EQ(kept.started_count(), 1u);
  std::string part(1000, '\0');
  ASSERT_TRUE(got->bytes->read(text.size() - 1'000'500, part));
  EXPECT_EQ(part, text.substr(text.size() - 1'000'500, 1000));
}

TEST(compressed, damaged_members_are_read_as_far_as_they_go) {
  for (const std::string tool : {"gzip", "xz", "zstd -q --rm"}) {
    SCOPED_TRACE(tool);
    made_log made;
    test::lots from(3);
    std::string text;
    for (std::size_t i = 0; i < 20'000; ++i) text += stamped(i, from.word(30));
    made.write("app.log.2", text);
    made.write("app.log.1", some_lines(21'000, 21'010));
    made.write("app.log", some_lines(21'010, 21'020));
    made.run(tool + " app.log.2 && f=$(ls app.log.2.*) && truncate -s -2000 $f");
    const auto one = made.open();
    const auto page = page_of(*one, newest(100'000));
    EXPECT_GT(page.records.size(), 21u);
    EXPECT_LT(page.records.size(), 20'020u);
    ASSERT_EQ(page.notes.size(), 1u);
    EXPECT_NE(page.notes[0].find("app.log.2"), std::string::npos);
    EXPECT_NE(page.notes[0].find("could be read"), std::string::npos) << page.notes[0];
  }
}

TEST(compressed, bombs_are_cut_and_leave_the_others_alone) {
  for (const std::string tool : {"gzip -9", "xz -0", "zstd -q"}) {
    SCOPED_TRACE(tool);
    made_log made;
    made.write("app.log", some_lines(0, 10));
    const auto ending = tool[0] == 'g' ? ".gz" : tool[0] == 'x' ? ".xz" : ".zst";
    made.run("head -c 100M /dev/zero | " + tool + " > app.log.1" + ending);
    made.write("app.log.2", some_lines(0, 10));
    read_budget most;
    most.max_scanned_bytes = 1u << 30;
    const auto page = page_of(*made.open(), newest(1000), most);
    EXPECT_EQ(page.records.size(), 21u);
    ASSERT_EQ(page.notes.size(), 1u);
    EXPECT_NE(page.notes[0].find("500 times"), std::string::npos) << page.notes[0];
  }
}

TEST(compressed, members_beyond_the_limit_are_cut) {
  made_log made;
  made.with.max_file_bytes = 100'000;
  made.write("app.log.1", some_lines(0, 50'000));
  made.write("app.log", some_lines(50'000, 50'001));
  made.run("gzip app.log.1");
  const auto page = page_of(*made.open(), newest(100'000));
  EXPECT_LT(page.records.size(), 50'000u);
  ASSERT_EQ(page.notes.size(), 1u);
  EXPECT_NE(page.notes[0].find("decompresses to more than"), std::string::npos);
}

TEST(compressed, what_claims_to_be_compressed_and_is_not_is_said) {
  made_log made;
  made.write("app.log.2.gz", some_lines(0, 10));  // plain, whatever its name
  made.write("app.log.1.gz", "\x1F\x8B and then nonsense\n");
  made.write("app.log", some_lines(10, 20));
  const auto page = page_of(*made.open());
  EXPECT_EQ(texts_of(page.records), expected_lines(0, 20));
  EXPECT_EQ(page.notes.size(), 1u);
}

}  // namespace
}  // namespace hondana::records
