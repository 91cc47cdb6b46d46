/// Compares HEAD, the index and the work tree, and finds untracked files.

#include <fcntl.h>
#include <git2/sys/repository.h>
#include <sys/stat.h>

#include <algorithm>
#include <cerrno>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <system_error>
#include <utility>
#include <vector>

#include <hondana/error.hpp>

#include "base/ignore/gitignore.hpp"
#include "os/disk/confined_dir.hpp"
#include "os/disk/file_descriptor.hpp"
#include "os/disk/whole_file.hpp"
#include "sources/git/cancellation.hpp"
#include "sources/git/commit_store.hpp"
#include "sources/git/diff.hpp"
#include "sources/git/diff_content.hpp"
#include "sources/git/index_reader.hpp"
#include "sources/git/references.hpp"
#include "sources/git/rename_detection.hpp"
#include "sources/git/stored_form.hpp"
#include "sources/git/submodule_heads.hpp"
#include "sources/git/work_tree.hpp"

namespace hondana::git {

/// The paths in the index, sorted bytewise.
struct tracked_paths {
  std::vector<std::string_view> paths;       ///< Including submodules.
  std::vector<std::string_view> submodules;  ///< Their folders are not searched.
};

struct untracked_paths {
  std::vector<std::string> paths;
  /// With a slash at the end.
  std::vector<std::string> unreadable_folders;
};

/// Finds untracked files as `git ls-files --others --exclude-standard --directory --no-empty-directory` lists them, with two
/// differences. The user's own ignore file is not read. If a folder is in the place of a file of the index, its contents are
/// included. `exclude`: `info/exclude`, or null.
/// Errors: response_too_large, cancelled; source_unavailable if the operating system cannot read for now.
[[nodiscard]] result<untracked_paths> find_untracked(const work_tree& work_tree, const tracked_paths& tracked,
                                                     ignore::list_pointer exclude, const compare_options& options);

namespace {

constexpr std::size_t max_searched_entries = 2'000'000;
constexpr std::ptrdiff_t max_nesting = 512;
constexpr std::uint64_t max_ignore_bytes = std::uint64_t{1} << 20;
constexpr std::string_view ignore_file_name = ".gitignore";
constexpr std::uint32_t folder_mode = 0040000, file_mode = 0100644;

class untracked_search {
 public:
  untracked_search(const work_tree& work_tree, const tracked_paths& tracked, ignore::list_pointer exclude,
                   const compare_options& options)
      : work_tree_(work_tree),
        tracked_(tracked),
        exclude_(std::move(exclude)),
        options_(options),
        filter_(options.paths),
        cancellation_(options.is_stopped) {}

  /// `path` is empty or ends in a slash. With `stop_at_first`, stops at the first untracked file.
  result<void> search_folder(const std::string& path, const ignore::stack* parent, bool stop_at_first) {
    if (std::count(path.begin(), path.end(), '/') > max_nesting) {
      return fail(errc::response_too_large, "The work tree has folders nested more than 512 levels deep.");
    }
    const auto entries = work_tree_.list(path.empty() ? path : path.substr(0, path.size() - 1), entries_left_);
    if (!entries && entries.error().code == errc::access_denied) {
      untracked_.unreadable_folders.push_back(path.empty() ? "./" : path);
      return {};
    }
    if (!entries) return tl::unexpected(entries.error());
    entries_left_ -= entries->size();
    HONDANA_TRY(const auto rules, rules_at(path, *entries));
    const auto rules_below = parent == nullptr ? ignore::stack(rules, exclude_) : parent->child(folder_name(path), rules);
    for (const auto& entry : *entries) {
      HONDANA_TRY(cancellation_.step());
      HONDANA_TRY(visit_entry(path + entry.name, entry, rules_below, stop_at_first));
      if (stop_at_first && has_untracked_) return {};
    }
    return {};
  }

  untracked_paths& untracked() noexcept { return untracked_; }

