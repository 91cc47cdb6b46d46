/// Confines this process for good, with Landlock and filters of system calls.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <hondana/error.hpp>

namespace hondana::sandbox {

/// With a path and all below it. Looking at names, types, sizes and times stays possible everywhere.
enum class access : std::uint8_t {
  read,        ///< Files are read, folders listed.
  read_named,  ///< Files are read by whoever knows their names.
  write,       ///< Files are also written, made, renamed and removed.
  use_device,  ///< A file is read and written, but none is made.
  listen,      ///< Unix sockets are made and removed, and the folder is listed.
  execute,     ///< Files are read, and run as programs by whoever may start any; folders listed.
};

struct path_permission {
  std::string path;  ///< Absolute; a file or a folder.
  access may = access::read;
};

struct permissions {
  std::vector<path_permission> paths;
  std::vector<std::uint16_t> listens;  ///< TCP ports; 0: one that the system chooses.
  std::optional<std::vector<std::uint16_t>> connects = std::vector<std::uint16_t>();  ///< TCP ports; nothing: any.
  bool abstract_sockets = false;  ///< Whether Unix sockets without a file may be connected to that others have made.
  /// Whether a Unix socket gets another mode or group once it is there, which needs calls that change those of any file.
  bool changes_modes = false;
  /// Nothing but turning what is open, and what may be opened, into output: no sockets, processes or threads, and of all system
  /// calls only those that are listed for that. Where a path is one to `execute`, another program may take this one's place.
  bool only_computes = false;
};

/// The version of Landlock that the kernel has; 0: it has none, or it is switched off, and `errno` says which.
[[nodiscard]] int landlock_version() noexcept;

/// Confines the calling thread, and the threads and processes that it starts from then on, to `to`; for good. `version` is what
/// `landlock_version` says, at least 1. No new privileges must be set before. Paths that are not there are passed over: a
/// rule is about what is there now. Errors: source_unavailable, saying which step the kernel refuses.
[[nodiscard]] result<void> apply_landlock(int version, const permissions& to);

/// From now on those calls fail with EPERM in the calling thread, and in the threads and processes that it starts; also
/// starting programs does. Of `to` it heeds `changes_modes`. Errors: source_unavailable, saying what the kernel refuses.
[[nodiscard]] result<void> apply_filter(const permissions& to);

/// From now on all calls fail that are not listed for a process that only computes, with ENOSYS, so that libraries take what is
/// left; see `permissions::only_computes`. Errors: as above.
[[nodiscard]] result<void> apply_short_list(const permissions& to);

/// What holds a process back.
struct confinement {
  int landlock = 0;            ///< The version of Landlock that is in force; 0: none.
  bool filters_calls = false;  ///< System calls that a server never makes fail.
  bool no_new_privileges = false;
  std::string lacks;  ///< Why it is not all there could be, for people; empty: it is.

  [[nodiscard]] bool holds_files() const noexcept { return landlock >= 1; }
  [[nodiscard]] bool holds_ports() const noexcept { return landlock >= 4; }
  [[nodiscard]] bool holds_signals() const noexcept { return landlock >= 6; }
  /// In words, "files and TCP ports (Landlock 7), system calls, no new privileges".
  [[nodiscard]] std::string words() const;
};

/// Confines this process to `to` as far as the kernel can; `lacks` says how far it cannot. A folder that may be written and is
/// not there is made, with mode 0700: afterwards it could not be.
///
/// Threads: called before the process has a second one, since threads that are there already would stay free.
/// Errors: source_unavailable when there is one.
[[nodiscard]] result<confinement> confine(const permissions& to);

/// Whether opening `path` for reading fails although its mode allows it: that is the sandbox. `is_writing`: files are to be
/// made in it. What is not there is not forbidden.
[[nodiscard]] bool is_forbidden(const std::string& path, bool is_writing);

}  // namespace hondana::sandbox
