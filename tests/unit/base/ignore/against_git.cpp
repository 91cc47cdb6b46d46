/// The same decision as git's, file, line and pattern included: `git check-ignore` is the oracle.
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <map>
#include <memory>
#include <random>
#include <string>
#include <string_view>
#include <vector>

#include "base/ignore/gitignore.hpp"
#include "git_repository.hpp"

namespace hondana::ignore {
namespace {

using hondana::testing::git_answer;
using hondana::testing::git_repository;

struct asked {
  std::string path;
  bool is_directory;
};

std::string numbered(std::size_t number) {
  std::string name = std::to_string(number);
  return name.insert(0, 1, 'd');
}

/// A tree of ignore files kept both in a repository on disk and as compiled lists.
class world {
 public:
  void gitignore(const std::string& folder, std::string_view text) {
    const std::string name = folder.empty() ? ".gitignore" : folder + "/.gitignore";
    repository_.write(name, text);
    rules_[folder].git = std::make_shared<const pattern_list>(pattern_list::parse(text, name));
  }
  /// Git knows no `.hondanaignore`: it gets both texts as one file, where the later lines are stronger as well.
  void both(const std::string& folder, const std::string& git, const std::string& hondana) {
    repository_.write(folder + "/.gitignore", git + hondana);
    rules_[folder].git = std::make_shared<const pattern_list>(pattern_list::parse(git));
    rules_[folder].hondana = std::make_shared<const pattern_list>(pattern_list::parse(hondana));
  }
  void info_exclude(std::string_view text) {
    repository_.write(".git/info/exclude", text);
    exclude_ = std::make_shared<const pattern_list>(pattern_list::parse(text, ".git/info/exclude"));
  }

  /// Compares every decision; `lines` says whether the deciding lines are to agree too. With `root`, we are asked about it and
  /// paths below, and git about the whole work tree.
  void compare(const std::vector<asked>& questions, bool lines = true, const std::string& root = {}) const {
    std::vector<std::string> paths;
    for (const asked& one : questions) {
      if (one.is_directory) repository_.make_folder(one.path);
      paths.push_back(one.path);
    }
    const std::vector<git_answer> answers = repository_.check_ignore(paths);
    ASSERT_EQ(answers.size(), questions.size());
    std::size_t ignored = 0;
    for (std::size_t i = 0; i < answers.size(); ++i) {
      const git_answer& git = answers[i];
      const std::string path = root.empty() ? questions[i].path : questions[i].path.substr(root.size() + 1);
      const verdict ours = descend(path, root).decide_full(path, questions[i].is_directory);
      ignored += git.ignored() ? 1U : 0U;
      EXPECT_EQ(git.path, questions[i].path);
      EXPECT_EQ(ours.is_ignored(), git.ignored()) << describe(git, questions[i]);
      if (!lines) continue;
      EXPECT_EQ(ours.line, git.line) << describe(git, questions[i]);
      EXPECT_EQ(ours.source, git.source) << describe(git, questions[i]);
      EXPECT_EQ(ours.pattern, git.pattern) << describe(git, questions[i]);
    }
    // A comparison in which one answer never comes up would show little.
    EXPECT_GT(ignored, 0U);
    EXPECT_LT(ignored, answers.size());
  }

 private:
  [[nodiscard]] folder_rules rules_of(const std::string& folder) const {
    const auto found = rules_.find(folder);
    return found == rules_.end() ? folder_rules{} : found->second;
  }

  /// The stack at the folder of `path`, of a root that is `root` or, when that is empty, the top.
  [[nodiscard]] stack descend(const std::string& path, const std::string& root = {}) const {
    stack at(rules_of(""), exclude_);
    if (!root.empty()) {
      std::vector<outer_rules> outer;
      if (exclude_) outer.push_back({root, exclude_});
      for (std::size_t begin = 0; begin < root.size(); begin = std::min(root.find('/', begin), root.size() - 1) + 1) {
        const auto here = rules_of(root.substr(0, begin == 0 ? 0 : begin - 1));
        if (here.git) outer.push_back({root.substr(begin), here.git});
      }
      at = stack(rules_of(root), {}, outer);
      return descend_from(at, path, root + "/");
    }
    return descend_from(at, path, {});
  }

  /// `path` is relative to the stack's root, and `prefix` leads there.
  [[nodiscard]] stack descend_from(stack at, const std::string& path, const std::string& prefix) const {
    for (std::size_t begin = 0, slash = path.find('/'); slash != std::string::npos; slash = path.find('/', begin)) {
      at = at.child(path.substr(begin, slash - begin), rules_of(prefix + path.substr(0, slash)));
      begin = slash + 1;
    }
    return at;
  }

