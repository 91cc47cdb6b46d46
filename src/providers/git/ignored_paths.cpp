/// Reads ignore files folder by folder, as far down as is asked.
#include "providers/git/ignored_paths.hpp"

#include <fcntl.h>
#include <linux/openat2.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <utility>
#include <vector>

#include "bytes/digest.hpp"
#include "disk/handle.hpp"
#include "providers/git/rendering.hpp"
#include "providers/git/revision.hpp"
#include "providers/git/side_content.hpp"
#include "providers/git/tree_entries.hpp"

namespace hondana::git {
namespace {

constexpr std::string_view hondana_ignore = ".hondanaignore";
constexpr std::uint64_t most_list_bytes = std::uint64_t{1} << 20;
constexpr std::size_t most_bytes_of_lists = std::size_t{64} << 20;
constexpr std::uint64_t most_steps_of_call = 500'000'000;
// RESOLVE_CACHED of Linux 5.12, which older headers lack.
constexpr std::uint64_t resolve_cached = 0x20;
// More would take too long to be looked at each time.
constexpr std::size_t most_vouched = 8;

/// What is at a path of the work tree, or would be.
struct vouched_path {
  std::string path;  // absolute
  bool is_folder;    // that is not there, and must not come
  std::optional<disk::stamp> stamp;
};

class still_ignored final : public validity {
 public:
  explicit still_ignored(std::vector<vouched_path> all) noexcept : all_(std::move(all)) {}
  [[nodiscard]] bool holds() const noexcept override {
    return std::all_of(all_.begin(), all_.end(), [](const vouched_path& one) { return is_same(one); });
  }

