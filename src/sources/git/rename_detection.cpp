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
struct earlier_file {
  side file;
  bool is_gone = false;
};

/// Searches for copies as git does, in unmodified files, too. An equal file comes first. Otherwise the most similar deleted
/// file, if it is one of the best four; then the most similar file of all. Both must be similar by at least half. Of equally
/// good files, those of the same name come first, then those first in path order. `files` are sorted by path. Errors:
/// cancelled; those of contents.
[[nodiscard]] result<std::optional<side>> copied_from(const side& wanted, const std::vector<earlier_file>& files,
                                                      side_contents& from, const compare_options& options);

namespace {

constexpr unsigned least_score = whole_score / 2;
constexpr unsigned least_by_name = whole_score / 4 * 3;
constexpr std::uint64_t most_pairs = 1000 * 1000;
// Equal files that are examined for each added file.
constexpr std::size_t most_equal = 100;
constexpr std::size_t best_kept = 4;
// Stored kinds of chunks of all files together. Above this limit, files are read and counted each time.
constexpr std::size_t most_kept_kinds = std::size_t{32} << 20;

std::string_view name_of(const side& of) noexcept {
  const std::string_view path = of.path;
  return path.substr(path.rfind('/') + 1);
}

/// A file that was added or deleted.
struct mover {
  std::size_t at;  // index in the changes
  const side* what;
  std::optional<std::size_t> partner{};  // index in the changes
  unsigned score = 0;
  std::optional<std::uint64_t> size{};
  std::optional<chunk_bag> chunks{};
  bool is_lacking = false;  // its content was not fetched, so it only matches equal files
};

/// An added file and a deleted one, and how similar they are.
struct likeness {
  mover *came = nullptr, *went = nullptr;
  unsigned score = 0;
  bool has_same_name = false;
  std::size_t place = 0;  // index among all that are sorted
};

bool is_better(const likeness& one, const likeness& other) noexcept {
  return one.score != other.score ? one.score > other.score : one.has_same_name > other.has_same_name;
}

class rename_search {
 public:
  rename_search(std::vector<change>& changes, side_contents& from, const compare_options& options)
      : changes_(changes), from_(from), options_(options), stopping_(options.is_stopped) {}

  result<void> run() {
    gather();
    if (came_.empty() || went_.empty()) return {};
    HONDANA_TRY(equal());
    HONDANA_TRY(by_name());
    HONDANA_TRY(by_content());
    settle();
    return {};
  }

 private:
  void gather() {
    for (std::size_t i = 0; i < changes_.size(); ++i) {
      if (changes_[i].what == change::kind::added) came_.push_back({i, &changes_[i].after});
      if (changes_[i].what == change::kind::deleted) went_.push_back({i, &changes_[i].before});
    }
  }

  void pair(mover& came, mover& went, unsigned score) {
    came.partner = went.at;
    came.score = score;
    went.partner = came.at;
  }

  result<void> equal() {
    // Links and submodules can only be renamed as the same kind. Whether a file is executable does not matter.
    using key = std::pair<std::string_view, std::uint32_t>;
    const auto key_of = [](const side& of) {
      return key({reinterpret_cast<const char*>(of.id.id), GIT_OID_RAWSZ}, is_regular(of.mode) ? 0 : of.mode);
    };
    std::map<key, std::vector<mover*>> equals;
    for (auto& one : went_) equals[key_of(*one.what)].push_back(&one);
    std::map<key, std::size_t> taken;  // how many at the front of each are taken
    for (auto& one : came_) {
      HONDANA_TRY(stopping_.step());
      const auto found = equals.find(key_of(*one.what));
      if (found == equals.end() || git_oid_is_zero(&one.what->id)) continue;
      auto& front = taken[found->first];
      const auto free = std::span(found->second).subspan(front);
      const auto looked_at = free.first(std::min(free.size(), most_equal));
      if (looked_at.empty()) continue;
      auto best = std::find_if(looked_at.begin(), looked_at.end(),
                               [&](const mover* went) { return name_of(*went->what) == name_of(*one.what); });
      if (best == looked_at.end()) best = looked_at.begin();
      pair(one, **best, whole_score);
      std::rotate(looked_at.begin(), best, best + 1);
      ++front;
    }
    return {};
  }

