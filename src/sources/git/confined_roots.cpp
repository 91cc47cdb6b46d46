/// Resolves absolute paths and links without leaving the served folders.
#include "sources/git/confined_roots.hpp"

#include <fcntl.h>
#include <linux/openat2.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdint>
#include <cstdlib>
#include <memory>
#include <optional>
#include <utility>

#include <hondana/error.hpp>

#include "os/disk/confined_dir.hpp"
#include "os/disk/descriptor_limit.hpp"
#include "os/disk/file_descriptor.hpp"
#include "os/disk/whole_file.hpp"

namespace hondana::git {
namespace {

constexpr int path_flags = O_PATH | O_CLOEXEC;
// O_NONBLOCK: opening a file that has just become a FIFO must not wait for a writer. O_NOCTTY: a terminal must not become our
// controlling terminal.
constexpr int read_flags = O_RDONLY | O_NONBLOCK | O_NOCTTY | O_CLOEXEC;

/// Whether an errno is of a failure that does not show what is at a path, such as a lack of descriptors.
bool is_fault(int error) noexcept {
  return error != 0 && disk::to_lookup_error(error).kind == disk::lookup_error_kind::system_error;
}

std::optional<std::string> real_path_of(const std::string& path) {
  struct malloc_deleter {
    void operator()(char* memory) const noexcept { std::free(memory); }  // realpath allocates with malloc
  };
  const std::unique_ptr<char, malloc_deleter> real(::realpath(path.c_str(), nullptr));
  if (!real) return std::nullopt;
  return std::string(real.get());
}

/// The part of a path below a folder; "." for the folder itself, nothing for a path elsewhere.
std::optional<std::string> relative_path(const std::string& folder, const std::string& path) {
  if (path == folder) return ".";
  const auto length = folder == "/" ? 0 : folder.size();
  if (!path.starts_with(folder) || path.size() <= length || path[length] != '/') return std::nullopt;
  const auto first = path.find_first_not_of('/', length);
  return first == std::string::npos ? "." : path.substr(first);
}

bool has_file_type(int descriptor, mode_t type) noexcept {
  struct stat attributes{};
  return ::fstat(descriptor, &attributes) == 0 && (attributes.st_mode & S_IFMT) == type;
}

}  // namespace

std::string_view message_of(path_error error) noexcept {
  switch (error) {
    case path_error::missing:
      return "does not exist";
    case path_error::outside:
      return "leads out of the served folders";
    case path_error::not_a_file:
      return "is not a regular file";
    case path_error::not_a_folder:
      return "is not a folder";
    case path_error::too_large:
      return "is too large";
    case path_error::unreadable:
      break;
  }
  return "cannot be read";
}

confined_roots::confined_roots(const std::vector<std::string>& roots) {
  for (const auto& path : roots) {
    auto real = real_path_of(path);
    if (!real) continue;
    disk::handle folder(::open(real->c_str(), path_flags | O_DIRECTORY | O_NOFOLLOW));
    if (!folder.is_open()) {
      lacks_descriptors_ = lacks_descriptors_ || disk::is_exhaustion_error(errno);
      continue;
    }
    std::vector<std::string> root_paths{std::move(*real)};
    auto configured = path;
    while (configured.size() > 1 && configured.back() == '/') configured.pop_back();
    if (configured != root_paths.front()) root_paths.push_back(std::move(configured));
    roots_.push_back({std::move(root_paths), std::move(folder)});
  }
}

bool confined_roots::contains(const std::string& path) const {
  return std::any_of(roots_.begin(), roots_.end(), [&path](const auto& served_root) {
    return std::any_of(served_root.paths.begin(), served_root.paths.end(),
                       [&path](const auto& root_path) { return relative_path(root_path, path).has_value(); });
  });
}

disk::handle confined_roots::open_without_links(const std::string& path, int flags) const {
  for (const auto& served_root : roots_) {
    const auto relative = relative_path(served_root.paths.front(), path);
    if (!relative) continue;
    auto opened = disk::open_without_links(served_root.folder.get(), *relative, flags);
    if (opened.is_open() || is_fault(errno)) return opened;
  }
  return {};
}

std::optional<path_error> confined_roots::resolution_error(const std::string& path) const {
  for (const auto& served_root : roots_) {
    for (const auto& root_path : served_root.paths) {
      const auto relative = relative_path(root_path, path);
      if (!relative) continue;
      const disk::handle opened(
          disk::open_resolved(served_root.folder.get(), *relative, path_flags, RESOLVE_BENEATH | RESOLVE_NO_MAGICLINKS));
      if (opened.is_open()) return std::nullopt;
      const bool is_unsupported = errno == ENOSYS || errno == EPERM;
      if (is_unsupported && ::faccessat(AT_FDCWD, path.c_str(), F_OK, AT_SYMLINK_NOFOLLOW) == 0) return std::nullopt;
      if (errno == ENOENT || errno == ENOTDIR || errno == ENAMETOOLONG) return path_error::missing;
      if (errno == EACCES) return path_error::unreadable;
      return std::nullopt;
    }
  }
  return std::nullopt;
}

tl::expected<confined_roots::resolved_path, path_error> confined_roots::resolve(const std::string& path) const {
  if (path.find('\0') != std::string::npos) return tl::unexpected(path_error::missing);
  if (const auto error = resolution_error(path)) return tl::unexpected(*error);
  auto real = real_path_of(path);
  if (!real) return tl::unexpected(path_error::outside);
  errno = 0;
  auto handle = open_without_links(*real, path_flags);
  if (!handle.is_open())
    return tl::unexpected(lacks_descriptors_ || is_fault(errno) ? path_error::unreadable : path_error::outside);
  return resolved_path{std::move(*real), std::move(handle)};
}

tl::expected<std::string, path_error> confined_roots::resolve_folder(const std::string& path) const {
  HONDANA_TRY(auto resolved, resolve(path));
  if (!has_file_type(resolved.handle.get(), S_IFDIR)) return tl::unexpected(path_error::not_a_folder);
  return std::move(resolved.path);
}

tl::expected<std::string, path_error> confined_roots::resolve_file(const std::string& path) const {
  HONDANA_TRY(auto resolved, resolve(path));
  if (!has_file_type(resolved.handle.get(), S_IFREG)) return tl::unexpected(path_error::not_a_file);
  return std::move(resolved.path);
}

tl::expected<std::string, path_error> confined_roots::read(const std::string& path, std::size_t max_bytes) const {
  HONDANA_TRY(const auto real, resolve_file(path));
  const auto opened = open_without_links(real, read_flags);
  if (!opened.is_open()) return tl::unexpected(path_error::unreadable);
  if (!has_file_type(opened.get(), S_IFREG)) return tl::unexpected(path_error::not_a_file);
  auto whole = disk::read_whole(opened.get(), max_bytes);
  if (!whole) return tl::unexpected(path_error::unreadable);
  if (whole->is_too_large()) return tl::unexpected(path_error::too_large);
  return std::move(whole->bytes);
}

}  // namespace hondana::git
