/// Restricts this process permanently, with Landlock and system call filters (seccomp).
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <hondana/error.hpp>

namespace hondana::sandbox {

/// Access to a path and everything below it. Reading names, types, sizes and times stays allowed everywhere.
enum class access : std::uint8_t {
  read,        ///< Read files and list folders.
  read_named,  ///< Read files whose names are known.
  write,       ///< Also write, create, rename and remove files.
  use_device,  ///< Read and write an existing file; no file can be created.
  listen,      ///< Create and remove Unix sockets, and list the folder.
  execute,     ///< Read files and list folders; execute files, if the process may start programs.
};

struct path_permission {
  std::string path;  ///< Absolute path of a file or folder.
  access mode = access::read;
};

struct permissions {
  std::vector<path_permission> paths;
  std::vector<std::uint16_t> listen_ports;  ///< TCP ports; 0: a port that the system chooses.
  std::optional<std::vector<std::uint16_t>> connect_ports = std::vector<std::uint16_t>();  ///< TCP ports; nothing: any.
  bool allows_abstract_sockets = false;  ///< Whether the process may connect to abstract Unix sockets of other processes.
  /// Whether the process changes the mode or group of Unix sockets. The calls for that can change those of any file.
  bool changes_file_modes = false;
  /// The process only converts open files, and files that it may open, to output: no sockets, processes or threads.
  /// Of all system calls, only those on an allowlist can be used. With an `execute` path, the process may execute another
  /// program.
  bool is_compute_only = false;
};

/// The Landlock version of the kernel; 0: not available, and errno tells whether it is missing or disabled.
[[nodiscard]] int landlock_version() noexcept;

/// Restricts the calling thread, and threads and processes that it starts later, permanently to `granted`.
/// `version`: the result of `landlock_version`, at least 1. no_new_privs must be set before. Missing paths are skipped, because
/// rules apply to existing files only.
/// Errors: source_unavailable, naming the step that the kernel rejects.
[[nodiscard]] result<void> apply_landlock(int version, const permissions& granted);

/// Makes denied system calls, including those that start programs, fail with EPERM.
/// Applies to the calling thread, and to threads and processes that it starts later. Of `granted`, only `changes_file_modes` is
/// used. Errors: source_unavailable, naming what the kernel rejects.
[[nodiscard]] result<void> apply_filter(const permissions& granted);

/// Makes all system calls fail that a process that only computes does not need (`permissions::is_compute_only`).
/// They fail with ENOSYS, so that libraries use the remaining ones. Errors: as above.
[[nodiscard]] result<void> apply_allowlist(const permissions& granted);

/// The restrictions in force for this process.
struct confinement {
  int landlock_abi = 0;               ///< The Landlock version in force; 0: none.
  bool filters_system_calls = false;  ///< System calls that a server never makes fail.
  bool no_new_privileges = false;
  std::string missing;  ///< Why some restrictions are missing, as a message for people; empty: none is missing.

  [[nodiscard]] bool restricts_files() const noexcept { return landlock_abi >= 1; }
  [[nodiscard]] bool restricts_ports() const noexcept { return landlock_abi >= 4; }
  [[nodiscard]] bool restricts_signals() const noexcept { return landlock_abi >= 6; }
  /// A description: "files and TCP ports (Landlock 7), system calls, no new privileges".
  [[nodiscard]] std::string describe() const;
};

/// Restricts this process to `granted` as far as the kernel supports it; `missing` names the missing restrictions.
/// Missing folders with `write` access are created with mode 0700, because they could not be created afterwards.
///
/// Threads: must be called before the process starts a second thread, because existing threads would not be restricted.
/// Errors: source_unavailable when there is a second thread.
[[nodiscard]] result<confinement> confine(const permissions& granted);

/// Whether the sandbox is the reason that `path` cannot be opened for reading: its mode would allow it.
/// `is_writing`: also whether files can be created in it. False for missing paths.
[[nodiscard]] bool is_forbidden(const std::string& path, bool is_writing);

}  // namespace hondana::sandbox
