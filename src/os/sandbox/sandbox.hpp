/// Giving up, for good, what a server does not need.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include <hondana/error.hpp>

#include "os/sandbox/permissions.hpp"

namespace hondana::sandbox {

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
