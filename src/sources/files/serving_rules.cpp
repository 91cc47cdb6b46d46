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
#include <filesystem>
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
  return std::any_of(names.begin(), names.end(),
                     [name](std::string_view reserved) { return ascii::equals_ignore_case(name, reserved); });
}

}  // namespace

std::string to_text(const serving_decision& decision) {
  const auto with_pattern = [&decision](std::string text) {
    text += '`';
    text += decision.pattern;
    text += '`';
    return text;
  };
  switch (decision.reason) {
    case denial_reason::none:
      return "served";
    case denial_reason::own_file:
      return std::string(disk::own_files::reason);
    case denial_reason::version_control:
      return "version control data";
    case denial_reason::secret:
      return with_pattern("secret: ").append(" (").append(decision.note).append(")");
    case denial_reason::hidden:
      return "hidden";
    case denial_reason::excluded:
      return with_pattern("excluded by the configuration: ");
    case denial_reason::ignored:
      break;
  }
  if (!decision.error.empty()) {
    std::string text(decision.source);
    text += " cannot be applied, so everything that it could exclude is left out: ";
    return text += decision.error;
  }
  std::string text = "ignored by ";
  text += decision.source;
  text += ':';
  text += std::to_string(decision.line);
  text += ' ';
  return with_pattern(std::move(text));
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
  if (!list.warnings().empty() || !list.is_complete()) {
    return fail(errc::invalid_argument,
                "A pattern of `" + option + "` cannot be used: " +
                    (list.warnings().empty() ? std::string("there are too many") : list.warnings().front()) +
                    ". Use the syntax of .gitignore.");
  }
  return list;
}

result<serving_rules> serving_rules::make(const root_options& options, std::string_view root) {
  HONDANA_TRY(auto allow, compile_patterns(options.allow, "allow"));
  HONDANA_TRY(auto exclude, compile_patterns(options.exclude, "exclude"));
  serving_rules rules;
  rules.allow_ = std::move(allow);
  rules.exclude_ = std::move(exclude);
  rules.own_files_ = disk::own_files(options.own_files, root);
  rules.show_hidden_ = options.show_hidden;
  rules.obeys_ignore_files_ = options.obey_ignore_files;
  return rules;
}

bool serving_rules::allows(std::string_view path, bool is_folder) const noexcept {
  return allow_.size() > 0 && allow_.match(path, is_folder).outcome == ignore::decision::ignored;
}

serving_decision serving_rules::decide(std::string_view path, bool is_folder, const ignore::stack& ignored_by,
                                       std::uint64_t max_steps) const {
  if (!is_folder && own_files_.has_name(path)) return {denial_reason::own_file, {}, {}, {}, 0, {}, 0};
  auto decision = check_name(path, is_folder);
  if (decision.is_served() && obeys_ignore_files_) {
    const auto verdict = ignored_by.decide(path, is_folder, max_steps);
    decision.steps = verdict.steps;
    if (verdict.is_ignored()) {
      decision = {denial_reason::ignored, verdict.pattern, {}, verdict.source, verdict.line, verdict.error, verdict.steps};
    }
  }
  if (decision.is_served() || !allows(path, is_folder)) return decision;
  serving_decision allowed;
  allowed.steps = decision.steps;
  return allowed;
}

serving_decision serving_rules::decide_name(std::string_view path, bool is_folder) const {
  if (!is_folder && own_files_.has_name(path)) return {denial_reason::own_file, {}, {}, {}, 0, {}, 0};
  const auto denied = check_name(path, is_folder);
  return denied.is_served() || !allows(path, is_folder) ? denied : serving_decision{};
}

serving_decision serving_rules::check_name(std::string_view path, bool is_folder) const {
  const auto slash = path.rfind('/');
  const auto name = slash == std::string_view::npos ? path : path.substr(slash + 1);
  serving_decision denied;
  if (is_version_control(name)) {
    denied.reason = denial_reason::version_control;
    denied.pattern = name;
  } else if (const auto* secret = secrets::find_secret(path, is_folder)) {
    denied.reason = denial_reason::secret;
    denied.pattern = secret->pattern;
    denied.note = secret->reason;
  } else if (!show_hidden_ && name.front() == '.') {
    denied.reason = denial_reason::hidden;
  } else if (const auto match = exclude_.match(path, is_folder); match.outcome == ignore::decision::ignored) {
    denied.reason = denial_reason::excluded;
    denied.pattern = match.pattern;
  }
  return denied;
}

