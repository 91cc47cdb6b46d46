/// Renames by git's rules, where the git program shows what these are.
#include <array>
#include <cstddef>
#include <cstdint>
#include <random>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include <gtest/gtest.h>

#include "sources/git/diff.hpp"
#include "sources/git/similarity.hpp"
#include "unit/sources/git/made_repository.hpp"
#include "unit/sources/git/patch_judge.hpp"

namespace hondana::git {
namespace {

using namespace std::string_literals;

std::string drawn_line(std::mt19937& random) {
  std::string line = "v";
  for (int i = 0; i < 9; ++i) line += static_cast<char>('a' + random() % 26);
  return line + '\n';
}

std::string drawn_lines(std::mt19937& random, std::size_t count) {
  std::string text;
  for (; count > 0; --count) text += drawn_line(random);
  return text;
}

/// What the last commit of a history renames, as "from > to 100".
std::vector<std::string> renames_of(const written_history& history) {
  const made_repository bare({"--bare"});
  history.write_to(bare.path());
  const auto in = open_judged(bare.path());
  const auto from = judged_tree(in.get(), "main^"), to = judged_tree(in.get(), "main");
  const auto changes = compare(in.get(), from.get(), to.get());
  std::vector<std::string> renames;
  if (!changes) return {changes.error().public_text};
  for (const auto& one : *changes) {
    if (one.status == change::kind::renamed)
      renames.push_back(one.old_side.path + " > " + one.new_side.path + ' ' + std::to_string(one.similarity));
  }
  return renames;
}

TEST(git_renames, of_equal_files_those_of_the_same_name_come_first_and_then_the_first) {
  written_history history;
  history.commit().file("a/one", "same\n").file("b/two", "same\n").file("c/three", "same\n").file("stays", "same\n");
  history.commit().remove("a/one").remove("b/two").remove("c/three").file("x/three", "same\n").file("y/new", "same\n");
  expect_equal_patches(history);
  EXPECT_EQ(renames_of(history), (std::vector<std::string>{"c/three > x/three 100", "a/one > y/new 100"}));
}

TEST(git_renames, of_equal_files_a_hundred_are_looked_at_for_the_same_name) {
  for (const std::size_t place : {98u, 99u, 100u, 101u}) {
    written_history history;
    history.commit();
    const auto name = [](std::size_t i) { return "a" + std::to_string(1000 + i); };
    for (std::size_t i = 0; i < 130; ++i) history.file("old/" + name(i), "same\n");
    // Two of them in a row: the first has been taken by then and does not count.
    history.commit().file("new/" + name(place), "same\n").file("new/" + name(place + 1), "same\n");
    for (std::size_t i = 0; i < 130; ++i) history.remove("old/" + name(i));
    expect_equal_patches(history);
    EXPECT_EQ(renames_of(history)[0] == "old/" + name(place) + " > new/" + name(place) + " 100", place < 100) << place;
  }
}

TEST(git_renames, links_and_submodules_are_renamed_as_what_they_are) {
  written_history history;
  history.commit().link("link", "text").submodule("module", '7').file("file", "text").file("run", "run\n", "100755");
  history.commit().remove("link").remove("module").remove("file").remove("run");
  history.file("file2", "text", "100755").link("link2", "text").submodule("module2", '7').file("run2", "run\n");
  expect_equal_patches(history);
  EXPECT_EQ(renames_of(history).size(), 4u);
}

TEST(git_renames, empty_files_are_renamed_too) {
  written_history history;
  history.commit().file("a", "").file("b", "");
  history.commit().remove("a").remove("b").file("c", "").file("d", "").file("e", "");
  expect_equal_patches(history);
  EXPECT_EQ(renames_of(history).size(), 2u);
}

TEST(git_renames, copies_are_never_found) {
  written_history history;
  std::mt19937 random(1);
  const auto text = drawn_lines(random, 40);
  history.commit().file("a", text).file("b", text);
  history.commit().file("c", text).file("d", text + "more\n");
  history.commit().remove("b").file("e", text + "most\n").file("f", text);
  expect_equal_patches(history);
}

TEST(git_renames, the_same_name_counts_before_a_better_likeness) {
  for (const std::size_t kept : {73u, 74u, 75u, 76u}) {
    std::mt19937 random(static_cast<unsigned>(kept));
    const auto text = drawn_lines(random, 100);
    written_history history;
    history.commit().file("a/name", text).file("b/other", drawn_lines(random, 10));
    history.commit().remove("a/name").remove("b/other");
    history.file("c/name", text.substr(0, kept * 11) + drawn_lines(random, 100 - kept)).file("c/better", text + "x\n");
    expect_equal_patches(history);
    const auto renames = renames_of(history);
    ASSERT_EQ(renames.size(), 1u);
    EXPECT_EQ(renames[0].starts_with("a/name > c/name"), kept >= 75) << renames[0];
    // A name that two have does not.
    history.commit().file("d/name", "x\n");
    history.commit_on({1}).file("d/name", "x\n").remove("a/name").remove("b/other").file("c/better", text + "x\n");
    history.file("c/name", text.substr(0, kept * 11) + drawn_lines(random, 100 - kept));
    history.commit_on({2, 3, 4});
    expect_equal_patches(history);
  }
}

TEST(git_renames, half_alike_is_enough) {
  for (const std::size_t kept : {48u, 49u, 50u, 51u, 99u}) {
    std::mt19937 random(static_cast<unsigned>(kept));
    const auto text = drawn_lines(random, 100);
    written_history history;
    history.commit().file("a", text);
    history.commit().remove("a").file("b", text.substr(0, kept * 11) + drawn_lines(random, 100 - kept));
    history.commit().remove("b").file("c", text.substr(0, kept * 11));
    history.commit().remove("c").file("d", text);
    expect_equal_patches(history);
  }
}

TEST(git_renames, files_are_cut_at_line_feeds_and_at_64_bytes) {
  std::mt19937 random(2);
  std::string unbroken;
  while (unbroken.size() < 6400) unbroken += static_cast<char>('a' + random() % 26);
  auto lines = drawn_lines(random, 64);
  std::string long_lines;
  for (std::size_t i = 0; i < unbroken.size(); i += 160) long_lines += unbroken.substr(i, 160) + '\n';
  written_history history;
  history.commit();
  for (const std::size_t shift : {1u, 31u, 63u, 64u, 65u, 127u, 128u, 640u, 3200u, 3264u}) {
    for (const auto& text : {unbroken, lines, long_lines}) {
      for (const std::size_t end : {0u, 1u, 40u, 63u, 64u, 70u}) {
        history.commit().remove("c").file("a", text.substr(0, text.size() - end));
        history.commit().remove("a").file("b", text.substr(shift % text.size()) + std::string(shift, 'Z'));
        history.commit().remove("b").file("c", std::string(shift % 64, 'Y') + text.substr(0, text.size() - 3 * end));
      }
    }
  }
  expect_equal_patches(history);
}

TEST(git_renames, what_stands_behind_the_last_line_feed_is_not_counted) {
  // As git does up to 2.43; later ones count it.
  written_history history;
  history.commit().file("a", "one\n" + std::string(60, 'x'));
  history.commit().remove("a").file("b", "one\n" + std::string(60, 'x') + '\n');
  history.commit().remove("b").file("c", "one\ntwo");
  history.commit().remove("c").file("d", "one\ntw");
  history.commit().remove("d").file("e", "one");
  history.commit().remove("e").file("f", "one\n");
  expect_equal_patches(history);
}

TEST(git_renames, a_carriage_return_before_a_line_feed_counts_in_binary_files_only) {
  std::mt19937 random(4);
  const auto text = drawn_lines(random, 50);
  std::string returns;
  for (const char c : text) returns += c == '\n' ? "\r\n"s : std::string(1, c);
  written_history history;
  history.commit().file("a", text).file("bin/a", "\0"s + text);
  history.commit().remove("a").file("b", returns).remove("bin/a").file("bin/b", "\0"s + returns);
  history.commit().remove("b").file("c", returns + "\r\r\n\r").remove("bin/b").file("bin/c", "\0"s + text + "\r\n\r\n");
  expect_equal_patches(history);
}

TEST(git_renames, chunks_that_git_takes_for_equal_are_taken_for_equal) {
  // Two hundred pairs of lines that have nothing in common but their hash.
  std::mt19937 random(5);
  chunk_counter counter;
  std::unordered_map<std::uint32_t, std::string> met;
  std::string ones, others;
  for (int pairs = 0; pairs < 200;) {
    auto line = drawn_line(random);
    const auto hash = counter.count(line, true).entries.at(0).hash;
    if (const auto [at, is_new] = met.try_emplace(hash, line); !is_new) {
      ones += at->second;
      others += line;
      met.erase(at);
      ++pairs;
    }
  }
  written_history history;
  history.commit().file("a", ones);
  history.commit().remove("a").file("b", others);
  expect_equal_patches(history);
  EXPECT_EQ(renames_of(history), std::vector<std::string>{"a > b 100"});
}

TEST(git_renames, several_that_are_as_much_alike_are_paired_as_git_does) {
  written_history history;
  for (unsigned seed = 0; seed < 60; ++seed) {
    std::mt19937 random(seed);
    std::vector<std::string> blocks;
    for (int i = 0; i < 6; ++i) blocks.push_back(drawn_lines(random, 10));
    const auto assembled = [&] {
      std::string text;
      for (int i = 0; i < 6; ++i) text += blocks[random() % blocks.size()];
      return text + (random() % 2 == 0 ? "" : "x\n");
    };
    static constexpr std::array<std::string_view, 3> folders{"a/", "b/", "c/d/"};
    const auto name = [&] { return std::string(folders[random() % 3]) + "n" + std::to_string(random() % 12); };
    history.commit().remove("z");
    for (int i = 0; i < 14; ++i) history.file("old/" + name(), assembled());
    history.commit().remove("old");
    for (int i = 0; i < 14; ++i) history.file("z/" + name(), assembled());
  }
  expect_equal_patches(history);
}

TEST(git_renames, more_than_a_million_pairs_are_not_compared_but_by_name) {
  // Four lines each, of which one differs: 75 % alike.
  const auto text = [](std::size_t i, char last) {
    const auto line = "line of file " + std::to_string(1'000'000 + i) + ' ';
    return line + "a\n" + line + "b\n" + line + "c\n" + line + last + '\n';
  };
  for (const std::size_t more : {0u, 1u}) {
    written_history history;
    history.commit();
    for (std::size_t i = 0; i < 1000 + more; ++i) history.file("old/x" + std::to_string(i), text(i, 'd'));
    history.file("old/name", text(5000, 'd'));
    history.commit().remove("old");
    for (std::size_t i = 0; i < 1000; ++i) history.file("new/y" + std::to_string(i), text(i, 'e'));
    history.file("new/name", text(5000, 'e'));
    const made_repository bare({"--bare"});
    history.write_to(bare.path());
    compare_patches_with_git(bare.path(), {judged_commits_of(bare.path())[0]});
    EXPECT_EQ(renames_of(history).size(), more == 0 ? 1001u : 1u);
  }
}

}  // namespace
}  // namespace hondana::git
