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
  std::size_t source_first = 0;
  std::size_t count = 0;

  bool operator==(const traced_lines&) const = default;
};

/// Sorts by `first`, and joins runs that are adjacent in both files. Runs may share lines of the ancestor's file: a merge can
/// have them from both sides.
void join_runs(std::vector<traced_lines>& runs);

/// Returns the lines of `runs` that already were in `old_text`, with their numbers there. Lines that were written in `new_text`
/// stay in `runs`. Lines are matched as in git blame. Errors: of `diff_lines`.
[[nodiscard]] result<std::vector<traced_lines>> extract_older(std::vector<traced_lines>& runs, std::string_view old_text,
                                                              std::string_view new_text,
                                                              const cancellation_checker& cancellation);

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
  blame_search(git_repository* repo, const commit_store& store, const blame_request& request);

  /// `file`: the requested file with its content and the requested lines. Errors: of the store, naming the commit; cancelled.
  [[nodiscard]] result<blame_result> run(commit_node start, suspect file);

 private:
  /// A commit whose children have been examined. A child with a wrong clock may come later, and makes the commit wait once
  /// more.
  struct waiting_commit {
    commit_node node;
    std::vector<suspect> suspects;
  };
  struct queue_entry {
    std::uint64_t time = 0;
    git_oid commit{};
    bool operator<(const queue_entry& other) const noexcept { return time < other.time; }
  };
  using candidates = std::vector<std::pair<const commit_node*, suspect>>;

  void assign(const commit_node& commit, suspect file);
  [[nodiscard]] result<void> inspect(const commit_node& commit, const std::vector<commit_node>& parents, suspect& file);
  void cache_content(suspect& target, std::shared_ptr<const object_bytes> content);
  [[nodiscard]] waiting_commit pop_newest();
  [[nodiscard]] result<std::vector<commit_node>> read_parents(const commit_node& commit);
  [[nodiscard]] result<void> read(suspect& file) const;
  /// False: a parent has an equal file, and was given all lines.
  [[nodiscard]] result<bool> find_older(candidates& older_files, const commit_node& commit,
                                        const std::vector<commit_node>& parents, suspect& file);
  [[nodiscard]] bool add_candidate(candidates& older_files, const commit_node& parent, suspect older, suspect& file);
  [[nodiscard]] result<std::optional<suspect>> find_renamed(const commit_node& commit, const commit_node& parent,
                                                            const suspect& file) const;
  [[nodiscard]] result<void> compare_lines(candidates& older, const commit_node& commit, suspect& file);
  void record_lines(std::vector<blamed_lines>& runs, const commit_node& commit, const suspect& file) const;

  void record_too_large(const commit_node& commit, const suspect& file);

  git_repository* const repo_;
  const commit_store& store_;
  const blame_request& request_;
  cancellation_checker cancellation_;
  std::unordered_map<git_oid, waiting_commit, oid_hash, oid_equal> waiting_;
  std::priority_queue<queue_entry> queue_;
  std::uint64_t cached_bytes_ = 0;  // contents of waiting files
  blame_result result_;
};

namespace {

constexpr std::size_t block_bytes = 1024;

/// How many bytes at the end git excludes from a comparison without context: equal blocks, of which the first begins at a line.
/// This decides which of several equal lines count as unchanged.
std::size_t common_suffix(std::string_view a, std::string_view b) noexcept {
  std::size_t size = 0;
  while (std::min(a.size(), b.size()) >= size + block_bytes &&
         a.substr(a.size() - size - block_bytes, block_bytes) == b.substr(b.size() - size - block_bytes, block_bytes))
    size += block_bytes;
  const auto line_end = a.find('\n', a.size() - size);
  return line_end == std::string_view::npos ? 0 : a.size() - line_end - 1;
}

/// The lines of the new text from `begin` to before `end` are those of the old text from `old_begin` on.
struct unchanged_run {
  std::size_t begin, end, old_begin;
};

std::vector<unchanged_run> find_unchanged(const std::vector<line_edit>& edits, std::size_t end) {
  std::vector<unchanged_run> out;
  std::size_t new_line = 0, old_line = 0;
  for (const auto& edit : edits) {
    if (edit.new_start > new_line) out.push_back({new_line, edit.new_start, old_line});
    new_line = edit.new_start + edit.new_lines;
    old_line = edit.old_start + edit.old_lines;
  }
  if (end > new_line) out.push_back({new_line, end, old_line});
  return out;
}

}  // namespace

