/// Files of the server itself: read only if other users cannot change them, and replaced atomically.
#include "os/disk/private_file.hpp"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <condition_variable>
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <mutex>
#include <utility>

#include <hondana/clock.hpp>

#include "os/disk/file_descriptor.hpp"
#include "os/disk/whole_file.hpp"

namespace hondana::disk {
namespace {

constexpr mode_t forbidden_mode_bits = 0037;  // group write and execute, all access of others

tl::unexpected<failure> system_failure(const std::string& operation, const std::string& path, int error,
                                       errc code = errc::source_unavailable) {
  return fail(code, "cannot " + operation + ' ' + path + ": " + std::strerror(error));
}

std::string folder_of(const std::string& path) {
  const auto slash = path.rfind('/');
  return slash == std::string::npos ? "." : slash == 0 ? "/" : path.substr(0, slash);
}

/// Resolves symbolic links, so that the target file is replaced and not the link.
std::string resolve_links(const std::string& path) {
  std::error_code error;
  auto real = std::filesystem::canonical(path, error);
  return error ? path : real.string();
}

/// Opens the file `path` + `suffix`, and creates it and its folder if they are missing.
result<handle> open_sibling(const std::string& path, const char* suffix) {
  const auto real = resolve_links(path);
  HONDANA_TRY(make_private_folder(folder_of(real)));
  const auto sibling = real + suffix;
  handle file(::open(sibling.c_str(), O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0600));
  if (!file.is_open()) return system_failure("open", sibling, errno);
  return file;
}

/// The byte of the lock file that represents a subject. A collision only makes one subject wait for the other.
/// FNV-1a gives the same result in every process.
off_t lock_offset(std::string_view subject) {
  std::uint32_t hash = 2'166'136'261u;
  for (const char c : subject) hash = (hash ^ static_cast<unsigned char>(c)) * 16'777'619u;
  return static_cast<off_t>(hash & 0x7fffffffu);
}

/// How often a waiting thread retries: file locks have no timeout and cannot be cancelled.
constexpr std::chrono::milliseconds retry_interval{20};

}  // namespace

result<void> make_private_folder(const std::string& path) {
  struct stat attributes{};
  if (::stat(path.c_str(), &attributes) == 0) {
    if (!S_ISDIR(attributes.st_mode)) return system_failure("create the folder", path, ENOTDIR);
    return {};
  }
  if (errno != ENOENT) return system_failure("create the folder", path, errno);
  if (const auto parent = folder_of(path); parent != path && parent != ".") {
    HONDANA_TRY(make_private_folder(parent));
  }
  // Another process may have created it meanwhile.
  if (::mkdir(path.c_str(), 0700) != 0 && errno != EEXIST) return system_failure("create the folder", path, errno);
  return {};
}

result<private_text> read_private(const std::string& path, std::size_t max_bytes, accepted_owners owners) {
  const handle file(::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY));
  if (!file.is_open()) {
    const int error = errno;
    return system_failure("open", path, error, error == ENOENT ? errc::resource_not_found : errc::source_unavailable);
  }
  struct stat attributes{};
  if (::fstat(file.get(), &attributes) != 0) return system_failure("look at", path, errno);
  if (!S_ISREG(attributes.st_mode)) return fail(errc::source_unavailable, path + " is not a regular file");
  // The owner can change the file regardless of its mode.
  const bool is_trusted = attributes.st_uid == ::geteuid() || attributes.st_uid == 0 ||
                          (owners == accepted_owners::anyone_if_root && ::geteuid() == 0);
  if (!is_trusted) {
    return fail(errc::access_denied, path + " belongs to user " + std::to_string(attributes.st_uid) +
                                         ", who can change it; run 'chown " + std::to_string(::geteuid()) + "' on it");
  }
  if ((attributes.st_mode & forbidden_mode_bits) != 0)
    return fail(errc::access_denied,
                "other users can read or change " + path + "; run 'chmod 600' on it (640 lets its group read it)");
  auto whole = read_whole(file.get(), max_bytes);
  if (!whole) return system_failure("read", path, whole.error());
  if (whole->is_too_large())
    return fail(errc::response_too_large, path + " has more than " + std::to_string(max_bytes) + " bytes");
  return private_text{std::move(whole->bytes), whole->state};
}

result<handle> acquire_lock(const std::string& path) {
  auto file = open_sibling(path, ".lock");
  while (file && ::flock(file->get(), LOCK_EX) != 0) {
    if (errno != EINTR) return system_failure("lock", path + ".lock", errno);
  }
  return file;
}

