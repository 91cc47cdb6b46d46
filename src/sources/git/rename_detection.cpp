/// Detects renamed and copied files among the changes between two trees.
#include "sources/git/rename_detection.hpp"

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

#include <hondana/error.hpp>

#include "sources/git/cancellation.hpp"
#include "sources/git/diff.hpp"
#include "sources/git/diff_content.hpp"
#include "sources/git/similarity.hpp"

namespace hondana::git {

/// A file of the parent, and whether the commit deleted it.
struct parent_file {
  diff_side file;
  bool is_deleted = false;
};

/// Searches for copies as git does, in unmodified files, too. An equal file comes first. Otherwise the most similar deleted
/// file, if it is one of the best four; then the most similar file of all. Both must be similar by at least half. Of equally
/// good files, those of the same name come first, then those first in path order. `files` are sorted by path. Errors:
/// cancelled; those of contents.
[[nodiscard]] result<std::optional<diff_side>> find_copy_source(const diff_side& target, const std::vector<parent_file>& files,
                                                                side_contents& contents, const compare_options& options);

namespace {

constexpr unsigned min_similarity_score = max_score / 2;
constexpr unsigned min_name_score = max_score / 4 * 3;
// For the square root of the number of pairs.
constexpr std::int64_t default_rename_limit = 1000, max_rename_limit = 5000;
// Equal files that are examined for each added file.
constexpr std::size_t max_equal = 100;
constexpr std::size_t candidates_per_file = 4;
// Stored entries of all chunk bags together. Above this limit, files are read and counted each time.
constexpr std::size_t max_stored_chunks = std::size_t{32} << 20;

std::string_view file_name_of(const diff_side& file) noexcept {
  const std::string_view path = file.path;
  return path.substr(path.rfind('/') + 1);
}

/// A file that was added or deleted.
struct rename_candidate {
  std::size_t index;  // index in the changes
  const diff_side* file;
  std::optional<std::size_t> partner{};  // index in the changes
  unsigned score = 0;
  std::optional<std::uint64_t> size{};
  std::optional<chunk_bag> chunks{};
  bool lacks_content = false;  // its content was not fetched, so it only matches equal files
};

/// An added file and a deleted one, and how similar they are.
struct candidate_pair {
  rename_candidate *added = nullptr, *deleted = nullptr;
  unsigned score = 0;
  bool has_same_name = false;
  std::size_t order = 0;  // index among all that are sorted
};

bool is_better(const candidate_pair& left, const candidate_pair& right) noexcept {
  return left.score != right.score ? left.score > right.score : left.has_same_name > right.has_same_name;
}

/// diff.renameLimit of the repository's configuration. 0 means no limit, as in git; at most `max_rename_limit` is used.
std::uint64_t rename_limit(git_repository* repo) {
  git_config* raw = nullptr;
  std::int64_t limit = default_rename_limit;
  if (git_repository_config(&raw, repo) == 0) {
    const config_pointer config(raw);
    if (git_config_get_int64(&limit, raw, "diff.renamelimit") < 0) limit = default_rename_limit;
    git_error_clear();
  }
  return static_cast<std::uint64_t>(limit <= 0 ? max_rename_limit : std::min(limit, max_rename_limit));
}

class rename_search {
 public:
  rename_search(std::vector<change>& changes, side_contents& contents, const compare_options& options)
      : changes_(changes), contents_(contents), options_(options), cancellation_(options.is_stopped) {}

  result<void> run() {
    collect();
    if (added_.empty() || deleted_.empty()) return {};
    HONDANA_TRY(match_identical());
    HONDANA_TRY(match_by_name());
    HONDANA_TRY(match_by_content());
    apply();
    return {};
  }

 private:
  void collect() {
    for (std::size_t i = 0; i < changes_.size(); ++i) {
      if (changes_[i].status == change::kind::added) added_.push_back({i, &changes_[i].new_side});
      if (changes_[i].status == change::kind::deleted) deleted_.push_back({i, &changes_[i].old_side});
    }
  }

  void match_pair(rename_candidate& added, rename_candidate& deleted, unsigned score) {
    added.partner = deleted.index;
    added.score = score;
    deleted.partner = added.index;
  }