void join_runs(std::vector<traced_lines>& runs) {
  std::sort(runs.begin(), runs.end(), [](const traced_lines& a, const traced_lines& b) { return a.first < b.first; });
  std::vector<traced_lines> joined;
  for (const auto& run : runs) {
    if (!joined.empty() && joined.back().source_first + joined.back().count == run.source_first &&
        joined.back().first + joined.back().count == run.first)
      joined.back().count += run.count;
    else
      joined.push_back(run);
  }
  runs = std::move(joined);
}

result<std::vector<traced_lines>> extract_older(std::vector<traced_lines>& runs, std::string_view old_text,
                                                std::string_view new_text, const cancellation_checker& cancellation) {
  const auto suffix_bytes = common_suffix(old_text, new_text);
  HONDANA_TRY(const auto edits, diff_lines(old_text.substr(0, old_text.size() - suffix_bytes),
                                           new_text.substr(0, new_text.size() - suffix_bytes), cancellation));
  std::size_t last = 0;
  for (const auto& traced : runs) last = std::max(last, traced.source_first + traced.count);
  const auto unchanged_runs = find_unchanged(edits, last);

  std::vector<traced_lines> older, newer;
  for (auto run : runs) {
    auto unchanged = std::partition_point(unchanged_runs.begin(), unchanged_runs.end(),
                                          [&run](const unchanged_run& candidate) { return candidate.end <= run.source_first; });
    while (run.count > 0) {
      while (unchanged != unchanged_runs.end() && unchanged->end <= run.source_first) ++unchanged;
      const bool is_unchanged = unchanged != unchanged_runs.end() && unchanged->begin <= run.source_first;
      const auto run_end = unchanged == unchanged_runs.end() ? run.source_first + run.count
                           : is_unchanged                    ? unchanged->end
                                                             : unchanged->begin;
      const auto count = std::min(run.count, run_end - run.source_first);
      if (is_unchanged)
        older.push_back({run.first, unchanged->old_begin + (run.source_first - unchanged->begin), count});
      else
        newer.push_back({run.first, run.source_first, count});
      run.first += count;
      run.source_first += count;
      run.count -= count;
    }
  }
  runs = std::move(newer);
  return older;
}

namespace {

// Bytes of cached contents of waiting files. Others are read again.
constexpr std::uint64_t max_cached_content_bytes = std::uint64_t{64} << 20;

bool is_file(const path_entry& entry) noexcept { return entry.exists() && !entry.is_folder() && !entry.is_submodule(); }

bool is_same_kind(const path_entry& a, const path_entry& b) noexcept {
  return is_file(a) && is_file(b) && a.is_link() == b.is_link();
}

/// Sorts runs by line, and joins adjacent runs of one commit and file.
void merge_adjacent(std::vector<blamed_lines>& runs) {
  std::sort(runs.begin(), runs.end(), [](const blamed_lines& a, const blamed_lines& b) { return a.first < b.first; });
  std::vector<blamed_lines> merged;
  for (auto& run : runs) {
    if (!merged.empty()) {
      auto& last = merged.back();
      if (last.first + last.count == run.first && last.original_first + last.count == run.original_first &&
          git_oid_equal(&last.commit, &run.commit) != 0 && last.path == run.path && last.is_too_large == run.is_too_large) {
        last.count += run.count;
        continue;
      }
    }
    merged.push_back(std::move(run));
  }
  runs = std::move(merged);
}

}  // namespace

blame_search::blame_search(git_repository* repo, const commit_store& store, const blame_request& request)
    : repo_(repo), store_(store), request_(request), cancellation_(request.is_stopped) {}

result<blame_result> blame_search::run(commit_node start, suspect file) {
  assign(start, std::move(file));
  for (std::size_t examined = 0; !queue_.empty() && examined < request_.budget; ++examined) {
    HONDANA_TRY(cancellation_.check());
    auto current = pop_newest();
    HONDANA_TRY(const auto parents, read_parents(current.node));
    for (auto& candidate : current.suspects) {
      join_runs(candidate.lines);
      HONDANA_TRY(inspect(current.node, parents, candidate));
    }
  }
  for (const auto& [id, waiting] : waiting_) {
    for (const auto& candidate : waiting.suspects) record_lines(result_.unresolved, waiting.node, candidate);
  }
  merge_adjacent(result_.runs);
  merge_adjacent(result_.unresolved);
  return std::move(result_);
}

blame_search::waiting_commit blame_search::pop_newest() {
  auto newest = waiting_.extract(queue_.top().commit);
  queue_.pop();
  for (const auto& candidate : newest.mapped().suspects) {
    if (candidate.content) cached_bytes_ -= candidate.content->text().size();
  }
  return std::move(newest.mapped());
}

