/// Sockets handed over by a supervisor: systemd's LISTEN_PID, LISTEN_FDS and LISTEN_FDNAMES.
#pragma once

#include <vector>

#include <hondana/error.hpp>

namespace hondana::cli {

/// Descriptors to listen on.
struct inherited_sockets {
  std::vector<int> messages;
  int admin = -1;  ///< The one named `admin`; -1: none.
};

/// Takes what the environment names for this very process, and removes the variables, so that no child takes them for its own.
/// Call before other threads exist. Errors: invalid_argument (variables that contradict each other). Spec: sd_listen_fds(3).
[[nodiscard]] result<inherited_sockets> take_inherited_sockets();

}  // namespace hondana::cli