  static std::string describe(const git_answer& git, const asked& question) {
    return "path '" + question.path + (question.is_directory ? "' (folder)" : "'") + ", git says " +
           (git.source.empty() ? "nothing" : git.source + ":" + std::to_string(git.line) + ": '" + git.pattern + "'");
  }

  git_repository repository_;
  std::map<std::string, folder_rules> rules_;
  list_pointer exclude_;
};

class against_git : public ::testing::Test {
 protected:
  void SetUp() override {
    if (!git_repository::available()) GTEST_SKIP() << "there is no git program to compare with";
  }
};

TEST_F(against_git, a_root_below_the_top_of_the_work_tree) {
  world here;
  here.info_exclude("*.mine\n/a/b/x_top\nb.keep\n");
  here.gitignore("", "*.log\n/a/b/anchored\n/anchored2\n!b.keep\na/**/deep\nb/*.tmp\n");
  here.gitignore("a", "!kept.log\nb/low\n/b/dir/\n*.x\n");
  here.gitignore("a/b", "!own.log\n!c.x\n/own\n");
  here.gitignore("a/b/c", "!d.log\n");
  std::vector<asked> questions;
  for (const char* name :
       {"a.log", "kept.log", "own.log", "x.mine",  "b.keep",  "anchored", "anchored2", "x_top", "deep",  "q.tmp", "low",
        "own",   "c.x",      "d.x",     "c/d.log", "c/e.log", "c/deep",   "c/q.tmp",   "c/low", "c/own", "plain"}) {
    questions.push_back({std::string("a/b/") + name, false});
  }
  questions.push_back({"a/b/dir", true});
  questions.push_back({"a/b/dir/x", false});
  questions.push_back({"a/b/c/dir", true});
  here.compare(questions, true, "a/b");
}

TEST_F(against_git, hand_written_files) {
  const std::vector<std::string> files{
      "*.log\n!keep.log\n/top\nsub/inner\nbuild/\n**/deep\nsub/**\n!sub/**/b\n",
      "# comment\n\\#hash\n\\!bang\n!#hash\n\n  \n lead\ntrail   \nquoted\\ \nquoted\\  \ntab\t\nx\\\n",
      "crlf\r\n*.txt\r\n!a.txt\r\nend\r",
      "\xEF\xBB\xBF"
      "bom\n\xEF\xBB\xBF"
      "a\n",
      std::string("nul\0tail\nb\n", 11),
      "a**\n/b**\nsub/a**\nsub**/b\nfoo**bar\n**foo\n/sub/**b/c\n",
      "**\n!**/\n!*.txt\n",
      "/*\n!/sub\n/sub/*\n!/sub/inner\n",
      "*/\n!build/\n",
      "**/**/b\n***/c\n**\\/keep.log\nsub\\/inner\n\\/top\nsub/\\inner\n",
      "c\n//\n/\n!/\n!\na//\n//b\nsub//inner\nbuild//\n",
      "[a-c]\n[!a-c]op\n[]x]\n[^]]ail\nx[a-\\]]\n[[:alpha:]][[:digit:]]\n[[:x]\n[[:nope:]]\n[a\n[\n[]\n[!]\n[\\\n",
      "sub[/]inner\nsub?inner\nsub*inner\nsub/[!x]*\n!sub/[a-b]/\n",
      "*\n!*/\n!*.log\n*.log/\n",
      "a\\\nb\\\\\n\\*\n*\\\n?\\ \n",
      "sub/*/b\nsub/**/b/\n!sub/*/*/b\nsub/inner/**/\n/**/build\nbuild/**/\n",
      "*a*b*c\n!*aa*b*c\nx*a?b*\n*[ab]*ab*a\n*a*a*a*b\nsub/*a*b*c\n!sub/a*b*ba*\n",
      "a-b\n[--0]-b\na[+--]b\n[a-]-b\n*.[lt]*\n!*[!gt]\n",
  };
  const std::vector<std::string> names{"a",
                                       "b",
                                       "c",
                                       "top",
                                       "sub",
                                       "inner",
                                       "build",
                                       "deep",
                                       "a.txt",
                                       "a.log",
                                       "keep.log",
                                       "#hash",
                                       "!bang",
                                       "hash",
                                       "lead",
                                       " lead",
                                       "trail",
                                       "trail   ",
                                       "quoted",
                                       "quoted ",
                                       "quoted  ",
                                       "tab\t",
                                       "tab",
                                       "x\\",
                                       "x",
                                       "crlf",
                                       "crlf\r",
                                       "end",
                                       "end\r",
                                       "bom",
                                       "\xEF\xBB\xBF"
                                       "a",
                                       "nul",
                                       "nultail",
                                       "foobar",
                                       "foo-bar",
                                       "foo",
                                       "xfoo",
                                       "]",
                                       "[",
                                       "x]",
                                       "x-",
                                       "ail",
                                       "tail",
                                       "a1",
                                       "[:x",
                                       ":",
                                       "subinner",
                                       "sub inner",
                                       "*",
                                       "b\\",
                                       "a-b",
                                       "a+b",
                                       "a,b",
                                       "-b",
                                       "a b",
                                       "abxc",
                                       "aabbcc",
                                       "abbaabc",
                                       "xabxabyb",
                                       "xaabbcc",
                                       "abab",
                                       "bababa",
                                       "aabaab",
                                       "aaab",
                                       "abcab",
                                       "abbba",
                                       "\xff\xfe",
                                       "本棚.txt"};
  std::vector<asked> questions;
  const std::vector<std::string> folders{"", "sub/", "sub/inner/", "build/", "sub/a/", "b/c/", "foo/", "ab/x/"};
  for (const std::string& name : names) {
    for (const std::string& folder : folders) {
      if (!(folder + name).starts_with(':')) questions.push_back({folder + name, false});
    }
  }
  for (const char* folder : {"sub", "sub/inner", "sub/inner/b", "sub/inner/build", "build", "build/keep.log", "sub/a", "b/c",
                             "b", "foo", "ab", "ab/x", "ab/x/deep", "ab/x/a1", "sub/b"}) {
    for (asked& one : questions) one.is_directory = one.is_directory || one.path == folder;
    questions.push_back({folder, true});
  }
  // One tree for all files: making folders is what takes the time.
  world one;
  for (const std::string& text : files) {
    SCOPED_TRACE(text);
    one.gitignore("", text);
    one.compare(questions);
  }
}

TEST_F(against_git, files_at_every_level_and_info_exclude) {
  world tree;
  tree.info_exclude("*.bak\n!never\n/only_root\n");
  tree.gitignore("", "*.log\n!keep.bak\n/out/\nvendor/*\n!vendor/ours\n");
  tree.gitignore("src", "!*.log\n/gen\n*.bak\n!important.bak\n");
  tree.gitignore("src/gen", "!inside.txt\n");
  tree.gitignore("src/lib", "*\n!.gitignore\n!*.hpp\n!sub/\n");
  tree.gitignore("src/lib/sub", "!*.md\nx.hpp\n");
  tree.gitignore("out", "!*\n");
  tree.gitignore("vendor/ours", "*.log\n!a.log\n");
  std::vector<asked> questions;
  const std::vector<std::string> folders{"",     "src/",      "src/gen/", "src/lib/",     "src/lib/sub/",  "src/lib/other/",
                                         "out/", "out/deep/", "vendor/",  "vendor/ours/", "vendor/theirs/"};
  for (const std::string& folder : folders) {
    if (!folder.empty()) questions.push_back({folder.substr(0, folder.size() - 1), true});
    for (const char* name : {"a.log", "keep.bak", "x.bak", "important.bak", "only_root", "inside.txt", "x.hpp", "y.hpp", "z.md",
                             ".gitignore", "never", "plain"}) {
      questions.push_back({folder + name, false});
    }
  }
  tree.compare(questions);
}

TEST_F(against_git, every_byte_in_every_kind_of_bracket) {
  const std::vector<std::string> brackets{"[[:alnum:]]",     "[[:alpha:]]",   "[[:blank:]]",   "[[:cntrl:]]",
                                          "[[:digit:]]",     "[[:graph:]]",   "[[:lower:]]",   "[[:print:]]",
                                          "[[:punct:]]",     "[[:space:]]",   "[[:upper:]]",   "[[:xdigit:]]",
                                          "[![:alpha:]]",    "[^[:space:]_]", "[a-f]",         "[!a-f]",
                                          "[]-a]",           "[!]-a]",        "[--0]",         "[a-c-e]",
                                          "[\\a-\\e]",       "[a-[:digit:]]", "[[:digit:]-z]", "[[.a.]]",
                                          "[\x80-\xff]",     "[[:]",          "[z-a]",         "[a-zA-Z0-9_.]",
                                          "[\\]\\[\\-\\\\]", "[*?]",          "[[:al]pha:]]",  "?"};
  world tree;
  std::vector<asked> questions;
  for (std::size_t i = 0; i < brackets.size(); ++i) {
    const std::string folder = numbered(i);
    tree.gitignore(folder, "x" + brackets[i] + "\n/y/x" + brackets[i] + "\n");
    for (int byte = 1; byte < 256; ++byte) {
      if (byte == '/') continue;
      questions.push_back({folder + "/x" + static_cast<char>(byte), false});
      if (byte % 5 == 0) questions.push_back({folder + "/y/x" + static_cast<char>(byte), false});
    }
  }
  tree.compare(questions);
}

class random_texts {
 public:
  explicit random_texts(std::uint32_t seed) : numbers_(seed) {}