  result<void> by_name() {
    const auto by_their_names = [](std::vector<mover>& movers) {
      std::unordered_map<std::string_view, mover*> names;  // null: several files have the name
      for (auto& one : movers) {
        if (one.partner) continue;
        if (const auto [at, is_new] = names.try_emplace(name_of(*one.what), &one); !is_new) at->second = nullptr;
      }
      return names;
    };
    const auto coming = by_their_names(came_), going = by_their_names(went_);
    for (auto& one : went_) {
      if (one.partner) continue;
      const auto name = name_of(*one.what);
      const auto other = coming.find(name);
      if (other == coming.end() || other->second == nullptr || going.at(name) == nullptr) continue;
      HONDANA_TRY(const auto score, similarity(one, *other->second, least_by_name));
      if (score >= least_by_name) pair(*other->second, one, score);
    }
    return {};
  }

  result<void> by_content() {
    std::erase_if(went_, [](const mover& one) { return one.partner.has_value(); });
    const auto left = std::count_if(came_.begin(), came_.end(), [](const mover& one) { return !one.partner; });
    if (static_cast<std::uint64_t>(left) * went_.size() > most_pairs) return {};
    std::vector<likeness> all;
    for (auto& one : came_) {
      if (one.partner) continue;
      HONDANA_TRY(auto best, most_alike(one));
      all.insert(all.end(), best.begin(), best.end());
      forget_chunks(one);
    }
    for (std::size_t i = 0; i < all.size(); ++i) all[i].place = i;
    std::sort(all.begin(), all.end(),
              [](const likeness& a, const likeness& b) { return is_better(a, b) || (!is_better(b, a) && a.place < b.place); });
    for (const auto& one : all) {
      if (one.score < least_score) break;
      if (!one.came->partner && !one.went->partner) pair(*one.came, *one.went, one.score);
    }
    return {};
  }

  /// The best of the deleted files. Their order matters for equal scores: only a better one replaces the worst.
  result<std::vector<likeness>> most_alike(mover& came) {
    std::vector<likeness> best;
    for (auto& went : went_) {
      HONDANA_TRY(stopping_.step());
      HONDANA_TRY(const auto score, similarity(went, came, least_score));
      const likeness one{&came, &went, score, name_of(*came.what) == name_of(*went.what)};
      if (best.size() < best_kept) {
        best.push_back(one);
      } else if (auto worst = std::max_element(best.begin(), best.end(), is_better); is_better(one, *worst)) {
        *worst = one;
      }
    }
    return best;
  }

  result<unsigned> similarity(mover& before, mover& after, unsigned least) {
    if (!is_regular(before.what->mode) || !is_regular(after.what->mode)) return 0u;
    for (auto* one : {&before, &after}) {
      if (one->is_lacking) return 0u;
      if (one->size) continue;
      const auto size = from_.size_of(*one->what);
      one->is_lacking = !size && from_.lacks(*one->what);
      if (one->is_lacking) return 0u;
      if (!size) return tl::unexpected(size.error());
      one->size = *size;
    }
    const auto larger = std::max(*before.size, *after.size);
    if (larger > options_.largest_renamed || !may_be_similar(*before.size, *after.size, least)) return 0u;
    for (auto* one : {&before, &after}) {
      if (one->chunks) continue;
      HONDANA_TRY(auto chunks, chunks_of(*one->what));
      one->chunks = std::move(chunks);
      kept_kinds_ += one->chunks->kinds.size();
    }
    const auto score = score_of(common_bytes(*before.chunks, *after.chunks), *before.size, *after.size);
    for (auto* one : {&before, &after}) {
      if (kept_kinds_ > most_kept_kinds) forget_chunks(*one);
    }
    return score;
  }

  void forget_chunks(mover& of) {
    if (of.chunks) kept_kinds_ -= of.chunks->kinds.size();
    of.chunks.reset();
  }

