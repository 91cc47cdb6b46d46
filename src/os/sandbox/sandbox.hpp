/// Restricts this process permanently, with Landlock and system call filters (seccomp).
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <hondana/error.hpp>

namespace hondana::sandbox {

/// Access to a path and everything below it. The type, size and times of a path can be read everywhere, as with stat(2).
enum class access : std::uint8_t {
  read,        ///< Read files and list folders.
  read_named,  ///< Read files, but do not list folders.
  write,       ///< As `read`; also write, create, rename and remove files, folders and symbolic links.
  use_device,  ///< Read, write and control an existing file, such as /dev/null.
  listen,      ///< Create Unix sockets, remove files, and list folders.
  execute,     ///< As `read`; also execute files, if the process may start programs.
};

struct path_permission {
  std::string path;  ///< Absolute path of a file or folder.
  access mode = access::read;
};

/// What a process may do after `confine`.
struct permissions {
  std::vector<path_permission> paths;
  std::vector<std::uint16_t> listen_ports;  ///< TCP ports; 0: a port that the system chooses.
  std::optional<std::vector<std::uint16_t>> connect_ports = std::vector<std::uint16_t>();  ///< TCP ports; nullopt: any.
  bool allows_abstract_sockets = false;  ///< Whether the process may connect to abstract Unix sockets of other processes.
  /// Whether the process may change the mode and owner of files by path, which Unix sockets for other users need.
  bool changes_file_modes = false;
  /// The process only converts open files, and files that it may open, to output: no sockets, processes or threads.
  /// Of all system calls, only those on an allowlist can be used. With an `execute` path, the process may execute another
  /// program.
  bool is_compute_only = false;
};

/// The Landlock version of the kernel. 0: not available; errno is then ENOSYS (missing) or EOPNOTSUPP (disabled).
[[nodiscard]] int landlock_version() noexcept;

/// Restricts files, TCP ports, sockets and signals with Landlock, as far as `version` can.
/// Applies permanently to the calling thread, and to threads and processes that it starts later.
/// `version`: the result of `landlock_version`, which must be at least 1. The caller must have set no_new_privs.
/// Skips paths that are missing or out of reach. Errors: source_unavailable, naming the step that the kernel rejects.
[[nodiscard]] result<void> apply_landlock(int version, const permissions& granted);

/// Makes system calls fail that a server does not need, including those that execute programs, with EPERM or ENOSYS.
/// Applies permanently to the calling thread, and to threads and processes that it starts later.
/// Of `granted`, only `changes_file_modes` is used. Errors: source_unavailable, naming what the kernel rejects.
[[nodiscard]] result<void> apply_filter(const permissions& granted);

/// Makes all system calls fail that are not on the allowlist of `permissions::is_compute_only`, otherwise like `apply_filter`.
/// They fail with ENOSYS, so that libraries use the remaining ones.
/// Files can be opened, for reading, only if `granted` has paths.
[[nodiscard]] result<void> apply_allowlist(const permissions& granted);

/// The restrictions in force for this process.
struct confinement {
  int landlock_abi = 0;               ///< The Landlock version in force; 0: none.
  bool filters_system_calls = false;  ///< `apply_filter` or `apply_allowlist` has succeeded.
  bool no_new_privileges = false;     ///< Programs with a set-user-ID bit get no additional rights.
  std::string missing;                ///< Why some restrictions are missing, as a message for people; empty: none is missing.

  [[nodiscard]] bool restricts_files() const noexcept { return landlock_abi >= 1; }
  [[nodiscard]] bool restricts_ports() const noexcept { return landlock_abi >= 4; }
  [[nodiscard]] bool restricts_signals() const noexcept { return landlock_abi >= 6; }
  /// A description: "files and TCP ports (Landlock 7), system calls, no new privileges".
  [[nodiscard]] std::string describe() const;
};

/// Restricts this process permanently to `granted`, as far as the kernel supports it. Missing restrictions are not an error.
/// Also creates missing folders with `write` access, with mode 0700, because that would be impossible afterwards.
///
/// Threads: the process must not have a second thread, which would not be restricted.
/// Errors: source_unavailable if it has one.
[[nodiscard]] result<confinement> confine(const permissions& granted);

/// Whether the sandbox prevents that `path` is opened for reading although its mode allows it. False for missing paths.
/// `is_writing`: also whether the sandbox prevents that files are created in the folder `path`.
[[nodiscard]] bool is_forbidden(const std::string& path, bool is_writing);

}  // namespace hondana::sandbox
