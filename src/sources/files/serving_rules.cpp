/// Decides which files of a root are served: hidden names, secrets, exclusions and ignore files.
#include "sources/files/serving_rules.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstddef>
#include <cstring>
#include <memory>
#include <optional>
#include <string_view>
#include <utility>
#include <vector>

#include "base/ascii/ascii.hpp"
#include "os/disk/descriptor_limit.hpp"
#include "os/disk/file_descriptor.hpp"
#include "os/disk/file_stamp.hpp"
#include "text/secrets/secret_file_names.hpp"

namespace hondana::files {
namespace {

bool is_version_control(std::string_view name) noexcept {
  constexpr std::array<std::string_view, 8> names{".git", ".hg", ".svn", ".jj", ".bzr", "_darcs", "CVS", ".sl"};
  // On a file system that ignores case, .GIT is .git.
  return std::any_of(names.begin(), names.end(), [name](std::string_view one) { return ascii::is_same(name, one); });
}

}  // namespace

std::string to_text(const ruling& decision) {
  const auto with_pattern = [&decision](std::string text) {
    text += '`';
    text += decision.pattern;
    text += '`';
    return text;
  };
  switch (decision.why) {
    case denial::none:
      return "served";
    case denial::kept_back:
      return std::string(disk::own_files::reason);
    case denial::version_control:
      return "version control data";
    case denial::secret:
      return with_pattern("secret: ").append(" (").append(decision.note).append(")");
    case denial::hidden:
      return "hidden";
    case denial::excluded:
      return with_pattern("excluded by the configuration: ");
    case denial::ignored:
      break;
  }
  if (!decision.fault.empty()) {
    std::string text(decision.source);
    text += " cannot be applied, so everything that it could exclude is left out: ";
    return text += decision.fault;
  }
  std::string where = "ignored by ";
  where += decision.source;
  where += ':';
  where += std::to_string(decision.line);
  where += ' ';
  return with_pattern(std::move(where));
}

result<ignore::pattern_list> compile_patterns(const std::vector<std::string>& patterns, const std::string& option) {
  std::string text;
  for (const auto& pattern : patterns) {
    if (pattern.empty() || pattern.find_first_of("\n\r") != std::string::npos || pattern.find('\0') != std::string::npos) {
      return fail(errc::invalid_argument, "A pattern of `" + option + "` is empty or contains a line break or NUL: \"" +
                                              pattern + "\". Write one gitignore pattern per item.");
    }
    (text += pattern) += '\n';
  }
  auto list = ignore::pattern_list::parse(text, option);
  if (!list.warnings().empty() || !list.complete()) {
    return fail(errc::invalid_argument,
                "A pattern of `" + option + "` cannot be used: " +
                    (list.warnings().empty() ? std::string("there are too many") : list.warnings().front()) +
                    ". Use the syntax of .gitignore.");
  }
  return list;
}

result<rules> rules::make(const root_options& from, std::string_view root) {
  HONDANA_TRY(auto allow, compile_patterns(from.allow, "allow"));
  HONDANA_TRY(auto exclude, compile_patterns(from.exclude, "exclude"));
  rules made;
  made.allow_ = std::move(allow);
  made.exclude_ = std::move(exclude);
  made.own_ = disk::own_files(from.kept_back, root);
  made.show_hidden_ = from.show_hidden;
  made.obey_ignore_files_ = from.obey_ignore_files;
  return made;
}

bool rules::allows(std::string_view path, bool is_folder) const noexcept {
  return allow_.size() > 0 && allow_.match(path, is_folder).outcome == ignore::decision::ignored;
}

ruling rules::decide(std::string_view path, bool is_folder, const ignore::stack& ignored_by, std::uint64_t most_steps) const {
  if (!is_folder && own_.has_name(path)) return {denial::kept_back, {}, {}, {}, 0, {}, 0};
  auto decision = deny_name(path, is_folder);
  if (decision.is_served() && obey_ignore_files_) {
    const auto verdict = ignored_by.decide(path, is_folder, most_steps);
    decision.steps = verdict.steps;
    if (verdict.ignored()) {
      decision = {denial::ignored, verdict.pattern, {}, verdict.source, verdict.line, verdict.fault, verdict.steps};
    }
  }
  if (decision.is_served() || !allows(path, is_folder)) return decision;
  ruling allowed;
  allowed.steps = decision.steps;
  return allowed;
}

ruling rules::decide_name(std::string_view path, bool is_folder) const {
  if (!is_folder && own_.has_name(path)) return {denial::kept_back, {}, {}, {}, 0, {}, 0};
  const auto denied = deny_name(path, is_folder);
  return denied.is_served() || !allows(path, is_folder) ? denied : ruling{};
}

ruling rules::deny_name(std::string_view path, bool is_folder) const {
  const auto slash = path.rfind('/');
  const auto name = slash == std::string_view::npos ? path : path.substr(slash + 1);
  ruling denied;
  if (is_version_control(name)) {
    denied.why = denial::version_control;
    denied.pattern = name;
  } else if (const auto* secret = secrets::find_secret(path, is_folder)) {
    denied.why = denial::secret;
    denied.pattern = secret->pattern;
    denied.note = secret->reason;
  } else if (!show_hidden_ && name.front() == '.') {
    denied.why = denial::hidden;
  } else if (const auto hit = exclude_.match(path, is_folder); hit.outcome == ignore::decision::ignored) {
    denied.why = denial::excluded;
    denied.pattern = hit.pattern;
  }
  return denied;
}

namespace {

constexpr std::size_t text_limit = (1 << 20) + 1;  // one byte above the limit for compiling, so that the excess is reported

disk::handle open_quietly(const std::string& path) {
  return disk::handle(::open(path.c_str(), O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY | O_CLOEXEC));
}

std::string joined(const std::string& folder, std::string_view name) {
  std::string path = folder;
  if (!path.ends_with('/')) path += '/';
  return path += name;
}

/// The list of an ignore file; null if the file does not exist or is a link.
ignore::list_pointer list_at(const std::string& path, std::string source) {
  struct stat facts{};
  const auto unusable = [&source](std::string why) {
    return std::make_shared<const ignore::pattern_list>(ignore::pattern_list::unusable(std::move(source), std::move(why)));
  };
  if (::lstat(path.c_str(), &facts) != 0) {
    if (errno == ENOENT || errno == ENOTDIR) return nullptr;
    return unusable(std::string("it cannot be accessed: ") + std::strerror(errno));
  }
  if (S_ISLNK(facts.st_mode)) return nullptr;
  if (!S_ISREG(facts.st_mode)) return unusable("it is not a regular file");
  const auto file = open_quietly(path);
  if (!file.is_open()) return unusable(std::string("it cannot be read: ") + std::strerror(errno));
  if (::fstat(file.get(), &facts) != 0 || !S_ISREG(facts.st_mode)) return unusable("it is not a regular file");
  return compile_ignore_file(file.get(), std::move(source));
}

/// The first line of a small file, such as `.git` or `commondir`; empty if there is none.
std::string line_of(const std::string& path) {
  const auto file = open_quietly(path);
  struct stat facts{};
  if (!file.is_open() || ::fstat(file.get(), &facts) != 0 || !S_ISREG(facts.st_mode)) return {};
  std::array<char, 4096> text;
  const auto size = disk::read_at(file.get(), text.data(), text.size(), 0);
  if (!size) return {};
  const std::string_view seen(text.data(), *size);
  return std::string(seen.substr(0, seen.find_first_of(std::string_view("\r\n\0", 3))));
}

/// The git directory of the work tree whose top is `folder`, and whether it is the folder `.git` directly in it.
struct git_directory {
  std::string path;
  bool is_inside = false;
};

std::optional<git_directory> git_directory_of(const std::string& folder) {
  git_directory found{joined(folder, ".git")};
  struct stat facts{};
  if (::lstat(found.path.c_str(), &facts) != 0) return std::nullopt;
  found.is_inside = S_ISDIR(facts.st_mode);
  if (S_ISREG(facts.st_mode)) {
    constexpr std::string_view label = "gitdir: ";
    const auto line = line_of(found.path);
    if (!line.starts_with(label) || line.size() == label.size()) return std::nullopt;
    const auto named = line.substr(label.size());
    found.path = named.front() == '/' ? named : joined(folder, named);
  }
  if (::lstat(joined(found.path, "HEAD").c_str(), &facts) != 0) return std::nullopt;
  // A linked work tree shares the `info` of its repository.
  if (const auto shared = line_of(joined(found.path, "commondir")); !shared.empty()) {
    found.path = shared.front() == '/' ? shared : joined(found.path, shared);
  }
  return found;
}

std::string parent_of(const std::string& path) {
  const auto slash = path.rfind('/');
  return slash == 0 ? "/" : path.substr(0, slash);
}

}  // namespace

ignore::list_pointer compile_ignore_file(int file, std::string source) {
  const auto text = std::make_unique_for_overwrite<char[]>(text_limit);
  const auto size = disk::read_at(file, text.get(), text_limit, 0);
  auto list = size ? ignore::pattern_list::parse(std::string_view(text.get(), *size), std::move(source))
                   : ignore::pattern_list::unusable(std::move(source),
                                                    std::string("it cannot be read: ") + std::strerror(size.error()));
  return std::make_shared<const ignore::pattern_list>(std::move(list));
}

surroundings surroundings_of(const std::string& root) {
  surroundings found;
  std::string top = root;
  std::string up;  // from the root to `top`, as in the names of ignore files
  auto git = git_directory_of(top);
  while (!git && top != "/") {
    top = parent_of(top);
    up += "../";
    git = git_directory_of(top);
  }
  if (!git) return found;
  const bool is_top = top == root;
  // A git directory in the root itself is read for every decision.
  if (is_top && git->is_inside) return found;
  auto exclude =
      list_at(joined(git->path, "info/exclude"), up + (git->is_inside ? ".git/info/exclude" : "info/exclude of .git"));
  if (is_top) {
    found.exclude = std::move(exclude);
    return found;
  }
  std::string inner = root.substr(top == "/" ? 1 : top.size() + 1);
  if (exclude) found.outer.push_back({inner, std::move(exclude)});
  for (std::string folder = top;;) {
    if (auto list = list_at(joined(folder, ".gitignore"), up + ".gitignore")) found.outer.push_back({inner, std::move(list)});
    const auto slash = inner.find('/');
    if (slash == std::string::npos) return found;
    folder = joined(folder, inner.substr(0, slash));
    inner.erase(0, slash + 1);
    up.resize(up.size() - 3);
  }
}

namespace {

// The lists of one path fit into the cache, so that a read does not compile them again.
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
    // In a folder without search permission, nothing can be read anyway.
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
