/// Checks the files that libgit2 will read in the folders of a repository: alternates, links and special files.
#include "sources/git/repository_screening.hpp"

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

constexpr std::size_t max_alternate_depth = 5;
constexpr std::string_view alternates_name = "objects/info/alternates";

class alternates_walk {
 public:
  alternates_walk(const confined_roots& roots, const screening_limits& limits) : roots_(roots), limits_(limits) {}

  result<void> enter(const std::string& folder, std::size_t depth) {
    if (std::find(folders_.begin(), folders_.end(), folder) != folders_.end()) return {};
    if (folders_.size() > limits_.alternates)
      return reject("names more than " + std::to_string(limits_.alternates) + " folders");
    if (depth > max_alternate_depth) return reject("chains more than five repositories");
    folders_.push_back(folder);
    const auto text = roots_.read(folder + "/info/alternates", limits_.pointer_bytes * limits_.alternates);
    if (!text) {
      if (text.error() == path_error::missing) return {};
      return reject(std::string(message_of(text.error())));
    }
    std::string_view remaining = *text;
    for (std::size_t line = 1; !remaining.empty(); ++line) {
      const auto entry = remaining.substr(0, remaining.find('\n'));
      remaining.remove_prefix(std::min(entry.size() + 1, remaining.size()));
      HONDANA_TRY(enter_line(entry, line, folder, depth));
    }
    return {};
  }

  [[nodiscard]] std::vector<std::string> finish() { return std::move(folders_); }

 private:
  result<void> enter_line(std::string_view text, std::size_t line, const std::string& folder, std::size_t depth) {
    if (text.empty() || text.starts_with('#')) return {};
    const auto position = ", line " + std::to_string(line) + ",";
    if (text.starts_with('"')) return reject("has a path in quotes" + position + " which is not supported");
    const auto path = text.starts_with('/') ? std::string(text) : folder + '/' + std::string(text);
    const auto next = roots_.resolve_folder(path);
    if (next) return enter(*next, depth + 1);
    if (next.error() == path_error::missing || next.error() == path_error::not_a_folder) return {};
    return reject("names a folder" + position + " that " + std::string(message_of(next.error())));
  }

  static tl::unexpected<failure> reject(const std::string& reason) {
    return fail(errc::invalid_argument, std::string(alternates_name) + ' ' + reason +
                                            ". Run `git repack -a -d` to copy the borrowed objects, then remove the file.");
  }

  const confined_roots& roots_;
  const screening_limits& limits_;
  std::vector<std::string> folders_;
};

}  // namespace

result<std::vector<std::string>> find_object_folders(const confined_roots& roots, const std::string& common_folder,
                                                     const screening_limits& limits) {
  const auto own_folder = roots.resolve_folder(common_folder + "/objects");
  if (!own_folder) {
    const auto message =
        "the repository's folder \"objects\" " + std::string(message_of(own_folder.error())) + ", so nothing can be read";
    return fail(own_folder.error() == path_error::outside ? errc::invalid_argument : errc::resource_not_found,
                message + ". Serve a clone.");
  }
  alternates_walk walk(roots, limits);
  HONDANA_TRY(walk.enter(*own_folder, 0));
  return walk.finish();
}

namespace {

tl::unexpected<failure> entry_error(std::string_view name, std::string_view reason) {
  return fail(errc::invalid_argument, "the repository's " + quote(name) + ' ' + std::string(reason) +
                                          ", so the repository is not opened. Serve a clone made by `git clone --no-local`.");
}

/// `path` is free of links. `max_bytes`: 0 for no limit.
result<void> check_size(const std::string& path, std::string_view name, std::uint64_t max_bytes) {
  struct stat attributes{};
  if (max_bytes > 0 && ::lstat(path.c_str(), &attributes) == 0 && static_cast<std::uint64_t>(attributes.st_size) > max_bytes)
    return entry_error(name, message_of(path_error::too_large));
  return {};
}

/// Accepted however few descriptors there are.
constexpr std::size_t min_packs = 64;

class contents_walk {
 public:
  contents_walk(const confined_roots& roots, const screening_limits& limits)
      : roots_(roots), entries_left_(limits.entries), max_packs_(limits.packs != 0 ? limits.packs : max_open_packs()) {}

  /// `name`: the path of `folder` below the git folder. `max_bytes`: the size limit of a file; 0: none, because it is not read
  /// at once.
  result<void> enter(const std::string& folder, const std::string& name, std::size_t depth, std::uint64_t max_bytes) {
    constexpr std::size_t max_name_depth = 64;  // of names of references
    if (depth > max_name_depth) return entry_error(name, "is nested too deeply");
    disk::dir_stream names(disk::handle(::open(folder.c_str(), O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC)));
    if (names.error() == ENOENT) return {};
    while (const auto* const entry = names.next()) {
      if (entries_left_-- == 0)
        return fail(errc::unsupported, "the repository has too many files to check. Run `git gc` to reduce them.");
      HONDANA_TRY(check(names.descriptor(), *entry, folder, name, depth, max_bytes));
    }
    return names.error() == 0 ? result<void>() : listing_error(name, names.error());
  }