 private:
  result<void> visit_entry(const std::string& path, const work_entry& entry, const ignore::stack& rules, bool stop_at_first) {
    if (entry.name == ".git") {
      // Of this repository, or of another one in a folder that was not added.
      has_untracked_ = has_untracked_ || stop_at_first;
      return {};
    }
    const bool is_folder = entry.mode == folder_mode;
    const auto& tracked = is_folder ? tracked_.submodules : tracked_.paths;
    if (entry.mode == 0 || std::binary_search(tracked.begin(), tracked.end(), std::string_view(path))) return {};
    if (is_folder ? !filter_.may_match_below(path) : !filter_.matches(path)) return {};
    if (rules.decide(path, is_folder).is_ignored()) return {};
    if (stop_at_first) {
      if (is_folder) return search_folder(path + '/', &rules, true);
      has_untracked_ = true;
      return {};
    }
    if (!is_folder) return add(path);
    if (has_tracked_below(path + '/') || !filter_.covers(path)) return search_folder(path + '/', &rules, false);
    has_untracked_ = false;
    HONDANA_TRY(search_folder(path + '/', &rules, true));
    if (has_untracked_) return add(path + '/');
    return {};
  }

  result<void> add(std::string path) {
    if (untracked_.paths.size() == options_.max_changes) {
      return fail(errc::response_too_large, "More than " + std::to_string(options_.max_changes) +
                                                " files of the work tree are untracked. Request one folder.");
    }
    untracked_.paths.push_back(std::move(path));
    return {};
  }

  [[nodiscard]] bool has_tracked_below(std::string_view folder) const noexcept {
    const auto first = std::lower_bound(tracked_.paths.begin(), tracked_.paths.end(), folder);
    return first != tracked_.paths.end() && first->starts_with(folder);
  }

  result<ignore::folder_rules> rules_at(const std::string& folder, const std::vector<work_entry>& entries) const {
    ignore::folder_rules rules;
    const auto is_ignore_file = [](const work_entry& entry) {
      return entry.name == ignore_file_name && entry.mode == file_mode;
    };
    if (std::none_of(entries.begin(), entries.end(), is_ignore_file)) return rules;
    auto path = folder + std::string(ignore_file_name);
    auto text = work_tree_.read(path, max_ignore_bytes);
    if (!text && text.error().code == errc::content_changed) return rules;
    if (!text && text.error().code == errc::source_unavailable) return tl::unexpected(std::move(text.error()));
    // An ignore file that cannot be applied excludes everything in its folder.
    rules.git = std::make_shared<const ignore::pattern_list>(
        text ? ignore::pattern_list::parse(*text, std::move(path))
             : ignore::pattern_list::unusable(std::move(path), std::move(text.error().public_text)));
    return rules;
  }

  static std::string_view folder_name(std::string_view folder) noexcept {
    folder.remove_suffix(1);
    return folder.substr(folder.rfind('/') + 1);
  }

