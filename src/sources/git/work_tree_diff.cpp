/// Compares HEAD, the index and the work tree, and finds untracked files.

#include <fcntl.h>
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
#include "os/disk/file_descriptor.hpp"
#include "sources/git/cancellation.hpp"
#include "sources/git/diff.hpp"
#include "sources/git/diff_content.hpp"
#include "sources/git/references.hpp"
#include "sources/git/rename_detection.hpp"
#include "sources/git/work_tree.hpp"

namespace hondana::git {

/// The paths in the index, sorted bytewise.
struct tracked_paths {
  std::vector<std::string_view> all;         ///< Including submodules.
  std::vector<std::string_view> submodules;  ///< Their folders are not searched.
};

struct untracked_paths {
  std::vector<std::string> all;
  /// With a slash at the end.
  std::vector<std::string> unreadable_folders;
};

/// Finds untracked files as `git ls-files --others --exclude-standard --directory --no-empty-directory` lists them, with two
/// differences. The user's own ignore file is not read. If a folder is in the place of a file of the index, its contents are
/// included. `exclude`: `info/exclude`, or null.
/// Errors: response_too_large, cancelled; source_unavailable if the operating system cannot read for now.
[[nodiscard]] result<untracked_paths> find_untracked(const work_tree& files, const tracked_paths& tracked,
                                                     ignore::list_pointer exclude, const compare_options& options);

namespace {

constexpr std::size_t most_entries = 2'000'000;
constexpr std::ptrdiff_t most_nested = 512;
constexpr std::uint64_t most_ignore_bytes = std::uint64_t{1} << 20;
constexpr std::string_view ignore_file = ".gitignore";
constexpr std::uint32_t folder_mode = 0040000, file_mode = 0100644;

class untracked_search {
 public:
  untracked_search(const work_tree& files, const tracked_paths& tracked, ignore::list_pointer exclude,
                   const compare_options& options)
      : files_(files),
        tracked_(tracked),
        exclude_(std::move(exclude)),
        options_(options),
        filter_(options.paths),
        stopping_(options.is_stopped) {}

  /// `path` is empty or ends in a slash. With `is_for_any`, stops at the first untracked file.
  result<void> folder(const std::string& path, const ignore::stack* above, bool is_for_any) {
    if (std::count(path.begin(), path.end(), '/') > most_nested) {
      return fail(errc::response_too_large, "The work tree has folders nested more than 512 levels deep.");
    }
    const auto entries = files_.list(path.empty() ? path : path.substr(0, path.size() - 1), entries_left_);
    if (!entries && entries.error().code == errc::access_denied) {
      found_.unreadable_folders.push_back(path.empty() ? "./" : path);
      return {};
    }
    if (!entries) return tl::unexpected(entries.error());
    entries_left_ -= entries->size();
    HONDANA_TRY(const auto rules, rules_at(path, *entries));
    const auto ignored = above == nullptr ? ignore::stack(rules, exclude_) : above->child(name_of(path), rules);
    for (const auto& one : *entries) {
      HONDANA_TRY(stopping_.step());
      HONDANA_TRY(entry(path + one.name, one, ignored, is_for_any));
      if (is_for_any && has_any_) return {};
    }
    return {};
  }

  untracked_paths& found() noexcept { return found_; }

 private:
  result<void> entry(const std::string& path, const work_entry& one, const ignore::stack& ignored, bool is_for_any) {
    if (one.name == ".git") {
      // Of this repository, or of another one in a folder that was not added.
      has_any_ = has_any_ || is_for_any;
      return {};
    }
    const bool is_folder = one.mode == folder_mode;
    const auto& known = is_folder ? tracked_.submodules : tracked_.all;
    if (one.mode == 0 || std::binary_search(known.begin(), known.end(), std::string_view(path))) return {};
    if (is_folder ? !filter_.enters(path) : !filter_.takes(path)) return {};
    if (ignored.decide(path, is_folder).ignored()) return {};
    if (is_for_any) {
      if (is_folder) return folder(path + '/', &ignored, true);
      has_any_ = true;
      return {};
    }
    if (!is_folder) return add(path);
    if (has_tracked_below(path + '/') || !filter_.covers(path)) return folder(path + '/', &ignored, false);
    has_any_ = false;
    HONDANA_TRY(folder(path + '/', &ignored, true));
    if (has_any_) return add(path + '/');
    return {};
  }

  result<void> add(std::string path) {
    if (found_.all.size() == options_.most_changes) {
      return fail(errc::response_too_large, "More than " + std::to_string(options_.most_changes) +
                                                " files of the work tree are untracked. Request one folder.");
    }
    found_.all.push_back(std::move(path));
    return {};
  }