  result<chunk_bag> chunks_of(const side& of) {
    HONDANA_TRY(stopping_.ask());
    HONDANA_TRY(const auto read, from_.read(of, options_.largest_renamed));
    return counter_.count(read.bytes(), !read.is_binary);
  }

  void settle() {
    for (auto& one : came_) {
      if (!one.partner) continue;
      auto& here = changes_[one.at];
      here.what = change::kind::renamed;
      here.before = std::move(changes_[*one.partner].before);
      here.similarity = one.score * 100 / whole_score;
      changes_[*one.partner].before.mode = 0;
    }
    std::erase_if(changes_, [](const change& one) { return !one.before.is_there() && !one.after.is_there(); });
  }

  std::vector<change>& changes_;
  side_contents& from_;
  const compare_options& options_;
  stopping stopping_;
  chunk_counter counter_;
  std::vector<mover> came_, went_;
  std::size_t kept_kinds_ = 0;
};

}  // namespace

result<void> find_renames(std::vector<change>& changes, side_contents& from, const compare_options& options) {
  return rename_search(changes, from, options).run();
}

namespace {

constexpr unsigned least_copied = whole_score / 2;
constexpr std::size_t copies_kept = 4;

std::string_view last_name_of(const side& of) noexcept {
  const std::string_view path = of.path;
  return path.substr(path.rfind('/') + 1);
}

struct resemblance {
  const earlier_file* file = nullptr;
  unsigned score = 0;
  bool has_same_name = false;
};

bool is_more_alike(const resemblance& a, const resemblance& b) noexcept {
  return a.score != b.score ? a.score > b.score : a.has_same_name > b.has_same_name;
}

const side* equal_to(const side& wanted, const std::vector<earlier_file>& files) {
  const side* best = nullptr;
  int best_score = -1;
  for (const auto& [file, is_gone] : files) {
    if (git_oid_equal(&file.id, &wanted.id) == 0 || is_regular(file.mode) != is_regular(wanted.mode)) continue;
    const int score = (is_gone ? 1 : 0) + (last_name_of(file) == last_name_of(wanted) ? 1 : 0);
    if (score > best_score) best = &file;
    best_score = std::max(best_score, score);
  }
  return best;
}

class copy_search {
 public:
  copy_search(const side& wanted, side_contents& from, const compare_options& options)
      : wanted_(wanted), from_(from), options_(options), stopping_(options.is_stopped) {}

  result<std::optional<side>> run(const std::vector<earlier_file>& files) {
    HONDANA_TRY(begin());
    if (size_ > options_.largest_renamed) return std::nullopt;
    for (const auto& one : files) {
      HONDANA_TRY(stopping_.step());
      HONDANA_TRY(const auto score, score_with(one.file));
      note({&one, score, last_name_of(one.file) == last_name_of(wanted_)});
    }
    for (const bool must_be_gone : {true, false}) {
      if (const auto* found = best_of(must_be_gone)) return found->file;
    }
    return std::nullopt;
  }

 private:
  /// Of equally good files, the first one.
  [[nodiscard]] const earlier_file* best_of(bool must_be_gone) const {
    const resemblance* best = nullptr;
    for (const auto& one : best_) {
      if (one.score < least_copied || (must_be_gone && !one.file->is_gone)) continue;
      if (best == nullptr || is_more_alike(one, *best)) best = &one;
    }
    return best == nullptr ? nullptr : best->file;
  }

  result<void> begin() {
    HONDANA_TRY(const auto size, from_.size_of(wanted_));
    size_ = size;
    if (size_ > options_.largest_renamed) return {};
    HONDANA_TRY(const auto chunks, chunks_of(wanted_));
    chunks_ = chunks;
    return {};
  }

  result<chunk_bag> chunks_of(const side& of) {
    HONDANA_TRY(const auto read, from_.read(of, options_.largest_renamed));
    return counter_.count(read.bytes(), !read.is_binary);
  }

