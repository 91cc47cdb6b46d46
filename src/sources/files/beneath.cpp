/// Resolution by the kernel, and opening what was found.
#include "sources/files/beneath.hpp"

#include <fcntl.h>
#include <linux/openat2.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdint>
#include <utility>

#include "os/disk/folder_kinds.hpp"
#include "os/disk/resolve.hpp"

namespace hondana::files {
namespace {

constexpr int handle_only = O_PATH | O_NOFOLLOW | O_CLOEXEC;
// Without O_NONBLOCK, opening what has just become a FIFO would wait for a writer; without O_NOCTTY, a terminal could adopt us.
constexpr int for_reading = O_RDONLY | O_NONBLOCK | O_NOCTTY | O_CLOEXEC;

constexpr std::uint64_t without_links = RESOLVE_BENEATH | RESOLVE_NO_SYMLINKS | RESOLVE_NO_MAGICLINKS;

/// Containers may answer EPERM for system calls they do not know.
bool kernel_can(int folder) noexcept {
  const disk::handle probe(disk::open_resolved(folder, ".", O_PATH | O_DIRECTORY | O_CLOEXEC, without_links));
  return probe.is_open();
}

bool is_same(const struct stat& a, const struct stat& b) noexcept { return a.st_dev == b.st_dev && a.st_ino == b.st_ino; }

}  // namespace

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

not_found obstacle_of(int error) noexcept {
  switch (error) {
    case ENOENT:
    case ENOTDIR:
    case ENAMETOOLONG:
    case EILSEQ:
      return {obstacle::missing, error};
    case EXDEV:
      return {obstacle::outside, error};
    case ELOOP:
      return {obstacle::loop, error};
    case EACCES:
    case EPERM:
      return {obstacle::forbidden, error};
    default:
      return {obstacle::trouble, error};
  }
}

beneath::beneath(disk::handle folder, std::vector<std::string> spellings, bool portable)
    : folder_(std::move(folder)), spellings_(std::move(spellings)), portable_(portable || !kernel_can(folder_.get())) {
  struct stat facts{};
  if (::fstat(folder_.get(), &facts) == 0) device_ = facts.st_dev;
}

bool beneath::is_kernel_data(int descriptor, const struct stat& facts) const noexcept {
  return facts.st_dev != device_ && disk::on_kernel_file_system(descriptor);
}

tl::expected<located, not_found> beneath::locate(std::string_view path) const {
  if (!is_plain_path(path)) return tl::unexpected(not_found{});
  if (portable_) return locate_by_steps(path);
  bool has_links = false;
  auto found = locate_by_kernel(path, has_links);
  if (has_links) return locate_by_steps(path);
  return found;
}

tl::expected<located, not_found> beneath::locate_by_kernel(std::string_view path, bool& has_links) const {
  located found;
  found.path = path;
  const int descriptor =
      disk::open_resolved(folder_.get(), path.empty() ? std::string(".") : found.path, handle_only, without_links);
  if (descriptor < 0) {
    has_links = errno == ELOOP;
    return tl::unexpected(obstacle_of(errno));
  }
  found.at = disk::handle(descriptor);
  if (::fstat(descriptor, &found.facts) != 0) return tl::unexpected(obstacle_of(errno));
  has_links = S_ISLNK(found.facts.st_mode);
  if (is_kernel_data(descriptor, found.facts)) return tl::unexpected(not_found{obstacle::kernel_data, 0});
  return found;
}

tl::expected<disk::handle, not_found> beneath::open_file(const located& what) const {
  if (!S_ISREG(what.facts.st_mode)) return tl::unexpected(not_found{});
  int descriptor = -1;
  if (!portable_) {
    // Through our own handle, so that nothing can take the file's place in between.
    const std::string own = "/proc/self/fd/" + std::to_string(what.at.get());
    descriptor = ::open(own.c_str(), for_reading);
    // Without /proc, or where a process may not look at itself, there is still the way by name.
    if (descriptor < 0 && errno != ENOENT && errno != EACCES) return tl::unexpected(obstacle_of(errno));
  }
  if (descriptor < 0) {
    const auto slash = what.path.rfind('/');
    const std::string name = what.path.substr(slash == std::string::npos ? 0 : slash + 1);
    HONDANA_TRY(auto holder, locate_by_steps(slash == std::string::npos ? std::string_view()
                                                                        : std::string_view(what.path).substr(0, slash)));
    struct stat now{};
    if (::fstatat(holder.at.get(), name.c_str(), &now, AT_SYMLINK_NOFOLLOW) != 0) return tl::unexpected(obstacle_of(errno));
    if (!S_ISREG(now.st_mode)) return tl::unexpected(not_found{});
    descriptor = ::openat(holder.at.get(), name.c_str(), for_reading | O_NOFOLLOW);
    if (descriptor < 0) return tl::unexpected(obstacle_of(errno));
  }
  disk::handle opened(descriptor);
  struct stat facts{};
  if (::fstat(opened.get(), &facts) != 0) return tl::unexpected(obstacle_of(errno));
  if (!S_ISREG(facts.st_mode) || !is_same(facts, what.facts)) return tl::unexpected(not_found{});
  return opened;
}

tl::expected<disk::handle, not_found> beneath::open_folder(const located& what) const {
  if (!S_ISDIR(what.facts.st_mode)) return tl::unexpected(not_found{obstacle::missing, ENOTDIR});
  const int descriptor = ::openat(what.at.get(), ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (descriptor < 0) return tl::unexpected(obstacle_of(errno));
  return disk::handle(descriptor);
}

}  // namespace hondana::files
