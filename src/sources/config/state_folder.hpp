/// The default folder for the program's own state.
#pragma once

#include <string>

namespace hondana::config {

/// `$XDG_STATE_HOME/hondana`, or in `~/.local/state` if that is unset; empty if HOME is not set either. Call it before other
/// threads change the environment. Spec: XDG Base Directory; relative paths are invalid.
[[nodiscard]] std::string state_folder();

}  // namespace hondana::config