  [[nodiscard]] bool has_tracked_below(std::string_view folder) const noexcept {
    const auto first = std::lower_bound(tracked_.all.begin(), tracked_.all.end(), folder);
    return first != tracked_.all.end() && first->starts_with(folder);
  }

  result<ignore::folder_rules> rules_at(const std::string& folder, const std::vector<work_entry>& entries) const {
    ignore::folder_rules rules;
    const auto is_it = [](const work_entry& one) { return one.name == ignore_file && one.mode == file_mode; };
    if (std::none_of(entries.begin(), entries.end(), is_it)) return rules;
    auto path = folder + std::string(ignore_file);
    auto text = files_.read(path, most_ignore_bytes);
    if (!text && text.error().code == errc::content_changed) return rules;
    if (!text && text.error().code == errc::source_unavailable) return tl::unexpected(std::move(text.error()));
    // An ignore file that cannot be applied excludes everything in its folder.
    rules.git = std::make_shared<const ignore::pattern_list>(
        text ? ignore::pattern_list::parse(*text, std::move(path))
             : ignore::pattern_list::unusable(std::move(path), std::move(text.error().public_text)));
    return rules;
  }

  static std::string_view name_of(std::string_view folder) noexcept {
    folder.remove_suffix(1);
    return folder.substr(folder.rfind('/') + 1);
  }

  const work_tree& files_;
  const tracked_paths& tracked_;
  ignore::list_pointer exclude_;
  const compare_options& options_;
  path_filter filter_;
  stopping stopping_;
  std::size_t entries_left_ = most_entries;
  bool has_any_ = false;
  untracked_paths found_;
};

}  // namespace

result<untracked_paths> find_untracked(const work_tree& files, const tracked_paths& tracked, ignore::list_pointer exclude,
                                       const compare_options& options) {
  untracked_search search(files, tracked, std::move(exclude), options);
  HONDANA_TRY(search.folder({}, nullptr, false));
  return std::move(search.found());
}

namespace {

constexpr std::size_t most_tracked = 2'000'000;
// The name of the top folder in results of `find_untracked`.
constexpr std::string_view top_folder = "./";
constexpr std::size_t most_exclude_bytes = std::size_t{1} << 20;

int stage_of(const git_index_entry* entry) noexcept { return GIT_INDEX_ENTRY_STAGE(entry); }
bool is_to_be_added(const git_index_entry* entry) noexcept {
  return (entry->flags_extended & GIT_INDEX_ENTRY_INTENT_TO_ADD) != 0;
}
bool is_looked_after(const git_index_entry* entry) noexcept {
  return (entry->flags & GIT_INDEX_ENTRY_VALID) == 0 && (entry->flags_extended & GIT_INDEX_ENTRY_SKIP_WORKTREE) == 0;
}

bool is_at(const git_index_time& noted, const timespec& now) noexcept {
  // Some programs write indexes without nanoseconds.
  return noted.seconds == static_cast<std::int32_t>(now.tv_sec) &&
         (noted.nanoseconds == 0 || noted.nanoseconds == static_cast<std::uint32_t>(now.tv_nsec));
}

tl::unexpected<failure> unreadable_exclude(int error) {
  return fail(errc::source_unavailable, "info/exclude of the repository cannot be read now. Retry later.",
              std::generic_category().message(error));
}

result<ignore::list_pointer> read_exclude(git_repository* of) {
  const std::string path = std::string(git_repository_commondir(of)) + "info/exclude";
  const disk::handle file(::open(path.c_str(), O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY | O_CLOEXEC));
  if (!file.is_open() && (errno == EMFILE || errno == ENFILE || errno == ENOMEM || errno == EIO))
    return unreadable_exclude(errno);
  struct stat facts{};
  if (!file.is_open() || ::fstat(file.get(), &facts) != 0 || !S_ISREG(facts.st_mode)) return nullptr;
  std::string text(std::min<std::size_t>(static_cast<std::size_t>(facts.st_size), most_exclude_bytes + 1), '\0');
  const auto count = disk::read_at(file.get(), text.data(), text.size(), 0);
  if (!count) return unreadable_exclude(count.error());
  if (*count > most_exclude_bytes)
    return std::make_shared<const ignore::pattern_list>(
        ignore::pattern_list::unusable("info/exclude", "it is longer than 1 MiB"));
  text.resize(*count);
  return std::make_shared<const ignore::pattern_list>(ignore::pattern_list::parse(text, "info/exclude"));
}

class working_comparison {
 public:
  working_comparison(git_repository* in, const compare_options& options)
      : in_(in), options_(options), filter_(options.paths), stopping_(options.is_stopped) {}

