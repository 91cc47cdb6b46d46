/// Looking for links and special files.
#include "sources/git/contents.hpp"

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

#include "os/disk/descriptors.hpp"
#include "os/disk/folder_stream.hpp"
#include "sources/git/quotation.hpp"

namespace hondana::git {
namespace {

tl::unexpected<failure> refuse_entry(std::string_view name, std::string_view why) {
  return fail(errc::invalid_argument, "the repository's " + in_quotes(name) + ' ' + std::string(why) +
                                          ", so the repository is not opened. Serve a clone made by `git clone --no-local`.");
}

/// `path` has no links. `largest` 0: any size will do.
result<void> check_size(const std::string& path, std::string_view name, std::uint64_t largest) {
  struct stat facts{};
  if (largest > 0 && ::lstat(path.c_str(), &facts) == 0 && static_cast<std::uint64_t>(facts.st_size) > largest)
    return refuse_entry(name, text_of(astray::too_large));
  return {};
}

/// Served however few descriptors there are.
constexpr std::size_t fewest_packs = 64;

class contents_walk {
 public:
  contents_walk(const enclosure& inside, const screening_limits& limits)
      : inside_(inside), left_(limits.entries), most_packs_(limits.packs != 0 ? limits.packs : most_open_packs()) {}

  /// `name` is that of `folder`, below the git folder. `largest` is what a file may have; 0: anything, since it is not read at
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
      if (::fstatat(descriptor, one.d_name, &facts, AT_SYMLINK_NOFOLLOW) != 0) return {};  // it has gone
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

/// One file by its name: it may be missing.
result<void> check_file(const enclosure& inside, const std::string& folder, std::string_view name, std::uint64_t largest) {
  const auto found = inside.file(folder + '/' + std::string(name));
  if (found) return check_size(*found, name, largest);
  if (found.error() != astray::missing) return refuse_entry(name, text_of(found.error()));
  return {};
}

/// What is listed may itself be a link, as other tools make them, as long as it stays inside.
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
