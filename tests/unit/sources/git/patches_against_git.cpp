/// All patches of made histories, and of this project's own, against those that the git program writes.
///
/// Several seconds: git writes every patch, too.
#include <algorithm>
#include <array>
#include <cstddef>
#include <filesystem>
#include <random>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include "unit/sources/git/made_repository.hpp"
#include "unit/sources/git/patch_judge.hpp"

namespace hondana::git {
namespace {

using namespace std::string_literals;

std::string numbered_lines(std::size_t count, std::string_view word = "line") {
  std::string text;
  for (std::size_t i = 0; i < count; ++i) text += std::string(word) + ' ' + std::to_string(i) + '\n';
  return text;
}

std::string with_line(std::string text, std::size_t number, std::string_view instead) {
  std::size_t begin = 0;
  for (std::size_t i = 0; i < number; ++i) begin = text.find('\n', begin) + 1;
  return text.replace(begin, text.find('\n', begin) - begin, instead);
}

TEST(git_patches_against_git, lines_and_ends_of_files) {
  written_history history;
  history.commit().file("a", "one\ntwo\n").file("empty", "").file("no end", "one").file("crlf", "one\r\ntwo\r\n");
  history.commit().file("a", "one\ntwo").file("no end", "one\n").file("crlf", "one\ntwo\r\n");
  history.commit().file("a", "").file("empty", "\n").file("no end", "two");
  history.commit().file("a", "\n\n\n").file("empty", "").remove("no end");
  history.commit().file("a", "\n").file("later", "x\ny\nz").file("crlf", "\r\r\r");
  history.commit().file("later", "x\ny\nz\n").file("crlf", "\r\r\r\n\r");
  history.commit().file("later", "x\nq\nz").file("a", "no newline").file("empty", "text");
  history.commit().file("later", "x\ny\nz").file("a", "no newline\nmore").remove("empty");
  history.commit().file("long", std::string(200'000, 'x') + "\nshort\n" + std::string(100'000, 'y'));
  history.commit().file("long", std::string(200'001, 'x') + "\nshort\n" + std::string(100'000, 'y'));
  history.commit();
  expect_equal_patches(history);
}

TEST(git_patches_against_git, contexts_that_meet_and_that_do_not) {
  written_history history;
  const auto lines = numbered_lines(40);
  history.commit().file("a", lines);
  for (std::size_t distance = 1; distance < 12; ++distance) {
    history.commit().file("a", with_line(with_line(lines, 10, "changed"), 10 + distance, "changed, too"));
    history.commit().file("a", with_line(with_line(lines, 0, ""), 39, ""));
    history.commit().file("a", lines.substr(0, lines.size() - 20 * distance));
    history.commit().file("a", lines.substr(8 * distance));
    history.commit().file("a", lines);
  }
  expect_equal_patches(history);
}

TEST(git_patches_against_git, what_stands_behind_a_hunks_header) {
  written_history history;
  const std::vector<std::string> headings{
      "int main() {",
      "_name",
      "$price",
      "9 is no letter",
      " indented",
      "\tindented",
      "",
      "\xc3\xa9 is no letter of git's",
      "trailing spaces   ",
      "trailing tab\t",
      "trailing form feed\f",
      "trailing vertical tab\v",
      "carriage return\r",
      "only spaces behind                                                              x   ",
      std::string(79, 'a') + "bc",
      std::string(80, 'a') + "bc",
      std::string(81, 'a') + "bc",
      std::string(78, 'a') + "   bc",
      std::string(78, 'a') + "\xe6\x9c\xac",
      std::string(77, 'a') + "\xe6\x9c\xac",
      "Shift_JIS \x96\x7b \x92\x49",
      "in the midst \xff of it",
      "a\xe6\x9c\xac",
      "a\xc0\xaf overlong",
      "a\xe0\x80\xaf overlong",
      "a\xf0\x80\x80\xaf overlong",
      "a\xed\xa0\x80 surrogate",
      "a\xef\xbf\xbe no character",
      "a\xef\xbf\xbf no character",
      "a\xef\xbf\xbd is one",
      "a\xf4\x8f\xbf\xbf is one",
      "a\xf4\x90\x80\x80 is beyond",
      "a\xf5\x80\x80\x80 is beyond",
      "a\xe6\x9c",
      "a\x01\x7f control",
      "space \xff",
      "x",
  };
  for (const auto& heading : headings) {
    for (const std::size_t behind : {2u, 3u, 4u, 9u}) {
      const auto text = "before\n" + heading + '\n' + numbered_lines(behind, "  at") + "  old\n" +
                        numbered_lines(9, "  behind") + "  old\n" + numbered_lines(9, "  end") + "  old\n";
      history.commit().file("a", text);
      auto other = text;
      for (auto at = other.find("old"); at != std::string::npos; at = other.find("old", at)) other.replace(at, 3, "new");
      history.commit().file("a", other);
      // Headings are those of the old file, also where they go.
      history.commit().file("a", other.substr(0, 7) + other.substr(other.find("  at")));
      history.commit().file("a", "Other heading\n" + text);
    }
  }
  std::string many(120'000, '\n');
  many += "Far below " + std::string(100, 'w') + "\n \n \n \n \nold\n";
  history.commit().file("a", many);
  history.commit().file("a", many + " new\n");
  expect_equal_patches(history);
}

TEST(git_patches_against_git, modes_kinds_and_submodules) {
  written_history history;
  history.commit().file("run.sh", "true\n").link("link", "run.sh").submodule("module", '1').file("thing", numbered_lines(5));
  history.commit().file("run.sh", "true\n", "100755").link("link", "elsewhere").submodule("module", '2');
  history.commit().file("run.sh", "false\n", "100644").file("link", "run.sh").submodule("thing", '3');
  history.commit().link("run.sh", "false\n").remove("module").file("module/inside", "a\n").file("thing", numbered_lines(5));
  history.commit().remove("module").submodule("module", '1').link("thing", numbered_lines(5)).file("link", "\0x"s);
  history.commit().file("module", "text\n").link("link", "\0x"s).remove("thing").file("thing/a", "a\n").file("thing.c", "b\n");
  history.commit().remove("thing").file("thing", "a\n").remove("module").submodule("moved module", '1').remove("link");
  history.commit().remove("moved module").submodule("moved again", '1').link("to", "somewhere").file("e", "", "100755");
  history.commit().remove("to").link("to2", "somewhere").file("run", "x\n").remove("e").file("f", "");
  history.commit()
      .remove("to2")
      .file("to3", "somewhere")
      .remove("run")
      .file("run2", "x\n", "100755")
      .file("thing", "a\n", "100755");
  history.commit().remove("run2").link("run3", "x\n").remove("thing").file("thing2", "a\nb\n");
  expect_equal_patches(history);
}

TEST(git_patches_against_git, names_that_need_quotes_and_bytes_of_any_encoding) {
  const std::vector<std::string> names{"with space",
                                       "two  spaces ",
                                       "tab\there",
                                       "line\nfeed",
                                       "quote\"inside",
                                       "back\\slash",
                                       "\xe6\x9c\xac\xe6\xa3\x9a.txt",
                                       "\x96\x7b\x92\x49.txt",
                                       "bell\a\b\v\f\r",
                                       "control\x01\x1f\x7f",
                                       "'single'",
                                       "$dollar `tick`",
                                       "a/b c/d\te",
                                       "-begins",
                                       "--output=x",
                                       "a\xc2\xa0nbsp",
                                       "\xff\xfe",
                                       "...",
                                       "trailing.",
                                       "~tilde^caret"};
  written_history history;
  history.commit();
  for (const auto& name : names) history.file(name, "one\n" + numbered_lines(3, name.substr(0, 1)));
  history.commit();
  for (const auto& name : names) history.file(name, "two\n" + numbered_lines(3, name.substr(0, 1)));
  history.commit();
  for (const auto& name : names) history.file(name, "two\n\0"s + numbered_lines(3, name.substr(0, 1)));
  history.commit();
  for (const auto& name : names) history.file("below/" + name, "two\n\0"s + numbered_lines(3, name.substr(0, 1))).remove(name);
  history.commit();
  for (const auto& name : names) history.remove("below/" + name);
  expect_equal_patches(history);
}

TEST(git_patches_against_git, binary_files) {
  written_history history;
  const auto text = numbered_lines(1000);
  history.commit().file("b", "\0\1\2"s).file("late", text.substr(0, 7999) + '\0').file("later", text.substr(0, 8000) + '\0');
  history.commit()
      .file("b", "\0\1\2\3"s)
      .file("late", text.substr(0, 7999) + "\0x"s)
      .file("later", text.substr(0, 8000) + "\0x"s);
  history.commit().file("b", "now text\n").file("late", "text").file("later", "\0"s + text, "100755");
  history.commit().file("b", "\0\1"s, "100755").file("late", "\0"s).remove("later");
  history.commit().file("b", "\0\1"s).remove("late").file("moved", "\0"s).file("later", "\0"s + text);
  history.commit().remove("b").file("b2", "\0\1"s).remove("later").file("later/one", "\0"s + text + text.substr(0, 100));
  // A feed of binary lines is cut at line feeds, too, and there a carriage return counts.
  auto returns = "\0"s + text;
  for (std::size_t at = 0; (at = returns.find('\n', at)) != std::string::npos; at += 2) returns.insert(at, "\r");
  history.commit().remove("later/one").file("returns", returns);
  expect_equal_patches(history);
}

TEST(git_patches_against_git, merges_against_their_first_parent) {
  written_history history;
  history.commit().file("a", numbered_lines(30)).file("b", "b\n");
  history.commit().file("a", with_line(numbered_lines(30), 3, "ours"));
  history.commit_on({1}).file("a", with_line(numbered_lines(30), 25, "theirs")).remove("b").file("c", "b\n");
  history.commit_on({2, 3})
      .file("a", with_line(with_line(numbered_lines(30), 3, "ours"), 25, "theirs"))
      .remove("b")
      .file("c", "b\n");
  history.commit_on({3, 2}).file("a", with_line(numbered_lines(30), 3, "evil"));
  history.commit_on({4, 5, 1}).file("d", "octopus\n");
  // The only reference is at the last; a commit beside it would not be listed.
  expect_equal_patches(history);
}

/// Files that change, move, and are cut, at random: few words, so that lines come again and again.
class random_history {
 public:
  explicit random_history(unsigned seed) : random_(seed) {}

  written_history make(std::size_t commits) {
    history_.commit();
    for (int i = 0; i < 12; ++i) add();
    for (std::size_t i = 0; i < commits; ++i) {
      history_.commit();
      for (auto left = 1 + below(6); left > 0; --left) step();
    }
    return std::move(history_);
  }

 private:
  std::size_t below(std::size_t end) { return std::uniform_int_distribution<std::size_t>(0, end - 1)(random_); }

  std::string line() {
    static constexpr std::array<std::string_view, 12> words{
        "{", "}", "", "  return 0;", "int f()", "  a", "  b", "_c(int)", "  // same", "\tx\r", "class d", "  e = f;"};
    std::string text(words.at(below(words.size())));
    if (below(3) == 0) text += ' ' + std::to_string(below(50));
    return text + '\n';
  }
  std::string some_lines(std::size_t most) {
    std::string text;
    for (auto left = below(most); left > 0; --left) text += line();
    return text;
  }
  std::string name() {
    static constexpr std::array<std::string_view, 5> folders{"", "src/", "src/deep/", "b c/", "lib/"};
    static constexpr std::array<std::string_view, 4> ends{".c", ".h", "", ".txt"};
    return std::string(folders.at(below(folders.size()))) + "n" + std::to_string(below(25)) +
           std::string(ends.at(below(ends.size())));
  }

  void add() {
    const auto path = name();
    for (const auto& [other, bytes] : files_) {
      if (other == path) return;
    }
    files_.emplace_back(path, below(8) == 0 ? std::string() : some_lines(200));
    if (below(6) == 0 && !files_.back().second.empty()) files_.back().second.pop_back();
    history_.file(path, files_.back().second);
  }

  void edit(std::string& bytes) {
    for (auto left = 1 + below(5); left > 0; --left) {
      auto begin = bytes.empty() ? 0 : below(bytes.size());
      begin = begin == 0 ? 0 : bytes.find('\n', begin - 1) + 1;
      const auto end = std::min(bytes.size(), begin + below(60));
      const auto cut = end == bytes.size() ? end : bytes.find('\n', end) + 1;
      if (below(2) == 0) bytes.erase(begin, (cut == 0 ? bytes.size() : cut) - begin);
      if (below(2) == 0) bytes.insert(begin, some_lines(12));
    }
  }

  void step() {
    if (files_.size() < 4) return add();
    const auto which = below(files_.size());
    auto& [path, bytes] = files_[which];
    switch (below(7)) {
      case 0:
        return add();
      case 1:
        history_.remove(path);
        files_.erase(files_.begin() + static_cast<std::ptrdiff_t>(which));
        return;
      case 2:
      case 3: {
        const auto to = name();
        for (const auto& [other, there] : files_) {
          if (other == to) return;
        }
        history_.remove(path);
        path = to;
        if (below(3) != 0) edit(bytes);
        history_.file(path, bytes, below(5) == 0 ? "100755" : "100644");
        return;
      }
      default:
        edit(bytes);
        history_.file(path, bytes);
    }
  }

  std::mt19937 random_;
  written_history history_;
  std::vector<std::pair<std::string, std::string>> files_;
};

TEST(git_patches_against_git, four_hundred_commits_of_files_that_change_and_move_at_random) {
  expect_equal_patches(random_history(9).make(400));
}

TEST(git_patches_against_git, files_of_a_hundred_thousand_lines) {
  std::mt19937 random(3);
  const auto draw = [&](std::size_t end) { return std::uniform_int_distribution<std::size_t>(0, end - 1)(random); };
  std::vector<std::string> lines;
  for (int i = 0; i < 100'000; ++i) lines.push_back("value " + std::to_string(draw(3000)) + '\n');
  const auto joined = [&] {
    std::string text;
    for (const auto& one : lines) text += one;
    return text;
  };
  written_history history;
  history.commit().file("a", joined());
  for (int i = 0; i < 20'000; ++i) lines[draw(lines.size())] = "value " + std::to_string(draw(3000)) + '\n';
  history.commit().file("a", joined());
  // Far apart: where the search gives up looking for the shortest.
  std::shuffle(lines.begin(), lines.begin() + 20'000, random);
  history.commit().file("a", joined());
  lines.resize(60'000);
  history.commit().remove("a").file("b", joined());
  expect_equal_patches(history);
}

TEST(git_patches_against_git, the_work_trees_attributes_have_no_say) {
  made_repository made;
  made.write(".gitattributes", "*.txt -diff\n*.py diff=python\n");
  made.write("a.txt", "one\n");
  made.write("b.py", "class a:\n    def f():\n" + numbered_lines(9, "        x") + "        old\n");
  made.commit("first");
  made.write("a.txt", "two\n");
  made.write("b.py", "class a:\n    def f():\n" + numbered_lines(9, "        x") + "        new\n");
  made.commit("second");
  const auto bare = made.above() + "/bare";
  made.git({"clone", "--quiet", "--bare", made.path(), bare});
  compare_patches_with_git(bare, judged_commits_of(bare));
}

TEST(git_patches_against_git, all_commits_of_this_project) {
#ifdef HONDANA_SOURCE_FOLDER
  const std::string folder = HONDANA_SOURCE_FOLDER;
#else
  const std::string folder;
#endif
  if (folder.empty() || !std::filesystem::exists(folder + "/.git")) GTEST_SKIP() << "the sources have no history here";
  auto commits = judged_commits_of(folder);
  ASSERT_FALSE(commits.empty());
#ifdef HONDANA_IS_SANITIZED
  // A sanitizer sees as much in some of them.
  constexpr std::size_t one_in = 16;
  for (std::size_t i = 0; i * one_in < commits.size(); ++i) commits[i] = commits[i * one_in];
  commits.resize((commits.size() + one_in - 1) / one_in);
#endif
  compare_patches_with_git(folder, commits);
  compare_numbers_with_git(folder, commits);
}

}  // namespace
}  // namespace hondana::git