  result<void> match_identical() {
    // Links and submodules can only be renamed as the same kind. Whether a file is executable does not matter.
    using key = std::pair<std::string_view, std::uint32_t>;
    const auto key_of = [](const diff_side& file) {
      return key({reinterpret_cast<const char*>(file.id.id), GIT_OID_RAWSZ}, is_regular(file.mode) ? 0 : file.mode);
    };
    std::map<key, std::vector<rename_candidate*>> identical;
    for (auto& deleted : deleted_) identical[key_of(*deleted.file)].push_back(&deleted);
    std::map<key, std::size_t> used;  // how many at the front of each are used
    for (auto& added : added_) {
      HONDANA_TRY(cancellation_.step());
      const auto match = identical.find(key_of(*added.file));
      if (match == identical.end() || git_oid_is_zero(&added.file->id)) continue;
      auto& used_count = used[match->first];
      const auto unused = std::span(match->second).subspan(used_count);
      const auto examined = unused.first(std::min(unused.size(), max_equal));
      if (examined.empty()) continue;
      auto best = std::find_if(examined.begin(), examined.end(), [&](const rename_candidate* other) {
        return file_name_of(*other->file) == file_name_of(*added.file);
      });
      if (best == examined.end()) best = examined.begin();
      match_pair(added, **best, max_score);
      std::rotate(examined.begin(), best, best + 1);
      ++used_count;
    }
    return {};
  }

  result<void> match_by_name() {
    const auto index_names = [](std::vector<rename_candidate>& candidates) {
      std::unordered_map<std::string_view, rename_candidate*> names;  // null: several files have the name
      for (auto& candidate : candidates) {
        if (candidate.partner) continue;
        if (const auto [slot, is_new] = names.try_emplace(file_name_of(*candidate.file), &candidate); !is_new)
          slot->second = nullptr;
      }
      return names;
    };
    const auto added_by_name = index_names(added_), deleted_by_name = index_names(deleted_);
    for (auto& deleted : deleted_) {
      if (deleted.partner) continue;
      const auto name = file_name_of(*deleted.file);
      const auto match = added_by_name.find(name);
      if (match == added_by_name.end() || match->second == nullptr || deleted_by_name.at(name) == nullptr) continue;
      HONDANA_TRY(const auto score, similarity(deleted, *match->second, min_name_score));
      if (score >= min_name_score) match_pair(*match->second, deleted, score);
    }
    return {};
  }

  result<void> match_by_content() {
    std::erase_if(deleted_, [](const rename_candidate& deleted) { return deleted.partner.has_value(); });
    const auto unmatched =
        std::count_if(added_.begin(), added_.end(), [](const rename_candidate& candidate) { return !candidate.partner; });
    const auto limit = rename_limit(contents_.repo());
    if (static_cast<std::uint64_t>(unmatched) * deleted_.size() > limit * limit) return {};
    std::vector<candidate_pair> pairs;
    for (auto& added : added_) {
      if (added.partner) continue;
      HONDANA_TRY(auto best, best_pairs(added));
      pairs.insert(pairs.end(), best.begin(), best.end());
      discard_chunks(added);
    }
    for (std::size_t i = 0; i < pairs.size(); ++i) pairs[i].order = i;
    std::sort(pairs.begin(), pairs.end(), [](const candidate_pair& a, const candidate_pair& b) {
      return is_better(a, b) || (!is_better(b, a) && a.order < b.order);
    });
    for (const auto& pair : pairs) {
      if (pair.score < min_similarity_score) break;
      if (!pair.added->partner && !pair.deleted->partner) match_pair(*pair.added, *pair.deleted, pair.score);
    }
    return {};
  }

  /// The best of the deleted files. Their order matters for equal scores: only a better one replaces the worst.
  result<std::vector<candidate_pair>> best_pairs(rename_candidate& added) {
    std::vector<candidate_pair> best;
    for (auto& deleted : deleted_) {
      HONDANA_TRY(cancellation_.step());
      HONDANA_TRY(const auto score, similarity(deleted, added, min_similarity_score));
      const candidate_pair pair{&added, &deleted, score, file_name_of(*added.file) == file_name_of(*deleted.file)};
      if (best.size() < candidates_per_file) {
        best.push_back(pair);
      } else if (auto worst = std::max_element(best.begin(), best.end(), is_better); is_better(pair, *worst)) {
        *worst = pair;
      }
    }
    return best;
  }

  result<unsigned> similarity(rename_candidate& old_file, rename_candidate& new_file, unsigned min_score) {
    if (!is_regular(old_file.file->mode) || !is_regular(new_file.file->mode)) return 0u;
    for (auto* file : {&old_file, &new_file}) {
      if (file->lacks_content) return 0u;
      if (file->size) continue;
      const auto size = contents_.size_of(*file->file);
      file->lacks_content = !size && contents_.lacks(*file->file);
      if (file->lacks_content) return 0u;
      if (!size) return tl::unexpected(size.error());
      file->size = *size;
    }
    const auto larger = std::max(*old_file.size, *new_file.size);
    if (larger > options_.max_rename_bytes || !may_be_similar(*old_file.size, *new_file.size, min_score)) return 0u;
    for (auto* candidate : {&old_file, &new_file}) {
      if (candidate->chunks) continue;
      HONDANA_TRY(auto chunks, chunks_of(*candidate->file));
      candidate->chunks = std::move(chunks);
      stored_chunks_ += candidate->chunks->entries.size();
    }
    const auto score = score_of(common_bytes(*old_file.chunks, *new_file.chunks), *old_file.size, *new_file.size);
    for (auto* entry : {&old_file, &new_file}) {
      if (stored_chunks_ > max_stored_chunks) discard_chunks(*entry);
    }
    return score;
  }

