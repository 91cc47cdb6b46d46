/// Paths that the `.hondanaignore` files of a repository exclude.
#include "sources/git/ignored_paths.hpp"

#include <fcntl.h>
#include <linux/openat2.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <utility>
#include <vector>

#include "base/ascii/ascii.hpp"
#include "base/bytes/digest.hpp"
#include "os/disk/descriptor_limit.hpp"
#include "os/disk/file_descriptor.hpp"
#include "sources/git/diff_content.hpp"
#include "sources/git/rendering.hpp"
#include "sources/git/revision.hpp"

namespace hondana::git {
namespace {

constexpr std::size_t max_tree_bytes = std::size_t{32} << 20;
// A folder and its parent are always cached, however large they are.
constexpr std::size_t min_cached_trees = 2;
// Approximate memory that libgit2 needs for an entry besides its name.
constexpr std::size_t entry_bytes = 64;

bool is_path_component(std::string_view name) noexcept {
  return !name.empty() && name != "." && name != ".." && name.find('/') == std::string_view::npos &&
         name.find('\0') == std::string_view::npos && !ascii::equals_ignore_case(name, ".git");
}

std::size_t tree_memory_bytes(const git_tree* tree) noexcept {
  const auto count = git_tree_entrycount(tree);
  std::size_t bytes = count * entry_bytes;
  for (std::size_t i = 0; i < count; ++i)
    bytes += std::string_view(git_tree_entry_name(git_tree_entry_byindex(tree, i))).size();
  return bytes;
}

}  // namespace

result<std::optional<tree_cache::child>> tree_cache::find(const git_oid& tree, std::string_view name) {
  if (!is_path_component(name)) return std::nullopt;
  HONDANA_TRY(const auto opened, open(tree));
  const auto* entry = git_tree_entry_byname(opened, std::string(name).c_str());
  if (entry == nullptr) return std::nullopt;
  return child{*git_tree_entry_id(entry), static_cast<std::uint32_t>(git_tree_entry_filemode_raw(entry))};
}

result<git_tree*> tree_cache::open(const git_oid& id) {
  std::string key(reinterpret_cast<const char*>(id.id), GIT_OID_RAWSZ);
  if (const auto cached = by_id_.find(key); cached != by_id_.end()) {
    trees_.splice(trees_.begin(), trees_, cached->second);
    return trees_.front().tree.get();
  }
  HONDANA_TRY(cancellation_.check());
  git_tree* raw = nullptr;
  if (git_tree_lookup(&raw, repo_, &id) < 0)
    return libgit2_failure("The tree " + to_hex(id) +
                           " cannot be read: it is missing from the repository or damaged. Run `git fsck` in the repository.");
  ++read_count_;
  trees_.push_front({std::move(key), tree_pointer(raw), tree_memory_bytes(raw)});
  by_id_.emplace(trees_.front().id, trees_.begin());
  bytes_ += trees_.front().bytes;
  while (bytes_ > max_tree_bytes && trees_.size() > min_cached_trees) {
    bytes_ -= trees_.back().bytes;
    by_id_.erase(trees_.back().id);
    trees_.pop_back();
  }
  return raw;
}

namespace {

constexpr std::string_view hondana_ignore = ".hondanaignore";
constexpr std::uint64_t max_ignore_file_bytes = std::uint64_t{1} << 20;
constexpr std::uint64_t max_call_steps = 500'000'000;
// RESOLVE_CACHED of Linux 5.12, which older headers lack.
constexpr std::uint64_t resolve_cached = 0x20;
// Of a map, including the allocator's overhead.
constexpr std::size_t node_bytes = 48;
// More would take too long to check each time.
constexpr std::size_t max_validated_paths = 8;

/// What must be, or must not be, at a path of the work tree.
struct validated_path {
  std::string path;  // absolute
  bool is_folder;    // a folder that does not exist, and must not appear
  std::optional<disk::stamp> stamp;
};

class ignore_validator final : public cache_validator {
 public:
  explicit ignore_validator(std::vector<validated_path> paths) noexcept : paths_(std::move(paths)) {}
  [[nodiscard]] bool is_valid() const noexcept override {
    return std::all_of(paths_.begin(), paths_.end(), [](const validated_path& path) { return is_same(path); });
  }

