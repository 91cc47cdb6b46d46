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
#include <unordered_set>
#include <utility>

#include "base/ascii/ascii.hpp"
#include "os/disk/file_descriptor.hpp"
#include "os/disk/file_stamp.hpp"
#include "os/disk/opened_folder.hpp"
#include "sources/git/confined_roots.hpp"
#include "sources/git/folder_screening.hpp"
#include "sources/git/git_config.hpp"

namespace hondana::git {

/// Whether this user owns a file or folder, which may itself be a link. For root under sudo, whether the user who called sudo
/// does, as in git. False if it does not exist.
[[nodiscard]] bool is_ours(const std::string& path) noexcept;

bool is_ours(const std::string& path) noexcept {
  struct stat facts{};
  if (::lstat(path.c_str(), &facts) != 0) return false;
  if (facts.st_uid == ::geteuid()) return true;
  if (::geteuid() != 0) return false;
  const char* const said = std::getenv("SUDO_UID");
  if (said == nullptr) return false;
  const std::string_view text = said;
  uid_t caller = 0;
  const auto [end, problem] = std::from_chars(text.data(), text.data() + text.size(), caller);
  return problem == std::errc() && end == text.data() + text.size() && facts.st_uid == caller;
}

namespace {

constexpr std::int64_t a_minute = 60'000'000'000;

class stamping {
 public:
  explicit stamping(std::int64_t since) noexcept : since_(since) {}

  void add(const std::string& path) {
    struct stat facts{};
    if (::lstat(path.c_str(), &facts) != 0) {
      add_words<1>({0});
      return;
    }
    const auto state = disk::stamp_of(facts);
    add_words<4>({state.device, state.inode, facts.st_mode, facts.st_uid});
    // A folder changes with every object that is added. Only its identity matters.
    if (S_ISDIR(facts.st_mode)) return;
    // Times far in the future are those of a server with a fast clock. They still distinguish changes.
    is_racy_ = is_racy_ || (disk::is_racy(state, since_) && state.changed < since_ + a_minute);
    add_words<3>({state.size, static_cast<std::uint64_t>(state.modified), static_cast<std::uint64_t>(state.changed)});
  }

  [[nodiscard]] std::string take() { return is_racy_ ? std::string() : std::move(bytes_); }

 private:
  template <std::size_t N>
  void add_words(const std::array<std::uint64_t, N>& words) {
    bytes_.append(reinterpret_cast<const char*>(words.data()), sizeof words);
  }

  const std::int64_t since_;
  std::string bytes_;
  bool is_racy_ = false;
};

}  // namespace

std::string stamp_of(const place& at, std::int64_t since) {
  stamping all(since);
  const auto dot_git = at.work_tree + "/.git";
  if (!at.work_tree.empty()) {
    all.add(at.work_tree);
    all.add(dot_git);
  }
  if (dot_git != at.git_folder) all.add(at.git_folder);
  all.add(at.git_folder + "/config.worktree");
  all.add(at.common_folder + "/config");
  all.add(at.common_folder + "/refs");
  if (at.git_folder != at.common_folder) {
    all.add(at.git_folder + "/commondir");
    all.add(at.common_folder);
  }
  for (const auto& one : at.object_folders) {
    all.add(one);
    all.add(one + "/pack");
    all.add(one + "/info/alternates");
  }
  return all.take();
}

std::string stamp_of(const place& at) { return stamp_of(at, std::numeric_limits<std::int64_t>::max()); }

namespace {

tl::unexpected<failure> refuse_pointer(std::string_view what, astray why, std::string_view advice) {
  return fail(errc::invalid_argument, std::string(what) + ' ' + std::string(text_of(why)) + ". " + std::string(advice));
}

std::string_view first_line_of(std::string_view text) {
  while (text.ends_with('\n') || text.ends_with('\r')) text.remove_suffix(1);
  return text;
}

std::string from_folder(const std::string& folder, std::string_view path) {
  return path.starts_with('/') ? std::string(path) : folder + '/' + std::string(path);
}

class surveyor {
 public:
  surveyor(const std::vector<std::string>& roots, const screening_limits& limits) : inside_(roots), limits_(limits) {}

  result<surveyed> survey(const std::string& path) {
    const auto folder = inside_.folder(path);
    if (!folder) {
      const bool is_gone = ::access(path.c_str(), F_OK) != 0 && errno == ENOENT;
      return no_repository(is_gone                             ? text_of(astray::missing)
                           : folder.error() == astray::outside ? text_of(astray::outside)
                                                               : "is not an existing folder");
    }
    HONDANA_TRY(find_git_folder(*folder));
    HONDANA_TRY(find_common_folder());
    // The owner first: git does not trust anything in another user's repository.
    for (const auto& one : {*folder, dot_git_, at_.git_folder})
      if (!one.empty() && !is_ours(one)) return another_owner(one);
    HONDANA_TRY(read_configuration());
    HONDANA_TRY(auto objects, object_folders_of(inside_, at_.common_folder, limits_));
    at_.object_folders = std::move(objects);
    HONDANA_TRY(const auto packs, check_contents(inside_, at_, limits_));
    auto stamp = stamp_of(at_, began_);
    return surveyed{std::move(at_), std::move(settings_), std::move(stamp), packs};
  }

