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

namespace hondana::disk {
namespace {

constexpr mode_t too_open = 0037;  // group write and execute, all access of others

tl::unexpected<failure> cannot(const std::string& doing, const std::string& path, int error,
                               errc code = errc::source_unavailable) {
  return fail(code, "cannot " + doing + ' ' + path + ": " + std::strerror(error));
}

std::string folder_of(const std::string& path) {
  const auto slash = path.rfind('/');
  return slash == std::string::npos ? "." : slash == 0 ? "/" : path.substr(0, slash);
}

/// Resolves symbolic links, so that the target file is replaced and not the link.
std::string behind_links(const std::string& path) {
  std::error_code problem;
  auto real = std::filesystem::canonical(path, problem);
  return problem ? path : real.string();
}

/// Opens the file `path` + `ending`, and creates it and its folder if they are missing.
result<handle> open_beside(const std::string& path, const char* ending) {
  const auto real = behind_links(path);
  HONDANA_TRY(make_private_folder(folder_of(real)));
  const auto beside = real + ending;
  handle file(::open(beside.c_str(), O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0600));
  if (!file.is_open()) return cannot("open", beside, errno);
  return file;
}

/// The byte of the lock file that represents a subject. A collision only makes one subject wait for the other.
/// FNV-1a gives the same result in every process.
off_t place_of(std::string_view subject) {
  std::uint32_t hash = 2'166'136'261u;
  for (const char c : subject) hash = (hash ^ static_cast<unsigned char>(c)) * 16'777'619u;
  return static_cast<off_t>(hash & 0x7fffffffu);
}

/// How often a waiting thread retries: file locks have no timeout and cannot be cancelled.
constexpr std::chrono::milliseconds between_looks{20};

}  // namespace

result<void> make_private_folder(const std::string& path) {
  struct stat facts{};
  if (::stat(path.c_str(), &facts) == 0) {
    if (!S_ISDIR(facts.st_mode)) return cannot("create the folder", path, ENOTDIR);
    return {};
  }
  if (errno != ENOENT) return cannot("create the folder", path, errno);
  if (const auto above = folder_of(path); above != path && above != ".") {
    HONDANA_TRY(make_private_folder(above));
  }
  // Another process may have created it meanwhile.
  if (::mkdir(path.c_str(), 0700) != 0 && errno != EEXIST) return cannot("create the folder", path, errno);
  return {};
}

result<private_text> read_private(const std::string& path, std::size_t most_bytes, owners whose) {
  const handle file(::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY));
  if (!file.is_open()) {
    const int error = errno;
    return cannot("open", path, error, error == ENOENT ? errc::resource_not_found : errc::source_unavailable);
  }
  struct stat facts{};
  if (::fstat(file.get(), &facts) != 0) return cannot("look at", path, errno);
  if (!S_ISREG(facts.st_mode)) return fail(errc::source_unavailable, path + " is not a regular file");
  // The owner can change the file regardless of its mode.
  const bool is_trusted =
      facts.st_uid == ::geteuid() || facts.st_uid == 0 || (whose == owners::anybody_for_root && ::geteuid() == 0);
  if (!is_trusted) {
    return fail(errc::access_denied, path + " belongs to user " + std::to_string(facts.st_uid) +
                                         ", who can change it; run 'chown " + std::to_string(::geteuid()) + "' on it");
  }
  if ((facts.st_mode & too_open) != 0)
    return fail(errc::access_denied,
                "other users can read or change " + path + "; run 'chmod 600' on it (640 lets its group read it)");
  if (static_cast<std::uint64_t>(facts.st_size) > most_bytes)
    return fail(errc::response_too_large, path + " has more than " + std::to_string(most_bytes) + " bytes");
  private_text out{std::string(static_cast<std::size_t>(facts.st_size), '\0'), stamp_of(facts)};
  std::size_t have = 0;
  while (have < out.bytes.size()) {
    const auto count = ::read(file.get(), out.bytes.data() + have, out.bytes.size() - have);
    if (count < 0 && errno == EINTR) continue;
    if (count < 0) return cannot("read", path, errno);
    if (count == 0) break;  // the file has shrunk
    have += static_cast<std::size_t>(count);
  }
  out.bytes.resize(have);
  return out;
}

result<handle> lock_beside(const std::string& path) {
  auto file = open_beside(path, ".lock");
  while (file && ::flock(file->get(), LOCK_EX) != 0) {
    if (errno != EINTR) return cannot("lock", path + ".lock", errno);
  }
  return file;
}

