/// Reads and lists files of a work tree without following links.
#include "sources/git/work_tree.hpp"

#include <dirent.h>
#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <string_view>
#include <system_error>
#include <utility>

#include "os/disk/confined_dir.hpp"
#include "os/disk/file_descriptor.hpp"
#include "os/disk/whole_file.hpp"

namespace hondana::git {
namespace {

constexpr int open_path_flags = O_PATH | O_NOFOLLOW | O_CLOEXEC;
// O_NONBLOCK: opening a file that has just become a FIFO must not wait for a writer. O_NOCTTY: a terminal must not become our
// controlling terminal.
constexpr int open_read_flags = O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY | O_CLOEXEC;
constexpr std::size_t max_link_bytes = 65'536;

bool is_valid_path(std::string_view path) noexcept {
  for (std::size_t begin = 0;;) {
    const auto end = std::min(path.find('/', begin), path.size());
    const auto name = path.substr(begin, end - begin);
    if (name.empty() || name == "." || name == ".." || name == ".git" || name.find('\0') != std::string_view::npos)
      return false;
    if (end == path.size()) return true;
    begin = end + 1;
  }
}

bool is_missing_error(int error) noexcept { return disk::is_absence(disk::to_lookup_error(error).kind); }

std::uint32_t mode_of(mode_t mode) noexcept {
  if (S_ISREG(mode)) return (mode & S_IXUSR) != 0 ? 0100755 : 0100644;
  return S_ISLNK(mode) ? 0120000 : S_ISDIR(mode) ? 0040000 : 0;
}

std::string describe_cause(int error) {
  if (error == EMFILE || error == ENFILE) return "the server has too many files open. Retry later.";
  return "the server's log says why. Retry later.";
}

// The path is only for the log: it was not checked here who may know of it.
tl::unexpected<failure> access_error(const std::string& path, int error) {
  auto details = path + ": " + std::generic_category().message(error);
  if (error == EACCES || error == EPERM)
    return fail(errc::access_denied,
                "The operating system denied access to a file or folder of the work tree. Check the permissions.",
                std::move(details));
  return fail(errc::source_unavailable, "A file or folder of the work tree cannot be read now: " + describe_cause(error),
              std::move(details));
}

tl::unexpected<failure> work_tree_open_error(int error) {
  return fail(errc::source_unavailable, "The work tree of the repository cannot be opened: " + describe_cause(error),
              std::generic_category().message(error));
}

tl::unexpected<failure> changed_error(const std::string& path) {
  return fail(errc::content_changed, "A file changed while the work tree was compared. Retry.", path);
}

}  // namespace

result<work_tree> work_tree::open(git_repository* repo) {
  const char* const path = git_repository_workdir(repo);
  if (path == nullptr) return fail(errc::unsupported, "The repository is bare: it has no work tree to compare with.");
  // Its path was free of links when it was screened. It is opened only if that is still so.
  auto folder = disk::open_folder_without_links(path);
  if (!folder.is_open()) return work_tree_open_error(errno);
  return work_tree(std::move(folder));
}

result<work_file> work_tree::inspect(const std::string& path) const {
  work_file file;
  if (!is_valid_path(path)) return file;
  const auto handle = disk::open_without_links(folder_.get(), path, open_path_flags);
  if (!handle.is_open() || ::fstat(handle.get(), &file.attributes) != 0) {
    if (is_missing_error(errno)) return file;
    return access_error(path, errno);
  }
  file.mode = mode_of(file.attributes.st_mode);
  file.size = static_cast<std::uint64_t>(file.attributes.st_size);
  return file;
}

result<std::string> work_tree::read(const std::string& path, std::uint64_t max_bytes) const {
  if (!is_valid_path(path)) return changed_error(path);
  const auto handle = disk::open_without_links(folder_.get(), path, open_path_flags);
  struct stat attributes{};
  if (!handle.is_open() || ::fstat(handle.get(), &attributes) != 0) {
    if (is_missing_error(errno)) return changed_error(path);
    return access_error(path, errno);
  }
  if (S_ISLNK(attributes.st_mode)) {
    std::string bytes(max_link_bytes, '\0');
    const auto count = ::readlinkat(handle.get(), "", bytes.data(), bytes.size());
    if (count < 0) return access_error(path, errno);
    bytes.resize(static_cast<std::size_t>(count));
    return bytes;
  }
  if (!S_ISREG(attributes.st_mode)) return changed_error(path);
  const auto file = disk::open_without_links(folder_.get(), path, open_read_flags);
  struct stat current{};
  if (!file.is_open() || ::fstat(file.get(), &current) != 0) {
    if (is_missing_error(errno)) return changed_error(path);
    return access_error(path, errno);
  }
  if (current.st_dev != attributes.st_dev || current.st_ino != attributes.st_ino) return changed_error(path);
  auto whole = disk::read_whole(file.get(), max_bytes);
  if (!whole) return access_error(path, whole.error());
  if (whole->is_too_large()) {
    return fail(errc::response_too_large,
                "A file of the work tree has more than " + std::to_string(max_bytes) + " bytes, the limit for comparison.",
                path);
  }
  return std::move(whole->bytes);
}

result<std::vector<work_entry>> work_tree::list(const std::string& folder, std::size_t max_entries) const {
  std::vector<work_entry> entries;
  if (!folder.empty() && !is_valid_path(folder)) return entries;
  disk::dir_stream names(
      disk::open_without_links(folder_.get(), folder.empty() ? "." : folder, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC));
  if (!names.is_open() && is_missing_error(names.error())) return entries;
  while (const auto* const entry = names.next()) {
    if (entries.size() == max_entries) {
      return fail(errc::response_too_large, "The work tree has too many files to search for untracked ones.");
    }
    struct stat attributes{};
    mode_t kind = DTTOIF(entry->d_type);
    if (entry->d_type == DT_UNKNOWN) {
      if (::fstatat(names.descriptor(), entry->d_name, &attributes, AT_SYMLINK_NOFOLLOW) != 0) {
        if (is_missing_error(errno)) continue;  // deleted meanwhile
        return access_error(folder, errno);
      }
      kind = attributes.st_mode & S_IFMT;
    }
    entries.push_back({entry->d_name, mode_of(kind)});
  }
  if (names.error() != 0) return access_error(folder, names.error());
  std::sort(entries.begin(), entries.end(), [](const auto& left, const auto& right) { return left.name < right.name; });
  return entries;
}

}  // namespace hondana::git
