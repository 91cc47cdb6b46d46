/// Checks the files that libgit2 will read in the folders of a repository: alternates, links and special files.
#include "sources/git/folder_screening.hpp"

#include <dirent.h>
#include <fcntl.h>
#include <sys/stat.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string>
#include <string_view>
#include <utility>

#include "os/disk/descriptor_limit.hpp"
#include "os/disk/file_descriptor.hpp"
#include "sources/git/text_escaping.hpp"

namespace hondana::git {
namespace {

constexpr std::size_t deepest_alternate = 5;
constexpr std::string_view alternates_name = "objects/info/alternates";

class alternates_walk {
 public:
  alternates_walk(const enclosure& inside, const screening_limits& limits) : inside_(inside), limits_(limits) {}

  result<void> enter(const std::string& folder, std::size_t depth) {
    if (std::find(found_.begin(), found_.end(), folder) != found_.end()) return {};
    if (found_.size() > limits_.alternates) return refuse("names more than " + std::to_string(limits_.alternates) + " folders");
    if (depth > deepest_alternate) return refuse("chains more than five repositories");
    found_.push_back(folder);
    const auto text = inside_.read(folder + "/info/alternates", limits_.pointer_bytes * limits_.alternates);
    if (!text) {
      if (text.error() == astray::missing) return {};
      return refuse(std::string(text_of(text.error())));
    }
    std::string_view rest = *text;
    for (std::size_t line = 1; !rest.empty(); ++line) {
      const auto one = rest.substr(0, rest.find('\n'));
      rest.remove_prefix(std::min(one.size() + 1, rest.size()));
      HONDANA_TRY(enter_line(one, line, folder, depth));
    }
    return {};
  }

  [[nodiscard]] std::vector<std::string> take() { return std::move(found_); }

 private:
  result<void> enter_line(std::string_view text, std::size_t line, const std::string& folder, std::size_t depth) {
    if (text.empty() || text.starts_with('#')) return {};
    const auto at = ", line " + std::to_string(line) + ",";
    if (text.starts_with('"')) return refuse("has a path in quotes" + at + " which is not supported");
    const auto path = text.starts_with('/') ? std::string(text) : folder + '/' + std::string(text);
    const auto next = inside_.folder(path);
    if (next) return enter(*next, depth + 1);
    if (next.error() == astray::missing || next.error() == astray::no_folder) return {};
    return refuse("names a folder" + at + " that " + std::string(text_of(next.error())));
  }

  static tl::unexpected<failure> refuse(const std::string& why) {
    return fail(errc::invalid_argument, std::string(alternates_name) + ' ' + why +
                                            ". Run `git repack -a -d` to copy the borrowed objects, then remove the file.");
  }

  const enclosure& inside_;
  const screening_limits& limits_;
  std::vector<std::string> found_;
};

}  // namespace

result<std::vector<std::string>> object_folders_of(const enclosure& inside, const std::string& common_folder,
                                                   const screening_limits& limits) {
  const auto own = inside.folder(common_folder + "/objects");
  if (!own) {
    const auto said = "the repository's folder \"objects\" " + std::string(text_of(own.error())) + ", so nothing can be read";
    return fail(own.error() == astray::outside ? errc::invalid_argument : errc::resource_not_found, said + ". Serve a clone.");
  }
  alternates_walk walk(inside, limits);
  HONDANA_TRY(walk.enter(*own, 0));
  return walk.take();
}

namespace {

tl::unexpected<failure> refuse_entry(std::string_view name, std::string_view why) {
  return fail(errc::invalid_argument, "the repository's " + in_quotes(name) + ' ' + std::string(why) +
                                          ", so the repository is not opened. Serve a clone made by `git clone --no-local`.");
}

/// `path` is free of links. `largest`: 0 for no limit.
result<void> check_size(const std::string& path, std::string_view name, std::uint64_t largest) {
  struct stat facts{};
  if (largest > 0 && ::lstat(path.c_str(), &facts) == 0 && static_cast<std::uint64_t>(facts.st_size) > largest)
    return refuse_entry(name, text_of(astray::too_large));
  return {};
}

/// Accepted however few descriptors there are.
constexpr std::size_t fewest_packs = 64;

class contents_walk {
 public:
  contents_walk(const enclosure& inside, const screening_limits& limits)
      : inside_(inside), left_(limits.entries), most_packs_(limits.packs != 0 ? limits.packs : most_open_packs()) {}

  /// `name`: the path of `folder` below the git folder. `largest`: the size limit of a file; 0: none, because it is not read at
  /// once.
  result<void> enter(const std::string& folder, const std::string& name, std::size_t depth, std::uint64_t largest) {
    constexpr std::size_t deepest_name = 64;  // of names of references
    if (depth > deepest_name) return refuse_entry(name, "is nested too deeply");
    const auto list = disk::stream_of(disk::handle(::open(folder.c_str(), O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC)));
    if (!list) {
      if (errno == ENOENT) return {};
      return fail(errc::source_unavailable,
                  "the repository's folder " + in_quotes(name) + " cannot be listed. Give the server permission to read it.",
                  std::strerror(errno));
    }
    while (const dirent* const one = ::readdir(list.get())) {
      const std::string_view called = one->d_name;
      if (called == "." || called == "..") continue;
      if (left_-- == 0)
        return fail(errc::unsupported, "the repository has too many files to check. Run `git gc` to reduce them.");
      HONDANA_TRY(check(::dirfd(list.get()), *one, folder, name, depth, largest));
    }
    return {};
  }