void blame_search::assign(const commit_node& commit, suspect file) {
  if (file.lines.empty()) return;
  const auto [it, is_new] = waiting_.try_emplace(commit.id);
  auto& waiting = it->second;
  if (is_new) {
    queue_.push({commit.time, commit.id});
    waiting.node = commit;
  }
  auto content = std::move(file.content);
  auto existing = std::find_if(waiting.suspects.begin(), waiting.suspects.end(),
                               [&file](const suspect& candidate) { return candidate.path == file.path; });
  if (existing == waiting.suspects.end())
    existing = waiting.suspects.insert(existing, std::move(file));
  else
    existing->lines.insert(existing->lines.end(), file.lines.begin(), file.lines.end());
  if (content && !existing->content) cache_content(*existing, std::move(content));
}

void blame_search::cache_content(suspect& target, std::shared_ptr<const object_bytes> content) {
  const auto size = content->text().size();
  if (cached_bytes_ + size > max_cached_content_bytes) return;
  cached_bytes_ += size;
  target.content = std::move(content);
}

result<std::vector<commit_node>> blame_search::read_parents(const commit_node& commit) {
  std::vector<commit_node> parents;
  for (const auto& id : commit.parents) {
    HONDANA_TRY(cancellation_.step());
    auto parent = store_.read(id);
    if (!parent) {
      auto error = std::move(parent.error());
      error.code = errc::source_unavailable;
      error.public_text =
          "the history cannot be followed beyond commit " + to_hex(commit.id) + ": its parent " + error.public_text;
      return tl::unexpected(std::move(error));
    }
    parents.push_back(std::move(*parent));
  }
  return parents;
}

result<void> blame_search::inspect(const commit_node& commit, const std::vector<commit_node>& parents, suspect& file) {
  candidates older;
  HONDANA_TRY(const auto needs_comparison, find_older(older, commit, parents, file));
  return needs_comparison ? compare_lines(older, commit, file) : result<void>{};
}

/// Files with the same name in all parents come first, and only then files with an earlier name.
result<bool> blame_search::find_older(candidates& older_files, const commit_node& commit,
                                      const std::vector<commit_node>& parents, suspect& file) {
  const path_steps steps(file.path);
  std::vector<const commit_node*> parents_without_file;
  for (const auto& parent : parents) {
    HONDANA_TRY(auto trail, steps.trail(store_, parent.tree, &file.trail));
    if (is_same_kind(trail.entry, file.trail.entry)) {
      if (!add_candidate(older_files, parent, {file.path, std::move(trail)}, file)) return false;
    } else if (!trail.entry.exists() || trail.entry.is_folder()) {
      parents_without_file.push_back(&parent);
    }
  }
  for (const auto* parent : parents_without_file) {
    HONDANA_TRY(auto older, find_renamed(commit, *parent, file));
    if (older && !add_candidate(older_files, *parent, std::move(*older), file)) return false;
  }
  // Parents get lines in their own order, however their files were found.
  std::sort(older_files.begin(), older_files.end(), [](const auto& a, const auto& b) { return a.first < b.first; });
  return true;
}

/// Of equal files in several parents, only the first one is added.
bool blame_search::add_candidate(candidates& older_files, const commit_node& parent, suspect older, suspect& file) {
  const auto is_equal = [&older](const suspect& other) {
    return git_oid_equal(&older.trail.entry.id, &other.trail.entry.id) != 0;
  };
  if (is_equal(file)) {
    older.content = std::move(file.content);
    older.lines = std::move(file.lines);
    assign(parent, std::move(older));
    return false;
  }
  const bool is_duplicate = std::any_of(older_files.begin(), older_files.end(), [&](const auto& candidate) {
    return candidate.first < &parent && is_equal(candidate.second);
  });
  if (!is_duplicate) older_files.emplace_back(&parent, std::move(older));
  return true;
}

result<std::optional<suspect>> blame_search::find_renamed(const commit_node& commit, const commit_node& parent,
                                                          const suspect& file) const {
  rename_query query{parent.tree, commit.tree, file.path};
  query.max_file_bytes = request_.max_file_bytes;
  query.is_stopped = request_.is_stopped;
  HONDANA_TRY(const auto source, find_rename_source(repo_, query));
  if (!source || (request_.is_visible && !request_.is_visible(parent.id, source->path))) return std::nullopt;
  HONDANA_TRY(auto trail, path_steps(source->path).trail(store_, parent.tree, nullptr));
  return suspect{source->path, std::move(trail)};
}