  result<unsigned> score_with(const side& other) {
    if (!is_regular(other.mode)) return 0U;
    HONDANA_TRY(const auto size, from_.size_of(other));
    if (size > options_.largest_renamed || !may_be_similar(size, size_, least_copied)) return 0U;
    HONDANA_TRY(const auto chunks, chunks_of(other));
    return score_of(common_bytes(chunks, chunks_), size, size_);
  }

  /// The order of the files matters for equal scores: only a better one replaces the worst.
  void note(const resemblance& one) {
    if (best_.size() < copies_kept) {
      best_.push_back(one);
    } else if (const auto worst = std::max_element(best_.begin(), best_.end(), is_more_alike); is_more_alike(one, *worst)) {
      *worst = one;
    }
  }

  const side& wanted_;
  side_contents& from_;
  const compare_options& options_;
  stopping stopping_;
  chunk_counter counter_;
  chunk_bag chunks_;
  std::uint64_t size_ = 0;
  std::vector<resemblance> best_;
};

}  // namespace

result<std::optional<side>> copied_from(const side& wanted, const std::vector<earlier_file>& files, side_contents& from,
                                        const compare_options& options) {
  if (const auto* equal = equal_to(wanted, files)) return *equal;
  if (!is_regular(wanted.mode)) return std::nullopt;
  return copy_search(wanted, from, options).run(files);
}

namespace {

// Files of a tree that are examined for copies. In larger trees, only deleted files are.
constexpr std::size_t most_copied = 20'000;

result<tree_pointer> tree_at(git_repository* in, const git_oid& id) {
  git_tree* raw = nullptr;
  if (const int code = git_tree_lookup(&raw, in, &id); code != 0)
    return failed("tree " + text_of(id) + " cannot be read; run `git fsck` for details");
  return tree_pointer(raw);
}

/// All files of a tree. Those in `gone`, which are in the same order, are marked as deleted.
result<std::vector<earlier_file>> files_of(git_repository* in, git_tree* tree, const std::vector<change>& gone,
                                           const compare_options& options) {
  auto all = compare(in, nullptr, tree, options);
  if (!all) return tl::unexpected(std::move(all.error()));
  std::vector<earlier_file> files;
  auto next = gone.begin();
  for (auto& one : *all) {
    const bool is_gone = next != gone.end() && next->before.path == one.after.path;
    if (is_gone) ++next;
    files.push_back({std::move(one.after), is_gone});
  }
  return files;
}

result<std::optional<side>> most_like(const change& wanted, std::vector<change> candidates, git_repository* in,
                                      const compare_options& options) {
  candidates.insert(std::lower_bound(candidates.begin(), candidates.end(), wanted,
                                     [](const change& a, const change& b) { return a.before.path < b.before.path; }),
                    wanted);
  side_contents contents(in);
  HONDANA_TRY(find_renames(candidates, contents, options));
  for (auto& one : candidates) {
    if (one.what == change::kind::renamed) return std::move(one.before);
  }
  return std::nullopt;
}

}  // namespace

result<std::optional<side>> renamed_from(git_repository* in, const rename_question& question) {
  HONDANA_TRY(auto before, tree_at(in, question.before));
  HONDANA_TRY(auto after, tree_at(in, question.after));
  compare_options options;
  options.finds_renames = false;
  options.largest_renamed = question.largest_file;
  options.is_stopped = question.is_stopped;
  HONDANA_TRY(auto changes, compare(in, before.get(), after.get(), options));
  const auto came = std::find_if(changes.begin(), changes.end(), [&](const change& one) {
    return one.what == change::kind::added && one.after.path == question.path;
  });
  if (came == changes.end()) return std::nullopt;
  const change wanted = std::move(*came);
  std::erase_if(changes, [](const change& one) { return one.what != change::kind::deleted; });
  if (!question.takes_copies) return most_like(wanted, std::move(changes), in, options);

  HONDANA_TRY(auto files, files_of(in, before.get(), changes, options));
  if (files.size() > most_copied) std::erase_if(files, [](const earlier_file& one) { return !one.is_gone; });
  side_contents contents(in);
  return copied_from(wanted.after, files, contents, options);
}

}  // namespace hondana::git