 private:
  static tl::unexpected<failure> no_repository(std::string_view why) {
    return fail(errc::resource_not_found, "the path " + std::string(why) +
                                              ", so no git repository was found. Give the folder of a work tree or of a bare "
                                              "repository, within the served folders.");
  }

  static tl::unexpected<failure> another_owner(const std::string& what) {
    return fail(errc::access_denied,
                "the repository belongs to another user, and like git, hondana does not read it. Run hondana as its owner, or "
                "chown the work tree and its git folder to the user that runs hondana.",
                "another owner's: " + what);
  }

  result<void> find_git_folder(const std::string& folder) {
    const auto dot_git = folder + "/.git";
    struct stat facts{};
    if (::lstat(dot_git.c_str(), &facts) != 0) {
      if (errno != ENOENT) return no_repository(text_of(astray::unreadable));
      at_.git_folder = folder;
      prefix_ = "";
      return {};
    }
    at_.work_tree = folder;
    dot_git_ = dot_git;
    if (S_ISREG(facts.st_mode)) return follow_git_file(folder);
    auto found = inside_.folder(dot_git);
    if (!found) return refuse_pointer(".git", found.error(), "Serve a clone whose .git is a folder.");
    at_.git_folder = std::move(*found);
    return {};
  }

  result<void> follow_git_file(const std::string& folder) {
    constexpr std::string_view label = "gitdir: ";
    constexpr std::string_view advice =
        "Serve the folder of the main repository as well; `git worktree repair` fixes a broken pointer.";
    const auto text = inside_.read(dot_git_, limits_.pointer_bytes);
    if (!text) return refuse_pointer("the file .git", text.error(), advice);
    const auto line = first_line_of(*text);
    if (!line.starts_with(label) || line.size() == label.size())
      return fail(errc::invalid_argument, "the file .git has no \"gitdir: PATH\". " + std::string(advice));
    auto found = inside_.folder(from_folder(folder, line.substr(label.size())));
    if (!found) return refuse_pointer("the folder that the file .git names", found.error(), advice);
    at_.git_folder = std::move(*found);
    return {};
  }

  result<void> find_common_folder() {
    const auto is_there = [this](const std::string& name) {
      struct stat facts{};
      return ::lstat((at_.git_folder + '/' + name).c_str(), &facts) == 0;
    };
    at_.common_folder = at_.git_folder;
    if (is_there("commondir")) {
      constexpr std::string_view advice =
          "Serve the folder of the main repository as well; `git worktree repair` fixes a broken pointer.";
      const auto text = inside_.read(at_.git_folder + "/commondir", limits_.pointer_bytes);
      if (!text) return refuse_pointer("the file commondir of the work tree's git folder", text.error(), advice);
      auto found = inside_.folder(from_folder(at_.git_folder, first_line_of(*text)));
      if (!found) return refuse_pointer("the folder that the file commondir names", found.error(), advice);
      at_.common_folder = std::move(*found);
    }
    struct stat facts{};
    const bool is_whole = is_there("HEAD") && ::lstat((at_.common_folder + "/objects").c_str(), &facts) == 0 &&
                          ::lstat((at_.common_folder + "/refs").c_str(), &facts) == 0;
    if (!is_whole) return no_repository("has no git folder with HEAD, objects and refs");
    return {};
  }

  result<screened_config> read_config(const std::string& folder, std::string_view name) {
    const auto shown = std::string(folder == at_.git_folder ? prefix_ : "the common ") + std::string(name);
    const auto bytes = inside_.read(folder + '/' + std::string(name), limits_.config_bytes);
    if (bytes) return screen_config(*bytes, shown);
    if (bytes.error() == astray::missing) return screened_config{};
    if (bytes.error() == astray::too_large)
      return fail(errc::invalid_argument, shown + " has more than " + std::to_string(limits_.config_bytes) +
                                              " bytes, the limit. Remove unneeded settings from it.");
    return refuse_pointer(shown, bytes.error(), "Replace it with a regular file in the repository.");
  }

  result<void> read_configuration() {
    auto config = read_config(at_.common_folder, "config");
    if (!config) return tl::unexpected(std::move(config.error()));
    // For a linked work tree, only its own configuration says where it is.
    if (at_.common_folder != at_.git_folder) config->work_tree = std::nullopt, config->is_bare = std::nullopt;
    if (config->has_work_tree_config) {
      HONDANA_TRY(auto more, read_config(at_.git_folder, "config.worktree"));
      if (more.work_tree) config->work_tree = std::move(more.work_tree);
      if (more.is_bare) config->is_bare = more.is_bare;
      std::move(more.kept.begin(), more.kept.end(), std::back_inserter(config->kept));
    }
    settings_ = std::move(config->kept);
    if (config->is_bare.value_or(false)) {
      at_.work_tree.clear();
    } else if (config->work_tree) {
      auto found = inside_.folder(from_folder(at_.git_folder, *config->work_tree));
      if (!found)
        return refuse_pointer("the folder that core.worktree names", found.error(),
                              "Correct it, or remove it (`git config --unset core.worktree`).");
      at_.work_tree = std::move(*found);
    }
    return {};
  }

