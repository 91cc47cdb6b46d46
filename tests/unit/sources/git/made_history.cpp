/// Draws with a generator that is the same everywhere.
#include "unit/sources/git/made_history.hpp"

#include <algorithm>
#include <array>
#include <map>
#include <ostream>
#include <random>
#include <set>
#include <string_view>
#include <utility>

#include <gtest/gtest.h>

namespace hondana::git {
namespace {

using line_list = std::vector<std::string>;

struct drawn_file {
  line_list lines;
  std::string mode = "100644";
  bool has_end = true;
};

using drawn_tree = std::map<std::string, drawn_file>;

constexpr std::array<std::string_view, 8> drawn_names{"a.txt",     "b.txt",     "d/x.txt",   "d/y.txt",
                                                      "d/e/z.txt", "d/e/a.txt", "w o/r.txt", "x.txt"};
constexpr std::array<std::string_view, 6> authors{
    "Ada Writer <ada@example.com>", "Björn <b@example.org>",         "C <c@example.com>",
    "山田 <yamada@example.jp>",     "Bert Ernie <bert@example.com>", "x <>"};
constexpr long first_second = 1'600'000'000;

class drawer {
 public:
  explicit drawer(const history_shape& shape) : shape_(shape), random_(shape.seed) {}

  std::string run() {
    for (std::size_t i = 0; i < shape_.commits; ++i) add_commit(i, i + 1 == shape_.commits);
    return std::move(stream_);
  }

 private:
  std::size_t below(std::size_t end) { return static_cast<std::size_t>(random_() % end); }
  bool happens(std::size_t of_hundred) { return below(100) < of_hundred; }

  std::vector<std::size_t> parents_of(std::size_t i, bool is_last) {
    // Two more beginnings or so.
    if (i == 0 || (!is_last && below(shape_.commits) < 2)) return {};
    std::vector<std::size_t> parents{happens(shape_.branching) ? i - 1 - below(std::min<std::size_t>(i, 15)) : i - 1};
    const auto add = [&](std::size_t one) {
      if (std::find(parents.begin(), parents.end(), one) == parents.end()) parents.push_back(one);
    };
    if (happens(shape_.merging)) {
      for (auto left = happens(15) ? 3 : 1; left > 0; --left) {
        // What nobody has merged yet, more often than not, so that not all of it is left to the end.
        const auto tip = tips_.lower_bound(below(i));
        add(happens(70) && tip != tips_.end() ? *tip : i - 1 - below(std::min<std::size_t>(i, 25)));
      }
    }
    if (is_last) std::for_each(tips_.begin(), tips_.end(), add);
    for (const auto one : parents) tips_.erase(one);
    return parents;
  }

  std::uint64_t time_of(std::size_t i) {
    const auto at = static_cast<std::size_t>(first_second);
    if (shape_.time == history_shape::clocks::coarse) return at + i / 20 * 60;
    if (shape_.time == history_shape::clocks::right) return at + i * 60 + below(60);
    if (happens(2)) return happens(50) ? 0 : at * 2;
    return at + i * 60 + below(60 * (happens(10) ? 200 : 4));
  }

  std::string line() { return std::string(below(3), ' ') + "line " + std::to_string(below(happens(60) ? 12 : 4000)); }

  void edit(drawn_file& file) {
    auto& lines = file.lines;
    for (auto left = 1 + below(3); left > 0; --left) {
      const auto at = lines.begin() + static_cast<std::ptrdiff_t>(below(lines.size() + 1));
      const auto count = std::min<std::ptrdiff_t>(static_cast<std::ptrdiff_t>(below(5)), lines.end() - at);
      if (happens(35)) {
        lines.erase(at, at + count);
      } else if (happens(20)) {
        const line_list moved(at, at + count);
        lines.insert(lines.begin() + static_cast<std::ptrdiff_t>(below(lines.size() + 1)), moved.begin(), moved.end());
      } else {
        line_list fresh(1 + below(4));
        for (auto& one : fresh) one = line();
        lines.insert(at, fresh.begin(), fresh.end());
      }
    }
    if (happens(5)) file.has_end = !file.has_end;
    if (happens(3)) file.mode = file.mode == "100644" ? "100755" : "100644";
  }

  void change(drawn_tree& tree) {
    const std::string name(drawn_names[below(drawn_names.size())]);
    const auto there = tree.find(name);
    if (there == tree.end()) {
      if (!tree.empty() && happens(70)) {  // of another name, or a copy
        const auto from = std::next(tree.begin(), static_cast<std::ptrdiff_t>(below(tree.size())));
        auto file = from->second;
        if (happens(70)) tree.erase(from);
        if (happens(50)) edit(file);
        tree[name] = std::move(file);
        return;
      }
      drawn_file file;
      file.lines.resize(5 + below(60));
      for (auto& one : file.lines) one = line();
      tree[name] = std::move(file);
    } else if (happens(6)) {
      tree.erase(there);
    } else if (happens(8)) {  // back to what it was
      const auto& then = trees_[below(trees_.size())];
      if (const auto old = then.find(name); old != then.end()) there->second = old->second;
    } else {
      edit(there->second);
    }
  }