result<handle> acquire_lock(const std::string& path, std::string_view subject, std::chrono::milliseconds timeout,
                            const std::stop_token& stop) {
  auto file = open_sibling(path, ".turns");
  if (!file) return file;
  // The lock belongs to the open file and not to the process, because other threads of the process wait as well.
  struct flock range{};
  range.l_type = F_WRLCK;
  range.l_whence = SEEK_SET;
  range.l_start = lock_offset(subject);
  range.l_len = 1;
  const auto deadline = monotonic_clock::now() + timeout;
  std::mutex mutex;
  std::condition_variable_any stopped;
  std::unique_lock lock(mutex);
  while (::fcntl(file->get(), F_OFD_SETLK, &range) != 0) {
    if (errno != EAGAIN && errno != EACCES && errno != EINTR) return system_failure("lock", path + ".turns", errno);
    stopped.wait_for(lock, stop, retry_interval, [] { return false; });
    if (stop.stop_requested()) return fail(errc::cancelled, "it was cancelled while another process held the lock of " + path);
    if (monotonic_clock::now() >= deadline)
      return fail(errc::timed_out, "another process has held the lock of " + path + " for too long");
  }
  return file;
}

result<void> replace_private(const std::string& path, std::string_view bytes) {
  const auto real = resolve_links(path);
  const auto temporary = real + ".new";
  ::unlink(temporary.c_str());  // left by a process that was killed during a replacement
  const handle file(::open(temporary.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0600));
  if (!file.is_open()) return system_failure("make", temporary, errno);
  const auto discard = [&](int error) {
    ::unlink(temporary.c_str());
    return system_failure("write", temporary, error);
  };
  struct stat existing{};
  if (::stat(real.c_str(), &existing) == 0) {
    // A service must be able to read its file after root has changed it.
    if (::geteuid() == 0 && existing.st_uid != 0 && ::fchown(file.get(), existing.st_uid, static_cast<gid_t>(-1)) != 0)
      return discard(errno);
    auto mode = existing.st_mode & 0777 & ~forbidden_mode_bits;
    struct stat created{};
    if (::fstat(file.get(), &created) != 0) return discard(errno);
    // Writing the content, such as a revocation, is more important than access for the group.
    if (existing.st_gid != created.st_gid && ::fchown(file.get(), static_cast<uid_t>(-1), existing.st_gid) != 0) mode &= ~0070u;
    if (::fchmod(file.get(), mode) != 0) return discard(errno);
  }
  if (const int error = write_all(file.get(), bytes); error != 0) return discard(error);
  if (::fsync(file.get()) != 0) return discard(errno);
  if (::rename(temporary.c_str(), real.c_str()) != 0) return discard(errno);
  // Syncing the folder makes the rename survive a power failure. The file is complete in any case.
  const handle folder(::open(folder_of(real).c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  if (folder.is_open() && ::fsync(folder.get()) != 0 && errno != EINVAL) return system_failure("write", folder_of(real), errno);
  return {};
}

own_files::own_files(std::vector<std::string> paths, std::string_view root) : paths_(std::move(paths)) {
  const std::string prefix = root.ends_with('/') ? std::string(root) : std::string(root) + '/';
  for (const auto& path : paths_) {
    if (path.size() <= prefix.size() || !path.starts_with(prefix)) continue;
    const auto relative = path.substr(prefix.size());
    const auto name = relative.rfind('/') + 1;  // 0 if there is no slash
    relative_files_.push_back({relative.substr(0, name), relative.substr(name)});
  }
}

bool own_files::has_name(std::string_view relative_path) const noexcept {
  // Matches .NAME.swp, .#NAME, #NAME#, NAME.1, NAME-20261122, NAME~ and NAME_old.
  constexpr std::array<std::string_view, 4> prefixes{"", ".", "#", ".#"};
  constexpr std::string_view suffix_starts = ".-~_#";
  return std::any_of(relative_files_.begin(), relative_files_.end(), [&](const relative_file& file) {
    if (!relative_path.starts_with(file.folder)) return false;
    const auto remainder = relative_path.substr(file.folder.size());
    const auto name = remainder.substr(0, remainder.find('/'));
    return std::any_of(prefixes.begin(), prefixes.end(), [&](std::string_view prefix) {
      if (!name.starts_with(prefix) || !name.substr(prefix.size()).starts_with(file.name)) return false;
      const auto suffix = name.substr(prefix.size() + file.name.size());
      return suffix.empty() || suffix_starts.find(suffix.front()) != std::string_view::npos;
    });
  });
}

bool own_files::is_hard_link(const struct stat& attributes) const noexcept {
  if (attributes.st_nlink < 2 || !S_ISREG(attributes.st_mode)) return false;
  return std::any_of(paths_.begin(), paths_.end(), [&attributes](const std::string& path) {
    struct stat file_attributes{};
    return ::stat(path.c_str(), &file_attributes) == 0 && file_attributes.st_dev == attributes.st_dev &&
           file_attributes.st_ino == attributes.st_ino;
  });
}

}  // namespace hondana::disk
