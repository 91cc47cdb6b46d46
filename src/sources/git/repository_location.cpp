/// Finds the folders of a repository, checks them before libgit2 opens any, and discovers repositories below a folder.
#include "sources/git/repository_location.hpp"

#include <dirent.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <charconv>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <iterator>
#include <limits>
#include <optional>
#include <string>
#include <string_view>
#include <system_error>
#include <unordered_set>
#include <utility>

#include "base/ascii/ascii.hpp"
#include "os/disk/confined_dir.hpp"
#include "os/disk/file_descriptor.hpp"
#include "os/disk/file_stamp.hpp"
#include "os/disk/opened_folder.hpp"
#include "sources/git/confined_roots.hpp"
#include "sources/git/git_config.hpp"
#include "sources/git/repository_screening.hpp"

namespace hondana::git {

/// Whether this user owns a file or folder, which may itself be a link. For root under sudo, whether the user who called sudo
/// does, as in git. False if it does not exist.
[[nodiscard]] bool is_owned_by_user(const std::string& path) noexcept;

bool is_owned_by_user(const std::string& path) noexcept {
  struct stat attributes{};
  if (::lstat(path.c_str(), &attributes) != 0) return false;
  if (attributes.st_uid == ::geteuid()) return true;
  if (::geteuid() != 0) return false;
  const char* const sudo_uid = std::getenv("SUDO_UID");
  if (sudo_uid == nullptr) return false;
  const std::string_view text = sudo_uid;
  uid_t caller = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), caller);
  return error == std::errc() && end == text.data() + text.size() && attributes.st_uid == caller;
}

namespace {

constexpr std::int64_t minute_nanoseconds = 60'000'000'000;

class stamp_builder {
 public:
  explicit stamp_builder(std::int64_t start) noexcept : start_(start) {}

  void add(const std::string& path) {
    struct stat attributes{};
    if (::lstat(path.c_str(), &attributes) != 0) {
      add_words<1>({0});
      return;
    }
    const auto state = disk::stamp_of(attributes);
    add_words<4>({state.device, state.inode, attributes.st_mode, attributes.st_uid});
    // A folder changes with every object that is added. Only its identity matters.
    if (S_ISDIR(attributes.st_mode)) return;
    // Times far in the future are those of a server with a fast clock. They still distinguish changes.
    is_racy_ = is_racy_ || (disk::is_racy(state, start_) && state.changed < start_ + minute_nanoseconds);
    add_words<3>({state.size, static_cast<std::uint64_t>(state.modified), static_cast<std::uint64_t>(state.changed)});
  }

  [[nodiscard]] std::string finish() { return is_racy_ ? std::string() : std::move(bytes_); }

 private:
  template <std::size_t N>
  void add_words(const std::array<std::uint64_t, N>& words) {
    bytes_.append(reinterpret_cast<const char*>(words.data()), sizeof words);
  }

  const std::int64_t start_;
  std::string bytes_;
  bool is_racy_ = false;
};

}  // namespace

std::string stamp_of(const repository_location& location, std::int64_t start) {
  stamp_builder builder(start);
  const auto dot_git = location.work_tree + "/.git";
  if (!location.work_tree.empty()) {
    builder.add(location.work_tree);
    builder.add(dot_git);
  }
  if (dot_git != location.git_folder) builder.add(location.git_folder);
  builder.add(location.git_folder + "/config.worktree");
  builder.add(location.common_folder + "/config");
  builder.add(location.common_folder + "/refs");
  if (location.git_folder != location.common_folder) {
    builder.add(location.git_folder + "/commondir");
    builder.add(location.common_folder);
  }
  for (const auto& folder : location.object_folders) {
    builder.add(folder);
    builder.add(folder + "/pack");
    builder.add(folder + "/info/alternates");
  }
  return builder.finish();
}

std::string stamp_of(const repository_location& location) {
  return stamp_of(location, std::numeric_limits<std::int64_t>::max());
}

