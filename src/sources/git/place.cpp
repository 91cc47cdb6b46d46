/// From a path to the folders of its repository, each step screened before the next.
#include "sources/git/place.hpp"

#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdint>
#include <iterator>
#include <optional>
#include <string_view>
#include <utility>

#include "os/disk/stamp.hpp"
#include "sources/git/contents.hpp"
#include "sources/git/enclosure.hpp"
#include "sources/git/object_folders.hpp"
#include "sources/git/ownership.hpp"
#include "sources/git/screening.hpp"
#include "sources/git/surveyed.hpp"

namespace hondana::git {
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
    // First whose it is: git believes nothing of another's repository.
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
    // Of linked work trees only their own configuration says where they are.
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

}  // namespace hondana::git
