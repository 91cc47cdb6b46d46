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

#include "os/disk/file_descriptor.hpp"
#include "os/disk/opened_folder.hpp"

namespace hondana::git {
namespace {

constexpr int handle_only = O_PATH | O_NOFOLLOW | O_CLOEXEC;
// O_NONBLOCK: opening a file that has just become a FIFO must not wait for a writer. O_NOCTTY: a terminal must not become our
// controlling terminal.
constexpr int for_reading = O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY | O_CLOEXEC;
constexpr std::size_t longest_link = 65'536;

bool is_plain(std::string_view path) noexcept {
  for (std::size_t begin = 0;;) {
    const auto end = std::min(path.find('/', begin), path.size());
    const auto name = path.substr(begin, end - begin);
    if (name.empty() || name == "." || name == ".." || name == ".git" || name.find('\0') != std::string_view::npos)
      return false;
    if (end == path.size()) return true;
    begin = end + 1;
  }
}

bool is_missing(int error) noexcept {
  return error == ENOENT || error == ENOTDIR || error == ELOOP || error == ENAMETOOLONG || error == EXDEV || error == ENXIO;
}

std::uint32_t mode_of(mode_t mode) noexcept {
  if (S_ISREG(mode)) return (mode & S_IXUSR) != 0 ? 0100755 : 0100644;
  return S_ISLNK(mode) ? 0120000 : S_ISDIR(mode) ? 0040000 : 0;
}

std::string cause_of(int error) {
  if (error == EMFILE || error == ENFILE) return "the server has too many files open. Retry later.";
  return "the server's log says why. Retry later.";
}

// The path is only for the log: it was not checked here who may know of it.
tl::unexpected<failure> refused(const std::string& path, int error) {
  auto said = path + ": " + std::generic_category().message(error);
  if (error == EACCES || error == EPERM)
    return fail(errc::access_denied,
                "The operating system denied access to a file or folder of the work tree. Check the permissions.",
                std::move(said));
  return fail(errc::source_unavailable, "A file or folder of the work tree cannot be read now: " + cause_of(error),
              std::move(said));
}

tl::unexpected<failure> unopened(int error) {
  return fail(errc::source_unavailable, "The work tree of the repository cannot be opened: " + cause_of(error),
              std::generic_category().message(error));
}

tl::unexpected<failure> changed(const std::string& path) {
  return fail(errc::content_changed, "A file changed while the work tree was compared. Retry.", path);
}

}  // namespace

result<work_tree> work_tree::open(git_repository* of) {
  const char* const path = git_repository_workdir(of);
  if (path == nullptr) return fail(errc::unsupported, "The repository is bare: it has no work tree to compare with.");
  // Its path was free of links when it was screened. It is opened only if that is still so.
  const disk::handle top(::open("/", O_PATH | O_DIRECTORY | O_CLOEXEC));
  if (!top.is_open()) return unopened(errno);
  std::string_view below(path);
  while (below.starts_with('/')) below.remove_prefix(1);
  while (below.ends_with('/')) below.remove_suffix(1);
  auto folder = disk::open_without_links(top.get(), below.empty() ? "." : std::string(below), handle_only | O_DIRECTORY);
  if (!folder.is_open()) return unopened(errno);
  return work_tree(std::move(folder));
}

result<work_file> work_tree::look(const std::string& path) const {
  work_file found;
  if (!is_plain(path)) return found;
  const auto at = disk::open_without_links(folder_.get(), path, handle_only);
  if (!at.is_open() || ::fstat(at.get(), &found.facts) != 0) {
    if (is_missing(errno)) return found;
    return refused(path, errno);
  }
  found.mode = mode_of(found.facts.st_mode);
  found.size = static_cast<std::uint64_t>(found.facts.st_size);
  return found;
}

result<std::string> work_tree::read(const std::string& path, std::uint64_t most) const {
  if (!is_plain(path)) return changed(path);
  const auto at = disk::open_without_links(folder_.get(), path, handle_only);
  struct stat facts{};
  if (!at.is_open() || ::fstat(at.get(), &facts) != 0) {
    if (is_missing(errno)) return changed(path);
    return refused(path, errno);
  }
  std::string bytes;
  if (S_ISLNK(facts.st_mode)) {
    bytes.resize(longest_link);
    const auto count = ::readlinkat(at.get(), "", bytes.data(), bytes.size());
    if (count < 0) return refused(path, errno);
    bytes.resize(static_cast<std::size_t>(count));
    return bytes;
  }
  if (!S_ISREG(facts.st_mode)) return changed(path);
  const auto file = disk::open_without_links(folder_.get(), path, for_reading);
  struct stat again{};
  if (!file.is_open() || ::fstat(file.get(), &again) != 0) {
    if (is_missing(errno)) return changed(path);
    return refused(path, errno);
  }
  if (again.st_dev != facts.st_dev || again.st_ino != facts.st_ino) return changed(path);
  if (static_cast<std::uint64_t>(again.st_size) > most) {
    return fail(errc::response_too_large,
                "A file of the work tree has more than " + std::to_string(most) + " bytes, the limit for comparison.", path);
  }
  bytes.resize(static_cast<std::size_t>(again.st_size));
  const auto count = disk::read_at(file.get(), bytes.data(), bytes.size(), 0);
  if (!count) return refused(path, count.error());
  bytes.resize(*count);
  return bytes;
}

result<std::vector<work_entry>> work_tree::list(const std::string& folder, std::size_t most) const {
  std::vector<work_entry> entries;
  if (!folder.empty() && !is_plain(folder)) return entries;
  auto at =
      disk::open_without_links(folder_.get(), folder.empty() ? "." : folder, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
  if (!at.is_open()) {
    if (is_missing(errno)) return entries;
    return refused(folder, errno);
  }
  const auto reader = disk::stream_of(std::move(at));
  if (!reader) return refused(folder, errno);
  const int descriptor = ::dirfd(reader.get());
  for (errno = 0; const auto* one = ::readdir(reader.get()); errno = 0) {
    const std::string_view name = one->d_name;
    if (name == "." || name == "..") continue;
    if (entries.size() == most) {
      return fail(errc::response_too_large, "The work tree has too many files to search for untracked ones.");
    }
    struct stat facts{};
    mode_t kind = DTTOIF(one->d_type);
    if (one->d_type == DT_UNKNOWN) {
      if (::fstatat(descriptor, one->d_name, &facts, AT_SYMLINK_NOFOLLOW) != 0) {
        if (is_missing(errno)) continue;  // deleted meanwhile
        return refused(folder, errno);
      }
      kind = facts.st_mode & S_IFMT;
    }
    entries.push_back({std::string(name), mode_of(kind)});
  }
  if (errno != 0) return refused(folder, errno);
  std::sort(entries.begin(), entries.end(), [](const auto& one, const auto& other) { return one.name < other.name; });
  return entries;
}

}  // namespace hondana::git