 private:
  /// What the kernel would have to wait for, it does not know.
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

std::string path_in(const std::string& folder, std::string_view name) {
  return folder.empty() ? std::string(name) : folder + '/' + std::string(name);
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

ignored_paths::ignored_paths(git_repository* in, bool has_work_tree)
    : in_(in), has_work_tree_(has_work_tree), steps_left_(most_steps_of_call) {}

bool ignored_paths::leaves_out(std::string_view path, bool is_folder) {
  const auto tidied = with_single_slashes(path);
  if (tidied.empty()) return false;
  const auto slash = tidied.rfind('/');
  const auto& above = level_of(slash == std::string::npos ? std::string_view() : std::string_view(tidied).substr(0, slash));
  if (above.is_left_out) return true;
  // What is not there has no such files, and may be left out by those above.
  if (!above.is_there)
    for (auto end = tidied.find('/'); end != std::string::npos; end = tidied.find('/', end + 1))
      if (decides(above, std::string_view(tidied).substr(0, end), true)) return true;
  return decides(above, tidied, is_folder);
}

const ignored_paths::level& ignored_paths::level_of(std::string_view folder) {
  auto known = levels_.find("");
  if (known == levels_.end()) known = levels_.emplace("", top()).first;
  for (std::size_t end = 0; end < folder.size();) {
    if (!known->second.is_there || known->second.is_left_out) break;
    end = std::min(folder.find('/', end + 1), folder.size());
    const auto path = folder.substr(0, end);
    auto next = levels_.find(path);
    if (next == levels_.end()) next = levels_.emplace(path, below(known->second, std::string(path))).first;
    known = next;
  }
  return known->second;
}

ignored_paths::level ignored_paths::top() {
  level made;
  if (has_work_tree_) {
    auto opened = work_tree::open(in_);
    if (opened) files_.emplace(std::move(*opened));
    made.own = counted(files_ ? in_work_tree({}) : unusable("the work tree cannot be opened"), {});
  } else if (git_repository_head_unborn(in_) == 1) {
    made.is_there = false;
  } else if (const auto head = resolve(in_, "HEAD", "rev"); head) {
    made.tree = head->tree;
    made.own = counted(in_tree(made.tree), {});
  } else {
    made.own = unusable("HEAD cannot be read");
  }
  made.rules = ignore::stack({nullptr, made.own.list});
  return made;
}

ignored_paths::level ignored_paths::below(const level& above, const std::string& folder) {
  level made;
  made.rules = above.rules;
  made.is_left_out = decides(above, folder, true);
  if (made.is_left_out) return made;
  const auto name = folder.substr(folder.rfind('/') + 1);  // 0 where there is none
  if (has_work_tree_) {
    made.own = counted(in_work_tree(folder), folder);
    if (!made.own.list) {
      const auto there = files_->look(folder);
      made.is_there = there && S_ISDIR(there->facts.st_mode);
    }
  } else {
    const auto entry = find_entry(in_, above.tree, name);
    made.is_there = entry ? entry->is_folder() : entry.error().code != errc::resource_not_found;
    if (entry) made.tree = entry->id;
    if (made.is_there) made.own = counted(entry ? in_tree(made.tree) : unusable("its folder cannot be read"), folder);
  }
  if (made.is_there) made.rules = above.rules.child(name, {nullptr, made.own.list});
  return made;
}

bool ignored_paths::decides(const level& by, std::string_view path, bool is_folder) {
  const auto said = by.rules.decide(path, is_folder, std::min(ignore::most_steps, steps_left_));
  steps_left_ -= std::min(steps_left_, said.steps);
  return said.ignored();
}

ignored_paths::found_list ignored_paths::unusable(std::string why) {
  auto mark = "unusable: " + why;
  return {shared_list(ignore::pattern_list::unusable(std::string(hondana_ignore), std::move(why))), std::move(mark), {}};
}

ignored_paths::found_list ignored_paths::in_work_tree(const std::string& folder) const {
  const auto path = path_in(folder, hondana_ignore);
  const auto there = files_->look(path);
  if (!there) return unusable("it cannot be looked at");
  const auto mode = there->facts.st_mode;
  if (mode == 0 || S_ISLNK(mode)) return {};
  if (!S_ISREG(mode)) return unusable("it is no regular file");
  const auto text = files_->read(path, most_list_bytes);
  if (!text) return unusable("it cannot be read, or is longer than 1 MiB");
  return {shared_list(ignore::pattern_list::parse(*text, path)), bytes::to_hex(bytes::digest_of(*text)),
          disk::stamp_of(there->facts)};
}

ignored_paths::found_list ignored_paths::in_tree(const git_oid& tree) const {
  const auto entry = find_entry(in_, tree, hondana_ignore);
  if (!entry && entry.error().code != errc::resource_not_found) return unusable("it cannot be looked at");
  if (!entry || entry->is_link()) return {};
  if (!is_regular(entry->mode)) return unusable("it is no regular file");
  side_contents contents(in_);
  const auto read = contents.read({{}, entry->id, entry->mode}, most_list_bytes);
  if (!read || !read->is_whole) return unusable("it cannot be read, or is longer than 1 MiB");
  return {shared_list(ignore::pattern_list::parse(read->bytes(), std::string(hondana_ignore))), text_of(entry->id), {}};
}

ignored_paths::found_list ignored_paths::counted(found_list found, const std::string& folder) {
  if (!found.list) return found;
  bytes_ += found.list->bytes() + folder.size();
  return bytes_ <= most_bytes_of_lists ? std::move(found)
                                       : unusable("those of other folders take all memory there is for them");
}

std::string ignored_paths::state() const {
  bytes::digester all;
  bool is_any = false;
  for (const auto& [folder, one] : levels_) {
    if (one.own.mark.empty()) continue;
    is_any = true;
    all.feed(version_of({folder, one.own.mark}));
  }
  return is_any ? bytes::to_hex(all.value()) : std::string();
}

std::shared_ptr<const validity> ignored_paths::unchanged() const {
  if (!has_work_tree_ || levels_.size() > most_vouched) return nullptr;
  const std::string root = git_repository_workdir(in_);
  std::vector<vouched_path> all;
  for (const auto& [folder, one] : levels_) {
    if (one.own.list && (!one.own.stamp || disk::is_racy(*one.own.stamp, disk::wall_clock()))) return nullptr;
    // What is left out for a folder above has nothing of its own to say.
    if (one.is_left_out) continue;
    all.push_back({root + (one.is_there ? path_in(folder, hondana_ignore) : folder), !one.is_there, one.own.stamp});
  }
  return std::make_shared<const still_ignored>(std::move(all));
}

}  // namespace hondana::git