  const work_tree& work_tree_;
  const tracked_paths& tracked_;
  ignore::list_pointer exclude_;
  const compare_options& options_;
  path_filter filter_;
  cancellation_checker cancellation_;
  std::size_t entries_left_ = max_searched_entries;
  bool has_untracked_ = false;
  untracked_paths untracked_;
};

}  // namespace

result<untracked_paths> find_untracked(const work_tree& work_tree, const tracked_paths& tracked, ignore::list_pointer exclude,
                                       const compare_options& options) {
  untracked_search search(work_tree, tracked, std::move(exclude), options);
  HONDANA_TRY(search.search_folder({}, nullptr, false));
  return std::move(search.untracked());
}

namespace {

constexpr std::size_t max_tracked = 2'000'000;
// The name of the top folder in results of `find_untracked`.
constexpr std::string_view top_folder = "./";
constexpr std::size_t max_exclude_bytes = std::size_t{1} << 20;

int stage_of(const git_index_entry* entry) noexcept { return GIT_INDEX_ENTRY_STAGE(entry); }
bool is_intent_to_add(const git_index_entry* entry) noexcept {
  return (entry->flags_extended & GIT_INDEX_ENTRY_INTENT_TO_ADD) != 0;
}
bool is_compared(const git_index_entry* entry) noexcept {
  return (entry->flags & GIT_INDEX_ENTRY_VALID) == 0 && (entry->flags_extended & GIT_INDEX_ENTRY_SKIP_WORKTREE) == 0;
}

bool is_same_time(const git_index_time& recorded, const timespec& current) noexcept {
  // Some programs write indexes without nanoseconds.
  return recorded.seconds == static_cast<std::int32_t>(current.tv_sec) &&
         (recorded.nanoseconds == 0 || recorded.nanoseconds == static_cast<std::uint32_t>(current.tv_nsec));
}

tl::unexpected<failure> unreadable_exclude(int error) {
  return fail(errc::source_unavailable, "info/exclude of the repository cannot be read now. Retry later.",
              std::generic_category().message(error));
}

result<ignore::list_pointer> read_exclude(git_repository* repo) {
  const std::string path = std::string(git_repository_commondir(repo)) + "info/exclude";
  const disk::handle file(::open(path.c_str(), O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY | O_CLOEXEC));
  if (!file.is_open() && disk::to_lookup_error(errno).kind == disk::lookup_error_kind::system_error)
    return unreadable_exclude(errno);
  struct stat attributes{};
  if (!file.is_open() || ::fstat(file.get(), &attributes) != 0 || !S_ISREG(attributes.st_mode)) return nullptr;
  const auto whole = disk::read_whole(file.get(), max_exclude_bytes);
  if (!whole) return unreadable_exclude(whole.error());
  if (whole->is_too_large())
    return std::make_shared<const ignore::pattern_list>(
        ignore::pattern_list::unusable("info/exclude", "it is longer than 1 MiB"));
  return std::make_shared<const ignore::pattern_list>(ignore::pattern_list::parse(whole->bytes, "info/exclude"));
}

/// Whether libgit2 has just rejected an index because it is split or sparse. Its message names the extension.
bool is_extended_index() {
  const auto message = last_error_message();
  return message.find("'link'") != std::string::npos || message.find("'sdir'") != std::string::npos;
}

/// Opens the index of a repository, and reads it if it has changed. If it is split or sparse, the repository gets an index in
/// memory, which attributes need, too.
result<index_pointer> open_index(git_repository* repo) {
  git_index* raw = nullptr;
  int code = git_repository_index(&raw, repo);
  index_pointer index(raw);
  if (code == 0 && git_index_path(raw) == nullptr) {
    // In memory, from an earlier call.
    git_repository_set_index(repo, nullptr);
    code = git_repository_index(&raw, repo);
    index.reset(raw);
  }
  if (code == 0) code = git_index_read(raw, 0);
  if (code == 0) return index;
  if (!is_extended_index())
    return libgit2_failure(
        "The index of the work tree cannot be read: it is damaged, or has an unsupported format. Run `git fsck` in the "
        "repository.");
  git_error_clear();
  HONDANA_TRY(index, read_extended_index(repo));
  if (git_repository_set_index(repo, index.get()) < 0)
    return libgit2_failure("The index of the work tree cannot be held in memory.");
  return index;
}

class working_comparison {
 public:
  working_comparison(git_repository* repo, const compare_options& options)
      : repo_(repo),
        options_(options),
        filter_(options.paths),
        cancellation_(options.is_stopped),
        stored_form_(repo),
        submodules_(repo) {}

  result<working_changes> run() {
    auto opened = work_tree::open(repo_);
    if (!opened) return tl::unexpected(std::move(opened.error()));
    HONDANA_TRY(read_index());
    HONDANA_TRY(compare_staged());
    HONDANA_TRY(compare_files(*opened));
    if (options_.detects_renames) {
      side_contents contents(repo_);
      for (auto* changes : {&changes_.staged, &changes_.unstaged}) {
        HONDANA_TRY(find_renames(*changes, contents, options_));
      }
    }
    tracked_paths tracked;
    for (const auto* entry : entries_) {
      tracked.paths.emplace_back(entry->path);
      if (entry->mode == submodule_kind) tracked.submodules.emplace_back(entry->path);
    }
    HONDANA_TRY(auto exclude, read_exclude(repo_));
    auto untracked = find_untracked(*opened, tracked, std::move(exclude), options_);
    if (!untracked) return tl::unexpected(std::move(untracked.error()));
    changes_.untracked = std::move(untracked->paths);
    // A folder with unreadable tracked files is not counted again.
    const auto files_end = static_cast<std::ptrdiff_t>(changes_.unreadable.size());
    for (auto& folder : untracked->unreadable_folders) {
      const auto is_inside = [&folder](const std::string& path) { return folder == top_folder || path.starts_with(folder); };
      const auto begin = changes_.unreadable.begin();
      if (std::none_of(begin, begin + files_end, is_inside)) changes_.unreadable.push_back(std::move(folder));
    }
    return std::move(changes_);
  }