result<void> blame_search::read(suspect& file) const {
  if (file.content) return {};
  HONDANA_TRY(auto content, store_.blob(file.trail.entry.id, request_.max_file_bytes));
  file.content = std::make_shared<const object_bytes>(std::move(content));
  return {};
}

result<void> blame_search::compare_lines(candidates& older, const commit_node& commit, suspect& file) {
  for (auto& [parent, older_file] : older) {
    if (file.lines.empty()) return {};
    HONDANA_TRY(read(file));
    if (auto status = read(older_file); !status) {
      if (status.error().code != errc::response_too_large) return status;
      record_too_large(commit, file);
      return {};
    }
    if (count_lines(older_file.content->text()) + count_lines(file.content->text()) > request_.max_lines) {
      record_too_large(commit, file);
      return {};
    }
    HONDANA_TRY(auto lines, extract_older(file.lines, older_file.content->text(), file.content->text(), cancellation_));
    older_file.lines = std::move(lines);
    assign(*parent, std::move(older_file));
  }
  record_lines(result_.runs, commit, file);
  return {};
}

void blame_search::record_lines(std::vector<blamed_lines>& runs, const commit_node& commit, const suspect& file) const {
  for (const auto& lines : file.lines)
    runs.push_back({commit.id, file.path, lines.first + 1, lines.source_first + 1, lines.count, commit.parents.empty()});
}

void blame_search::record_too_large(const commit_node& commit, const suspect& file) {
  const auto first = result_.unresolved.size();
  record_lines(result_.unresolved, commit, file);
  for (auto i = first; i < result_.unresolved.size(); ++i) result_.unresolved[i].is_too_large = true;
}

namespace {

// Bytes at the front of a file. A NUL among them makes it binary for git.
constexpr std::size_t nul_search_bytes = 8000;

tl::unexpected<failure> blame_error(errc code, const blame_request& request, const std::string& reason) {
  return fail(code, "the lines of `" + request.path + "` cannot be attributed: " + reason);
}

result<path_trail> find_trail(const commit_store& store, const commit_node& commit, const blame_request& request) {
  auto trail = path_steps(request.path).trail(store, commit.tree, nullptr);
  if (!trail) return trail;
  if (!trail->entry.exists())
    return blame_error(errc::resource_not_found, request, "commit " + to_hex(commit.id) + " has no such file");
  if (trail->entry.is_folder())
    return blame_error(errc::invalid_argument, request, "it is a folder; request one of the files in it");
  if (trail->entry.is_submodule())
    return blame_error(errc::invalid_argument, request,
                       "it is a submodule; request the file in the submodule's own repository");
  return trail;
}

/// The requested lines as one run; none if a whole empty file is requested.
result<std::vector<traced_lines>> requested_lines(std::string_view text, const blame_request& request) {
  if (text.substr(0, nul_search_bytes).find('\0') != std::string_view::npos)
    return blame_error(errc::invalid_argument, request, "it is a binary file, which has no lines");
  const auto count = count_lines(text);
  if (count > request.max_lines) {
    return blame_error(errc::response_too_large, request,
                       "it has " + std::to_string(count) + " lines, but at most " + std::to_string(request.max_lines) +
                           " are compared; read its history for the commits that changed it");
  }
  const auto first = std::max<std::size_t>(request.first, 1);
  const auto last = request.last == 0 ? count : std::min(request.last, count);
  if (count == 0 && first == 1 && request.last == 0) return std::vector<traced_lines>{};
  if (request.last != 0 && request.last < first) {
    return blame_error(errc::invalid_argument, request,
                       "line " + std::to_string(first) + " comes after line " + std::to_string(request.last) +
                           "; give the smaller number first");
  }
  if (first > count) {
    return blame_error(errc::invalid_argument, request,
                       "line " + std::to_string(first) + " is requested, but the file has " + std::to_string(count) +
                           (count == 1 ? " line" : " lines"));
  }
  return std::vector<traced_lines>{{first - 1, first - 1, last - first + 1}};
}

}  // namespace

result<blame_result> blame(git_repository* repo, const blame_request& request) {
  HONDANA_TRY(const auto store, commit_store::open(repo));
  HONDANA_TRY(auto start, store.read(request.commit));
  HONDANA_TRY(auto trail, find_trail(store, start, request));
  HONDANA_TRY(auto content, store.blob(trail.entry.id, request.max_file_bytes));
  suspect file{request.path, std::move(trail), std::make_shared<const object_bytes>(std::move(content))};
  HONDANA_TRY(auto lines, requested_lines(file.content->text(), request));
  file.lines = std::move(lines);
  return blame_search(repo, store, request).run(std::move(start), std::move(file));
}

}  // namespace hondana::git
