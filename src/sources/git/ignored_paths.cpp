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

constexpr std::size_t most_tree_bytes = std::size_t{32} << 20;
// A folder and its parent are always cached, however large they are.
constexpr std::size_t fewest_kept = 2;
// Approximate memory that libgit2 needs for an entry besides its name.
constexpr std::size_t bytes_of_entry = 64;

bool can_be_in_paths(std::string_view name) noexcept {
  return !name.empty() && name != "." && name != ".." && name.find('/') == std::string_view::npos &&
         name.find('\0') == std::string_view::npos && !ascii::is_same(name, ".git");
}

std::size_t size_in_memory(const git_tree* tree) noexcept {
  const auto count = git_tree_entrycount(tree);
  std::size_t bytes = count * bytes_of_entry;
  for (std::size_t i = 0; i < count; ++i)
    bytes += std::string_view(git_tree_entry_name(git_tree_entry_byindex(tree, i))).size();
  return bytes;
}

}  // namespace

result<std::optional<kept_trees::found>> kept_trees::find(const git_oid& tree, std::string_view name) {
  if (!can_be_in_paths(name)) return std::nullopt;
  HONDANA_TRY(const auto opened, open(tree));
  const auto* entry = git_tree_entry_byname(opened, std::string(name).c_str());
  if (entry == nullptr) return std::nullopt;
  return found{*git_tree_entry_id(entry), static_cast<std::uint32_t>(git_tree_entry_filemode_raw(entry))};
}

result<git_tree*> kept_trees::open(const git_oid& id) {
  std::string key(reinterpret_cast<const char*>(id.id), GIT_OID_RAWSZ);
  if (const auto known = by_id_.find(key); known != by_id_.end()) {
    all_.splice(all_.begin(), all_, known->second);
    return all_.front().tree.get();
  }
  HONDANA_TRY(asks_.ask());
  git_tree* raw = nullptr;
  if (git_tree_lookup(&raw, in_, &id) < 0)
    return failed("The tree " + text_of(id) +
                  " cannot be read: it is missing from the repository or damaged. Run `git fsck` in the repository.");
  ++reads_;
  all_.push_front({std::move(key), tree_pointer(raw), size_in_memory(raw)});
  by_id_.emplace(all_.front().id, all_.begin());
  bytes_ += all_.front().bytes;
  while (bytes_ > most_tree_bytes && all_.size() > fewest_kept) {
    bytes_ -= all_.back().bytes;
    by_id_.erase(all_.back().id);
    all_.pop_back();
  }
  return raw;
}

namespace {

constexpr std::string_view hondana_ignore = ".hondanaignore";
constexpr std::uint64_t most_list_bytes = std::uint64_t{1} << 20;
constexpr std::uint64_t most_steps_of_call = 500'000'000;
// RESOLVE_CACHED of Linux 5.12, which older headers lack.
constexpr std::uint64_t resolve_cached = 0x20;
// Of a map, including the allocator's overhead.
constexpr std::size_t bytes_of_node = 48;
// More would take too long to check each time.
constexpr std::size_t most_vouched = 8;

/// What must be, or must not be, at a path of the work tree.
struct vouched_path {
  std::string path;  // absolute
  bool is_folder;    // a folder that does not exist, and must not appear
  std::optional<disk::stamp> stamp;
};

class still_ignored final : public validity {
 public:
  explicit still_ignored(std::vector<vouched_path> all) noexcept : all_(std::move(all)) {}
  [[nodiscard]] bool holds() const noexcept override {
    return std::all_of(all_.begin(), all_.end(), [](const vouched_path& one) { return is_same(one); });
  }

 private:
  /// False if the kernel cannot tell without waiting for a disk.
  static bool is_same(const vouched_path& one) noexcept {
    open_how how{};
    how.flags = O_PATH | O_NOFOLLOW | O_CLOEXEC;
    how.resolve = RESOLVE_NO_SYMLINKS | RESOLVE_NO_MAGICLINKS | resolve_cached;
    const disk::handle at(static_cast<int>(::syscall(SYS_openat2, AT_FDCWD, one.path.c_str(), &how, sizeof how)));
    if (!at.is_open()) return !one.stamp && (errno == ENOENT || errno == ENOTDIR || errno == ELOOP);
    struct stat facts{};
    if (::fstat(at.get(), &facts) != 0) return false;
    if (one.stamp) return S_ISREG(facts.st_mode) && disk::stamp_of(facts) == *one.stamp;
    return one.is_folder ? !S_ISDIR(facts.st_mode) : S_ISLNK(facts.st_mode);
  }

