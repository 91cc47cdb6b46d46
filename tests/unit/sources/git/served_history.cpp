/// What the provider answers about whole histories is what the git program says: patches, files, blame and logs.
#include <algorithm>
#include <cstddef>
#include <cstdlib>
#include <filesystem>
#include <map>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include <hondana/uri.hpp>
#include <hondana/value.hpp>

#include "base/json/utf8.hpp"
#include "unit/sources/git/blame_by_git.hpp"
#include "unit/sources/git/made_history.hpp"
#include "unit/sources/git/served_repository.hpp"

namespace hondana::git {
namespace {

/// How much of what there was could be compared.
struct comparison_count {
  std::size_t compared = 0, left_out = 0;
};

/// Null-ended pieces.
std::vector<std::string> pieces_of(std::string_view text) {
  std::vector<std::string> out;
  while (!text.empty()) {
    const auto end = std::min(text.find('\0'), text.size());
    out.emplace_back(text.substr(0, end));
    text.remove_prefix(std::min(text.size(), end + 1));
  }
  return out;
}

struct compared_history {
  const std::string folder;  // bare, so that git asks no attributes of a work tree
  const served_repository served;

  explicit compared_history(std::string bare)
      : folder(std::move(bare)), served(git_options{.repositories = {folder}, .redact = false}) {}

  [[nodiscard]] std::vector<std::string> commits() const { return lines_of(run_git(folder, {"rev-list", "--all"})); }

  /// Patches that are shown whole, and whose bytes are text, are those of git.
  void compare_patches(const std::vector<std::string>& ids, comparison_count& count) const {
    std::map<std::string, std::string> parents;
    for (const auto& line : lines_of(run_git(folder, {"log", "--all", "--format=%H %P"})))
      parents[line.substr(0, 40)] = line.size() > 41 ? line.substr(41, 40) : "";
    for (const auto& id : ids) {
      const auto json = served.json(uri_of({.repo = "shelf", .kind = resource_kind::commit, .rev = id, .is_json = true}));
      const auto changes = json.array_at("/changes");
      ASSERT_TRUE(changes) << id;
      std::string ours;
      bool is_whole = json.find("changesLeftOut") == nullptr;
      for (const auto& one : *changes) {
        const auto patch = one.string_at("/patch");
        is_whole = is_whole && patch.has_value();
        ours += patch.value_or("");
      }
      std::vector<std::string> words{"-c",
                                     "diff.indentHeuristic=false",
                                     "diff-tree",
                                     "-p",
                                     "--full-index",
                                     "-M",
                                     "--no-ext-diff",
                                     "--no-commit-id",
                                     "--root",
                                     "-r"};
      if (const auto& parent = parents[id]; !parent.empty()) words.push_back(parent);
      words.push_back(id);
      const auto gits = run_git(folder, words);
      if (!is_whole || !json::is_utf8(gits)) {
        ++count.left_out;
        continue;
      }
      ++count.compared;
      ASSERT_EQ(ours, gits) << id;
    }
  }

  /// Every file of a commit that is served as it is, or one in so many.
  void compare_files(const std::string& id, comparison_count& count, std::size_t one_in = 1) const {
    const auto lines = pieces_of(run_git(folder, {"ls-tree", "-r", "-z", id}));
    for (std::size_t i = 0; i < lines.size(); i += one_in) {
      const auto& line = lines[i];
      const auto tab = line.find('\t');
      const auto path = line.substr(tab + 1);
      const auto blob = line.substr(tab - 40, 40);
      const auto answer = served.try_read(uri_of({.repo = "shelf", .kind = resource_kind::blob, .rev = id, .path = path}));
      const auto is_converted = [](const resource_content& one) {
        return std::any_of(one.metadata.begin(), one.metadata.end(),
                           [](const auto& fact) { return fact.first == "dev.hondana/encoding"; });
      };
      if (line.starts_with("160000") || !answer || is_converted(answer->contents.front())) {
        ++count.left_out;
        continue;
      }
      ++count.compared;
      ASSERT_EQ(*std::get<shared_bytes>(answer->contents.front().data), run_git(folder, {"cat-file", "blob", blob}))
          << id << ' ' << path;
    }
  }