 private:
  result<void> read_index() {
    // Checked first, because libgit2 would wait for the writer of a FIFO.
    struct stat attributes{};
    const auto path = std::string(git_repository_path(repo_)) + "index";
    const bool exists = ::lstat(path.c_str(), &attributes) == 0;
    if (exists && !S_ISREG(attributes.st_mode)) {
      return fail(errc::source_unavailable, "The index of the work tree cannot be read: it is not a regular file.");
    }
    index_time_ = exists ? attributes.st_mtim.tv_sec : 0;
    HONDANA_TRY(index_, open_index(repo_));
    auto* const raw = index_.get();
    const auto count = git_index_entrycount(raw);
    if (count > max_tracked) {
      return fail(errc::response_too_large, "The work tree has more than 2000000 files. Compare revisions instead.");
    }
    entries_.reserve(count);
    for (std::size_t i = 0; i < count; ++i) entries_.push_back(git_index_get_byindex(raw, i));
    // In repositories with core.ignoreCase they have another order.
    std::sort(entries_.begin(), entries_.end(), [](const auto* left, const auto* right) {
      const int order = std::string_view(left->path).compare(right->path);
      return order != 0 ? order < 0 : stage_of(left) < stage_of(right);
    });
    return {};
  }

  result<tree_pointer> head_tree() {
    HONDANA_TRY(const auto head, head_of(repo_));
    if (!head.commit) return tree_pointer();  // no commit yet
    HONDANA_TRY(const auto store, commit_store::open_without_people(repo_));
    const auto commit = store.read(*head.commit);
    if (!commit) {
      return fail(
          errc::source_unavailable,
          "The commit " + to_hex(*head.commit) + ", which HEAD points to, cannot be read. Run `git fsck` in the repository.",
          commit.error().private_text);
    }
    git_tree* tree = nullptr;
    if (const int code = git_tree_lookup(&tree, repo_, &commit->tree); code < 0) {
      return libgit2_failure("The tree of the commit " + to_hex(*head.commit) +
                             " cannot be read. Run `git fsck` in the repository.");
    }
    return tree_pointer(tree);
  }

  result<void> compare_staged() {
    HONDANA_TRY(const auto tree, head_tree());
    compare_options tree_options = options_;
    tree_options.detects_renames = false;
    tree_options.max_changes = max_tracked;
    HONDANA_TRY(auto committed, compare(repo_, nullptr, tree.get(), tree_options));
    auto old_change = committed.begin();
    for (std::size_t i = 0; i < entries_.size() || old_change != committed.end();) {
      HONDANA_TRY(cancellation_.step());
      const auto* entry = i < entries_.size() ? entries_[i] : nullptr;
      if (entry != nullptr && (!filter_.matches(entry->path) || is_intent_to_add(entry))) {
        ++i;
        continue;
      }
      const int order = entry == nullptr                ? -1
                        : old_change == committed.end() ? 1
                                                        : old_change->new_side.path.compare(entry->path);
      const bool is_conflict = order >= 0 && stage_of(entry) != 0;
      const auto path = order <= 0 ? old_change->new_side.path : std::string(entry->path);
      const diff_side old_side =
          order <= 0 ? diff_side{path, old_change->new_side.id, old_change->new_side.mode} : diff_side{path};
      const diff_side new_side = order >= 0 && !is_conflict ? diff_side{path, entry->id, entry->mode} : diff_side{path};
      if (!is_conflict) {
        HONDANA_TRY(add(changes_.staged, old_side, new_side));
      }
      if (order <= 0) ++old_change;
      if (order >= 0) {
        ++i;
        while (is_conflict && i < entries_.size() && path == entries_[i]->path) ++i;
      }
    }
    return {};
  }

  result<void> compare_files(const work_tree& work_tree) {
    trusts_modes_ = boolean_setting("core.filemode");
    has_links_ = boolean_setting("core.symlinks");
    for (std::size_t i = 0; i < entries_.size(); ++i) {
      HONDANA_TRY(cancellation_.step());
      const auto* entry = entries_[i];
      const std::string path = entry->path;
      if (!filter_.matches(path)) continue;
      if (stage_of(entry) != 0) {
        if (changes_.conflicted.size() == options_.max_changes) return too_many_error();
        changes_.conflicted.push_back(path);
        // Our side (2) represents all stages. If it is missing, the first one does.
        while (i + 1 < entries_.size() && path == entries_[i + 1]->path) {
          ++i;
          if (stage_of(entries_[i]) == 2) entry = entries_[i];
        }
      }
      if (!is_compared(entry)) continue;
      auto new_side = read_side(work_tree, path, entry);
      if (!new_side && new_side.error().code == errc::access_denied) {
        changes_.unreadable.push_back(path);
        continue;
      }
      if (!new_side) return tl::unexpected(std::move(new_side.error()));
      const diff_side old_side = is_intent_to_add(entry) ? diff_side{path} : diff_side{path, entry->id, entry->mode};
      HONDANA_TRY(add(changes_.unstaged, old_side, std::move(*new_side)));
    }
    return {};
  }