  void discard_chunks(rename_candidate& candidate) {
    if (candidate.chunks) stored_chunks_ -= candidate.chunks->entries.size();
    candidate.chunks.reset();
  }

  result<chunk_bag> chunks_of(const diff_side& file) {
    HONDANA_TRY(cancellation_.check());
    HONDANA_TRY(const auto content, contents_.read(file, options_.max_rename_bytes));
    return counter_.count(content.bytes(), !content.is_binary);
  }

  void apply() {
    for (auto& candidate : added_) {
      if (!candidate.partner) continue;
      auto& renamed = changes_[candidate.index];
      renamed.status = change::kind::renamed;
      renamed.old_side = std::move(changes_[*candidate.partner].old_side);
      renamed.similarity = candidate.score * 100 / max_score;
      changes_[*candidate.partner].old_side.mode = 0;
    }
    std::erase_if(changes_, [](const change& item) { return !item.old_side.exists() && !item.new_side.exists(); });
  }

  std::vector<change>& changes_;
  side_contents& contents_;
  const compare_options& options_;
  cancellation_checker cancellation_;
  chunk_counter counter_;
  std::vector<rename_candidate> added_, deleted_;
  std::size_t stored_chunks_ = 0;
};

}  // namespace

result<void> find_renames(std::vector<change>& changes, side_contents& contents, const compare_options& options) {
  return rename_search(changes, contents, options).run();
}

namespace {

constexpr unsigned min_copy_score = max_score / 2;
constexpr std::size_t candidates_per_copy = 4;

std::string_view base_name_of(const diff_side& file) noexcept {
  const std::string_view path = file.path;
  return path.substr(path.rfind('/') + 1);
}

struct copy_candidate {
  const parent_file* file = nullptr;
  unsigned score = 0;
  bool has_same_name = false;
};

bool is_better_copy(const copy_candidate& a, const copy_candidate& b) noexcept {
  return a.score != b.score ? a.score > b.score : a.has_same_name > b.has_same_name;
}

const diff_side* find_identical(const diff_side& target, const std::vector<parent_file>& files) {
  const diff_side* best = nullptr;
  int best_score = -1;
  for (const auto& [file, is_deleted] : files) {
    if (git_oid_equal(&file.id, &target.id) == 0 || is_regular(file.mode) != is_regular(target.mode)) continue;
    const int score = (is_deleted ? 1 : 0) + (base_name_of(file) == base_name_of(target) ? 1 : 0);
    if (score > best_score) best = &file;
    best_score = std::max(best_score, score);
  }
  return best;
}

class copy_search {
 public:
  copy_search(const diff_side& target, side_contents& contents, const compare_options& options)
      : target_(target), contents_(contents), options_(options), cancellation_(options.is_stopped) {}

  result<std::optional<diff_side>> run(const std::vector<parent_file>& files) {
    HONDANA_TRY(load_target());
    if (size_ > options_.max_rename_bytes) return std::nullopt;
    for (const auto& file : files) {
      HONDANA_TRY(cancellation_.step());
      HONDANA_TRY(const auto score, score_with(file.file));
      add_candidate({&file, score, base_name_of(file.file) == base_name_of(target_)});
    }
    for (const bool must_be_deleted : {true, false}) {
      if (const auto* match = find_best(must_be_deleted)) return match->file;
    }
    return std::nullopt;
  }

 private:
  /// Of equally good files, the first one.
  [[nodiscard]] const parent_file* find_best(bool must_be_deleted) const {
    const copy_candidate* best = nullptr;
    for (const auto& candidate : best_) {
      if (candidate.score < min_copy_score || (must_be_deleted && !candidate.file->is_deleted)) continue;
      if (best == nullptr || is_better_copy(candidate, *best)) best = &candidate;
    }
    return best == nullptr ? nullptr : best->file;
  }

  result<void> load_target() {
    HONDANA_TRY(const auto size, contents_.size_of(target_));
    size_ = size;
    if (size_ > options_.max_rename_bytes) return {};
    HONDANA_TRY(const auto chunks, chunks_of(target_));
    chunks_ = chunks;
    return {};
  }

  result<chunk_bag> chunks_of(const diff_side& file) {
    HONDANA_TRY(const auto content, contents_.read(file, options_.max_rename_bytes));
    return counter_.count(content.bytes(), !content.is_binary);
  }