  const std::vector<vouched_path> all_;
};

std::string path_in(std::string_view folder, std::string_view name) {
  std::string path(folder);
  if (!path.empty()) path += '/';
  return path += name;
}

ignore::list_pointer shared_list(ignore::pattern_list list) {
  return std::make_shared<const ignore::pattern_list>(std::move(list));
}

std::string with_single_slashes(std::string_view path) {
  std::string tidied;
  tidied.reserve(path.size());
  for (const char c : path)
    if (c != '/' || (!tidied.empty() && tidied.back() != '/')) tidied += c;
  if (tidied.ends_with('/')) tidied.pop_back();
  return tidied;
}

}  // namespace

ignored_paths::ignored_paths(git_repository* in, bool has_work_tree, std::function<bool()> is_stopped, std::size_t most)
    : in_(in),
      has_work_tree_(has_work_tree),
      is_stopped_(std::move(is_stopped)),
      most_(most),
      stopping_(is_stopped_),
      trees_(in, stopping_),
      shut_{.is_left_out = true},
      steps_left_(most_steps_of_call) {}

bool ignored_paths::leaves_out(std::string_view path, bool is_folder) {
  const auto tidied = with_single_slashes(path);
  if (tidied.empty()) return trouble_.has_value();
  const auto slash = tidied.rfind('/');
  const auto& above = level_of(slash == std::string::npos ? std::string_view() : std::string_view(tidied).substr(0, slash));
  if (above.is_left_out) return true;
  // A folder that does not exist has no ignore files, but those above may exclude it.
  if (!above.is_there)
    for (auto end = tidied.find('/'); end != std::string::npos; end = tidied.find('/', end + 1))
      if (decides(above, std::string_view(tidied).substr(0, end), true)) return true;
  return decides(above, tidied, is_folder);
}

void ignored_paths::look_into(std::string_view folder) { (void)level_of(with_single_slashes(folder)); }

const ignored_paths::level& ignored_paths::level_of(std::string_view folder) {
  const auto known = levels_.find(std::pair<const level*, std::string_view>(nullptr, {}));
  const auto* at = known != levels_.end() ? &known->second : &add(nullptr, {}, {});
  for (std::size_t begin = 0; begin < folder.size() && !trouble_;) {
    if (!at->is_there || at->is_left_out) break;
    const auto end = std::min(folder.find('/', begin), folder.size());
    const auto name = folder.substr(begin, end - begin);
    const auto next = levels_.find(std::pair(at, name));
    at = next != levels_.end() ? &next->second : &add(at, folder.substr(0, end), name);
    begin = end + 1;
  }
  return trouble_ ? shut_ : *at;
}

const ignored_paths::level& ignored_paths::add(const level* above, std::string_view folder, std::string_view name) {
  if (auto go = stopping_.step(); !go) give_up(std::move(go.error()));
  if (trouble_) return shut_;
  const auto [at, is_new] = levels_.try_emplace(key(above, name));
  auto& made = at->second;
  made.above = above;
  made.name = at->first.second;
  count(sizeof *at + bytes_of_node + name.size());
  if (above == nullptr) {
    fill_top(made);
  } else {
    fill(made, folder);
  }
  return made;
}

void ignored_paths::fill_top(level& made) {
  made.rules = std::make_shared<const ignore::stack>();
  if (has_work_tree_) {
    auto opened = work_tree::open(in_);
    if (!opened) return give_up(std::move(opened.error()));
    files_.emplace(std::move(*opened));
    take(made, in_work_tree({}), {});
  } else if (git_repository_head_unborn(in_) == 1) {
    made.is_there = false;
  } else if (const auto head = resolve(in_, "HEAD", "rev"); head) {
    made.tree = head->tree;
    take(made, in_tree(made.tree), {});
  } else {
    take(made, unusable_for(head.error(), "HEAD cannot be read"), {});
  }
}

void ignored_paths::fill(level& made, std::string_view folder) {
  const auto& above = *made.above;
  made.rules = above.rules;
  made.is_left_out = decides(above, folder, true);
  if (made.is_left_out) return;
  if (has_work_tree_) {
    auto found = in_work_tree(folder);
    if (!found.list && !trouble_) {
      const auto there = files_->look(std::string(folder));
      if (!there && there.error().code != errc::access_denied) return give_up(there.error());
      made.is_there = there && S_ISDIR(there->facts.st_mode);
    }
    if (made.is_there) take(made, std::move(found), folder);
    return;
  }
  const auto entry = trees_.find(above.tree, made.name);
  if (!entry) return take(made, unusable_for(entry.error(), "its folder cannot be read"), folder);
  made.is_there = *entry && ((*entry)->mode & kind_bits) == folder_kind;
  if (!made.is_there) return;
  made.tree = (*entry)->id;
  take(made, in_tree(made.tree), folder);
}

void ignored_paths::take(level& made, found_list found, std::string_view folder) {
  if (!found.list) return;
  count(found.list->bytes() + sizeof found + found.mark.size() + 2 * folder.size());
  const auto known = made.rules->folder().size();
  // The folders in between have no ignore file.
  made.rules = std::make_shared<const ignore::stack>(
      made.above == nullptr ? ignore::stack({nullptr, found.list})
                            : made.rules->child(folder.substr(known == 0 ? 0 : known + 1), {nullptr, found.list}));
  made.own = std::make_unique<const found_list>(std::move(found));
}