namespace {

constexpr std::size_t max_text_bytes = (1 << 20) + 1;  // one byte above the limit for compiling, so that the excess is reported

disk::handle open_file(const std::string& path) {
  return disk::handle(::open(path.c_str(), O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY | O_CLOEXEC));
}

std::string join_path(const std::string& folder, std::string_view name) {
  std::string path = folder;
  if (!path.ends_with('/')) path += '/';
  return path += name;
}

/// The list of an ignore file; null if the file does not exist or is a link.
ignore::list_pointer load_list(const std::string& path, std::string source) {
  struct stat attributes{};
  const auto make_unusable = [&source](std::string reason) {
    return std::make_shared<const ignore::pattern_list>(ignore::pattern_list::unusable(std::move(source), std::move(reason)));
  };
  if (::lstat(path.c_str(), &attributes) != 0) {
    if (errno == ENOENT || errno == ENOTDIR) return nullptr;
    return make_unusable(std::string("it cannot be accessed: ") + std::strerror(errno));
  }
  if (S_ISLNK(attributes.st_mode)) return nullptr;
  if (!S_ISREG(attributes.st_mode)) return make_unusable("it is not a regular file");
  const auto file = open_file(path);
  if (!file.is_open()) return make_unusable(std::string("it cannot be read: ") + std::strerror(errno));
  if (::fstat(file.get(), &attributes) != 0 || !S_ISREG(attributes.st_mode)) return make_unusable("it is not a regular file");
  return compile_ignore_file(file.get(), std::move(source));
}

/// The first line of a small file, such as `.git` or `commondir`; empty if there is none.
std::string read_first_line(const std::string& path) {
  const auto file = open_file(path);
  struct stat attributes{};
  if (!file.is_open() || ::fstat(file.get(), &attributes) != 0 || !S_ISREG(attributes.st_mode)) return {};
  std::array<char, 4096> buffer;
  const auto size = disk::read_at(file.get(), buffer.data(), buffer.size(), 0);
  if (!size) return {};
  const std::string_view content(buffer.data(), *size);
  return std::string(content.substr(0, content.find_first_of(std::string_view("\r\n\0", 3))));
}

/// The git directory of the work tree whose top is `folder`, and whether it is the folder `.git` directly in it.
struct git_directory {
  std::string path;
  bool is_inside = false;
};

std::optional<git_directory> find_git_directory(const std::string& folder) {
  git_directory directory{join_path(folder, ".git")};
  struct stat attributes{};
  if (::lstat(directory.path.c_str(), &attributes) != 0) return std::nullopt;
  directory.is_inside = S_ISDIR(attributes.st_mode);
  if (S_ISREG(attributes.st_mode)) {
    constexpr std::string_view prefix = "gitdir: ";
    const auto line = read_first_line(directory.path);
    if (!line.starts_with(prefix) || line.size() == prefix.size()) return std::nullopt;
    const auto target = line.substr(prefix.size());
    directory.path = target.front() == '/' ? target : join_path(folder, target);
  }
  if (::lstat(join_path(directory.path, "HEAD").c_str(), &attributes) != 0) return std::nullopt;
  // A linked work tree shares the `info` of its repository.
  if (const auto common_path = read_first_line(join_path(directory.path, "commondir")); !common_path.empty()) {
    directory.path = common_path.front() == '/' ? common_path : join_path(directory.path, common_path);
  }
  return directory;
}

std::string absolute_parent(const std::string& path) {
  const auto slash = path.rfind('/');
  return slash == 0 ? "/" : path.substr(0, slash);
}

}  // namespace

