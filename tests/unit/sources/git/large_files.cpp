/// What is too large to be compared in good time is left out with a word, and what was made to take long does not.
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <ctime>
#include <functional>
#include <random>
#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "sources/git/blame.hpp"
#include "sources/git/diff.hpp"
#include "sources/git/line_diff.hpp"
#include "unit/sources/git/made_history.hpp"
#include "unit/sources/git/served_repository.hpp"

namespace hondana::git {
namespace {

using testing::HasSubstr;
using testing::Not;

std::string lines_at_random(std::size_t count, unsigned seed) {
  std::mt19937 draw(seed);
  std::string text;
  text.reserve(2 * count);
  for (std::size_t i = 0; i < count; ++i) (text += (draw() & 1U) == 0 ? 'a' : 'b') += '\n';
  return text;
}

/// Different lines that all have one hash of those that a step of makes from the last by `33 * hash ^ byte`: at each place
/// there are two pairs of bytes that lead to the same.
std::string lines_of_one_hash(unsigned bits) {
  std::string first, second;
  std::uint64_t hash = 5381;
  const auto find_pair = [&] {
    for (std::uint64_t a = '!'; a < '~'; ++a) {
      for (std::uint64_t b = a + 1; b < '~'; ++b) {
        const auto flip = (33 * ((33 * hash) ^ a)) ^ (33 * ((33 * hash) ^ b));
        for (std::uint64_t c = '!'; c < '~' && flip < 128; ++c) {
          if ((c ^ flip) < '!' || (c ^ flip) > '~') continue;
          (first += static_cast<char>(a)) += static_cast<char>(c);
          (second += static_cast<char>(b)) += static_cast<char>(c ^ flip);
          hash = (33 * ((33 * hash) ^ a)) ^ c;
          return;
        }
      }
    }
  };
  for (unsigned i = 0; i < bits; ++i) find_pair();
  EXPECT_EQ(first.size(), 2 * std::size_t{bits});
  std::string text;
  for (std::size_t number = 0; number < std::size_t{1} << bits; ++number) {
    for (unsigned i = 0; i < bits; ++i) text += ((number >> i) & 1U) == 0 ? first.substr(2 * i, 2) : second.substr(2 * i, 2);
    text += '\n';
  }
  return text;
}

std::chrono::milliseconds cpu_time() {
  timespec now{};
  EXPECT_EQ(::clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now), 0);
  return std::chrono::milliseconds(now.tv_sec * 1000 + now.tv_nsec / 1'000'000);
}

TEST(git_large_files_timing, lines_of_one_hash_are_compared_as_fast_as_others) {
  const auto text = lines_of_one_hash(16);
  const auto before = text + "one\n", after = text + "two\n";
  const std::function<bool()> never;
  const cancellation_checker when(never);
  const auto begin = cpu_time();
  const auto edits = diff_lines(before, after, when);
  // Whoever lets them share a hash takes half a minute.
  EXPECT_LT(cpu_time() - begin, std::chrono::seconds(5));
  ASSERT_TRUE(edits);
  EXPECT_EQ(*edits, (std::vector<line_edit>{{65'536, 1, 65'536, 1}}));
}

TEST(git_large_files, lines_are_told_apart_whatever_their_ends) {
  const std::function<bool()> never;
  const cancellation_checker when(never);
  const auto edits = diff_lines("a\nb\n\nc", "a\nb\r\n\nc\n", when);
  ASSERT_TRUE(edits);
  EXPECT_EQ(*edits, (std::vector<line_edit>{{1, 1, 1, 1}, {3, 1, 3, 1}}));
}

TEST(git_large_files, of_too_many_lines_have_their_patches_left_out_with_the_limit_named) {
  made_repository made;
  made.write("many", lines_at_random(max_compared_lines / 2 + 1, 1));
  made.write("few", "1\n");
  made.commit("first");
  made.write("many", lines_at_random(max_compared_lines / 2, 2));
  made.write("few", "2\n");
  made.commit("second");
  const served_repository shelf(made);
  for (const std::string uri :
       {"git://shelf/commit/HEAD", "git://shelf/diff/HEAD~1..HEAD", "git://shelf/diff/HEAD~1..HEAD?path=many"}) {
    const auto text = shelf.text(uri);
    EXPECT_THAT(text, HasSubstr("- `many`: modified; patch left out: too large to compare\n")) << uri;
    EXPECT_THAT(text, HasSubstr("of more than 200000 lines on both sides together, are not compared")) << uri;
    EXPECT_THAT(text, Not(HasSubstr("+++ b/many"))) << uri;
  }
  EXPECT_THAT(shelf.text("git://shelf/commit/HEAD"), HasSubstr("+++ b/few\n"));
  const auto json = shelf.json("git://shelf/diff/HEAD~1..HEAD?path=many&format=json");
  EXPECT_EQ(json.at("/changes/0/patchLeftOut"), value(true));
  EXPECT_THAT(json.string_at("/changes/0/reason").value(), HasSubstr("200000 lines"));
  EXPECT_FALSE(json.at("/changes/0/added"));
  EXPECT_EQ(json.string_at("/changes/0/idAfter").value() + '\n', made.git({"rev-parse", "HEAD:many"}));
  // What only came has nothing that it were compared with.
  EXPECT_THAT(shelf.text("git://shelf/commit/HEAD~1"), HasSubstr("- `many`: added, +100001 -0; patch left out\n"));
}

TEST(git_large_files_timing, as_many_lines_as_are_compared_take_no_longer_than_can_be_waited_for) {
  made_repository made;
  made.write("many", lines_at_random(max_compared_lines / 2, 1));
  made.commit("first");
  made.write("many", lines_at_random(max_compared_lines / 2, 2));
  made.commit("second");
  const served_repository shelf(made);
  [[maybe_unused]] const auto begin = cpu_time();
  EXPECT_THAT(shelf.text("git://shelf/commit/HEAD"), Not(HasSubstr("too large to compare")));
#ifndef HONDANA_IS_SANITIZED
  EXPECT_LT(cpu_time() - begin, std::chrono::seconds(15));
#endif
}

TEST(git_large_files, of_too_many_bytes_are_not_even_read) {
  made_repository made;
  made.git({"config", "core.compression", "1"});
  std::string large(max_compared_file_bytes, 'x');
  for (std::size_t i = 63; i < large.size(); i += 64) large[i] = '\n';
  made.write("large", large + "1\n");
  made.commit("first");
  made.write("large", large + "2\n");
  made.commit("second");
  const served_repository shelf(made);
  const auto text = shelf.text("git://shelf/commit/HEAD");
  EXPECT_THAT(text, HasSubstr("- `large`: modified; patch left out: too large to compare\n"));
  EXPECT_THAT(text, HasSubstr("Files of more than 32 MiB"));
  EXPECT_THAT(shelf.text("git://shelf/diff/HEAD~1..HEAD?path=large"), HasSubstr("Files of more than 32 MiB"));
}

TEST(git_large_files, are_blamed_up_to_a_limit_of_lines) {
  made_repository made;
  made.write("a", "kept\n2\n3\n4\n5\n6\n");
  made.commit("first");
  made.write("a", "kept\nnew\n");
  const auto second = made.commit("second");
  const auto repository = opened(made.path());
  blame_request request;
  request.commit = id_at(repository.get(), "main");
  request.path = "a";
  request.max_lines = 7;
  const auto found = blame(repository.get(), request);
  ASSERT_TRUE(found);
  EXPECT_TRUE(found->runs.empty());
  ASSERT_EQ(found->unresolved.size(), 1u);
  EXPECT_TRUE(found->unresolved[0].is_too_large);
  EXPECT_EQ(to_hex(found->unresolved[0].commit), second);
  request.max_lines = 8;
  const auto whole = blame(repository.get(), request);
  ASSERT_TRUE(whole);
  EXPECT_TRUE(whole->unresolved.empty());
  EXPECT_EQ(whole->runs.size(), 2u);
  request.max_lines = 1;
  const auto refused = blame(repository.get(), request);
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code, errc::response_too_large);
  EXPECT_THAT(refused.error().public_text, HasSubstr("it has 2 lines, but at most 1 are compared"));
}

TEST(git_large_files, in_a_blame_say_at_which_commit_it_ends) {
  made_repository made;
  made.write("many", lines_at_random(max_compared_lines, 3));
  made.commit("first");
  made.write("many", "1\n");
  const auto second = made.commit("second");
  const served_repository shelf(made);
  EXPECT_THAT(shelf.text("git://shelf/blame/HEAD/many"), HasSubstr("- line 1: [`" + second.substr(0, 10)));
  EXPECT_THAT(shelf.text("git://shelf/blame/HEAD/many"), HasSubstr("whose parent's file is too large to compare\n"));
  EXPECT_EQ(shelf.json("git://shelf/blame/HEAD/many?format=json").at("/open/0/parentTooLarge"), value(true));
}

}  // namespace
}  // namespace hondana::git