bool ignored_paths::decides(const level& by, std::string_view path, bool is_folder) {
  const auto said = by.rules->decide(path, is_folder, std::min(ignore::most_steps, steps_left_));
  steps_left_ -= std::min(steps_left_, said.steps);
  return said.ignored();
}

ignored_paths::found_list ignored_paths::unusable(std::string why) {
  has_unusable_ = true;
  auto mark = "unusable: " + why;
  return {shared_list(ignore::pattern_list::unusable(std::string(hondana_ignore), std::move(why))), std::move(mark), {}};
}

ignored_paths::found_list ignored_paths::unusable_for(const failure& why, std::string_view said) {
  if (why.code == errc::cancelled || disk::lacks_descriptors()) {
    give_up(why);
    return {};
  }
  return unusable(std::string(said));
}

ignored_paths::found_list ignored_paths::in_work_tree(std::string_view folder) {
  const auto path = path_in(folder, hondana_ignore);
  const auto there = files_->look(path);
  const auto is_ours = [](const failure& why) { return why.code == errc::source_unavailable; };
  if (!there && is_ours(there.error())) {
    give_up(there.error());
    return {};
  }
  if (!there) return unusable("it cannot be accessed");
  const auto mode = there->facts.st_mode;
  if (mode == 0 || S_ISLNK(mode)) return {};
  if (!S_ISREG(mode)) return unusable("it is not a regular file");
  const auto text = files_->read(path, most_list_bytes);
  if (!text && is_ours(text.error())) {
    give_up(text.error());
    return {};
  }
  if (!text) return unusable("it cannot be read, or is longer than 1 MiB");
  return {shared_list(ignore::pattern_list::parse(*text, path)), bytes::to_hex(bytes::digest_of(*text)),
          disk::stamp_of(there->facts)};
}

ignored_paths::found_list ignored_paths::in_tree(const git_oid& tree) {
  const auto found = trees_.find(tree, hondana_ignore);
  if (!found) return unusable_for(found.error(), "it cannot be accessed");
  const auto& entry = *found;
  if (!entry || (entry->mode & kind_bits) == link_kind) return {};
  if (!is_regular(entry->mode)) return unusable("it is not a regular file");
  side_contents contents(in_);
  const auto read = contents.read({{}, entry->id, entry->mode}, most_list_bytes);
  if (!read) return unusable_for(read.error(), "it cannot be read");
  if (!read->is_whole) return unusable("it is longer than 1 MiB");
  return {shared_list(ignore::pattern_list::parse(read->bytes(), std::string(hondana_ignore))), text_of(entry->id), {}};
}

void ignored_paths::give_up(failure why) {
  if (!trouble_) trouble_ = std::move(why);
}

void ignored_paths::count(std::size_t bytes) {
  bytes_ += bytes;
  if (bytes_ <= most_) return;
  give_up({errc::response_too_large,
           "The .hondanaignore rules for this resource cannot be loaded: the files and the folders to search for them need "
           "more than " +
               std::to_string(most_ >> 20) + " MiB. Request one folder or file.",
           {}});
}

std::string ignored_paths::path_of(const level& one) {
  std::vector<std::string_view> names;
  for (const auto* at = &one; at->above != nullptr; at = at->above) names.push_back(at->name);
  std::string path;
  for (auto name = names.rbegin(); name != names.rend(); ++name) path = path_in(path, *name);
  return path;
}

std::string ignored_paths::state() const {
  std::map<std::string, std::string_view> marks;
  for (const auto& [where, one] : levels_)
    if (one.own) marks.emplace(path_of(one), one.own->mark);
  if (marks.empty()) return {};
  bytes::digester all;
  for (const auto& [folder, mark] : marks) all.feed(version_of({folder, mark}));
  return bytes::to_hex(all.value());
}

std::shared_ptr<const validity> ignored_paths::unchanged() const {
  if (!has_work_tree_ || trouble_ || has_unusable_ || levels_.size() > most_vouched) return nullptr;
  const std::string root = git_repository_workdir(in_);
  std::vector<vouched_path> all;
  for (const auto& [where, one] : levels_) {
    const auto stamp = one.own ? one.own->stamp : std::nullopt;
    if (one.own && (!stamp || disk::is_racy(*stamp, disk::wall_clock()))) return nullptr;
    // In a folder that is excluded, its own ignore file does not matter.
    if (one.is_left_out) continue;
    const auto folder = path_of(one);
    all.push_back({root + (one.is_there ? path_in(folder, hondana_ignore) : folder), !one.is_there, stamp});
  }
  return std::make_shared<const still_ignored>(std::move(all));
}

}  // namespace hondana::git
