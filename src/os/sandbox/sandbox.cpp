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
std::size_t count_threads() {
  std::error_code error;
  const std::filesystem::directory_iterator tasks("/proc/self/task", error);
  return error ? 1 : static_cast<std::size_t>(std::distance(tasks, std::filesystem::directory_iterator()));
}

void create_missing_folders(const permissions& granted) {
  for (const auto& permission : granted.paths) {
    // A failure is reported later by the code that needs the folder.
    if (permission.mode == access::write) (void)disk::make_private_folder(permission.path);
  }
}

void append_note(std::string& notes, const std::string& note) { notes += (notes.empty() ? "" : "; ") + note; }

std::string explain_landlock_error(int error) {
  return error == EOPNOTSUPP ? "Landlock is disabled in this kernel"
         : error == ENOSYS   ? "this kernel has no Landlock, which requires Linux 5.13"
                             : std::string("Landlock cannot be used here: ") + std::strerror(error);
}

}  // namespace

std::string confinement::describe() const {
  std::string text;
  const auto append = [&text](const std::string& restriction) { text += (text.empty() ? "" : ", ") + restriction; };
  if (landlock_abi > 0) {
    const auto number = std::to_string(landlock_abi);
    append((restricts_signals() ? "files, TCP ports and signals"
            : restricts_ports() ? "files and TCP ports"
                                : "files") +
           std::string(" (Landlock ") + number + ')');
  }
  if (filters_system_calls) append("system calls");
  if (no_new_privileges) append("no new privileges");
  return text.empty() ? "nothing" : text;
}

result<confinement> confine(const permissions& granted) {
  if (!has_thread_of_sanitizer && count_threads() != 1) {
    return fail(errc::source_unavailable, "The sandbox cannot be started after other threads: it would not restrict them.");
  }
  confinement state;
  create_missing_folders(granted);
  if (::prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0) {
    state.missing = std::string("privileges cannot be dropped: ") + std::strerror(errno);
    return state;
  }
  state.no_new_privileges = true;
  errno = 0;
  if (const int version = landlock_version(); version == 0) {
    append_note(state.missing, explain_landlock_error(errno));
  } else if (auto applied = apply_landlock(version, granted); !applied) {
    append_note(state.missing, applied.error().public_text);
  } else {
    state.landlock_abi = version;
    if (!state.restricts_ports())
      append_note(state.missing, "this kernel's Landlock restricts files only; TCP ports require Linux 6.7");
  }
  if (auto applied = granted.is_compute_only ? apply_allowlist(granted) : apply_filter(granted); applied) {
    state.filters_system_calls = true;
  } else {
    append_note(state.missing, applied.error().public_text);
  }
  return state;
}

bool is_forbidden(const std::string& path, bool is_writing) {
  if (::faccessat(AT_FDCWD, path.c_str(), R_OK | (is_writing ? W_OK | X_OK : 0), AT_EACCESS) != 0) return false;
  const disk::handle file(::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY));
  if (!file.is_open() && errno == EACCES) return true;
  if (!is_writing) return false;
  const disk::handle probe(::open(path.c_str(), O_TMPFILE | O_WRONLY | O_CLOEXEC, 0600));
  return !probe.is_open() && errno == EACCES;
}

}  // namespace hondana::sandbox