  result<working_changes> run() {
    auto files = work_tree::open(in_);
    if (!files) return tl::unexpected(std::move(files.error()));
    HONDANA_TRY(read_index());
    HONDANA_TRY(compare_staged());
    HONDANA_TRY(compare_files(*files));
    if (options_.finds_renames) {
      side_contents contents(in_);
      for (auto* changes : {&out_.staged, &out_.unstaged}) {
        HONDANA_TRY(find_renames(*changes, contents, options_));
      }
    }
    tracked_paths tracked;
    for (const auto* entry : entries_) {
      tracked.all.emplace_back(entry->path);
      if (entry->mode == submodule_kind) tracked.submodules.emplace_back(entry->path);
    }
    HONDANA_TRY(auto exclude, read_exclude(in_));
    auto untracked = find_untracked(*files, tracked, std::move(exclude), options_);
    if (!untracked) return tl::unexpected(std::move(untracked.error()));
    out_.untracked = std::move(untracked->all);
    // A folder with unreadable tracked files is not counted again.
    const auto files_end = static_cast<std::ptrdiff_t>(out_.unreadable.size());
    for (auto& folder : untracked->unreadable_folders) {
      const auto is_in_it = [&folder](const std::string& one) { return folder == top_folder || one.starts_with(folder); };
      const auto begin = out_.unreadable.begin();
      if (std::none_of(begin, begin + files_end, is_in_it)) out_.unreadable.push_back(std::move(folder));
    }
    return std::move(out_);
  }

 private:
  result<void> read_index() {
    // Checked first, because libgit2 would wait for the writer of a FIFO.
    struct stat facts{};
    const auto path = std::string(git_repository_path(in_)) + "index";
    const bool is_there = ::lstat(path.c_str(), &facts) == 0;
    if (is_there && !S_ISREG(facts.st_mode)) {
      return fail(errc::source_unavailable, "The index of the work tree cannot be read: it is not a regular file.");
    }
    index_time_ = is_there ? facts.st_mtim.tv_sec : 0;
    git_index* raw = nullptr;
    const auto unreadable =
        "The index of the work tree cannot be read: it is damaged, or has an unsupported format (split or sparse). Run `git "
        "update-index --no-split-index` in the repository.";
    if (const int code = git_repository_index(&raw, in_); code < 0) return failed(unreadable);
    index_.reset(raw);
    if (const int code = git_index_read(raw, 0); code < 0) return failed(unreadable);
    const auto count = git_index_entrycount(raw);
    if (count > most_tracked) {
      return fail(errc::response_too_large, "The work tree has more than 2000000 files. Compare revisions instead.");
    }
    entries_.reserve(count);
    for (std::size_t i = 0; i < count; ++i) entries_.push_back(git_index_get_byindex(raw, i));
    // In repositories with core.ignoreCase they have another order.
    std::sort(entries_.begin(), entries_.end(), [](const auto* one, const auto* other) {
      const int order = std::string_view(one->path).compare(other->path);
      return order != 0 ? order < 0 : stage_of(one) < stage_of(other);
    });
    return {};
  }

  result<tree_pointer> head_tree() {
    HONDANA_TRY(const auto head, head_of(in_));
    if (!head.commit) return tree_pointer();  // no commit yet
    const auto id = *head.commit;
    git_commit* commit = nullptr;
    if (const int found = git_commit_lookup(&commit, in_, &id); found < 0) {
      return failed("The commit " + text_of(id) + ", which HEAD points to, cannot be read. Run `git fsck` in the repository.");
    }
    const commit_pointer owner(commit);
    git_tree* tree = nullptr;
    if (const int found = git_commit_tree(&tree, commit); found < 0) {
      return failed("The tree of the commit " + text_of(id) + " cannot be read. Run `git fsck` in the repository.");
    }
    return tree_pointer(tree);
  }

  result<void> compare_staged() {
    HONDANA_TRY(const auto tree, head_tree());
    compare_options all = options_;
    all.finds_renames = false;
    all.most_changes = most_tracked;
    HONDANA_TRY(auto committed, compare(in_, nullptr, tree.get(), all));
    auto before = committed.begin();
    for (std::size_t i = 0; i < entries_.size() || before != committed.end();) {
      HONDANA_TRY(stopping_.step());
      const auto* entry = i < entries_.size() ? entries_[i] : nullptr;
      if (entry != nullptr && (!filter_.takes(entry->path) || is_to_be_added(entry))) {
        ++i;
        continue;
      }
      const int order = entry == nullptr ? -1 : before == committed.end() ? 1 : before->after.path.compare(entry->path);
      const bool is_conflict = order >= 0 && stage_of(entry) != 0;
      const auto path = order <= 0 ? before->after.path : std::string(entry->path);
      const side was = order <= 0 ? side{path, before->after.id, before->after.mode} : side{path};
      const side is = order >= 0 && !is_conflict ? side{path, entry->id, entry->mode} : side{path};
      if (!is_conflict) {
        HONDANA_TRY(add(out_.staged, was, is));
      }
      if (order <= 0) ++before;
      if (order >= 0) {
        ++i;
        while (is_conflict && i < entries_.size() && path == entries_[i]->path) ++i;
      }
    }
    return {};
  }