  [[nodiscard]] std::size_t pack_count() const noexcept { return pack_count_; }

 private:
  static tl::unexpected<failure> listing_error(const std::string& name, int error) {
    return fail(errc::source_unavailable,
                "the repository's folder " + quote(name) + " cannot be listed. Give the server permission to read it.",
                std::strerror(error));
  }
  result<void> check(int descriptor, const dirent& entry, const std::string& folder, const std::string& name, std::size_t depth,
                     std::uint64_t max_bytes) {
    if (name == "objects/pack" && std::string_view(entry.d_name).ends_with(".pack") && ++pack_count_ > max_packs_)
      return fail(errc::unsupported, "the repository has more packs than can be open at once (" + std::to_string(max_packs_) +
                                         "). Run `git gc` to merge them, or raise the limit of open files (`ulimit -n`), a "
                                         "quarter of which is for packs.");
    auto kind = entry.d_type;
    struct stat attributes{};
    if (kind == DT_UNKNOWN || (kind == DT_REG && max_bytes > 0)) {
      if (::fstatat(descriptor, entry.d_name, &attributes, AT_SYMLINK_NOFOLLOW) != 0)
        return errno == ENOENT ? result<void>() : listing_error(name, errno);  // deleted meanwhile
      kind = static_cast<unsigned char>(IFTODT(attributes.st_mode));
    }
    const auto entry_path = name + '/' + entry.d_name;
    if (kind == DT_REG) {
      if (max_bytes > 0 && static_cast<std::uint64_t>(attributes.st_size) > max_bytes)
        return entry_error(entry_path, message_of(path_error::too_large));
      return {};
    }
    if (kind == DT_DIR) {
      const bool is_mapped = name == "objects" && (entry_path == "objects/pack" || entry_path == "objects/info");
      return enter(folder + '/' + entry.d_name, entry_path, depth + 1, is_mapped ? 0 : max_bytes);
    }
    if (kind != DT_LNK) return entry_error(entry_path, message_of(path_error::not_a_file));
    const auto target = roots_.resolve_file(folder + '/' + entry.d_name);
    if (target) return check_size(*target, entry_path, max_bytes);
    if (target.error() == path_error::not_a_file)
      return entry_error(entry_path, "is a link to something other than a regular file");
    return entry_error(entry_path, message_of(target.error()));
  }

  const confined_roots& roots_;
  std::size_t entries_left_;
  const std::size_t max_packs_;
  std::size_t pack_count_ = 0;
};

/// Checks one file by its name. It may be missing.
result<void> check_file(const confined_roots& roots, const std::string& folder, std::string_view name,
                        std::uint64_t max_bytes) {
  const auto resolved = roots.resolve_file(folder + '/' + std::string(name));
  if (resolved) return check_size(*resolved, name, max_bytes);
  if (resolved.error() != path_error::missing) return entry_error(name, message_of(resolved.error()));
  return {};
}

/// Checks a folder. It may itself be a link, as some tools make them, as long as its target is inside.
result<void> check_folder(contents_walk& walk, const confined_roots& roots, const std::string& folder, const std::string& name,
                          std::uint64_t max_bytes) {
  const auto resolved = roots.resolve_folder(folder + '/' + name);
  if (resolved) return walk.enter(*resolved, name, 0, max_bytes);
  if (resolved.error() == path_error::missing) return {};
  return entry_error(name, message_of(resolved.error()));
}

struct file_limit {
  std::string_view name;
  std::uint64_t max_bytes;
};

}  // namespace

std::size_t max_open_packs() noexcept { return std::max(disk::descriptor_limit() / 4, min_packs); }

result<std::size_t> check_contents(const confined_roots& roots, const repository_location& location,
                                   const screening_limits& limits) {
  const std::array<file_limit, 4> git_folder_files{{{"HEAD", limits.pointer_bytes},
                                                    {"index", limits.index_bytes},
                                                    {"logs/HEAD", 0},
                                                    {"shallow", limits.reference_list_bytes}}};
  const std::array<file_limit, 6> common_files{{{"HEAD", limits.pointer_bytes},
                                                {"config", limits.config_bytes},
                                                {"packed-refs", limits.reference_list_bytes},
                                                {"shallow", limits.reference_list_bytes},
                                                {"info/attributes", limits.config_bytes},
                                                {"info/exclude", limits.config_bytes}}};
  for (const auto& [name, max_bytes] : git_folder_files) HONDANA_TRY(check_file(roots, location.git_folder, name, max_bytes));
  for (const auto& [name, limit] : common_files) HONDANA_TRY(check_file(roots, location.common_folder, name, limit));
  contents_walk walk(roots, limits);
  HONDANA_TRY(check_folder(walk, roots, location.common_folder, "refs", limits.pointer_bytes));
  if (location.git_folder != location.common_folder)
    HONDANA_TRY(check_folder(walk, roots, location.git_folder, "refs", limits.pointer_bytes));
  for (const auto& folder : location.object_folders) HONDANA_TRY(walk.enter(folder, "objects", 0, limits.loose_object_bytes));
  return walk.pack_count();
}

}  // namespace hondana::git