  void compare_blame(const std::string& rev, const std::string& path, comparison_count& count) const {
    const auto uri = uri_of({.repo = "shelf", .kind = resource_kind::blame, .rev = rev, .path = path, .is_json = true});
    // What is no text has no lines; and the git program quotes some names here whatever it is told.
    if (const auto answer = served.try_read(uri); !answer || path.find('"') != std::string::npos) {
      ++count.left_out;
      return;
    }
    const auto json = served.json(uri);
    std::vector<std::string> ours;
    const auto runs = json.array_at("/runs");
    ASSERT_TRUE(runs) << path;
    for (const auto& one : *runs) {
      ours.push_back(one.string_at("/commit").value() + ' ' + std::to_string(one.integer_at("/firstThen").value()) + ' ' +
                     std::to_string(one.integer_at("/first").value()) + ' ' + std::to_string(one.integer_at("/count").value()) +
                     ' ' + one.string_at("/path").value() + (one.boolean_at("/boundary").value() ? " boundary" : ""));
    }
    ++count.compared;
    ASSERT_EQ(ours, blamed_by_git(folder, {rev, "--", path})) << path;
  }

  [[nodiscard]] std::vector<std::string> logged(address what) const {
    std::vector<std::string> ids;
    what.kind = resource_kind::log;
    what.is_json = true;
    for (auto uri = uri_of(what); !uri.empty();) {
      const auto json = served.json(uri);
      const auto commits_there = json.array_at("/commits");
      if (!commits_there) return {"no commits in " + uri};
      for (const auto& one : *commits_there) ids.push_back(one.string_at("/id").value());
      const auto next = json.string_at("/next");
      uri = next ? canonical_uri(*next).value() : std::string();
    }
    return ids;
  }
  void compare_log(const address& what, std::vector<std::string> words) const {
    words.insert(words.begin(), {"--literal-pathspecs", "log", "--full-history", "--format=%H"});
    EXPECT_EQ(logged(what), lines_of(run_git(folder, words))) << uri_of(what);
  }
};

/// By the git program: merges, renames, binaries, links, odd names.
std::string synthetic_history(made_repository& made) {
  const std::string binary("\x7f\0ELF\x01\x02", 7);
  std::string long_text;
  for (int i = 0; i < 400; ++i) long_text += "line " + std::to_string(i) + (i % 7 == 0 ? "\n\n" : "\n");
  made.write("a/long.txt", long_text);
  made.write("image.bin", binary);
  made.write("with space", "x\n");
  made.write("quote\"d\ttab", "x\n");
  made.write("日本語/本棚.md", "# 本棚\n");
  made.write("no end", "of line");
  std::filesystem::create_symlink("a/long.txt", made.path() + "/link");
  made.commit("first");
  made.git({"checkout", "-q", "-b", "side"});
  made.git({"mv", "a/long.txt", "moved.txt"});
  made.write("moved.txt", long_text + "and one more\n");
  made.write("image.bin", binary + binary);
  made.commit("moved, and a binary changed");
  made.git({"checkout", "-q", "main"});
  made.write("with space", "x\ny\n");
  made.git({"rm", "-q", "no end"});
  made.commit("on the other side");
  made.git({"merge", "-q", "--no-ff", "-m", "merged", "side"});
  made.write("moved.txt", "0\n" + long_text);
  made.write("日本語/本棚.md", "# 本棚\n\n本。\n");
  made.commit("after the merge");
  made.git({"tag", "-a", "-m", "one", "v1"});
  return run_git(made.path(), {"rev-parse", "HEAD"}).substr(0, 40);
}

std::string bare_copy(const made_repository& beside, const std::string& of) {
  auto bare = beside.above() + "/shelf.git";
  EXPECT_EQ(beside.try_git({"clone", "--quiet", "--bare", "--no-hardlinks", of, bare}), 0) << of;
  return bare;
}

TEST(git_served_history, of_a_made_repository_is_that_of_git) {
  made_repository made({"--initial-branch=main"});
  const auto head = synthetic_history(made);
  const compared_history all(bare_copy(made, made.path()));
  comparison_count patches, files, blames;
  all.compare_patches(all.commits(), patches);
  for (const auto& id : all.commits()) all.compare_files(id, files);
  for (const auto& path : pieces_of(run_git(all.folder, {"ls-tree", "-r", "-z", "--name-only", head})))
    all.compare_blame(head, path, blames);
  EXPECT_EQ(patches.compared, 5u);
  EXPECT_EQ(patches.left_out, 0u);
  EXPECT_GE(files.compared, 30u);
  EXPECT_EQ(files.left_out, 0u);
  EXPECT_EQ(blames.left_out, 2u) << "all but the binary and the one with a quote";
  all.compare_log({.repo = "shelf"}, {"HEAD"});
  all.compare_log({.repo = "shelf", .path = "moved.txt"}, {"HEAD", "--", "moved.txt"});
  all.compare_log({.repo = "shelf", .ref = "side", .grep = "moved"}, {"-E", "-i", "--grep=moved", "side"});
  all.compare_log({.repo = "shelf", .limit = 2}, {"HEAD"});
}

TEST(git_served_history, of_drawn_repositories_is_that_of_git) {
  for (const std::uint64_t seed : {11u, 12u}) {
    made_repository made({"--initial-branch=main"});
    import_history(made, drawn_history({.seed = seed, .commits = 120}));
    const compared_history all(bare_copy(made, made.path()));
    comparison_count patches, files;
    all.compare_patches(all.commits(), patches);
    all.compare_files("main", files);
    EXPECT_EQ(patches.left_out, 0u);
    EXPECT_EQ(files.left_out, 0u);
    all.compare_log({.repo = "shelf", .ref = "main"}, {"main"});
  }
}

TEST(git_served_history, of_this_project_is_that_of_git) {
  const std::string sources = HONDANA_SOURCE_FOLDER;
  if (!std::filesystem::exists(sources + "/.git")) GTEST_SKIP() << "the sources have no history here";
  const made_repository beside;
  const compared_history all(bare_copy(beside, sources));
  auto ids = all.commits();
  // git is run for each; all commits and files, and blame of those of half of the history ago, are another run. A sanitizer
  // sees as much in few of them.
  const bool is_whole = std::getenv("HONDANA_BLAMES_ALL") != nullptr;
#ifdef HONDANA_IS_SANITIZED
  constexpr std::size_t usual_part = 32;
#else
  constexpr std::size_t usual_part = 8;
#endif
  const std::size_t one_in = is_whole ? 1 : usual_part;
  for (std::size_t i = 0; i * one_in < ids.size(); ++i) ids[i] = ids[i * one_in];
  ids.resize((ids.size() + one_in - 1) / one_in);
  comparison_count patches, files, blames;
  all.compare_patches(ids, patches);
  all.compare_files("HEAD", files, one_in);
  const auto paths = pieces_of(run_git(all.folder, {"ls-tree", "-r", "-z", "--name-only", "HEAD"}));
  const std::size_t blame_one_in = is_whole ? 1 : usual_part * 16;
  for (std::size_t i = 0; i < paths.size(); i += blame_one_in) all.compare_blame("HEAD", paths[i], blames);
  if (is_whole) {
    const auto halfway = ids[ids.size() / 2];
    for (const auto& one : pieces_of(run_git(all.folder, {"ls-tree", "-r", "-z", "--name-only", halfway})))
      all.compare_blame(halfway, one, blames);
    EXPECT_GE(blames.compared, paths.size() * 8 / 10) << blames.left_out << " were left out";
  }
  // Files whose names are those of credentials, of tests and fuzz seeds, and patches beyond four megabytes are not shown.
  EXPECT_GE(patches.compared, ids.size() * 9 / 10) << patches.left_out << " were left out";
  EXPECT_GE(files.compared, paths.size() / one_in * 9 / 10) << files.left_out << " were left out";
  EXPECT_GE(blames.compared, std::min<std::size_t>(paths.size() / blame_one_in, 5) / 2);
  all.compare_log({.repo = "shelf"}, {"HEAD"});
  all.compare_log({.repo = "shelf", .path = "src"}, {"HEAD", "--", "src"});
}

}  // namespace
}  // namespace hondana::git
