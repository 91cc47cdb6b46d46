/// Restricts this process permanently, with Landlock and system call filters (seccomp).
#include "os/sandbox/sandbox.hpp"

#include <fcntl.h>
#include <sys/prctl.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <filesystem>
#include <iterator>
#include <utility>

#include "os/disk/file_descriptor.hpp"
#include "os/disk/private_file.hpp"

namespace hondana::sandbox {
namespace {

#if defined(__SANITIZE_THREAD__)
constexpr bool has_thread_of_sanitizer = true;
#elif defined(__has_feature)
#if __has_feature(thread_sanitizer)
constexpr bool has_thread_of_sanitizer = true;
#else
constexpr bool has_thread_of_sanitizer = false;
#endif
#else
constexpr bool has_thread_of_sanitizer = false;
#endif

/// The number of threads; 1 if it is unknown, because without /proc they cannot be counted.
std::size_t threads_now() {
  std::error_code problem;
  const std::filesystem::directory_iterator all("/proc/self/task", problem);
  return problem ? 1 : static_cast<std::size_t>(std::distance(all, std::filesystem::directory_iterator()));
}

void make_missing(const permissions& to) {
  for (const auto& one : to.paths) {
    // A failure is reported later by the code that needs the folder.
    if (one.may == access::write) (void)disk::make_private_folder(one.path);
  }
}

void add(std::string& to, const std::string& more) { to += (to.empty() ? "" : "; ") + more; }

std::string why_no_landlock(int error) {
  return error == EOPNOTSUPP ? "Landlock is disabled in this kernel"
         : error == ENOSYS   ? "this kernel has no Landlock, which requires Linux 5.13"
                             : std::string("Landlock cannot be used here: ") + std::strerror(error);
}

}  // namespace

std::string confinement::words() const {
  std::string all;
  const auto name = [&all](const std::string& one) { all += (all.empty() ? "" : ", ") + one; };
  if (landlock > 0) {
    const auto number = std::to_string(landlock);
    name((holds_signals() ? "files, TCP ports and signals"
          : holds_ports() ? "files and TCP ports"
                          : "files") +
         std::string(" (Landlock ") + number + ')');
  }
  if (filters_calls) name("system calls");
  if (no_new_privileges) name("no new privileges");
  return all.empty() ? "nothing" : all;
}

result<confinement> confine(const permissions& to) {
  if (!has_thread_of_sanitizer && threads_now() != 1) {
    return fail(errc::source_unavailable, "The sandbox cannot be started after other threads: it would not restrict them.");
  }
  confinement made;
  make_missing(to);
  if (::prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0) {
    made.lacks = std::string("privileges cannot be dropped: ") + std::strerror(errno);
    return made;
  }
  made.no_new_privileges = true;
  errno = 0;
  if (const int version = landlock_version(); version == 0) {
    add(made.lacks, why_no_landlock(errno));
  } else if (auto applied = apply_landlock(version, to); !applied) {
    add(made.lacks, applied.error().public_text);
  } else {
    made.landlock = version;
    if (!made.holds_ports()) add(made.lacks, "this kernel's Landlock restricts files only; TCP ports require Linux 6.7");
  }
  if (auto applied = to.only_computes ? apply_short_list(to) : apply_filter(to); applied) {
    made.filters_calls = true;
  } else {
    add(made.lacks, applied.error().public_text);
  }
  return made;
}

bool is_forbidden(const std::string& path, bool is_writing) {
  if (::faccessat(AT_FDCWD, path.c_str(), R_OK | (is_writing ? W_OK | X_OK : 0), AT_EACCESS) != 0) return false;
  const disk::handle seen(::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY));
  if (!seen.is_open() && errno == EACCES) return true;
  if (!is_writing) return false;
  const disk::handle made(::open(path.c_str(), O_TMPFILE | O_WRONLY | O_CLOEXEC, 0600));
  return !made.is_open() && errno == EACCES;
}

}  // namespace hondana::sandbox
