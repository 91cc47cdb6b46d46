/// Reading ignore files through folder handles, and the cache of what they compile to.
#include "providers/files/ignore_files.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstring>
#include <utility>

#include "providers/files/handle.hpp"
#include "providers/files/pread.hpp"
#include "providers/files/stamp.hpp"

namespace hondana::files {
namespace {

constexpr std::size_t text_limit = (1 << 20) + 1;  // one byte more than is compiled, so that the compiler says what it left out
constexpr std::size_t cost_limit = 16 << 20;
constexpr std::size_t base_cost = 1024;

handle folder_in(int folder, const char* name) {
  return handle(::openat(folder, name, O_PATH | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC));
}

}  // namespace

ignore_files::ignore_files(log_line log) : log_(std::move(log)) {}

ignore::stack ignore_files::at_root(int folder) {
  ignore::list_pointer exclude;
  if (const auto git = folder_in(folder, ".git"); git.is_open()) {
    if (const auto info = folder_in(git.get(), "info"); info.is_open()) {
      exclude = load(info.get(), "exclude", ".git/info/exclude");
    }
  }
  return ignore::stack(rules_in(folder, {}), std::move(exclude));
}

ignore::stack ignore_files::below(const ignore::stack& above, int folder, std::string_view name) {
  std::string prefix = above.folder();
  if (!prefix.empty()) prefix += '/';
  (prefix += name) += '/';
  return above.child(name, rules_in(folder, prefix));
}

ignore::folder_rules ignore_files::rules_in(int folder, const std::string& prefix) {
  return {load(folder, ".gitignore", prefix + ".gitignore"), load(folder, ".hondanaignore", prefix + ".hondanaignore")};
}

ignore::list_pointer ignore_files::load(int folder, const char* name, std::string source) {
  struct stat facts{};
  if (::fstatat(folder, name, &facts, AT_SYMLINK_NOFOLLOW) != 0 || !S_ISREG(facts.st_mode)) return nullptr;
  const auto state = stamp_of(facts);
  const std::string key = version_of(state) + source;
  {
    const std::lock_guard lock(mutex_);
    if (const auto at = by_key_.find(key); at != by_key_.end()) {
      by_use_.splice(by_use_.begin(), by_use_, at->second);
      return at->second->list;
    }
  }
  const handle file(::openat(folder, name, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY | O_CLOEXEC));
  struct stat opened{};
  if (!file.is_open() || ::fstat(file.get(), &opened) != 0) {
    if (log_) log_("cannot read " + source + ", so that it is not obeyed: " + std::strerror(errno));
    return nullptr;
  }
  if (!S_ISREG(opened.st_mode)) return nullptr;
  auto list = compile(file.get(), std::move(source));
  if (!list || stamp_of(opened) != state || is_racy(state, wall_clock())) return list;

  const std::size_t cost = base_cost + static_cast<std::size_t>(std::min<std::uint64_t>(state.size, text_limit));
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

ignore::list_pointer ignore_files::compile(int file, std::string source) {
  std::string text(text_limit, '\0');
  const auto size = read_at(file, text.data(), text.size(), 0);
  if (!size) {
    if (log_) log_("cannot read " + source + ", so that it is not obeyed: " + std::strerror(size.error()));
    return nullptr;
  }
  auto list = std::make_shared<const ignore::pattern_list>(
      ignore::pattern_list::parse(std::string_view(text).substr(0, *size), std::move(source)));
  if (log_) {
    for (const auto& warning : list->warnings()) log_(warning);
  }
  return list;
}

}  // namespace hondana::files