namespace {

tl::unexpected<failure> pointer_error(std::string_view name, path_error error, std::string_view advice) {
  return fail(errc::invalid_argument, std::string(name) + ' ' + std::string(message_of(error)) + ". " + std::string(advice));
}

std::string_view trim_line_end(std::string_view text) {
  while (text.ends_with('\n') || text.ends_with('\r')) text.remove_suffix(1);
  return text;
}

std::string absolute_path(const std::string& folder, std::string_view path) {
  return path.starts_with('/') ? std::string(path) : folder + '/' + std::string(path);
}

class repository_screener {
 public:
  repository_screener(const std::vector<std::string>& roots, const screening_limits& limits) : roots_(roots), limits_(limits) {}

  result<screened_repository> screen(const std::string& path) {
    const auto folder = roots_.resolve_folder(path);
    if (!folder) {
      const bool is_missing = ::access(path.c_str(), F_OK) != 0 && errno == ENOENT;
      return no_repository_error(is_missing                              ? message_of(path_error::missing)
                                 : folder.error() == path_error::outside ? message_of(path_error::outside)
                                                                         : "is not an existing folder");
    }
    HONDANA_TRY(find_git_folder(*folder));
    HONDANA_TRY(find_common_folder());
    // The owner first: git does not trust anything in another user's repository.
    for (const auto& owned_path : {*folder, dot_git_, location_.git_folder})
      if (!owned_path.empty() && !is_owned_by_user(owned_path)) return owner_error(owned_path);
    HONDANA_TRY(read_configuration());
    HONDANA_TRY(auto object_folders, find_object_folders(roots_, location_.common_folder, limits_));
    location_.object_folders = std::move(object_folders);
    HONDANA_TRY(const auto pack_count, check_contents(roots_, location_, limits_));
    auto stamp = stamp_of(location_, start_);
    return screened_repository{std::move(location_), std::move(settings_), std::move(stamp), pack_count};
  }

 private:
  static tl::unexpected<failure> no_repository_error(std::string_view reason) {
    return fail(errc::resource_not_found, "the path " + std::string(reason) +
                                              ", so no git repository was found. Give the folder of a work tree or of a bare "
                                              "repository, within the served folders.");
  }

  static tl::unexpected<failure> owner_error(const std::string& path) {
    return fail(errc::access_denied,
                "the repository belongs to another user, and like git, hondana does not read it. Run hondana as its owner, or "
                "chown the work tree and its git folder to the user that runs hondana.",
                "another owner's: " + path);
  }

  result<void> find_git_folder(const std::string& folder) {
    const auto dot_git = folder + "/.git";
    struct stat attributes{};
    if (::lstat(dot_git.c_str(), &attributes) != 0) {
      if (errno != ENOENT) return no_repository_error(message_of(path_error::unreadable));
      location_.git_folder = folder;
      prefix_ = "";
      return {};
    }
    location_.work_tree = folder;
    dot_git_ = dot_git;
    if (S_ISREG(attributes.st_mode)) return follow_git_file(folder);
    auto resolved = roots_.resolve_folder(dot_git);
    if (!resolved) return pointer_error(".git", resolved.error(), "Serve a clone whose .git is a folder.");
    location_.git_folder = std::move(*resolved);
    return {};
  }

  result<void> follow_git_file(const std::string& folder) {
    constexpr std::string_view label = "gitdir: ";
    constexpr std::string_view advice =
        "Serve the folder of the main repository as well; `git worktree repair` fixes a broken pointer.";
    const auto text = roots_.read(dot_git_, limits_.pointer_bytes);
    if (!text) return pointer_error("the file .git", text.error(), advice);
    const auto line = trim_line_end(*text);
    if (!line.starts_with(label) || line.size() == label.size())
      return fail(errc::invalid_argument, "the file .git has no \"gitdir: PATH\". " + std::string(advice));
    auto resolved = roots_.resolve_folder(absolute_path(folder, line.substr(label.size())));
    if (!resolved) return pointer_error("the folder that the file .git names", resolved.error(), advice);
    location_.git_folder = std::move(*resolved);
    return {};
  }