result<handle> lock_beside(const std::string& path, std::string_view subject, std::chrono::milliseconds most,
                           const std::stop_token& stop) {
  auto file = open_beside(path, ".turns");
  if (!file) return file;
  // The lock belongs to the open file and not to the process, because other threads of the process wait as well.
  struct flock range{};
  range.l_type = F_WRLCK;
  range.l_whence = SEEK_SET;
  range.l_start = place_of(subject);
  range.l_len = 1;
  const auto until = monotonic_clock::now() + most;
  std::mutex mutex;
  std::condition_variable_any stopped;
  std::unique_lock waiting(mutex);
  while (::fcntl(file->get(), F_OFD_SETLK, &range) != 0) {
    if (errno != EAGAIN && errno != EACCES && errno != EINTR) return cannot("lock", path + ".turns", errno);
    stopped.wait_for(waiting, stop, between_looks, [] { return false; });
    if (stop.stop_requested()) return fail(errc::cancelled, "it was cancelled while another process held the lock of " + path);
    if (monotonic_clock::now() >= until)
      return fail(errc::timed_out, "another process has held the lock of " + path + " for too long");
  }
  return file;
}

result<void> replace_private(const std::string& path, std::string_view bytes) {
  const auto real = behind_links(path);
  const auto fresh = real + ".new";
  ::unlink(fresh.c_str());  // left by a process that was killed during a replacement
  const handle file(::open(fresh.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0600));
  if (!file.is_open()) return cannot("make", fresh, errno);
  const auto give_up = [&](int error) {
    ::unlink(fresh.c_str());
    return cannot("write", fresh, error);
  };
  struct stat before{};
  if (::stat(real.c_str(), &before) == 0) {
    // A service must be able to read its file after root has changed it.
    if (::geteuid() == 0 && before.st_uid != 0 && ::fchown(file.get(), before.st_uid, static_cast<gid_t>(-1)) != 0)
      return give_up(errno);
    auto mode = before.st_mode & 0777 & ~too_open;
    struct stat made{};
    if (::fstat(file.get(), &made) != 0) return give_up(errno);
    // Writing the content, such as a revocation, is more important than access for the group.
    if (before.st_gid != made.st_gid && ::fchown(file.get(), static_cast<uid_t>(-1), before.st_gid) != 0) mode &= ~0070u;
    if (::fchmod(file.get(), mode) != 0) return give_up(errno);
  }
  if (const int error = write_all(file.get(), bytes); error != 0) return give_up(error);
  if (::fsync(file.get()) != 0) return give_up(errno);
  if (::rename(fresh.c_str(), real.c_str()) != 0) return give_up(errno);
  // Syncing the folder makes the rename survive a power failure. The file is complete in any case.
  const handle folder(::open(folder_of(real).c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  if (folder.is_open() && ::fsync(folder.get()) != 0 && errno != EINVAL) return cannot("write", folder_of(real), errno);
  return {};
}

own_files::own_files(std::vector<std::string> paths, std::string_view root) : paths_(std::move(paths)) {
  const std::string above = root.ends_with('/') ? std::string(root) : std::string(root) + '/';
  for (const auto& one : paths_) {
    if (one.size() <= above.size() || !one.starts_with(above)) continue;
    const auto below = one.substr(above.size());
    const auto name = below.rfind('/') + 1;  // 0 if there is no slash
    below_.push_back({below.substr(0, name), below.substr(name)});
  }
}

bool own_files::has_name(std::string_view below) const noexcept {
  // Matches .NAME.swp, .#NAME, #NAME#, NAME.1, NAME-20261122, NAME~ and NAME_old.
  constexpr std::array<std::string_view, 4> fronts{"", ".", "#", ".#"};
  constexpr std::string_view behind = ".-~_#";
  return std::any_of(below_.begin(), below_.end(), [&](const named& one) {
    if (!below.starts_with(one.folder)) return false;
    const auto rest = below.substr(one.folder.size());
    const auto name = rest.substr(0, rest.find('/'));
    return std::any_of(fronts.begin(), fronts.end(), [&](std::string_view front) {
      if (!name.starts_with(front) || !name.substr(front.size()).starts_with(one.name)) return false;
      const auto more = name.substr(front.size() + one.name.size());
      return more.empty() || behind.find(more.front()) != std::string_view::npos;
    });
  });
}

bool own_files::is_one(const struct stat& facts) const noexcept {
  if (facts.st_nlink < 2 || !S_ISREG(facts.st_mode)) return false;
  return std::any_of(paths_.begin(), paths_.end(), [&facts](const std::string& one) {
    struct stat own{};
    return ::stat(one.c_str(), &own) == 0 && own.st_dev == facts.st_dev && own.st_ino == facts.st_ino;
  });
}

}  // namespace hondana::disk
