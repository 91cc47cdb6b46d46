/// The default folder for the program's own state.
#pragma once

#include <string>

namespace hondana::config {

/// `$XDG_STATE_HOME/hondana`, or `$HOME/.local/state/hondana` if the first variable is not an absolute path; empty if HOME is
/// not one either. No other thread may change the environment meanwhile. Spec: XDG Base Directory.
[[nodiscard]] std::string state_folder();

}  // namespace hondana::config
