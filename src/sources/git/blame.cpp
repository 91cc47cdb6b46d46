/// Finds the commit that wrote each line of a file.
#include "sources/git/blame.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <queue>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

#include <hondana/error.hpp>

#include "sources/git/cancellation.hpp"
#include "sources/git/commit_store.hpp"
#include "sources/git/libgit2.hpp"
#include "sources/git/line_diff.hpp"
#include "sources/git/rename_detection.hpp"

namespace hondana::git {

/// A run of lines: its position in the requested file, and in the file of an ancestor. From 0.
struct traced_lines {
  std::size_t first = 0;
  std::size_t there = 0;
  std::size_t count = 0;

  bool operator==(const traced_lines&) const = default;
};

/// Sorts by `first`, and joins runs that are adjacent in both files. Runs may share lines of the ancestor's file: a merge can
/// have them from both sides.
void join(std::vector<traced_lines>& runs);

/// Returns the lines of `runs` that already were in `before`, with their numbers there. Lines that were written in `after` stay
/// in `runs`. Lines are matched as in git blame. Errors: of line_edits.
[[nodiscard]] result<std::vector<traced_lines>> take_older(std::vector<traced_lines>& runs, std::string_view before,
                                                           std::string_view after, const stopping& when);

/// A file at a commit, and the lines that may originate there.
struct suspect {
  std::string path;
  path_trail trail;
  std::shared_ptr<const object_bytes> content{};  ///< Null: not read yet, or not cached.
  std::vector<traced_lines> lines{};
};

/// One search. Lifetime: refers to its arguments.
class blame_search {
 public:
  blame_search(git_repository* in, const commit_store& store, const blame_request& request);

  /// `file`: the requested file with its content and the requested lines. Errors: of the store, naming the commit; cancelled.
  [[nodiscard]] result<blamed> run(commit_node from, suspect file);

 private:
  /// A commit whose children have been examined. A child with a wrong clock may come later, and makes the commit wait once
  /// more.
  struct waiting {
    commit_node node;
    std::vector<suspect> suspects;
  };
  struct turn {
    std::uint64_t time = 0;
    git_oid commit{};
    bool operator<(const turn& other) const noexcept { return time < other.time; }
  };
  using candidates = std::vector<std::pair<const commit_node*, suspect>>;

  void hand(const commit_node& to, suspect file);
  [[nodiscard]] result<void> look_at(const commit_node& at, const std::vector<commit_node>& parents, suspect& file);
  void keep_content(suspect& at, std::shared_ptr<const object_bytes> content);
  [[nodiscard]] waiting take_newest();
  [[nodiscard]] result<std::vector<commit_node>> parents_of(const commit_node& at);
  [[nodiscard]] result<void> read(suspect& file) const;
  /// False: a parent has an equal file, and was given all lines.
  [[nodiscard]] result<bool> find_older(candidates& into, const commit_node& at, const std::vector<commit_node>& parents,
                                        suspect& file);
  [[nodiscard]] bool add(candidates& into, const commit_node& parent, suspect older, suspect& file);
  [[nodiscard]] result<std::optional<suspect>> renamed(const commit_node& at, const commit_node& parent,
                                                       const suspect& file) const;
  [[nodiscard]] result<void> compare_lines(candidates& older, const commit_node& at, suspect& file);
  void keep(std::vector<blamed_lines>& into, const commit_node& at, const suspect& file) const;

  void keep_too_large(const commit_node& at, const suspect& file);

