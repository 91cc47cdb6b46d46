/// The default folder for the program's own state.
#include "sources/config/state_folder.hpp"

#include <cstdlib>
#include <filesystem>

namespace hondana::config {

std::string state_folder() {
  const char* const state = std::getenv("XDG_STATE_HOME");
  const char* const home = std::getenv("HOME");
  if (state != nullptr && *state == '/') return (std::filesystem::path(state) / "hondana").string();
  if (home != nullptr && *home == '/') return (std::filesystem::path(home) / ".local" / "state" / "hondana").string();
  return {};
}

}  // namespace hondana::config