  drawn_tree tree_of(const std::vector<std::size_t>& parents) {
    if (parents.empty()) return {};
    auto tree = trees_[parents.front()];
    for (std::size_t i = 1; i < parents.size(); ++i) {
      for (const auto& [name, theirs] : trees_[parents[i]]) {
        if (happens(40)) continue;
        auto& ours = tree[name];
        if (ours.lines.empty() || happens(30)) {
          ours = theirs;
        } else {  // one half of each
          const auto middle = static_cast<std::ptrdiff_t>(std::min(ours.lines.size(), theirs.lines.size()) / 2);
          ours.lines.erase(ours.lines.begin() + middle, ours.lines.end());
          ours.lines.insert(ours.lines.end(), theirs.lines.begin() + middle, theirs.lines.end());
        }
      }
    }
    return tree;
  }

  void add_commit(std::size_t i, bool is_last) {
    const auto parents = parents_of(i, is_last);
    auto tree = shape_.has_files ? tree_of(parents) : drawn_tree();
    if (shape_.has_files) {
      const bool is_clean_merge = parents.size() > 1 && happens(60);
      for (auto left = is_clean_merge ? 0 : below(4); left > 0; --left) change(tree);
    }
    tips_.insert(i);
    const auto when = std::to_string(time_of(i)) + " +0000\n";
    const auto message = "commit " + std::to_string(i) + (i % 3 == 0 ? "\nis a third\n\nFixes:\tBUG-" : "\n\nbody ") +
                         std::to_string(i) + (i % 5 == 0 ? "" : "\n");
    stream_ += "commit refs/heads/main\nmark :" + std::to_string(i + 1) + "\nauthor " +
               std::string(authors[below(authors.size())]) + ' ' + when + "committer " +
               std::string(authors[i % authors.size()]) + ' ' + when + data(message);
    for (std::size_t p = 0; p < parents.size(); ++p)
      stream_ += (p == 0 ? "from :" : "merge :") + std::to_string(parents[p] + 1) + '\n';
    if (parents.empty() && i != 0) stream_ += "from 0000000000000000000000000000000000000000\n";
    if (shape_.has_files) {
      stream_ += "deleteall\n";
      for (const auto& [name, file] : tree) {
        std::string text;
        for (const auto& one : file.lines) text += one + '\n';
        if (!file.has_end && !text.empty()) text.pop_back();
        stream_ +=
            "M " + file.mode + " inline " + (name.find(' ') == std::string::npos ? name : '"' + name + '"') + '\n' + data(text);
      }
      trees_.push_back(std::move(tree));
    }
    stream_ += '\n';
  }

  static std::string data(const std::string& text) { return "data " + std::to_string(text.size()) + '\n' + text + '\n'; }

  const history_shape shape_;
  std::mt19937_64 random_;
  std::vector<drawn_tree> trees_;
  std::set<std::size_t> tips_;
  std::string stream_;
};

}  // namespace

void PrintTo(const history_shape& shape, std::ostream* to) {
  *to << "seed " << shape.seed << ", " << shape.commits << " commits, clocks " << static_cast<int>(shape.time) << ", branching "
      << shape.branching << ", merging " << shape.merging;
}

std::string drawn_history(const history_shape& shape) { return drawer(shape).run(); }

void import_history(const made_repository& into, const std::string& stream) {
  into.git({"fast-import", "--quiet", "--force", "--date-format=raw-permissive"}, stream);
}

repository_pointer opened(const std::string& path) {
  EXPECT_TRUE(initialize_libgit2());
  git_repository* raw = nullptr;
  EXPECT_EQ(git_repository_open_ext(&raw, path.c_str(), GIT_REPOSITORY_OPEN_NO_SEARCH, nullptr), 0) << last_error_message();
  return repository_pointer(raw);
}

git_oid id_at(git_repository* in, const std::string& revision) {
  git_object* raw = nullptr;
  EXPECT_EQ(git_revparse_single(&raw, in, revision.c_str()), 0) << revision << ": " << last_error_message();
  const object_pointer found(raw);
  return raw == nullptr ? git_oid{} : *git_object_id(raw);
}

git_oid id_from(const std::string& digits) {
  git_oid id{};
  EXPECT_EQ(git_oid_fromstrn(&id, digits.data(), digits.size()), 0) << digits;
  return id;
}

std::vector<std::string> files_at(const std::string& folder, const std::string& revision) {
  auto listed = run_git(folder, {"ls-tree", "-r", "-z", "--name-only", revision});
  std::replace(listed.begin(), listed.end(), '\0', '\n');
  return lines_of(listed);
}

std::vector<std::string> lines_of(const std::string& text) {
  std::vector<std::string> lines;
  for (std::string_view rest = text; !rest.empty();) {
    lines.emplace_back(rest.substr(0, rest.find('\n')));
    rest.remove_prefix(std::min(lines.back().size() + 1, rest.size()));
  }
  return lines;
}

}  // namespace hondana::git