  result<void> compare_files(const work_tree& files) {
    trusts_modes_ = trusts_modes();
    for (std::size_t i = 0; i < entries_.size(); ++i) {
      HONDANA_TRY(stopping_.step());
      const auto* entry = entries_[i];
      const std::string path = entry->path;
      if (!filter_.takes(path)) continue;
      if (stage_of(entry) != 0) {
        if (out_.conflicted.size() == options_.most_changes) return too_many();
        out_.conflicted.push_back(path);
        // Our side (2) represents all stages. If it is missing, the first one does.
        while (i + 1 < entries_.size() && path == entries_[i + 1]->path) {
          ++i;
          if (stage_of(entries_[i]) == 2) entry = entries_[i];
        }
      }
      if (!is_looked_after(entry)) continue;
      auto is = file_at(files, path, entry);
      if (!is && is.error().code == errc::access_denied) {
        out_.unreadable.push_back(path);
        continue;
      }
      if (!is) return tl::unexpected(std::move(is.error()));
      const side was = is_to_be_added(entry) ? side{path} : side{path, entry->id, entry->mode};
      HONDANA_TRY(add(out_.unstaged, was, std::move(*is)));
    }
    return {};
  }

  result<side> file_at(const work_tree& files, const std::string& path, const git_index_entry* entry) {
    HONDANA_TRY(const auto found, files.look(path));
    side is{path, {}, found.mode, true};
    const bool is_same_kind = (found.mode & kind_bits) == (entry->mode & kind_bits);
    if (found.mode == folder_kind) {
      // Of a submodule. In place of a file, a folder means that the file was deleted.
      return entry->mode == submodule_kind ? side{path, entry->id, entry->mode} : side{path};
    }
    if (found.mode == 0) return side{path};
    if (!trusts_modes_ && is_same_kind) is.mode = entry->mode;
    if (is_same_kind && stage_of(entry) == 0 && is_known(found, entry)) {
      is.id = entry->id;
      return is;
    }
    if (found.size > options_.largest_file) return is;
    HONDANA_TRY(const auto bytes, files.read(path, options_.largest_file));
    if (const int code = git_odb_hash(&is.id, bytes.data(), bytes.size(), GIT_OBJECT_BLOB); code < 0) {
      return failed("A file of the work tree cannot be compared.");
    }
    return is;
  }

  /// Whether the index proves that the content is the same. This requires that nothing about the file has changed since it was
  /// added, and that this was long enough before the index was written.
  [[nodiscard]] bool is_known(const work_file& file, const git_index_entry* entry) const noexcept {
    return file.size != 0 && static_cast<std::uint32_t>(file.size) == entry->file_size &&
           is_at(entry->mtime, file.facts.st_mtim) && is_at(entry->ctime, file.facts.st_ctim) &&
           static_cast<std::uint32_t>(file.facts.st_ino) == entry->ino && entry->mtime.seconds < index_time_;
  }

  [[nodiscard]] bool trusts_modes() const noexcept {
    git_config* raw = nullptr;
    if (git_repository_config_snapshot(&raw, in_) < 0) return true;
    const config_pointer owner(raw);
    int value = 1;
    return git_config_get_bool(&value, raw, "core.filemode") < 0 || value != 0;
  }

  [[nodiscard]] tl::unexpected<failure> too_many() const {
    return fail(errc::response_too_large,
                "More than " + std::to_string(options_.most_changes) + " files differ. Request the changes of one path.");
  }

  result<void> add(std::vector<change>& to, side was, side is) const {
    if (!was.is_there() && !is.is_there()) return {};
    if (was.mode == is.mode && git_oid_equal(&was.id, &is.id) != 0) return {};
    if (to.size() == options_.most_changes) return too_many();
    auto& one = to.emplace_back();
    one.what = !was.is_there()                                   ? change::kind::added
               : !is.is_there()                                  ? change::kind::deleted
               : (was.mode & kind_bits) != (is.mode & kind_bits) ? change::kind::type_changed
                                                                 : change::kind::modified;
    one.before = std::move(was);
    one.after = std::move(is);
    return {};
  }

  git_repository* in_;
  const compare_options& options_;
  path_filter filter_;
  stopping stopping_;
  index_pointer index_;
  std::vector<const git_index_entry*> entries_;  // of the index
  std::int64_t index_time_ = 0;
  bool trusts_modes_ = true;
  working_changes out_;
};

}  // namespace

result<working_changes> compare_work_tree(git_repository* in, const compare_options& options) {
  return working_comparison(in, options).run();
}

}  // namespace hondana::git