  [[nodiscard]] std::size_t packs() const noexcept { return packs_; }

 private:
  result<void> check(int descriptor, const dirent& one, const std::string& folder, const std::string& name, std::size_t depth,
                     std::uint64_t largest) {
    if (name == "objects/pack" && std::string_view(one.d_name).ends_with(".pack") && ++packs_ > most_packs_)
      return fail(errc::unsupported, "the repository has more packs than can be open at once (" + std::to_string(most_packs_) +
                                         "). Run `git gc` to merge them, or raise the limit of open files (`ulimit -n`), a "
                                         "quarter of which is for packs.");
    auto kind = one.d_type;
    struct stat facts{};
    if (kind == DT_UNKNOWN || (kind == DT_REG && largest > 0)) {
      if (::fstatat(descriptor, one.d_name, &facts, AT_SYMLINK_NOFOLLOW) != 0) return {};  // deleted meanwhile
      kind = static_cast<unsigned char>(IFTODT(facts.st_mode));
    }
    const auto named = name + '/' + one.d_name;
    if (kind == DT_REG) {
      if (largest > 0 && static_cast<std::uint64_t>(facts.st_size) > largest)
        return refuse_entry(named, text_of(astray::too_large));
      return {};
    }
    if (kind == DT_DIR) {
      const bool is_mapped = name == "objects" && (named == "objects/pack" || named == "objects/info");
      return enter(folder + '/' + one.d_name, named, depth + 1, is_mapped ? 0 : largest);
    }
    if (kind != DT_LNK) return refuse_entry(named, text_of(astray::no_file));
    const auto led = inside_.file(folder + '/' + one.d_name);
    if (led) return check_size(*led, named, largest);
    if (led.error() == astray::no_file) return refuse_entry(named, "is a link to something other than a regular file");
    return refuse_entry(named, text_of(led.error()));
  }

  const enclosure& inside_;
  std::size_t left_;
  const std::size_t most_packs_;
  std::size_t packs_ = 0;
};

/// Checks one file by its name. It may be missing.
result<void> check_file(const enclosure& inside, const std::string& folder, std::string_view name, std::uint64_t largest) {
  const auto found = inside.file(folder + '/' + std::string(name));
  if (found) return check_size(*found, name, largest);
  if (found.error() != astray::missing) return refuse_entry(name, text_of(found.error()));
  return {};
}

/// Checks a folder. It may itself be a link, as some tools make them, as long as its target is inside.
result<void> check_folder(contents_walk& walk, const enclosure& inside, const std::string& folder, const std::string& name,
                          std::uint64_t largest) {
  const auto found = inside.folder(folder + '/' + name);
  if (found) return walk.enter(*found, name, 0, largest);
  if (found.error() == astray::missing) return {};
  return refuse_entry(name, text_of(found.error()));
}

struct known_file {
  std::string_view name;
  std::uint64_t largest;
};

}  // namespace

std::size_t most_open_packs() noexcept { return std::max(disk::descriptor_limit() / 4, fewest_packs); }

result<std::size_t> check_contents(const enclosure& inside, const place& at, const screening_limits& limits) {
  const std::array<known_file, 4> own{{{"HEAD", limits.pointer_bytes},
                                       {"index", limits.index_bytes},
                                       {"logs/HEAD", 0},
                                       {"shallow", limits.reference_list_bytes}}};
  const std::array<known_file, 6> common{{{"HEAD", limits.pointer_bytes},
                                          {"config", limits.config_bytes},
                                          {"packed-refs", limits.reference_list_bytes},
                                          {"shallow", limits.reference_list_bytes},
                                          {"info/attributes", limits.config_bytes},
                                          {"info/exclude", limits.config_bytes}}};
  for (const auto& [name, largest] : own) HONDANA_TRY(check_file(inside, at.git_folder, name, largest));
  for (const auto& [name, largest] : common) HONDANA_TRY(check_file(inside, at.common_folder, name, largest));
  contents_walk walk(inside, limits);
  HONDANA_TRY(check_folder(walk, inside, at.common_folder, "refs", limits.pointer_bytes));
  if (at.git_folder != at.common_folder) HONDANA_TRY(check_folder(walk, inside, at.git_folder, "refs", limits.pointer_bytes));
  for (const auto& one : at.object_folders) HONDANA_TRY(walk.enter(one, "objects", 0, limits.loose_object_bytes));
  return walk.packs();
}

}  // namespace hondana::git