ignore::list_pointer compile_ignore_file(int file, std::string source) {
  const auto text = std::make_unique_for_overwrite<char[]>(max_text_bytes);
  const auto size = disk::read_at(file, text.get(), max_text_bytes, 0);
  auto list = size ? ignore::pattern_list::parse(std::string_view(text.get(), *size), std::move(source))
                   : ignore::pattern_list::unusable(std::move(source),
                                                    std::string("it cannot be read: ") + std::strerror(size.error()));
  return std::make_shared<const ignore::pattern_list>(std::move(list));
}

outer_ignore_files find_outer_ignore_files(const std::string& root) {
  outer_ignore_files outer;
  std::string work_tree = root;
  std::string parent_prefix;  // from the root to `work_tree`, as in the names of ignore files
  auto git = find_git_directory(work_tree);
  while (!git && work_tree != "/") {
    work_tree = absolute_parent(work_tree);
    parent_prefix += "../";
    git = find_git_directory(work_tree);
  }
  if (!git) return outer;
  const bool is_work_tree = work_tree == root;
  // A git directory in the root itself is read for every decision.
  if (is_work_tree && git->is_inside) return outer;
  auto exclude = load_list(join_path(git->path, "info/exclude"),
                           parent_prefix + (git->is_inside ? ".git/info/exclude" : "info/exclude of .git"));
  if (is_work_tree) {
    outer.exclude = std::move(exclude);
    return outer;
  }
  std::string inner_path = root.substr(work_tree == "/" ? 1 : work_tree.size() + 1);
  if (exclude) outer.rules.push_back({inner_path, std::move(exclude)});
  for (std::string folder = work_tree;;) {
    if (auto list = load_list(join_path(folder, ".gitignore"), parent_prefix + ".gitignore"))
      outer.rules.push_back({inner_path, std::move(list)});
    const auto slash = inner_path.find('/');
    if (slash == std::string::npos) return outer;
    folder = join_path(folder, inner_path.substr(0, slash));
    inner_path.erase(0, slash + 1);
    parent_prefix.resize(parent_prefix.size() - 3);
  }
}

namespace {

// The lists of one path fit into the cache, so that a read does not compile them again.
constexpr std::size_t max_cost = 48 << 20;
constexpr std::size_t max_stack_bytes = 32 << 20;
constexpr std::size_t base_cost = 1024;
constexpr std::size_t max_logged_warnings = 1000;

disk::handle open_subfolder(int folder, const char* name) {
  disk::handle subfolder(::openat(folder, name, O_PATH | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC));
  if (!subfolder.is_open()) disk::throw_if_exhausted(errno);
  return subfolder;
}

}  // namespace

ignore_file_cache::ignore_file_cache(const std::string& root, bool obeys, log_callback log)
    : root_(root), log_(std::move(log)) {
  if (!obeys) return;
  outer_files_ = find_outer_ignore_files(root);
  for (const auto& entry : outer_files_.rules) log_warnings(*entry.list);
  if (outer_files_.exclude) log_warnings(*outer_files_.exclude);
}

ignore::stack ignore_file_cache::root_stack(int folder) {
  auto exclude = load_exclude(folder, {});
  return ignore::stack(load_rules(folder, {}), exclude ? std::move(exclude) : outer_files_.exclude, outer_files_.rules);
}

ignore::list_pointer ignore_file_cache::load_exclude(int folder, const std::string& prefix) {
  if (const auto git = open_subfolder(folder, ".git"); git.is_open()) {
    const auto info = open_subfolder(git.get(), "info");
    return info.is_open() ? load(info.get(), "exclude", prefix + ".git/info/exclude") : nullptr;
  }
  struct stat attributes{};
  if (prefix.empty() || ::fstatat(folder, ".git", &attributes, AT_SYMLINK_NOFOLLOW) != 0 || !S_ISREG(attributes.st_mode))
    return nullptr;
  // The git directory of a submodule or a linked work tree.
  const auto directory = find_git_directory(join_path(root_, std::string_view(prefix).substr(0, prefix.size() - 1)));
  if (!directory) return nullptr;
  const auto path = std::filesystem::path(directory->path).lexically_normal().string();
  if (!path.starts_with(join_path(root_, {}))) return nullptr;
  return load_list(join_path(path, "info/exclude"), prefix + "info/exclude of .git");
}