  const std::int64_t began_ = disk::wall_clock();
  const enclosure inside_;
  const screening_limits& limits_;
  place at_;
  std::string dot_git_;  // empty: none
  std::string_view prefix_ = ".git/";
  std::vector<setting> settings_;
};

}  // namespace

result<surveyed> survey(const std::string& path, const std::vector<std::string>& roots, const screening_limits& limits) {
  return surveyor(roots, limits).survey(path);
}

result<place> locate(const std::string& path, const std::vector<std::string>& roots, const screening_limits& limits) {
  HONDANA_TRY(auto found, survey(path, roots, limits));
  return std::move(found.where);
}

namespace {

bool has_git_entry(int folder) noexcept {
  struct stat facts{};
  return ::fstatat(folder, ".git", &facts, AT_SYMLINK_NOFOLLOW) == 0;
}

class discovery {
 public:
  discovery(std::vector<std::string> roots, std::size_t most, const std::function<bool()>& is_wanted)
      : roots_(std::move(roots)), most_(most), is_wanted_(is_wanted) {}

  /// False: the search is over.
  bool enter(int above, const std::string& name, const std::string& path, std::size_t deeper) {
    if (found_.size() >= most_ || (is_wanted_ && !is_wanted_())) return false;
    disk::handle folder(::openat(above, name.c_str(), O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC));
    // Pseudo file systems of the kernel have endless folders, and no repositories.
    if (!folder.is_open() || disk::on_kernel_file_system(folder.get())) return true;
    const bool has_git = has_git_entry(folder.get());
    if (has_git || disk::is_bare_repository(folder.get())) {
      found_.push_back({path, locate(path, roots_)});
      if (!has_git) return true;
    }
    if (deeper == 0) return true;
    for (const auto& one : folders_in(folder.get()))
      if (!enter(folder.get(), one, (path == "/" ? path : path + '/') + one, deeper - 1)) return false;
    return true;
  }

  [[nodiscard]] std::vector<found_place> take() { return std::move(found_); }

 private:
  static std::vector<std::string> folders_in(int folder) {
    std::vector<std::string> names;
    const auto list = disk::stream_of(disk::handle(::openat(folder, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC)));
    if (!list) return names;
    while (const dirent* const one = ::readdir(list.get())) {
      if (one->d_name[0] == '.') continue;
      struct stat facts{};
      const bool is_folder =
          one->d_type == DT_DIR || (one->d_type == DT_UNKNOWN &&
                                    ::fstatat(folder, one->d_name, &facts, AT_SYMLINK_NOFOLLOW) == 0 && S_ISDIR(facts.st_mode));
      if (is_folder) names.emplace_back(one->d_name);
    }
    std::sort(names.begin(), names.end());
    return names;
  }

  const std::vector<std::string> roots_;
  const std::size_t most_;
  const std::function<bool()>& is_wanted_;
  std::vector<found_place> found_;
};

}  // namespace

bool looks_like_repository(const std::string& path) noexcept {
  const disk::handle folder(::open(path.c_str(), O_PATH | O_DIRECTORY | O_CLOEXEC));
  return folder.is_open() && (has_git_entry(folder.get()) || disk::is_bare_repository(folder.get()));
}

std::vector<found_place> discover(const std::string& root, std::vector<std::string> roots, std::size_t depth, std::size_t most,
                                  const std::function<bool()>& is_wanted) {
  discovery walk(std::move(roots), most, is_wanted);
  // The root itself may be a link.
  walk.enter(AT_FDCWD, root + "/.", root, depth);
  return walk.take();
}

namespace {

constexpr std::size_t longest_slug = 40;

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
  for (const char one : folder_name) {
    const char c = ascii::lower(one);
    if (ascii::is_letter(c) || (c >= '0' && c <= '9')) {
      slug += c;
    } else if (!slug.empty() && slug.back() != '-') {
      slug += '-';
    }
    if (slug.size() == longest_slug) break;
  }
  if (slug.ends_with('-')) slug.pop_back();
  return slug.empty() ? "repo" : slug;
}

std::vector<std::string> slugs_of(const std::vector<std::string>& paths) {
  std::vector<std::string> slugs;
  std::unordered_set<std::string> taken;
  for (const auto& one : paths) {
    const auto plain = slug_of(folder_name_of(one));
    auto slug = plain;
    for (std::size_t number = 2; !taken.insert(slug).second; ++number) slug = plain + '-' + std::to_string(number);
    slugs.push_back(std::move(slug));
  }
  return slugs;
}

}  // namespace hondana::git
