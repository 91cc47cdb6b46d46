/// The default folder for the program's own state.
#pragma once

#include <string>

namespace hondana::config {

/// `$XDG_STATE_HOME/hondana`, of `~/.local/state` where that is not set; empty where HOME is not set either. Asked before there
/// are threads that would change the environment. Spec: XDG Base Directory; relative paths are invalid.
[[nodiscard]] std::string state_folder();

}  // namespace hondana::config