  git_repository* const in_;
  const commit_store& store_;
  const blame_request& request_;
  stopping stopping_;
  std::unordered_map<git_oid, waiting, oid_hash, oid_equal> waiting_;
  std::priority_queue<turn> turns_;
  std::uint64_t kept_bytes_ = 0;  // contents of waiting files
  blamed found_;
};

namespace {

constexpr std::size_t block = 1024;

/// How many bytes at the end git excludes from a comparison without context: equal blocks, of which the first begins at a line.
/// This decides which of several equal lines count as unchanged.
std::size_t common_end(std::string_view a, std::string_view b) noexcept {
  std::size_t size = 0;
  while (std::min(a.size(), b.size()) >= size + block &&
         a.substr(a.size() - size - block, block) == b.substr(b.size() - size - block, block))
    size += block;
  const auto line_end = a.find('\n', a.size() - size);
  return line_end == std::string_view::npos ? 0 : a.size() - line_end - 1;
}

/// The lines of `after` from `begin` to before `end` are those of `before` from `there` on.
struct unchanged {
  std::size_t begin, end, there;
};

std::vector<unchanged> unchanged_between(const std::vector<line_edit>& edits, std::size_t end) {
  std::vector<unchanged> out;
  std::size_t after = 0, before = 0;
  for (const auto& one : edits) {
    if (one.after > after) out.push_back({after, one.after, before});
    after = one.after + one.after_count;
    before = one.before + one.before_count;
  }
  if (end > after) out.push_back({after, end, before});
  return out;
}

}  // namespace

void join(std::vector<traced_lines>& runs) {
  std::sort(runs.begin(), runs.end(), [](const traced_lines& a, const traced_lines& b) { return a.first < b.first; });
  std::vector<traced_lines> joined;
  for (const auto& one : runs) {
    if (!joined.empty() && joined.back().there + joined.back().count == one.there &&
        joined.back().first + joined.back().count == one.first)
      joined.back().count += one.count;
    else
      joined.push_back(one);
  }
  runs = std::move(joined);
}

result<std::vector<traced_lines>> take_older(std::vector<traced_lines>& runs, std::string_view before, std::string_view after,
                                             const stopping& when) {
  const auto end = common_end(before, after);
  HONDANA_TRY(const auto edits, line_edits(before.substr(0, before.size() - end), after.substr(0, after.size() - end), when));
  std::size_t last = 0;
  for (const auto& one : runs) last = std::max(last, one.there + one.count);
  const auto stretches = unchanged_between(edits, last);

  std::vector<traced_lines> older, newer;
  for (auto run : runs) {
    auto stretch =
        std::partition_point(stretches.begin(), stretches.end(), [&run](const unchanged& one) { return one.end <= run.there; });
    while (run.count > 0) {
      while (stretch != stretches.end() && stretch->end <= run.there) ++stretch;
      const bool has_stayed = stretch != stretches.end() && stretch->begin <= run.there;
      const auto stop = stretch == stretches.end() ? run.there + run.count : has_stayed ? stretch->end : stretch->begin;
      const auto count = std::min(run.count, stop - run.there);
      if (has_stayed)
        older.push_back({run.first, stretch->there + (run.there - stretch->begin), count});
      else
        newer.push_back({run.first, run.there, count});
      run.first += count;
      run.there += count;
      run.count -= count;
    }
  }
  runs = std::move(newer);
  return older;
}

namespace {

// Bytes of cached contents of waiting files. Others are read again.
constexpr std::uint64_t most_kept_bytes = std::uint64_t{64} << 20;

bool is_file(const path_entry& entry) noexcept { return entry.is_there() && !entry.is_folder() && !entry.is_submodule(); }

bool is_same_kind(const path_entry& a, const path_entry& b) noexcept {
  return is_file(a) && is_file(b) && a.is_link() == b.is_link();
}

/// Sorts runs by line, and joins adjacent runs of one commit and file.
void tidy(std::vector<blamed_lines>& runs) {
  std::sort(runs.begin(), runs.end(), [](const blamed_lines& a, const blamed_lines& b) { return a.first < b.first; });
  std::vector<blamed_lines> tidied;
  for (auto& one : runs) {
    if (!tidied.empty()) {
      auto& last = tidied.back();
      if (last.first + last.count == one.first && last.first_then + last.count == one.first_then &&
          git_oid_equal(&last.commit, &one.commit) != 0 && last.path == one.path && last.is_too_large == one.is_too_large) {
        last.count += one.count;
        continue;
      }
    }
    tidied.push_back(std::move(one));
  }
  runs = std::move(tidied);
}

}  // namespace

blame_search::blame_search(git_repository* in, const commit_store& store, const blame_request& request)
    : in_(in), store_(store), request_(request), stopping_(request.is_stopped) {}

result<blamed> blame_search::run(commit_node from, suspect file) {
  hand(from, std::move(file));
  for (std::size_t looked_at = 0; !turns_.empty() && looked_at < request_.budget; ++looked_at) {
    HONDANA_TRY(stopping_.ask());
    auto at = take_newest();
    HONDANA_TRY(const auto parents, parents_of(at.node));
    for (auto& one : at.suspects) {
      join(one.lines);
      HONDANA_TRY(look_at(at.node, parents, one));
    }
  }
  for (const auto& [id, at] : waiting_) {
    for (const auto& one : at.suspects) keep(found_.open, at.node, one);
  }
  tidy(found_.runs);
  tidy(found_.open);
  return std::move(found_);
}

blame_search::waiting blame_search::take_newest() {
  auto newest = waiting_.extract(turns_.top().commit);
  turns_.pop();
  for (const auto& one : newest.mapped().suspects) {
    if (one.content) kept_bytes_ -= one.content->text().size();
  }
  return std::move(newest.mapped());
}

void blame_search::hand(const commit_node& to, suspect file) {
  if (file.lines.empty()) return;
  const auto [place, is_new] = waiting_.try_emplace(to.id);
  auto& at = place->second;
  if (is_new) {
    turns_.push({to.time, to.id});
    at.node = to;
  }
  auto content = std::move(file.content);
  auto same =
      std::find_if(at.suspects.begin(), at.suspects.end(), [&file](const suspect& one) { return one.path == file.path; });
  if (same == at.suspects.end())
    same = at.suspects.insert(same, std::move(file));
  else
    same->lines.insert(same->lines.end(), file.lines.begin(), file.lines.end());
  if (content && !same->content) keep_content(*same, std::move(content));
}

void blame_search::keep_content(suspect& at, std::shared_ptr<const object_bytes> content) {
  const auto size = content->text().size();
  if (kept_bytes_ + size > most_kept_bytes) return;
  kept_bytes_ += size;
  at.content = std::move(content);
}

result<std::vector<commit_node>> blame_search::parents_of(const commit_node& at) {
  std::vector<commit_node> parents;
  for (const auto& id : at.parents) {
    HONDANA_TRY(stopping_.step());
    auto parent = store_.read(id);
    if (!parent) {
      auto error = std::move(parent.error());
      error.code = errc::source_unavailable;
      error.public_text =
          "the history cannot be followed beyond commit " + text_of(at.id) + ": its parent " + error.public_text;
      return tl::unexpected(std::move(error));
    }
    parents.push_back(std::move(*parent));
  }
  return parents;
}

result<void> blame_search::look_at(const commit_node& at, const std::vector<commit_node>& parents, suspect& file) {
  candidates older;
  HONDANA_TRY(const auto has_to_compare, find_older(older, at, parents, file));
  return has_to_compare ? compare_lines(older, at, file) : result<void>{};
}

/// Files with the same name in all parents come first, and only then files with an earlier name.
result<bool> blame_search::find_older(candidates& into, const commit_node& at, const std::vector<commit_node>& parents,
                                      suspect& file) {
  const path_steps steps(file.path);
  std::vector<const commit_node*> without;
  for (const auto& parent : parents) {
    HONDANA_TRY(auto trail, steps.trail(store_, parent.tree, &file.trail));
    if (is_same_kind(trail.entry, file.trail.entry)) {
      if (!add(into, parent, {file.path, std::move(trail)}, file)) return false;
    } else if (!trail.entry.is_there() || trail.entry.is_folder()) {
      without.push_back(&parent);
    }
  }
  for (const auto* parent : without) {
    HONDANA_TRY(auto before, renamed(at, *parent, file));
    if (before && !add(into, *parent, std::move(*before), file)) return false;
  }
  // Parents get lines in their own order, however their files were found.
  std::sort(into.begin(), into.end(), [](const auto& a, const auto& b) { return a.first < b.first; });
  return true;
}

/// Of equal files in several parents, only the first one is added.
bool blame_search::add(candidates& into, const commit_node& parent, suspect older, suspect& file) {
  const auto is_equal = [&older](const suspect& other) {
    return git_oid_equal(&older.trail.entry.id, &other.trail.entry.id) != 0;
  };
  if (is_equal(file)) {
    older.content = std::move(file.content);
    older.lines = std::move(file.lines);
    hand(parent, std::move(older));
    return false;
  }
  const bool is_known =
      std::any_of(into.begin(), into.end(), [&](const auto& one) { return one.first < &parent && is_equal(one.second); });
  if (!is_known) into.emplace_back(&parent, std::move(older));
  return true;
}

result<std::optional<suspect>> blame_search::renamed(const commit_node& at, const commit_node& parent,
                                                     const suspect& file) const {
  rename_question question{parent.tree, at.tree, file.path};
  question.largest_file = request_.largest_file;
  question.is_stopped = request_.is_stopped;
  HONDANA_TRY(const auto before, renamed_from(in_, question));
  if (!before || (request_.shows && !request_.shows(parent.id, before->path))) return std::nullopt;
  HONDANA_TRY(auto trail, path_steps(before->path).trail(store_, parent.tree, nullptr));
  return suspect{before->path, std::move(trail)};
}

result<void> blame_search::read(suspect& file) const {
  if (file.content) return {};
  HONDANA_TRY(auto content, store_.blob(file.trail.entry.id, request_.largest_file));
  file.content = std::make_shared<const object_bytes>(std::move(content));
  return {};
}

result<void> blame_search::compare_lines(candidates& older, const commit_node& at, suspect& file) {
  for (auto& [parent, before] : older) {
    if (file.lines.empty()) return {};
    HONDANA_TRY(read(file));
    if (auto done = read(before); !done) {
      if (done.error().code != errc::response_too_large) return done;
      keep_too_large(at, file);
      return {};
    }
    if (count_lines(before.content->text()) + count_lines(file.content->text()) > request_.most_lines) {
      keep_too_large(at, file);
      return {};
    }
    HONDANA_TRY(auto lines, take_older(file.lines, before.content->text(), file.content->text(), stopping_));
    before.lines = std::move(lines);
    hand(*parent, std::move(before));
  }
  keep(found_.runs, at, file);
  return {};
}

void blame_search::keep(std::vector<blamed_lines>& into, const commit_node& at, const suspect& file) const {
  for (const auto& one : file.lines)
    into.push_back({at.id, file.path, one.first + 1, one.there + 1, one.count, at.parents.empty()});
}

void blame_search::keep_too_large(const commit_node& at, const suspect& file) {
  const auto first = found_.open.size();
  keep(found_.open, at, file);
  for (auto i = first; i < found_.open.size(); ++i) found_.open[i].is_too_large = true;
}

namespace {

// Bytes at the front of a file. A NUL among them makes it binary for git.
constexpr std::size_t looked_through = 8000;

tl::unexpected<failure> not_blamed(errc code, const blame_request& request, const std::string& why) {
  return fail(code, "the lines of `" + request.path + "` cannot be attributed: " + why);
}

result<path_trail> trail_of_file(const commit_store& store, const commit_node& at, const blame_request& request) {
  auto trail = path_steps(request.path).trail(store, at.tree, nullptr);
  if (!trail) return trail;
  if (!trail->entry.is_there())
    return not_blamed(errc::resource_not_found, request, "commit " + text_of(at.id) + " has no such file");
  if (trail->entry.is_folder())
    return not_blamed(errc::invalid_argument, request, "it is a folder; request one of the files in it");
  if (trail->entry.is_submodule())
    return not_blamed(errc::invalid_argument, request, "it is a submodule; request the file in the submodule's own repository");
  return trail;
}

/// The requested lines as one run; none if a whole empty file is requested.
result<std::vector<traced_lines>> lines_of(std::string_view text, const blame_request& request) {
  if (text.substr(0, looked_through).find('\0') != std::string_view::npos)
    return not_blamed(errc::invalid_argument, request, "it is a binary file, which has no lines");
  const auto count = count_lines(text);
  if (count > request.most_lines) {
    return not_blamed(errc::response_too_large, request,
                      "it has " + std::to_string(count) + " lines, but at most " + std::to_string(request.most_lines) +
                          " are compared; read its history for the commits that changed it");
  }
  const auto first = std::max<std::size_t>(request.first, 1);
  const auto last = request.last == 0 ? count : std::min(request.last, count);
  if (count == 0 && first == 1 && request.last == 0) return std::vector<traced_lines>{};
  if (request.last != 0 && request.last < first) {
    return not_blamed(errc::invalid_argument, request,
                      "line " + std::to_string(first) + " comes after line " + std::to_string(request.last) +
                          "; give the smaller number first");
  }
  if (first > count) {
    return not_blamed(errc::invalid_argument, request,
                      "line " + std::to_string(first) + " is requested, but the file has " + std::to_string(count) +
                          (count == 1 ? " line" : " lines"));
  }
  return std::vector<traced_lines>{{first - 1, first - 1, last - first + 1}};
}

}  // namespace

result<blamed> blame(git_repository* in, const blame_request& request) {
  HONDANA_TRY(const auto store, commit_store::open(in));
  HONDANA_TRY(auto from, store.read(request.commit));
  HONDANA_TRY(auto trail, trail_of_file(store, from, request));
  HONDANA_TRY(auto content, store.blob(trail.entry.id, request.largest_file));
  suspect file{request.path, std::move(trail), std::make_shared<const object_bytes>(std::move(content))};
  HONDANA_TRY(auto lines, lines_of(file.content->text(), request));
  file.lines = std::move(lines);
  return blame_search(in, store, request).run(std::move(from), std::move(file));
}

}  // namespace hondana::git