  result<unsigned> score_with(const diff_side& other) {
    if (!is_regular(other.mode)) return 0U;
    const auto size = contents_.size_of(other);
    if (!size && contents_.lacks(other)) return 0U;
    if (!size) return tl::unexpected(size.error());
    if (*size > options_.max_rename_bytes || !may_be_similar(*size, size_, min_copy_score)) return 0U;
    HONDANA_TRY(const auto chunks, chunks_of(other));
    return score_of(common_bytes(chunks, chunks_), *size, size_);
  }

  /// The order of the files matters for equal scores: only a better one replaces the worst.
  void add_candidate(const copy_candidate& candidate) {
    if (best_.size() < candidates_per_copy) {
      best_.push_back(candidate);
    } else if (const auto worst = std::max_element(best_.begin(), best_.end(), is_better_copy);
               is_better_copy(candidate, *worst)) {
      *worst = candidate;
    }
  }

  const diff_side& target_;
  side_contents& contents_;
  const compare_options& options_;
  cancellation_checker cancellation_;
  chunk_counter counter_;
  chunk_bag chunks_;
  std::uint64_t size_ = 0;
  std::vector<copy_candidate> best_;
};

}  // namespace

result<std::optional<diff_side>> find_copy_source(const diff_side& target, const std::vector<parent_file>& files,
                                                  side_contents& contents, const compare_options& options) {
  if (const auto* identical = find_identical(target, files)) return *identical;
  if (!is_regular(target.mode) || contents.lacks(target)) return std::nullopt;
  return copy_search(target, contents, options).run(files);
}

namespace {

// Files of a tree that are examined for copies. In larger trees, only deleted files are.
constexpr std::size_t max_copy_candidates = 20'000;

result<tree_pointer> lookup_tree(git_repository* repo, const git_oid& id) {
  git_tree* raw = nullptr;
  if (const int code = git_tree_lookup(&raw, repo, &id); code != 0)
    return libgit2_failure("tree " + to_hex(id) + " cannot be read; run `git fsck` for details");
  return tree_pointer(raw);
}

/// All files of a tree. Those in `deleted`, which are in the same order, are marked as deleted.
result<std::vector<parent_file>> list_files(git_repository* repo, git_tree* tree, const std::vector<change>& deleted,
                                            const compare_options& options) {
  auto changes = compare(repo, nullptr, tree, options);
  if (!changes) return tl::unexpected(std::move(changes.error()));
  std::vector<parent_file> files;
  auto next = deleted.begin();
  for (auto& item : *changes) {
    const bool is_deleted = next != deleted.end() && next->old_side.path == item.new_side.path;
    if (is_deleted) ++next;
    files.push_back({std::move(item.new_side), is_deleted});
  }
  return files;
}

result<std::optional<diff_side>> find_most_similar(const change& target, std::vector<change> candidates, git_repository* repo,
                                                   const compare_options& options) {
  candidates.insert(std::lower_bound(candidates.begin(), candidates.end(), target,
                                     [](const change& a, const change& b) { return a.old_side.path < b.old_side.path; }),
                    target);
  side_contents contents(repo);
  HONDANA_TRY(find_renames(candidates, contents, options));
  for (auto& item : candidates) {
    if (item.status == change::kind::renamed) return std::move(item.old_side);
  }
  return std::nullopt;
}

}  // namespace

result<std::optional<diff_side>> find_rename_source(git_repository* repo, const rename_query& query) {
  HONDANA_TRY(auto old_tree, lookup_tree(repo, query.old_tree));
  HONDANA_TRY(auto new_tree, lookup_tree(repo, query.new_tree));
  compare_options options;
  options.detects_renames = false;
  options.max_rename_bytes = query.max_file_bytes;
  options.is_stopped = query.is_stopped;
  HONDANA_TRY(auto changes, compare(repo, old_tree.get(), new_tree.get(), options));
  const auto added = std::find_if(changes.begin(), changes.end(), [&](const change& item) {
    return item.status == change::kind::added && item.new_side.path == query.path;
  });
  if (added == changes.end()) return std::nullopt;
  const change target = std::move(*added);
  std::erase_if(changes, [](const change& item) { return item.status != change::kind::deleted; });
  if (!query.detects_copies) return find_most_similar(target, std::move(changes), repo, options);

  HONDANA_TRY(auto files, list_files(repo, old_tree.get(), changes, options));
  if (files.size() > max_copy_candidates) std::erase_if(files, [](const parent_file& file) { return !file.is_deleted; });
  side_contents contents(repo);
  return find_copy_source(target.new_side, files, contents, options);
}

}  // namespace hondana::git