  result<void> find_common_folder() {
    const auto exists = [this](const std::string& name) {
      struct stat attributes{};
      return ::lstat((location_.git_folder + '/' + name).c_str(), &attributes) == 0;
    };
    location_.common_folder = location_.git_folder;
    if (exists("commondir")) {
      constexpr std::string_view advice =
          "Serve the folder of the main repository as well; `git worktree repair` fixes a broken pointer.";
      const auto text = roots_.read(location_.git_folder + "/commondir", limits_.pointer_bytes);
      if (!text) return pointer_error("the file commondir of the work tree's git folder", text.error(), advice);
      auto resolved = roots_.resolve_folder(absolute_path(location_.git_folder, trim_line_end(*text)));
      if (!resolved) return pointer_error("the folder that the file commondir names", resolved.error(), advice);
      location_.common_folder = std::move(*resolved);
    }
    struct stat attributes{};
    const bool is_complete = exists("HEAD") && ::lstat((location_.common_folder + "/objects").c_str(), &attributes) == 0 &&
                             ::lstat((location_.common_folder + "/refs").c_str(), &attributes) == 0;
    if (!is_complete) return no_repository_error("has no git folder with HEAD, objects and refs");
    return {};
  }

  result<screened_config> read_config(const std::string& folder, std::string_view name) {
    const auto display_name = std::string(folder == location_.git_folder ? prefix_ : "the common ") + std::string(name);
    const auto bytes = roots_.read(folder + '/' + std::string(name), limits_.config_bytes);
    if (bytes) return screen_config(*bytes, display_name);
    if (bytes.error() == path_error::missing) return screened_config{};
    if (bytes.error() == path_error::too_large)
      return fail(errc::invalid_argument, display_name + " has more than " + std::to_string(limits_.config_bytes) +
                                              " bytes, the limit. Remove unneeded settings from it.");
    return pointer_error(display_name, bytes.error(), "Replace it with a regular file in the repository.");
  }

  result<void> read_configuration() {
    auto config = read_config(location_.common_folder, "config");
    if (!config) return tl::unexpected(std::move(config.error()));
    // For a linked work tree, only its own configuration says where it is.
    if (location_.common_folder != location_.git_folder) config->work_tree = std::nullopt, config->is_bare = std::nullopt;
    if (config->has_work_tree_config) {
      HONDANA_TRY(auto overrides, read_config(location_.git_folder, "config.worktree"));
      if (overrides.work_tree) config->work_tree = std::move(overrides.work_tree);
      if (overrides.is_bare) config->is_bare = overrides.is_bare;
      std::move(overrides.allowed.begin(), overrides.allowed.end(), std::back_inserter(config->allowed));
    }
    settings_ = std::move(config->allowed);
    if (config->is_bare.value_or(false)) {
      location_.work_tree.clear();
    } else if (config->work_tree) {
      auto resolved = roots_.resolve_folder(absolute_path(location_.git_folder, *config->work_tree));
      if (!resolved)
        return pointer_error("the folder that core.worktree names", resolved.error(),
                             "Correct it, or remove it (`git config --unset core.worktree`).");
      location_.work_tree = std::move(*resolved);
    }
    return {};
  }

  const std::int64_t start_ = disk::wall_clock();
  const confined_roots roots_;
  const screening_limits& limits_;
  repository_location location_;
  std::string dot_git_;  // empty: none
  std::string_view prefix_ = ".git/";
  std::vector<setting> settings_;
};

}  // namespace

result<screened_repository> screen_repository(const std::string& path, const std::vector<std::string>& roots,
                                              const screening_limits& limits) {
  return repository_screener(roots, limits).screen(path);
}

result<repository_location> locate(const std::string& path, const std::vector<std::string>& roots,
                                   const screening_limits& limits) {
  HONDANA_TRY(auto screened, screen_repository(path, roots, limits));
  return std::move(screened.location);
}

namespace {

bool has_git_entry(int folder) noexcept {
  struct stat attributes{};
  return ::fstatat(folder, ".git", &attributes, AT_SYMLINK_NOFOLLOW) == 0;
}

class discovery {
 public:
  discovery(std::vector<std::string> roots, std::size_t max_repositories, const std::function<bool()>& should_continue)
      : roots_(std::move(roots)), max_repositories_(max_repositories), should_continue_(should_continue) {}