  std::size_t below(std::size_t end) { return numbers_() % end; }

  std::string pattern() {
    static constexpr std::array<std::string_view, 36> pieces{
        "a",    "a",    "b",           "b", "ab",           "/",    "/",     "/",    "*",  "*",   "*",   "**",  "**", "**/",
        "/**",  "/**/", "?",           "?", "[ab]",         "[!a]", "[a-c]", "[^/]", "\\", "\\a", "\\*", "\\/", "[",  "]",
        "[b/]", "!",    "[[:alpha:]]", " ", "[[:digit:]!]", "***",  ".",     "#"};
    std::string made = below(6) == 0 ? "!" : "";
    for (std::size_t i = 0, count = 1 + below(7); i < count; ++i) made += pieces[below(pieces.size())];
    if (below(6) == 0) made += "/";
    if (below(12) == 0) made += "  ";
    if (below(12) == 0) made += "\r";
    return made;
  }

  std::string file() {
    std::string made;
    for (std::size_t i = 0, count = 1 + below(3); i < count; ++i) made += pattern() + "\n";
    return made;
  }

 private:
  std::mt19937 numbers_;
};

/// Folders first, then files beside and below them, over few letters so that patterns often match.
std::vector<asked> small_tree() {
  std::vector<asked> questions;
  const std::vector<std::string> folders{"a", "ab", "a/b", "b", "b/ab", "a/a/a"};
  for (const std::string& folder : folders) {
    questions.push_back({folder, true});
    for (const char* name : {"aa", "ba", "aab", "a*", "!a", "a.b", "]"}) {
      questions.push_back({folder + "/" + name, false});
    }
  }
  for (const char* name :
       {"aa", "abb", "bab", "bb",  "aabb",   "a b",          "a ",       "\\",        "1",     "#a",        ".a",
        "*",  "[a",  "c",   "c/a", "c/b/ab", "aaaa/bbbb/aa", "a/a/b/ba", "b/a/b/a/b", "ababb", "a/b/a/aab", "b/ab/b/ba"}) {
    questions.push_back({name, false});
  }
  return questions;
}

std::vector<asked> below_folder(const std::string& folder, const std::vector<asked>& tree) {
  std::vector<asked> questions = tree;
  for (asked& one : questions) one.path = folder + "/" + one.path;
  return questions;
}

TEST_F(against_git, random_files) {
  const std::vector<asked> tree = small_tree();
  world made;
  for (const std::uint32_t seed : {1U, 20U, 300U, 4000U, 50'000U, 600'000U, 7'000'000U, 80'000'000U}) {
    SCOPED_TRACE(seed);
    random_texts texts(seed);
    std::vector<asked> questions;
    for (std::size_t i = 0; i < 40; ++i) {
      made.gitignore(numbered(i), texts.file());
      const std::vector<asked> more = below_folder(numbered(i), tree);
      questions.insert(questions.end(), more.begin(), more.end());
    }
    made.compare(questions);
  }
}

TEST_F(against_git, random_files_at_several_levels) {
  const std::vector<asked> tree = small_tree();
  random_texts texts(11);
  world made;
  made.info_exclude("*]\n!bb\n");
  std::vector<asked> questions;
  for (std::size_t i = 0; i < 40; ++i) {
    const std::string folder = numbered(i);
    made.gitignore(folder, texts.file());
    for (const char* deeper : {"/a", "/a/b", "/b/ab"}) {
      if (texts.below(2) == 0) made.gitignore(folder + deeper, texts.file());
    }
    const std::vector<asked> more = below_folder(folder, tree);
    questions.insert(questions.end(), more.begin(), more.end());
  }
  made.compare(questions);
}

TEST_F(against_git, hondanaignore_counts_like_later_lines_of_the_same_file) {
  const std::vector<asked> tree = small_tree();
  random_texts texts(12);
  world made;
  std::vector<asked> questions;
  for (std::size_t i = 0; i < 40; ++i) {
    const std::string folder = numbered(i);
    const std::string git = texts.file();
    made.both(folder, git, texts.file());
    const std::vector<asked> more = below_folder(folder, tree);
    questions.insert(questions.end(), more.begin(), more.end());
  }
  made.compare(questions, false);
}

}  // namespace
}  // namespace hondana::ignore
