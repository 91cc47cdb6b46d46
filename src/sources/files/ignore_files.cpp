/// Reading ignore files through folder handles, and the cache of what they compile to.
#include "sources/files/ignore_files.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <utility>
#include <vector>

#include "os/disk/handle.hpp"
#include "os/disk/shortage.hpp"
#include "os/disk/stamp.hpp"

namespace hondana::files {
namespace {

// One path's lists fit into the cache, so that a read does not compile them anew.
constexpr std::size_t cost_limit = 48 << 20;
constexpr std::size_t stack_limit = 32 << 20;
constexpr std::size_t base_cost = 1024;
constexpr std::size_t told_limit = 1000;

disk::handle folder_in(int folder, const char* name) {
  disk::handle inside(::openat(folder, name, O_PATH | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC));
  if (!inside.is_open()) disk::throw_if_short(errno);
  return inside;
}

}  // namespace

ignore_files::ignore_files(const std::string& root, bool obey, log_line log) : log_(std::move(log)) {
  if (!obey) return;
  around_ = surroundings_of(root);
  for (const auto& one : around_.outer) report(*one.list);
  if (around_.exclude) report(*around_.exclude);
}

ignore::stack ignore_files::at_root(int folder) {
  auto exclude = around_.exclude;
  if (const auto git = folder_in(folder, ".git"); git.is_open()) {
    if (const auto info = folder_in(git.get(), "info"); info.is_open()) {
      exclude = load(info.get(), "exclude", ".git/info/exclude");
    }
  }
  return ignore::stack(rules_in(folder, {}), std::move(exclude), around_.outer);
}

ignore::stack ignore_files::below(const ignore::stack& above, int folder, std::string_view name) {
  std::string prefix = above.folder();
  if (!prefix.empty()) prefix += '/';
  (prefix += name) += '/';
  auto rules = rules_in(folder, prefix);
  auto stack = above.child(name, rules);
  if (stack.bytes() <= stack_limit || stack.bytes() == above.bytes()) return stack;
  const auto& source = rules.git ? rules.git->source() : rules.hondana->source();
  return above.child(
      name, {unusable(source, "with the ignore files of its parent folders, it needs more than 32 MiB of memory"), nullptr});
}

ignore::folder_rules ignore_files::rules_in(int folder, const std::string& prefix) {
  return {load(folder, ".gitignore", prefix + ".gitignore"), load(folder, ".hondanaignore", prefix + ".hondanaignore")};
}

ignore::list_pointer ignore_files::load(int folder, const char* name, std::string source) {
  struct stat facts{};
  if (::fstatat(folder, name, &facts, AT_SYMLINK_NOFOLLOW) != 0) {
    // Where the folder may not be searched, nothing in it can be read either.
    if (errno == ENOENT || errno == EACCES) return nullptr;
    disk::throw_if_short(errno);
    return unusable(std::move(source), std::string("it cannot be accessed: ") + std::strerror(errno));
  }
  if (S_ISLNK(facts.st_mode)) return nullptr;
  if (!S_ISREG(facts.st_mode)) return unusable(std::move(source), "it is not a regular file");
  const auto state = disk::stamp_of(facts);
  const std::string key = version_of(state) + source;
  {
    const std::lock_guard lock(mutex_);
    if (const auto at = by_key_.find(key); at != by_key_.end()) {
      by_use_.splice(by_use_.begin(), by_use_, at->second);
      return at->second->list;
    }
  }
  const disk::handle file(::openat(folder, name, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY | O_CLOEXEC));
  struct stat opened{};
  if (!file.is_open() || ::fstat(file.get(), &opened) != 0) {
    if (errno == ENOENT) return nullptr;
    disk::throw_if_short(errno);
    return unusable(std::move(source), std::string("it cannot be read: ") + std::strerror(errno));
  }
  if (!S_ISREG(opened.st_mode)) return unusable(std::move(source), "it is not a regular file");
  auto list = compile_ignore_file(file.get(), std::move(source));
  report(*list);
  if (disk::stamp_of(opened) != state || is_racy(state, disk::wall_clock())) return list;

  const std::size_t cost = base_cost + key.size() + list->bytes();
  const std::lock_guard lock(mutex_);
  if (by_key_.contains(key)) return list;
  by_use_.push_front({key, list, cost});
  by_key_.emplace(key, by_use_.begin());
  cost_ += cost;
  while (cost_ > cost_limit) {
    cost_ -= by_use_.back().cost;
    by_key_.erase(by_use_.back().key);
    by_use_.pop_back();
  }
  return list;
}

ignore::list_pointer ignore_files::unusable(std::string source, std::string why) {
  auto list = std::make_shared<const ignore::pattern_list>(ignore::pattern_list::unusable(std::move(source), std::move(why)));
  report(*list);
  return list;
}

void ignore_files::report(const ignore::pattern_list& list) {
  if (!log_ || list.warnings().empty()) return;
  std::vector<std::string> lines;
  {
    const std::lock_guard lock(mutex_);
    for (const auto& warning : list.warnings()) {
      if (said_.size() < told_limit && said_.insert(warning).second) lines.push_back(warning);
    }
  }
  if (lines.empty()) return;
  for (const auto& line : lines) log_(line);
  if (!list.complete()) log_(list.source() + " cannot be applied, so everything that it could exclude is left out");
}

}  // namespace hondana::files