ignore::stack ignore_file_cache::child_stack(const ignore::stack& parent, int folder, std::string_view name) {
  std::string prefix = parent.folder();
  if (!prefix.empty()) prefix += '/';
  (prefix += name) += '/';
  auto rules = load_rules(folder, prefix);
  const auto exclude = load_exclude(folder, prefix);
  auto stack = parent.child(name, rules, exclude);
  if (stack.bytes() <= max_stack_bytes || stack.bytes() == parent.bytes()) return stack;
  const auto& source = rules.git ? rules.git->source() : rules.hondana ? rules.hondana->source() : exclude->source();
  return parent.child(
      name,
      {make_unusable(source, "with the ignore files of its parent folders, it needs more than 32 MiB of memory"), nullptr});
}

ignore::folder_rules ignore_file_cache::load_rules(int folder, const std::string& prefix) {
  return {load(folder, ".gitignore", prefix + ".gitignore"), load(folder, ".hondanaignore", prefix + ".hondanaignore")};
}

ignore::list_pointer ignore_file_cache::load(int folder, const char* name, std::string source) {
  struct stat attributes{};
  if (::fstatat(folder, name, &attributes, AT_SYMLINK_NOFOLLOW) != 0) {
    // In a folder without search permission, nothing can be read anyway.
    if (errno == ENOENT || errno == EACCES) return nullptr;
    disk::throw_if_exhausted(errno);
    return make_unusable(std::move(source), std::string("it cannot be accessed: ") + std::strerror(errno));
  }
  if (S_ISLNK(attributes.st_mode)) return nullptr;
  if (!S_ISREG(attributes.st_mode)) return make_unusable(std::move(source), "it is not a regular file");
  const auto stamp = disk::stamp_of(attributes);
  const std::string key = version_of(stamp) + source;
  {
    const std::lock_guard lock(mutex_);
    if (const auto match = by_key_.find(key); match != by_key_.end()) {
      by_use_.splice(by_use_.begin(), by_use_, match->second);
      return match->second->list;
    }
  }
  const disk::handle file(::openat(folder, name, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY | O_CLOEXEC));
  struct stat opened_attributes{};
  if (!file.is_open() || ::fstat(file.get(), &opened_attributes) != 0) {
    if (errno == ENOENT) return nullptr;
    disk::throw_if_exhausted(errno);
    return make_unusable(std::move(source), std::string("it cannot be read: ") + std::strerror(errno));
  }
  if (!S_ISREG(opened_attributes.st_mode)) return make_unusable(std::move(source), "it is not a regular file");
  auto list = compile_ignore_file(file.get(), std::move(source));
  log_warnings(*list);
  if (disk::stamp_of(opened_attributes) != stamp || is_racy(stamp, disk::wall_clock())) return list;

  const std::size_t cost = base_cost + key.size() + list->bytes();
  const std::lock_guard lock(mutex_);
  if (by_key_.contains(key)) return list;
  by_use_.push_front({key, list, cost});
  by_key_.emplace(key, by_use_.begin());
  cost_ += cost;
  while (cost_ > max_cost) {
    cost_ -= by_use_.back().cost;
    by_key_.erase(by_use_.back().key);
    by_use_.pop_back();
  }
  return list;
}

ignore::list_pointer ignore_file_cache::make_unusable(std::string source, std::string reason) {
  auto list =
      std::make_shared<const ignore::pattern_list>(ignore::pattern_list::unusable(std::move(source), std::move(reason)));
  log_warnings(*list);
  return list;
}

void ignore_file_cache::log_warnings(const ignore::pattern_list& list) {
  if (!log_ || list.warnings().empty()) return;
  std::vector<std::string> lines;
  {
    const std::lock_guard lock(mutex_);
    for (const auto& warning : list.warnings()) {
      if (logged_warnings_.size() < max_logged_warnings && logged_warnings_.insert(warning).second) lines.push_back(warning);
    }
  }
  if (lines.empty()) return;
  for (const auto& line : lines) log_(line);
  if (!list.is_complete()) log_(list.source() + " cannot be applied, so everything that it could exclude is left out");
}

}  // namespace hondana::files