 private:
  /// False if the kernel cannot tell without waiting for a disk.
  static bool is_same(const validated_path& expected) noexcept {
    open_how options{};
    options.flags = O_PATH | O_NOFOLLOW | O_CLOEXEC;
    options.resolve = RESOLVE_NO_SYMLINKS | RESOLVE_NO_MAGICLINKS | resolve_cached;
    const disk::handle handle(
        static_cast<int>(::syscall(SYS_openat2, AT_FDCWD, expected.path.c_str(), &options, sizeof options)));
    if (!handle.is_open()) return !expected.stamp && (errno == ENOENT || errno == ENOTDIR || errno == ELOOP);
    struct stat attributes{};
    if (::fstat(handle.get(), &attributes) != 0) return false;
    if (expected.stamp) return S_ISREG(attributes.st_mode) && disk::stamp_of(attributes) == *expected.stamp;
    return expected.is_folder ? !S_ISDIR(attributes.st_mode) : S_ISLNK(attributes.st_mode);
  }

  const std::vector<validated_path> paths_;
};

std::string join_path(std::string_view folder, std::string_view name) {
  std::string path(folder);
  if (!path.empty()) path += '/';
  return path += name;
}

ignore::list_pointer share_list(ignore::pattern_list list) {
  return std::make_shared<const ignore::pattern_list>(std::move(list));
}

std::string normalize_slashes(std::string_view path) {
  std::string normalized;
  normalized.reserve(path.size());
  for (const char c : path)
    if (c != '/' || (!normalized.empty() && normalized.back() != '/')) normalized += c;
  if (normalized.ends_with('/')) normalized.pop_back();
  return normalized;
}

}  // namespace

ignored_paths::ignored_paths(git_repository* repo, bool has_work_tree, std::function<bool()> is_stopped,
                             std::size_t memory_limit)
    : repo_(repo),
      has_work_tree_(has_work_tree),
      is_stopped_(std::move(is_stopped)),
      memory_limit_(memory_limit),
      cancellation_(is_stopped_),
      trees_(repo, cancellation_),
      excluded_level_{.is_excluded = true},
      steps_left_(max_call_steps) {}

bool ignored_paths::excludes(std::string_view path, bool is_folder) {
  const auto normalized = normalize_slashes(path);
  if (normalized.empty()) return error_.has_value();
  const auto slash = normalized.rfind('/');
  const auto& parent =
      find_level(slash == std::string::npos ? std::string_view() : std::string_view(normalized).substr(0, slash));
  if (parent.is_excluded) return true;
  // A folder that does not exist has no ignore files, but those above may exclude it.
  if (!parent.exists)
    for (auto end = normalized.find('/'); end != std::string::npos; end = normalized.find('/', end + 1))
      if (is_excluded_by(parent, std::string_view(normalized).substr(0, end), true)) return true;
  return is_excluded_by(parent, normalized, is_folder);
}

void ignored_paths::load_folder(std::string_view folder) { (void)find_level(normalize_slashes(folder)); }

const ignored_paths::level& ignored_paths::find_level(std::string_view folder) {
  const auto top = levels_.find(std::pair<const level*, std::string_view>(nullptr, {}));
  const auto* current = top != levels_.end() ? &top->second : &add_level(nullptr, {}, {});
  for (std::size_t begin = 0; begin < folder.size() && !error_;) {
    if (!current->exists || current->is_excluded) break;
    const auto end = std::min(folder.find('/', begin), folder.size());
    const auto name = folder.substr(begin, end - begin);
    const auto next = levels_.find(std::pair(current, name));
    current = next != levels_.end() ? &next->second : &add_level(current, folder.substr(0, end), name);
    begin = end + 1;
  }
  return error_ ? excluded_level_ : *current;
}

const ignored_paths::level& ignored_paths::add_level(const level* parent, std::string_view folder, std::string_view name) {
  if (auto status = cancellation_.step(); !status) set_error(std::move(status.error()));
  if (error_) return excluded_level_;
  const auto [it, is_new] = levels_.try_emplace(key(parent, name));
  auto& created = it->second;
  created.parent = parent;
  created.name = it->first.second;
  add_memory(sizeof *it + node_bytes + name.size());
  if (parent == nullptr) {
    load_top_level(created);
  } else {
    load_level(created, folder);
  }
  return created;
}

void ignored_paths::load_top_level(level& target) {
  target.rules = std::make_shared<const ignore::stack>();
  if (has_work_tree_) {
    auto opened = work_tree::open(repo_);
    if (!opened) return set_error(std::move(opened.error()));
    work_tree_.emplace(std::move(*opened));
    apply_file(target, read_from_work_tree({}), {});
  } else if (git_repository_head_unborn(repo_) == 1) {
    target.exists = false;
  } else if (const auto head = resolve_revision(repo_, "HEAD", "rev"); head) {
    target.tree = head->tree;
    apply_file(target, read_from_tree(target.tree), {});
  } else {
    apply_file(target, make_unusable_after(head.error(), "HEAD cannot be read"), {});
  }
}

void ignored_paths::load_level(level& target, std::string_view folder) {
  const auto& parent = *target.parent;
  target.rules = parent.rules;
  target.is_excluded = is_excluded_by(parent, folder, true);
  if (target.is_excluded) return;
  if (has_work_tree_) {
    auto file = read_from_work_tree(folder);
    if (!file.list && !error_) {
      const auto folder_entry = work_tree_->inspect(std::string(folder));
      if (!folder_entry && folder_entry.error().code != errc::access_denied) return set_error(folder_entry.error());
      target.exists = folder_entry && S_ISDIR(folder_entry->attributes.st_mode);
    }
    if (target.exists) apply_file(target, std::move(file), folder);
    return;
  }
  const auto entry = trees_.find(parent.tree, target.name);
  if (!entry) return apply_file(target, make_unusable_after(entry.error(), "its folder cannot be read"), folder);
  target.exists = *entry && ((*entry)->mode & kind_bits) == folder_kind;
  if (!target.exists) return;
  target.tree = (*entry)->id;
  apply_file(target, read_from_tree(target.tree), folder);
}

void ignored_paths::apply_file(level& target, ignore_file file, std::string_view folder) {
  if (!file.list) return;
  add_memory(file.list->bytes() + sizeof file + file.etag.size() + 2 * folder.size());
  const auto parent_bytes = target.rules->folder().size();
  // The folders in between have no ignore file.
  target.rules = std::make_shared<const ignore::stack>(
      target.parent == nullptr
          ? ignore::stack({nullptr, file.list})
          : target.rules->child(folder.substr(parent_bytes == 0 ? 0 : parent_bytes + 1), {nullptr, file.list}));
  target.file = std::make_unique<const ignore_file>(std::move(file));
}

bool ignored_paths::is_excluded_by(const level& folder_level, std::string_view path, bool is_folder) {
  const auto decision = folder_level.rules->decide(path, is_folder, std::min(ignore::max_match_steps, steps_left_));
  steps_left_ -= std::min(steps_left_, decision.steps);
  return decision.is_ignored();
}

ignored_paths::ignore_file ignored_paths::make_unusable(std::string reason) {
  has_unusable_ = true;
  auto etag = "unusable: " + reason;
  return {share_list(ignore::pattern_list::unusable(std::string(hondana_ignore), std::move(reason))), std::move(etag), {}};
}

ignored_paths::ignore_file ignored_paths::make_unusable_after(const failure& error, std::string_view reason) {
  if (error.code == errc::cancelled || disk::lacks_descriptors()) {
    set_error(error);
    return {};
  }
  return make_unusable(std::string(reason));
}

ignored_paths::ignore_file ignored_paths::read_from_work_tree(std::string_view folder) {
  const auto path = join_path(folder, hondana_ignore);
  const auto file = work_tree_->inspect(path);
  const auto is_transient = [](const failure& error) { return error.code == errc::source_unavailable; };
  if (!file && is_transient(file.error())) {
    set_error(file.error());
    return {};
  }
  if (!file) return make_unusable("it cannot be accessed");
  const auto mode = file->attributes.st_mode;
  if (mode == 0 || S_ISLNK(mode)) return {};
  if (!S_ISREG(mode)) return make_unusable("it is not a regular file");
  const auto text = work_tree_->read(path, max_ignore_file_bytes);
  if (!text && is_transient(text.error())) {
    set_error(text.error());
    return {};
  }
  if (!text) return make_unusable("it cannot be read, or is longer than 1 MiB");
  return {share_list(ignore::pattern_list::parse(*text, path)), bytes::to_hex(bytes::digest_of(*text)),
          disk::stamp_of(file->attributes)};
}

ignored_paths::ignore_file ignored_paths::read_from_tree(const git_oid& tree) {
  const auto lookup = trees_.find(tree, hondana_ignore);
  if (!lookup) return make_unusable_after(lookup.error(), "it cannot be accessed");
  const auto& entry = *lookup;
  if (!entry || (entry->mode & kind_bits) == link_kind) return {};
  if (!is_regular(entry->mode)) return make_unusable("it is not a regular file");
  side_contents contents(repo_);
  const auto content = contents.read({{}, entry->id, entry->mode}, max_ignore_file_bytes);
  if (!content) return make_unusable_after(content.error(), "it cannot be read");
  if (!content->is_complete) return make_unusable("it is longer than 1 MiB");
  return {share_list(ignore::pattern_list::parse(content->bytes(), std::string(hondana_ignore))), to_hex(entry->id), {}};
}

void ignored_paths::set_error(failure error) {
  if (!error_) error_ = std::move(error);
}

void ignored_paths::add_memory(std::size_t bytes) {
  memory_bytes_ += bytes;
  if (memory_bytes_ <= memory_limit_) return;
  set_error({errc::response_too_large,
             "The .hondanaignore rules for this resource cannot be loaded: the files and the folders to search for them need "
             "more than " +
                 std::to_string(memory_limit_ >> 20) + " MiB. Request one folder or file.",
             {}});
}

std::string ignored_paths::path_of(const level& folder_level) {
  std::vector<std::string_view> names;
  for (const auto* current = &folder_level; current->parent != nullptr; current = current->parent)
    names.push_back(current->name);
  std::string path;
  for (auto name = names.rbegin(); name != names.rend(); ++name) path = join_path(path, *name);
  return path;
}

std::string ignored_paths::digest() const {
  std::map<std::string, std::string_view> etags;
  for (const auto& [level_key, folder_level] : levels_)
    if (folder_level.file) etags.emplace(path_of(folder_level), folder_level.file->etag);
  if (etags.empty()) return {};
  bytes::digester digester;
  for (const auto& [folder, etag] : etags) digester.update(version_of({folder, etag}));
  return bytes::to_hex(digester.value());
}

std::shared_ptr<const cache_validator> ignored_paths::make_validator() const {
  if (!has_work_tree_ || error_ || has_unusable_ || levels_.size() > max_validated_paths) return nullptr;
  const std::string root = git_repository_workdir(repo_);
  std::vector<validated_path> paths;
  for (const auto& [level_key, folder_level] : levels_) {
    const auto stamp = folder_level.file ? folder_level.file->stamp : std::nullopt;
    if (folder_level.file && (!stamp || disk::is_racy(*stamp, disk::wall_clock()))) return nullptr;
    // In a folder that is excluded, its own ignore file does not matter.
    if (folder_level.is_excluded) continue;
    const auto folder = path_of(folder_level);
    paths.push_back({root + (folder_level.exists ? join_path(folder, hondana_ignore) : folder), !folder_level.exists, stamp});
  }
  return std::make_shared<const ignore_validator>(std::move(paths));
}

}  // namespace hondana::git
