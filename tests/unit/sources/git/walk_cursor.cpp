/// Cursors come back from anywhere.
#include <gtest/gtest.h>

#include <cstddef>
#include <cstdint>
#include <limits>
#include <string>

#include "base/bytes/digest.hpp"
#include "base/json/base64.hpp"
#include "sources/git/commit_walk.hpp"
#include "sources/git/history.hpp"
#include "unit/sources/git/made_history.hpp"
#include "unit/sources/git/made_repository.hpp"

namespace hondana::git {
namespace {

constexpr bytes::digest some_log{1, 2};

git_oid id_of_digit(char digit) { return id_from(std::string(40, digit)); }

walk_state some_state() {
  walk_state at;
  at.visited_count = 12345678901;
  at.has_reached_end = true;
  at.complete_before = std::numeric_limits<std::uint64_t>::max() - 3;
  at.frontier = {id_of_digit('a'), id_of_digit('b')};
  at.recent = {{7, id_of_digit('c')}, {8, id_of_digit('d')}, {9, id_of_digit('e')}};
  return at;
}

TEST(git_walk_cursor, gives_back_what_was_written) {
  const auto at = some_state();
  const auto parsed = parse_cursor(encode_cursor(at, some_log, "a note"), some_log);
  ASSERT_TRUE(parsed);
  EXPECT_EQ(parsed->state.visited_count, at.visited_count);
  EXPECT_EQ(parsed->state.has_reached_end, at.has_reached_end);
  EXPECT_EQ(parsed->state.complete_before, at.complete_before);
  EXPECT_EQ(parsed->state.recent, at.recent);
  ASSERT_EQ(parsed->state.frontier.size(), 2u);
  EXPECT_EQ(to_hex(parsed->state.frontier[1]), std::string(40, 'b'));
  EXPECT_EQ(parsed->note, "a note");
}

TEST(git_walk_cursor, is_refused_when_cut_lengthened_or_changed_anywhere_or_of_another_log) {
  const auto whole = encode_cursor(some_state(), some_log, "note");
  EXPECT_FALSE(parse_cursor(whole, bytes::digest{1, 3}));
  EXPECT_FALSE(parse_cursor(whole, bytes::digest{2, 2}));
  EXPECT_FALSE(parse_cursor("", some_log));
  EXPECT_FALSE(parse_cursor("--output=x", some_log));
  EXPECT_FALSE(parse_cursor(std::string(1'000'000, 'A'), some_log));
  EXPECT_FALSE(parse_cursor(whole + "A", some_log));
  for (std::size_t i = 0; i < whole.size(); ++i) {
    EXPECT_FALSE(parse_cursor(whole.substr(0, i), some_log));
    auto changed = whole;
    changed[i] = changed[i] == 'A' ? 'B' : 'A';
    EXPECT_FALSE(parse_cursor(changed, some_log)) << i;
  }
}

/// With a check that fits.
std::string forged(std::string raw) {
  const auto check = bytes::digest_of(raw)[0];
  for (int shift = 56; shift >= 0; shift -= 8) raw.push_back(static_cast<char>(check >> shift & 0xFFU));
  return json::encode_base64url(raw);
}

TEST(git_walk_cursor, is_refused_when_forged_beyond_its_bounds) {
  std::string head(1, '\1');
  for (const int digit : {1, 2}) head += std::string(7, '\0') + static_cast<char>(digit);
  head += std::string(8, '\0') + '\0' + std::string(8, '\xff');
  const std::string none(2, '\0');
  EXPECT_TRUE(parse_cursor(forged(head + none + none + none), some_log));
  EXPECT_FALSE(parse_cursor(forged(head + "\xff\xff" + none + none), some_log));
  EXPECT_FALSE(parse_cursor(forged(head + none + "\xff\xff" + none), some_log));
  EXPECT_FALSE(parse_cursor(forged(head + none + none + "\xff\xff"), some_log));
  EXPECT_FALSE(parse_cursor(forged(head + std::string("\0\x21", 2) + std::string(33 * 28, 'x') + none + none), some_log));
  EXPECT_FALSE(parse_cursor(forged(head + none + none + none + "x"), some_log));
  EXPECT_FALSE(parse_cursor(forged(head), some_log));
}

TEST(git_walk_cursor, of_ids_that_do_not_exist_is_refused_by_the_walk_and_names_the_argument) {
  made_repository made;
  made.commit("one");
  const auto repository = opened(made.path());
  const auto store = commit_store::open(repository.get());
  ASSERT_TRUE(store);
  const auto refused = [&](const walk_state& at) {
    commit_walk through(*store, id_at(repository.get(), "HEAD"), {});
    const auto begun = resume_walk(through, encode_cursor(at, some_log), some_log);
    ASSERT_FALSE(begun);
    EXPECT_EQ(begun.error().code, errc::invalid_argument);
    EXPECT_NE(begun.error().public_text.find("`cursor`"), std::string::npos);
  };
  refused(some_state());
  walk_state tree;
  tree.frontier = {id_at(repository.get(), "HEAD^{tree}")};
  refused(tree);
  walk_state beyond;
  beyond.visited_count = 2;
  refused(beyond);
  walk_state twice;
  twice.frontier = {id_at(repository.get(), "HEAD"), id_at(repository.get(), "HEAD")};
  refused(twice);
}

}  // namespace
}  // namespace hondana::git