  result<diff_side> read_side(const work_tree& work_tree, const std::string& path, const git_index_entry* entry) {
    HONDANA_TRY(const auto file, work_tree.inspect(path));
    diff_side current{path, {}, file.mode, true};
    if (file.mode == folder_kind) {
      // In place of a file, a folder means that the file was deleted.
      if (entry->mode != submodule_kind) return diff_side{path};
      return diff_side{path, submodules_.checked_out_commit(path).value_or(entry->id), entry->mode};
    }
    if (file.mode == 0) return diff_side{path};
    // Without core.symlinks, git writes links as files that contain the target.
    if (!has_links_ && is_regular(file.mode) && (entry->mode & kind_bits) == link_kind) current.mode = entry->mode;
    const bool is_same_kind = (current.mode & kind_bits) == (entry->mode & kind_bits);
    if (!trusts_modes_ && is_same_kind) current.mode = entry->mode;
    if (is_same_kind && stage_of(entry) == 0 && is_unchanged(file, entry)) {
      current.id = entry->id;
      return current;
    }
    if (file.size > options_.max_file_bytes) return current;
    HONDANA_TRY(auto bytes, work_tree.read(path, options_.max_file_bytes));
    if (is_regular(current.mode)) HONDANA_TRY(stored_form_.convert(work_tree, path, bytes));
    if (const int code = git_odb_hash(&current.id, bytes.data(), bytes.size(), GIT_OBJECT_BLOB); code < 0) {
      return libgit2_failure("A file of the work tree cannot be compared.");
    }
    return current;
  }

  /// Whether the index proves that the content is the same. This requires that nothing about the file has changed since it was
  /// added, and that this was long enough before the index was written.
  [[nodiscard]] bool is_unchanged(const work_file& file, const git_index_entry* entry) const noexcept {
    return file.size != 0 && static_cast<std::uint32_t>(file.size) == entry->file_size &&
           is_same_time(entry->mtime, file.attributes.st_mtim) && is_same_time(entry->ctime, file.attributes.st_ctim) &&
           static_cast<std::uint32_t>(file.attributes.st_ino) == entry->ino && entry->mtime.seconds < index_time_;
  }

  /// A boolean of the configuration that is true by default.
  [[nodiscard]] bool boolean_setting(const char* name) const noexcept {
    git_config* raw = nullptr;
    if (git_repository_config_snapshot(&raw, repo_) < 0) return true;
    const config_pointer owner(raw);
    int value = 1;
    return git_config_get_bool(&value, raw, name) < 0 || value != 0;
  }

  [[nodiscard]] tl::unexpected<failure> too_many_error() const {
    return fail(errc::response_too_large,
                "More than " + std::to_string(options_.max_changes) + " files differ. Request the changes of one path.");
  }

  result<void> add(std::vector<change>& changes, diff_side old_side, diff_side new_side) const {
    if (!old_side.exists() && !new_side.exists()) return {};
    if (old_side.mode == new_side.mode && git_oid_equal(&old_side.id, &new_side.id) != 0) return {};
    if (changes.size() == options_.max_changes) return too_many_error();
    auto& item = changes.emplace_back();
    item.status = !old_side.exists()                                           ? change::kind::added
                  : !new_side.exists()                                         ? change::kind::deleted
                  : (old_side.mode & kind_bits) != (new_side.mode & kind_bits) ? change::kind::type_changed
                                                                               : change::kind::modified;
    item.old_side = std::move(old_side);
    item.new_side = std::move(new_side);
    return {};
  }

  git_repository* repo_;
  const compare_options& options_;
  path_filter filter_;
  cancellation_checker cancellation_;
  index_pointer index_;
  std::vector<const git_index_entry*> entries_;  // of the index
  std::int64_t index_time_ = 0;
  bool trusts_modes_ = true, has_links_ = true;
  stored_form stored_form_;
  submodule_heads submodules_;
  working_changes changes_;
};

}  // namespace

result<working_changes> compare_work_tree(git_repository* repo, const compare_options& options) {
  return working_comparison(repo, options).run();
}

}  // namespace hondana::git
