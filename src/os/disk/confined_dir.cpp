/// A folder that is opened once. Files below it are found and opened in a way that never leaves it.
#include "os/disk/confined_dir.hpp"

#include <fcntl.h>
#include <linux/openat2.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <climits>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <hondana/error.hpp>

#include "os/disk/file_descriptor.hpp"
#include "os/disk/opened_folder.hpp"

namespace hondana::disk {
namespace {

constexpr int path_flags = O_PATH | O_NOFOLLOW | O_CLOEXEC;
// O_NONBLOCK: opening a file that has just become a FIFO must not wait for a writer. O_NOCTTY: a terminal must not become our
// controlling terminal.
constexpr int read_flags = O_RDONLY | O_NONBLOCK | O_NOCTTY | O_CLOEXEC;

constexpr std::uint64_t no_symlink_flags = RESOLVE_BENEATH | RESOLVE_NO_SYMLINKS | RESOLVE_NO_MAGICLINKS;
constexpr int traversal_flags = O_PATH | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC;

handle open_by_segments(int folder, const std::string& path, int flags) {
  handle current(::openat(folder, ".", traversal_flags));
  for (std::size_t begin = 0; current.is_open();) {
    const auto end = std::min(path.find('/', begin), path.size());
    const bool is_last = end == path.size();
    current = handle(
        ::openat(current.get(), path.substr(begin, end - begin).c_str(), is_last ? flags | O_NOFOLLOW : traversal_flags));
    if (is_last) break;
    begin = end + 1;
  }
  return current;
}

/// Whether the kernel has `openat2`. It is tried, because containers may answer EPERM for system calls that they do not know.
bool has_openat2(int folder) noexcept {
  const handle probe(open_resolved(folder, ".", O_PATH | O_DIRECTORY | O_CLOEXEC, no_symlink_flags));
  return probe.is_open();
}

bool is_same(const struct stat& a, const struct stat& b) noexcept { return a.st_dev == b.st_dev && a.st_ino == b.st_ino; }

}  // namespace

int open_resolved(int folder, const std::string& path, int flags, std::uint64_t resolve) noexcept {
  open_how options{};
  options.flags = static_cast<std::uint64_t>(flags);
  options.resolve = resolve;
  int descriptor = -1;
  do {
    descriptor = static_cast<int>(::syscall(SYS_openat2, folder, path.c_str(), &options, sizeof options));
  } while (descriptor < 0 && (errno == EINTR || errno == EAGAIN));
  return descriptor;
}

handle open_without_links(int folder, const std::string& path, int flags) {
  const int descriptor = open_resolved(folder, path, flags, no_symlink_flags);
  if (descriptor < 0 && (errno == ENOSYS || errno == EPERM)) return open_by_segments(folder, path, flags);
  return handle(descriptor);
}

handle open_folder_without_links(std::string_view path) {
  const handle top(::open("/", traversal_flags));
  if (!top.is_open()) return {};
  while (path.starts_with('/')) path.remove_prefix(1);
  while (path.ends_with('/')) path.remove_suffix(1);
  return open_without_links(top.get(), path.empty() ? "." : std::string(path), traversal_flags);
}

bool is_plain_path(std::string_view path) noexcept {
  if (path.empty()) return true;
  if (path.find('\0') != std::string_view::npos) return false;
  for (std::size_t begin = 0;;) {
    const auto end = std::min(path.find('/', begin), path.size());
    const auto name = path.substr(begin, end - begin);
    if (name.empty() || name == "." || name == "..") return false;
    if (end == path.size()) return true;
    begin = end + 1;
  }
}

lookup_error to_lookup_error(int error) noexcept {
  switch (error) {
    case ENOENT:
    case ENOTDIR:
    case ENAMETOOLONG:
    case EILSEQ:
    case ENXIO:  // a socket
      return {lookup_error_kind::missing, error};
    case EXDEV:
      return {lookup_error_kind::outside, error};
    case ELOOP:
      return {lookup_error_kind::loop, error};
    case EACCES:
    case EPERM:
      return {lookup_error_kind::forbidden, error};
    default:
      return {lookup_error_kind::system_error, error};
  }
}

confined_dir::confined_dir(handle folder, std::vector<std::string> root_paths, bool portable)
    : folder_(std::move(folder)), root_paths_(std::move(root_paths)), portable_(portable || !has_openat2(folder_.get())) {
  struct stat attributes{};
  if (::fstat(folder_.get(), &attributes) == 0) device_ = attributes.st_dev;
}

bool confined_dir::is_kernel_data(int descriptor, const struct stat& attributes) const noexcept {
  return attributes.st_dev != device_ && is_on_kernel_file_system(descriptor);
}

tl::expected<resolved_path, lookup_error> confined_dir::resolve(std::string_view path) const {
  if (!is_plain_path(path)) return tl::unexpected(lookup_error{});
  if (portable_) return resolve_by_steps(path);
  bool has_links = false;
  auto resolved = resolve_by_kernel(path, has_links);
  if (has_links) return resolve_by_steps(path);
  return resolved;
}

tl::expected<resolved_path, lookup_error> confined_dir::resolve_by_kernel(std::string_view path, bool& has_links) const {
  resolved_path resolved;
  resolved.path = path;
  const int descriptor =
      open_resolved(folder_.get(), path.empty() ? std::string(".") : resolved.path, path_flags, no_symlink_flags);
  if (descriptor < 0) {
    has_links = errno == ELOOP;
    return tl::unexpected(to_lookup_error(errno));
  }
  resolved.handle = handle(descriptor);
  if (::fstat(descriptor, &resolved.attributes) != 0) return tl::unexpected(to_lookup_error(errno));
  has_links = S_ISLNK(resolved.attributes.st_mode);
  if (is_kernel_data(descriptor, resolved.attributes)) return tl::unexpected(lookup_error{lookup_error_kind::kernel_data, 0});
  return resolved;
}

tl::expected<handle, lookup_error> confined_dir::open_file(const resolved_path& file) const {
  if (!S_ISREG(file.attributes.st_mode)) return tl::unexpected(lookup_error{});
  int descriptor = -1;
  if (!portable_) {
    // Through the handle that is held, so that no other file can take this one's place.
    const std::string descriptor_path = "/proc/self/fd/" + std::to_string(file.handle.get());
    descriptor = ::open(descriptor_path.c_str(), read_flags);
    // Without /proc, or if the process may not inspect itself, the file is opened by name.
    if (descriptor < 0 && errno != ENOENT && errno != EACCES) return tl::unexpected(to_lookup_error(errno));
  }
  if (descriptor < 0) {
    const auto slash = file.path.rfind('/');
    const std::string name = file.path.substr(slash == std::string::npos ? 0 : slash + 1);
    HONDANA_TRY(auto parent, resolve_by_steps(slash == std::string::npos ? std::string_view()
                                                                         : std::string_view(file.path).substr(0, slash)));
    struct stat current{};
    if (::fstatat(parent.handle.get(), name.c_str(), &current, AT_SYMLINK_NOFOLLOW) != 0)
      return tl::unexpected(to_lookup_error(errno));
    if (!S_ISREG(current.st_mode)) return tl::unexpected(lookup_error{});
    descriptor = ::openat(parent.handle.get(), name.c_str(), read_flags | O_NOFOLLOW);
    if (descriptor < 0) return tl::unexpected(to_lookup_error(errno));
  }
  handle opened(descriptor);
  struct stat attributes{};
  if (::fstat(opened.get(), &attributes) != 0) return tl::unexpected(to_lookup_error(errno));
  if (!S_ISREG(attributes.st_mode) || !is_same(attributes, file.attributes)) return tl::unexpected(lookup_error{});
  return opened;
}

tl::expected<opened_file, lookup_error> confined_dir::open_file(std::string_view path) const {
  if (path.empty() || !is_plain_path(path)) return tl::unexpected(lookup_error{lookup_error_kind::missing, ENOENT});
  opened_file opened{open_without_links(std::string(path), read_flags | O_NOFOLLOW)};
  if (!opened.file.is_open() || ::fstat(opened.file.get(), &opened.attributes) != 0)
    return tl::unexpected(to_lookup_error(errno));
  if (!S_ISREG(opened.attributes.st_mode)) return tl::unexpected(lookup_error{lookup_error_kind::missing, ENOENT});
  return opened;
}

bool confined_dir::may_exist(std::string_view path) const {
  if (path.empty() || !is_plain_path(path)) return false;
  return open_without_links(std::string(path), path_flags).is_open() || !is_absence(to_lookup_error(errno).kind);
}

handle confined_dir::open_without_links(const std::string& path, int flags) const {
  return portable_ ? open_by_segments(folder_.get(), path, flags) : disk::open_without_links(folder_.get(), path, flags);
}

handle confined_dir::open_folder() const noexcept {
  return handle(::openat(folder_.get(), ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC));
}

tl::expected<handle, lookup_error> confined_dir::open_folder(const resolved_path& folder) const {
  if (!S_ISDIR(folder.attributes.st_mode)) return tl::unexpected(lookup_error{lookup_error_kind::missing, ENOTDIR});
  const int descriptor = ::openat(folder.handle.get(), ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (descriptor < 0) return tl::unexpected(to_lookup_error(errno));
  return handle(descriptor);
}

namespace {

constexpr int max_links = 40;                       // same as in the kernel
constexpr std::size_t max_pending_segments = 8192;  // unresolved segments, which links can multiply
constexpr std::size_t max_depth = 256;              // each level holds a descriptor

/// Pushes the segments of `path` so that the first is popped first.
void push_segments(std::vector<std::string>& pending, std::string_view path) {
  while (!path.empty()) {
    const auto slash = path.rfind('/');
    const auto name = slash == std::string_view::npos ? path : path.substr(slash + 1);
    if (!name.empty() && name != ".") pending.emplace_back(name);
    path = slash == std::string_view::npos ? std::string_view() : path.substr(0, slash);
  }
}

/// One folder or file of the path that is being resolved.
struct path_step {
  disk::handle handle;
  struct stat attributes{};
  std::string name;
};

std::string join_path(const std::vector<path_step>& steps, std::string_view last = {}) {
  std::string path;
  for (const auto& step : steps) (path += path.empty() ? "" : "/") += step.name;
  if (!last.empty()) (path += path.empty() ? "" : "/") += last;
  return path;
}

tl::expected<std::string, lookup_error> read_link_target(int link) {
  std::array<char, PATH_MAX> buffer;
  const auto size = ::readlinkat(link, "", buffer.data(), buffer.size());
  if (size < 0) return tl::unexpected(to_lookup_error(errno));
  if (size == 0 || static_cast<std::size_t>(size) == buffer.size()) return tl::unexpected(lookup_error{});
  return std::string(buffer.data(), static_cast<std::size_t>(size));
}

/// The rest of an absolute link target below the folder, if the target begins with one of `root_paths`; null otherwise.
const char* strip_root(const std::vector<std::string>& root_paths, const std::string& target) {
  for (const auto& root_path : root_paths) {
    if (root_path == "/") return target.c_str() + 1;
    if (target.compare(0, root_path.size(), root_path) != 0) continue;
    if (target.size() == root_path.size() || target[root_path.size()] == '/') return target.c_str() + root_path.size();
  }
  return nullptr;
}

}  // namespace

tl::expected<resolved_path, lookup_error> confined_dir::resolve_by_steps(std::string_view path) const {
  if (path.size() >= PATH_MAX) return tl::unexpected(lookup_error{lookup_error_kind::missing, ENAMETOOLONG});
  resolved_path resolved;
  std::vector<path_step> steps;
  std::vector<std::string> pending;
  push_segments(pending, path);
  while (!pending.empty()) {
    const std::string name = std::move(pending.back());
    pending.pop_back();
    if (!steps.empty() && !S_ISDIR(steps.back().attributes.st_mode))
      return tl::unexpected(lookup_error{lookup_error_kind::missing, ENOTDIR});
    if (name == "..") {
      if (steps.empty()) return tl::unexpected(lookup_error{lookup_error_kind::outside, 0});
      steps.pop_back();
      continue;
    }
    const int folder = steps.empty() ? folder_.get() : steps.back().handle.get();
    path_step next{handle(::openat(folder, name.c_str(), O_PATH | O_NOFOLLOW | O_CLOEXEC)), {}, name};
    if (!next.handle.is_open() || ::fstat(next.handle.get(), &next.attributes) != 0)
      return tl::unexpected(to_lookup_error(errno));
    if (is_kernel_data(next.handle.get(), next.attributes))
      return tl::unexpected(lookup_error{lookup_error_kind::kernel_data, 0});
    if (!S_ISLNK(next.attributes.st_mode)) {
      steps.push_back(std::move(next));
      if (steps.size() > max_depth) return tl::unexpected(lookup_error{lookup_error_kind::missing, ENAMETOOLONG});
      continue;
    }
    resolved.links.push_back(join_path(steps, name));
    if (resolved.links.size() > max_links) return tl::unexpected(lookup_error{lookup_error_kind::loop, ELOOP});
    resolved.traversed_paths.push_back(resolved.links.back());
    for (auto segment = pending.rbegin(); segment != pending.rend(); ++segment)
      (resolved.traversed_paths.back() += '/') += *segment;
    if (resolved.traversed_paths.back().size() >= PATH_MAX)
      return tl::unexpected(lookup_error{lookup_error_kind::missing, ENAMETOOLONG});
    HONDANA_TRY(const auto target, read_link_target(next.handle.get()));
    std::string_view remaining = target;
    if (remaining.front() == '/') {
      const char* below_root = strip_root(root_paths_, target);
      if (below_root == nullptr) return tl::unexpected(lookup_error{lookup_error_kind::outside, 0});
      remaining = below_root;
      steps.clear();
    }
    push_segments(pending, remaining);
    if (pending.size() > max_pending_segments) return tl::unexpected(lookup_error{lookup_error_kind::loop, ELOOP});
  }
  if (steps.empty()) {
    resolved.handle = handle(::openat(folder_.get(), ".", O_PATH | O_DIRECTORY | O_CLOEXEC));
    if (!resolved.handle.is_open() || ::fstat(resolved.handle.get(), &resolved.attributes) != 0)
      return tl::unexpected(to_lookup_error(errno));
    return resolved;
  }
  resolved.path = join_path(steps);
  resolved.handle = std::move(steps.back().handle);
  resolved.attributes = steps.back().attributes;
  return resolved;
}

}  // namespace hondana::disk