  /// False: the search is over.
  bool enter(int parent, const std::string& name, const std::string& path, std::size_t depth) {
    if (discovered_.size() >= max_repositories_ || (should_continue_ && !should_continue_())) return false;
    disk::handle folder(::openat(parent, name.c_str(), O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC));
    if (!folder.is_open()) report_fault(path, errno);
    // Pseudo file systems of the kernel have endless folders, and no repositories.
    if (!folder.is_open() || disk::is_on_kernel_file_system(folder.get())) return true;
    const bool has_git = has_git_entry(folder.get());
    if (has_git || disk::is_bare_repository(folder.get())) {
      discovered_.push_back({path, locate(path, roots_)});
      if (!has_git) return true;
    }
    if (depth == 0) return true;
    for (const auto& name_below : folders_in(folder.get(), path))
      if (!enter(folder.get(), name_below, (path == "/" ? path : path + '/') + name_below, depth - 1)) return false;
    return true;
  }

  [[nodiscard]] std::vector<discovered_repository> finish() { return std::move(discovered_); }

 private:
  /// Records a folder that cannot be searched, unless it is gone or access to it is denied.
  void report_fault(const std::string& path, int error) {
    if (disk::to_lookup_error(error).kind == disk::lookup_error_kind::system_error)
      discovered_.push_back({path, fail(errc::source_unavailable, "the folder cannot be searched for repositories now",
                                        std::generic_category().message(error))});
  }
  std::vector<std::string> folders_in(int folder, const std::string& path) {
    std::vector<std::string> names;
    disk::dir_stream entries(disk::handle(::openat(folder, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC)));
    while (const auto* const entry = entries.next()) {
      if (entry->d_name[0] == '.') continue;
      struct stat attributes{};
      const bool is_folder =
          entry->d_type == DT_DIR ||
          (entry->d_type == DT_UNKNOWN && ::fstatat(folder, entry->d_name, &attributes, AT_SYMLINK_NOFOLLOW) == 0 &&
           S_ISDIR(attributes.st_mode));
      if (is_folder) names.emplace_back(entry->d_name);
    }
    if (entries.error() != 0) report_fault(path, entries.error());
    std::sort(names.begin(), names.end());
    return names;
  }

  const std::vector<std::string> roots_;
  const std::size_t max_repositories_;
  const std::function<bool()>& should_continue_;
  std::vector<discovered_repository> discovered_;
};

}  // namespace

bool looks_like_repository(const std::string& path) noexcept {
  const disk::handle folder(::open(path.c_str(), O_PATH | O_DIRECTORY | O_CLOEXEC));
  return folder.is_open() && (has_git_entry(folder.get()) || disk::is_bare_repository(folder.get()));
}

std::vector<discovered_repository> discover(const std::string& root, std::vector<std::string> roots, std::size_t max_depth,
                                            std::size_t max_repositories, const std::function<bool()>& should_continue) {
  discovery walk(std::move(roots), max_repositories, should_continue);
  // The root itself may be a link.
  walk.enter(AT_FDCWD, root + "/.", root, max_depth);
  return walk.finish();
}

namespace {

constexpr std::size_t max_slug_bytes = 40;

std::string_view folder_name_of(std::string_view path) {
  while (path.size() > 1 && path.ends_with('/')) path.remove_suffix(1);
  auto name = path.substr(path.rfind('/') + 1);  // 0 where there is none
  // A git folder is named after the folder that it is in.
  if (name == ".git" && path.size() > name.size() + 1) return folder_name_of(path.substr(0, path.size() - name.size() - 1));
  return name;
}

}  // namespace

std::string slug_of(std::string_view folder_name) {
  if (folder_name.ends_with(".git")) folder_name.remove_suffix(4);
  std::string slug;
  for (const char raw : folder_name) {
    const char c = ascii::to_lower(raw);
    if (ascii::is_letter(c) || (c >= '0' && c <= '9')) {
      slug += c;
    } else if (!slug.empty() && slug.back() != '-') {
      slug += '-';
    }
    if (slug.size() == max_slug_bytes) break;
  }
  if (slug.ends_with('-')) slug.pop_back();
  return slug.empty() ? "repo" : slug;
}

std::vector<std::string> unique_slugs(const std::vector<std::string>& paths) {
  std::vector<std::string> slugs;
  std::unordered_set<std::string> used;
  for (const auto& path : paths) {
    const auto base = slug_of(folder_name_of(path));
    auto slug = base;
    for (std::size_t number = 2; !used.insert(slug).second; ++number) slug = base + '-' + std::to_string(number);
    slugs.push_back(std::move(slug));
  }
  return slugs;
}

}  // namespace hondana::git
